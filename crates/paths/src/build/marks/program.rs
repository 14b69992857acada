//! Marks in the units of a program that was built before: those that have some are compiled once more, with the
//! command that their objects keep.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_sites::flow::MARKER;
use nearmiss_sites::{Twin, Unit};

use super::{TargetMark, mark, steps};
use crate::build::compile::Compiler;
use crate::build::error::BuildError;
use crate::build::source::{Files, Source};
use crate::build::tool::{self, Said, word};

/// What a program's own flags make of warnings (`-Werror`) is not meant for marks.
const QUIET: &str = "-w";

/// Units with marks, as bitcode.
#[derive(Clone, Debug, Default)]
pub struct MarkedUnits {
    /// The number of a unit, and what is compiled in its place.
    pub bitcode: Vec<(u64, Vec<u8>)>,
    /// Notes for the report.
    pub notes: Vec<String>,
}

/// Sets marks in a program's units; copies and bitcode lie in `directory`.
pub fn mark_units(
    units: &[(Unit, Twin)],
    marks: &[TargetMark],
    compiler: &nearmiss_compile::Config,
    directory: &Path,
) -> Result<MarkedUnits, BuildError> {
    fs::create_dir_all(directory).map_err(|error| BuildError::File(directory.into(), error))?;
    let compiler = Compiler {
        config: compiler.clone(),
        directory: directory.to_path_buf(),
        objects: None,
    };
    let sources = units.iter().map(|(unit, kept)| source(unit, kept));
    let mut files = Files {
        sources: sources.collect(),
        ..Files::default()
    };
    let marked = mark(&compiler, &mut files, marks, definition(steps(marks)))?;
    let mut result = MarkedUnits {
        notes: marked.notes,
        ..MarkedUnits::default()
    };
    for (unit, kept) in units {
        if has_file(unit, &marked.paths) {
            let output = directory.join("marked.bc");
            let mut words = kept.command.clone();
            words.extend([
                marked.word.clone(),
                QUIET.into(),
                "-o".into(),
                word(&output),
            ]);
            tool::run(&compiler.config.clang, &words, Path::new(&unit.directory))
                .and_then(Said::checked)
                .map_err(|error| BuildError::Refused(unit.source.clone().into(), error))?;
            let bitcode = fs::read(&output);
            let bitcode = bitcode.map_err(|error| BuildError::File(output, error))?;
            result.bitcode.push((unit.hash, bitcode));
        }
    }
    Ok(result)
}

/// How a unit was compiled.
fn source(unit: &Unit, kept: &Twin) -> Source {
    let words = kept.command.iter();
    let directory = PathBuf::from(&unit.directory);
    Source {
        name: PathBuf::from(&unit.source),
        path: directory.join(&unit.source),
        // What is behind says what is to come of it.
        words: words
            .take_while(|it| *it != "-emit-llvm")
            .cloned()
            .chain([QUIET.into()])
            .collect(),
        directory,
        ..Source::default()
    }
}

/// Whether a unit is made of one of these files.
fn has_file(unit: &Unit, paths: &[PathBuf]) -> bool {
    let full = |path: &Path| path.canonicalize().ok();
    let files = unit.files.iter().chain([&unit.source]);
    let mut files = files.map(|file| Path::new(&unit.directory).join(file));
    files.any(|file| {
        let is_it =
            |path: &PathBuf| *path == file || full(path).is_some() && full(path) == full(&file);
        paths.iter().any(is_it)
    })
}

/// The function that counts the steps, in each file that has marks: the linker makes one of all.
fn definition(steps: u8) -> String {
    format!(
        "#ifndef {MARKER}_IS_DEFINED\n#define {MARKER}_IS_DEFINED\n\
         extern void __nm_mark(unsigned);\n\
         __attribute__((__weak__)) unsigned {MARKER}_passed;\n\
         __attribute__((__weak__, __noinline__, __optnone__)) int {MARKER}(unsigned nm_number)\n{{\n\
         \x20   if ({MARKER}_passed == 255 || {MARKER}_passed == {steps}u)\n        return 0;\n\
         \x20   if (nm_number == 255)\n        {MARKER}_passed = 255;\n\
         \x20   else if (nm_number == {MARKER}_passed)\n        {MARKER}_passed++;\n\
         \x20   else\n        return 0;\n\
         \x20   __nm_mark(2u | {MARKER}_passed << 8);\n\
         \x20   return 0;\n}}\n#endif"
    )
}
