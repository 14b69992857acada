//! A variant of a program: its units rewritten (`nearmiss_sites::rewrite`), instrumented once more, and linked with the
//! runtime as the program was.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_sites::rewrite::Rewrite;
use nearmiss_sites::{Link, Twin, Unit, frame};

use crate::recorder::link_instrumented;
use crate::{TwinError, hash};

/// How a variant differs from its program.
#[derive(Clone, Copy, Debug)]
pub struct Variant<'a> {
    /// What is rewritten in its units.
    pub rewrite: &'a Rewrite,
    /// Bitcode that is compiled in place of what some units keep, by their numbers.
    pub replaced: &'a [(u64, Vec<u8>)],
    /// Sources in C that it has beside its program's, instrumented as well.
    pub sources: &'a [PathBuf],
    /// The compiler.
    pub compiler: &'a nearmiss_compile::Config,
}

impl Variant<'_> {
    /// Names all that it differs in.
    pub(crate) fn name(&self) -> String {
        let contents: Vec<Vec<u8>> = (self.sources.iter())
            .map(|path| fs::read(path).unwrap_or_default())
            .collect();
        let rewrite = frame::write(self.rewrite);
        let archives = nearmiss_compile::archives(&self.compiler.library_directory);
        let made = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
        let archives = format!("{:?}", archives.iter().map(made).collect::<Vec<_>>());
        let mut parts: Vec<&[u8]> = vec![b"variant", &rewrite, archives.as_bytes()];
        parts.extend(contents.iter().map(Vec::as_slice));
        hash::name(&parts)
    }

    /// Names what is compiled in place of units.
    pub(crate) fn replaced_name(&self) -> String {
        let parts = self.replaced.iter().map(|(_, bitcode)| bitcode.as_slice());
        hash::name(&parts.collect::<Vec<_>>())
    }

    /// The units as they are compiled.
    pub(crate) fn replace(&self, units: &mut [Twin]) {
        for unit in units {
            let replaced = self
                .replaced
                .iter()
                .find(|(number, _)| *number == unit.unit);
            if let Some((_, bitcode)) = replaced {
                unit.bitcode = bitcode.clone();
            }
        }
    }

    /// Makes the object of one unit.
    pub(crate) fn compile(&self, unit: &Unit, kept: &Twin, object: &Path) -> Result<(), TwinError> {
        nearmiss_compile::compile_rewritten(unit, kept, self.rewrite, object, self.compiler)
            .map_err(|output| failed("compile a variant of the program", output))
    }

    /// Links `words`, the objects and arguments of the program's link, which is recorded as `link`.
    pub(crate) fn link(
        &self,
        link: &Link,
        mut words: Vec<OsString>,
        directory: &Path,
        output: &Path,
    ) -> Result<(), TwinError> {
        if !link.shared {
            words.splice(0..0, self.compile_sources(directory)?);
        }
        link_instrumented(link, words, directory, output, self.compiler)
    }

    fn compile_sources(&self, directory: &Path) -> Result<Vec<OsString>, TwinError> {
        let mut objects = Vec::new();
        let compiler = nearmiss_compile::Config {
            // What it chooses is no decision of the program's.
            choices_are_branches: false,
            ..self.compiler.clone()
        };
        for (number, source) in self.sources.iter().enumerate() {
            let object = directory.join(format!("source-{number}.o"));
            let words = ["-g", "-O1", "-c"].map(str::to_string).into_iter();
            let words = words.chain([path_text(source), "-o".into(), path_text(&object)]);
            let mut messages = Vec::new();
            let words: Vec<String> = words.collect();
            if !nearmiss_compile::build_in(directory, &words, &compiler, &mut messages) {
                let output = String::from_utf8_lossy(&messages).into_owned();
                return Err(failed("compile what a variant has besides", output));
            }
            objects.push(object.into_os_string());
        }
        Ok(objects)
    }
}

/// The words with version scripts that do not hide our hooks. Copies of the scripts lie beside the output.
pub(crate) fn admit_hooks(
    words: Vec<OsString>,
    place: &Path,
    output: &Path,
) -> Result<Vec<OsString>, TwinError> {
    let Ok(texts) = (words.iter().cloned().map(OsString::into_string)).collect() else {
        return Ok(words);
    };
    let copies = output.parent().unwrap_or(place);
    let words = nearmiss_compile::admit_hooks_in_link(texts, place, copies)
        .map_err(|error| TwinError::file(copies, error))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn failed(task: &str, output: String) -> TwinError {
    TwinError::Tool {
        task: task.to_string(),
        output,
    }
}
