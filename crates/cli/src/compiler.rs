//! `nearmiss cc`, `nearmiss-cc`, `nearmiss-gcc` and their like: the words are the compiler's, so they are
//! not looked at here.

use std::ffi::OsString;
use std::path::Path;

use nearmiss_cc::Language;

use crate::{TROUBLE, environment, output};

/// The word by which our own models are compiled, with instrumentation.
const COMPILE: &str = "__compile";

/// The word behind it that leaves clang's checks out.
const NO_CHECKS: &str = "--no-checks";

/// The word by which tests build the recorder of a program into a directory, and print its path.
const RECORDER: &str = "__recorder";

/// Compiles if this is the name or the first word of the compiler; gives the exit status.
pub fn compile_if_asked(words: &[OsString]) -> Option<u8> {
    match words.get(1).and_then(|word| word.to_str()) {
        Some(COMPILE) => return Some(instrument(&words[2..])),
        Some(RECORDER) => return Some(build_recorder(&words[2..])),
        _ => {}
    }
    let (driver, arguments) = asked(words)?;
    // Statuses of processes have eight bits.
    Some(match environment::wrapper_config(&driver) {
        Ok(config) => nearmiss_cc::main_with(arguments, &config) as u8,
        Err(trouble) => {
            output::complain(&trouble);
            TROUBLE
        }
    })
}

/// Compiles with instrumentation: our own models of libc functions.
fn instrument(arguments: &[OsString]) -> u8 {
    let compile = || -> Result<bool, String> {
        let mut config = environment::compiler_config()?;
        let arguments = match arguments.split_first() {
            Some((first, rest)) if first == NO_CHECKS => {
                config.checks = nearmiss_compile::Checks::NONE;
                rest
            }
            _ => arguments,
        };
        let words = arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let directory = environment::directory()?;
        Ok(nearmiss_compile::build_in(
            &directory,
            &words,
            &config,
            &mut std::io::stderr(),
        ))
    };
    match compile() {
        Ok(done) => u8::from(!done),
        Err(trouble) => {
            output::complain(&trouble);
            TROUBLE
        }
    }
}

/// Builds the recorder of a program, the first of two words, in a directory.
fn build_recorder(words: &[OsString]) -> u8 {
    let build = || -> Result<(), String> {
        let [program, directory] = words else {
            return Err("a program and a directory".into());
        };
        let compiler = environment::compiler_config()?;
        let program = environment::find_program(program).map_err(|error| error.to_string())?;
        let (recorder, _) = nearmiss_engine::recorder_of(
            &program,
            (&environment::variables(), &environment::directory()?),
            &compiler,
            Path::new(directory),
        )?;
        output::result(format!("{}\n", recorder.display()).as_bytes())
    };
    match build() {
        Ok(()) => 0,
        Err(trouble) => {
            output::complain(&trouble);
            TROUBLE
        }
    }
}

/// The compiler that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Its language.
    pub language: Language,
    /// The compiler, where the wrapper's name says it: `nearmiss-gcc`.
    pub named: Option<String>,
}

fn asked(words: &[OsString]) -> Option<(Driver, &[OsString])> {
    let (name, arguments) = words.split_first()?;
    let name = Path::new(name).file_name()?.to_str()?;
    if let Some(compiler) = name.strip_prefix("nearmiss-") {
        return Some((driver(compiler), arguments));
    }
    let (first, arguments) = arguments.split_first()?;
    let is_word = first == "cc" || first == "c++";
    is_word.then(|| (driver(first.to_str().unwrap_or_default()), arguments))
}

fn driver(compiler: &str) -> Driver {
    let language = match compiler.contains("++") {
        true => Language::Cplusplus,
        false => Language::C,
    };
    let named = Some(compiler.to_string()).filter(|name| name != "cc" && name != "c++");
    Driver { language, named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        let cases = [
            ("/usr/bin/nearmiss cc -c x.c", Some((Language::C, None, 2))),
            ("nearmiss-cc -c x.c", Some((Language::C, None, 2))),
            ("a/nearmiss-c++ x.o", Some((Language::Cplusplus, None, 1))),
            ("nearmiss c++ x.o", Some((Language::Cplusplus, None, 1))),
            ("nearmiss-gcc x.o", Some((Language::C, Some("gcc"), 1))),
            (
                "nearmiss-g++-12 x.o",
                Some((Language::Cplusplus, Some("g++-12"), 1)),
            ),
            ("nearmiss run -- cc", None),
            ("nearmiss", None),
        ];
        for (line, expected) in cases {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = asked(&words);
            let found = found.as_ref().map(|(driver, arguments)| {
                (driver.language, driver.named.as_deref(), arguments.len())
            });
            assert_eq!(found, expected, "{line}");
        }
    }
}
