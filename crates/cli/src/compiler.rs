//! `nearmiss cc`, `nearmiss-cc`, `nearmiss-c++`: the words are the compiler's, so they are
//! not looked at here.

use std::ffi::OsString;
use std::path::Path;

use nearmiss_cc::Language;

use crate::{TROUBLE, environment, output};

/// Compiles if this is the name or the first word of the compiler; gives the exit status.
pub fn compile_if_asked(words: &[OsString]) -> Option<u8> {
    let (language, arguments) = asked(words)?;
    let mut config = match environment::compiler_config() {
        Ok(config) => config,
        Err(trouble) => {
            output::complain(&trouble);
            return Some(TROUBLE);
        }
    };
    config.language = language;
    // Statuses of processes have eight bits.
    Some(nearmiss_cc::main_with(arguments, &config) as u8)
}

fn asked(words: &[OsString]) -> Option<(Language, &[OsString])> {
    let language = |name: &str| match name {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cplusplus),
        _ => None,
    };
    let (name, arguments) = words.split_first()?;
    let name = Path::new(name).file_name()?.to_str()?;
    if let Some(language) = name.strip_prefix("nearmiss-").and_then(language) {
        return Some((language, arguments));
    }
    let (first, arguments) = arguments.split_first()?;
    Some((language(first.to_str()?)?, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        let cases = [
            ("/usr/bin/nearmiss cc -c x.c", Some((Language::C, 2))),
            ("nearmiss-cc -c x.c", Some((Language::C, 2))),
            ("a/nearmiss-c++ x.o", Some((Language::Cplusplus, 1))),
            ("nearmiss c++ x.o", Some((Language::Cplusplus, 1))),
            ("nearmiss run -- cc", None),
            ("nearmiss", None),
        ];
        for (line, expected) in cases {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = asked(&words).map(|(language, arguments)| (language, arguments.len()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
