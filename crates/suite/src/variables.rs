//! Which variables of its environment a captured program is run again with. An environment may have
//! secrets in it, so what the program cannot have looked at is not kept.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use nearmiss_abi::chance::EXECUTES;
use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_capture::Captured;

use super::identity::{may_ask_for, needs_all_variables};
use super::programs::ProgramFacts;

/// Names and values.
type Variables = Vec<(OsString, OsString)>;

/// What is kept of an environment.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// The variables that are kept.
    pub variables: Variables,
    /// Why these.
    pub why: String,
}

/// The variables that a program may have looked at: those that its file or the C library mentions,
/// or all. `channels` are the inputs that are wanted.
pub fn kept(
    variables: Variables,
    program: Option<&ProgramFacts>,
    captured: Option<&Captured>,
    channels: ChannelSet,
) -> Kept {
    let executes = |captured: &Captured| captured.chance.iter().any(|one| one.name == EXECUTES);
    let all = match (program, captured) {
        _ if channels.contains(ChannelKind::Environment) => Some("variables are inputs (--env)"),
        (Some(program), Some(captured)) => needs_all_variables(program, executes(captured)),
        _ => Some("it is not known which it looks at"),
    };
    if let Some(why) = all {
        return Kept {
            variables,
            why: format!("all: {why}"),
        };
    }
    let is_kept = |(name, _): &(OsString, OsString)| {
        program.is_some_and(|program| may_ask_for(name.as_bytes(), program))
    };
    Kept {
        variables: variables.into_iter().filter(is_kept).collect(),
        why: "those that the program's file or the C library mentions".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::captured;
    use nearmiss_capture::Chance;

    fn names(program: &[u8], test: &Captured, channels: &str) -> Vec<String> {
        let facts = ProgramFacts::of_content(program);
        let variables =
            ["HOME", "LC_ALL", "SECRET", "MY_OPTION"].map(|name| (name.into(), "x".into()));
        let channels = ChannelSet::parse(channels.as_bytes());
        let kept = kept(variables.to_vec(), Some(&facts), Some(test), channels);
        let names = kept.variables.iter();
        names.map(|(name, _)| name.display().to_string()).collect()
    }

    #[test]
    fn what_no_part_of_the_program_asks_for_is_not_kept() {
        let test = captured("/", &["prog"]);
        let some = ["HOME", "LC_ALL", "MY_OPTION"];
        assert_eq!(names(b"\0MY_OPTION\0getenv\0", &test, "aif"), some);
        assert_eq!(names(b"\0MY_OPTION\0", &test, "aife").len(), 4);
        assert_eq!(names(b"\x7fELF static\0", &test, "aif").len(), 4);
        assert_eq!(names(b"\0libown.so.1\0", &test, "aif").len(), 4);
        let mut starts = captured("/", &["prog"]);
        starts.chance.push(Chance {
            process: 0,
            name: EXECUTES.into(),
            bytes: vec![1],
        });
        assert_eq!(names(b"\0MY_OPTION\0", &starts, "aif").len(), 4);
    }
}
