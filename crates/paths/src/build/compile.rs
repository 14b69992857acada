//! Compiling one C file: plainly to look at it, with instrumentation to run it.

use std::path::{Path, PathBuf};

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
    pub config: nearmiss_cc::Config,
    /// Where everything is built.
    pub directory: PathBuf,
}

impl Compiler {
    /// The words with which a source is compiled, whatever comes of it.
    pub fn words(&self, source: &Source) -> Vec<String> {
        let mut all = source.words.clone();
        all.extend(words(LENIENT));
        all.extend(source.naming());
        all
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
        if nearmiss_cc::build_in(&source.directory, &all, &self.config, &mut messages) {
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
