//! Planning a link: the user's own arguments, with objects in place of sources.

use std::ffi::OsStr;

use crate::plan::{Link, LinkArgument};
use nearmiss_cc::command::{Argument, Command, InputKind};
use nearmiss_cc::options::Role;

/// Plans the link of a command.
pub fn link(command: &Command) -> Link {
    // Options for sources that are objects by now.
    let mut arguments = vec![LinkArgument::Words(vec!["-Qunused-arguments".into()])];
    let mut compiled = 0;
    for argument in &command.arguments {
        arguments.extend(link_argument(argument, &mut compiled));
    }
    let has_word = |word: &str| {
        let mut arguments = command.arguments.iter();
        arguments.any(|argument| argument.words[0] == word)
    };
    let bare = ["-nostdlib", "-nodefaultlibs", "-nolibc"];
    let libraries = || command.with(Role::Library);
    Link {
        arguments,
        runtime: !command.has(Role::Relocatable) && !has_word("-Wl,-r"),
        shared: command.has(Role::Shared),
        is_static: ["-static", "--static", "-static-pie"]
            .into_iter()
            .any(has_word),
        record: command.clone(),
        names_libc: bare.into_iter().any(has_word) && libraries().any(|it| it.value == "c"),
    }
}

fn link_argument(argument: &Argument, compiled: &mut usize) -> Option<LinkArgument> {
    let words = argument.words.clone();
    match (argument.role, &argument.input) {
        (Role::Input, Some(input)) if input.kind == InputKind::Instrumented => {
            *compiled += 1;
            Some(LinkArgument::Compiled(*compiled - 1))
        }
        (Role::Input, Some(input)) => Some(LinkArgument::Words(match &input.language {
            Some(language) if input.kind == InputKind::Plain => {
                let before = ["-x", language].map(str::to_string).into_iter();
                let behind = ["-x", "none"].map(str::to_string);
                before.chain(words).chain(behind).collect()
            }
            _ => words,
        })),
        // Said again where a source needs it; of no use for instrumented code.
        (Role::Language | Role::Aside | Role::Temporaries | Role::Dropped, _) => None,
        _ => Some(LinkArgument::Words(words)),
    }
}

/// What a link needs so that a program stops before its `main` where the engine wants it (`libc/main.c`). What calls `main` is
/// ours then, and comes last: an archive before it that has a `main` is looked at because of the second word.
pub fn wrap_main<W: AsRef<OsStr>>(words: &[W]) -> impl Iterator<Item = &'static str> + use<W> {
    let starts_itself = words.iter().any(|word| {
        let word = word.as_ref();
        word == "-nostartfiles" || word == "-nostdlib"
    });
    let seeks = (!starts_itself).then_some("-Wl,--undefined=main");
    ["-Wl,--wrap=main"].into_iter().chain(seeks)
}
