//! Compiling one C file: plainly to look at it, with instrumentation to run it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::source::Source;
use super::tool::{self, ToolError, word, words};

/// Old code is welcome: what clang calls errors since it is 16 is left to the linker and the run.
const LENIENT: [&str; 7] = [
    "-w",
    "-Wno-error",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-mismatch",
];

/// What compiles, and where its results go.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The tools of `nearmiss cc`.
    pub config: nearmiss_compile::Config,
    /// Where everything is built.
    pub directory: PathBuf,
    /// Objects that were made before.
    pub objects: Option<Objects>,
}

/// What an object was made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ObjectKey {
    how: String,
    path: PathBuf,
    words: Vec<String>,
}

/// Objects of sources that do not change meanwhile: for many questions about the same files.
#[derive(Clone, Debug)]
pub struct Objects {
    directory: PathBuf,
    known: Arc<Mutex<HashMap<ObjectKey, PathBuf>>>,
}

impl Objects {
    /// They are kept in a directory.
    pub fn new(directory: &Path) -> Objects {
        Objects {
            directory: directory.to_path_buf(),
            known: Arc::default(),
        }
    }

    fn get(&self, key: &ObjectKey) -> Option<PathBuf> {
        let known = self.known.lock().ok()?;
        known.get(key).cloned()
    }

    /// Keeps a copy; without one the object is made again.
    fn keep(&self, key: ObjectKey, object: &Path) {
        let Ok(mut known) = self.known.lock() else {
            return;
        };
        let copy = self.directory.join(format!("object-{}.o", known.len()));
        let is_there = fs::create_dir_all(&self.directory).is_ok();
        if is_there && fs::copy(object, &copy).is_ok() {
            known.insert(key, copy);
        }
    }
}

impl Compiler {
    /// The words with which a source is compiled, whatever comes of it.
    pub fn words(&self, source: &Source) -> Vec<String> {
        let mut all = source.words.clone();
        all.extend(words(LENIENT));
        all.extend(source.naming());
        all.extend(source.overlay.clone());
        all
    }

    /// Makes an object of a source, or takes the one that was made of it before. What has marks is made each time.
    pub fn once(
        &self,
        source: &Source,
        how: &str,
        output: &Path,
        make: impl FnOnce() -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let Some(objects) = self.objects.as_ref().filter(|_| !source.is_marked) else {
            return make();
        };
        let key = ObjectKey {
            how: how.to_string(),
            path: source.path.clone(),
            words: source.words.clone(),
        };
        if let Some(object) = objects.get(&key)
            && fs::copy(object, output).is_ok()
        {
            return Ok(());
        }
        make()?;
        objects.keep(key, output);
        Ok(())
    }

    /// Compiles with plain clang: `options` say to what.
    pub fn plain(
        &self,
        source: &Source,
        input: &Path,
        options: &[&str],
        output: &Path,
    ) -> Result<(), ToolError> {
        let mut all = self.words(source);
        all.extend(options.iter().map(|option| option.to_string()));
        if let Some(own) = &self.config.include_directory {
            all.extend(["-idirafter".to_string(), word(own)]);
        }
        // A header or an unnamed kind of file is C too.
        all.extend(["-Qunused-arguments", "-x", "c", "-c"].map(str::to_string));
        all.extend([word(input), "-o".to_string(), word(output)]);
        let said = tool::run(&self.config.clang, &all, &source.directory)?;
        said.checked().map(|_| ())
    }

    /// Compiles with instrumentation.
    pub fn instrumented(
        &self,
        source: &Source,
        input: &Path,
        options: &[String],
        output: &Path,
    ) -> Result<(), ToolError> {
        let mut all = self.words(source);
        all.extend(options.iter().cloned());
        all.extend(["-g", "-x", "c", "-c"].map(str::to_string));
        all.extend([word(input), "-o".to_string(), word(output)]);
        let mut messages = Vec::new();
        if nearmiss_compile::build_in(&source.directory, &all, &self.config, &mut messages) {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&messages).into_owned();
        Err(ToolError::Failed(messages))
    }
}

/// The words among `words` that clang does not know, by what it said: those of another compiler.
pub fn unknown_words(words: &[String], messages: &str) -> Vec<String> {
    let unknown = |word: &&String| {
        messages.contains(&format!("unknown argument: '{word}'"))
            || messages.contains(&format!("unsupported option '{word}'"))
            || messages.contains(&format!("unknown argument '{word}'"))
    };
    words.iter().filter(unknown).cloned().collect()
}
