//! Planning a link: the user's own arguments, with objects in place of sources.

use std::ffi::OsStr;

use crate::command::{Argument, Command, InputKind};
use crate::options::Role;
use crate::plan::{Link, LinkArgument};

/// Plans the link of a command.
pub fn link(command: &Command) -> Link {
    let mut arguments = Vec::new();
    if command.inputs(InputKind::Instrumented).next().is_some() {
        // Options for sources that are objects by now.
        arguments.push(LinkArgument::Silent(vec!["-Qunused-arguments".into()]));
    }
    let mut compiled = 0;
    for argument in &command.arguments {
        link_argument(&mut arguments, argument, &mut compiled);
    }
    let has_word = |word: &str| {
        command
            .arguments
            .iter()
            .any(|argument| argument.words[0] == word)
    };
    let bare = ["-nostdlib", "-nodefaultlibs", "-nolibc"]
        .into_iter()
        .any(has_word);
    Link {
        arguments,
        runtime: !command.has(Role::Relocatable) && !has_word("-Wl,-r"),
        shared: command.has(Role::Shared),
        is_static: ["-static", "--static", "-static-pie"]
            .into_iter()
            .any(has_word),
        aside: command
            .with(Role::Aside)
            .flat_map(|argument| argument.words.clone())
            .filter(|word| !word.starts_with("-fno-"))
            .collect(),
        counters: command
            .with(Role::Dropped)
            .flat_map(|argument| argument.words.clone())
            .filter(|word| asks_for_counters(word))
            .collect(),
        names_libc: bare
            && command
                .with(Role::Library)
                .any(|argument| argument.value == "c"),
    }
}

/// Whether an option makes the program count what it executes.
fn asks_for_counters(word: &str) -> bool {
    let profiles = [
        "-fprofile-arcs",
        "-fprofile-generate",
        "-fprofile-instr-generate",
    ];
    matches!(word, "--coverage" | "-coverage")
        || profiles.iter().any(|option| word.starts_with(option))
}

fn link_argument(arguments: &mut Vec<LinkArgument>, argument: &Argument, compiled: &mut usize) {
    let words = argument.words.clone();
    match (argument.role, &argument.input) {
        (Role::Input, Some(input)) => match (input.kind, &input.language) {
            (InputKind::Instrumented, _) => {
                arguments.push(LinkArgument::Compiled(*compiled));
                *compiled += 1;
            }
            (InputKind::Plain, Some(language)) => {
                arguments.push(LinkArgument::Option(vec!["-x".into(), language.clone()]));
                arguments.push(LinkArgument::Source(words[0].clone()));
                arguments.push(LinkArgument::Option(vec!["-x".into(), "none".into()]));
            }
            (InputKind::Plain, None) => arguments.push(LinkArgument::Source(words[0].clone())),
            (InputKind::Linked, _) => arguments.push(LinkArgument::Linked(words[0].clone())),
        },
        // Said again where a source needs it; put aside.
        (Role::Language | Role::Aside | Role::Temporaries, _) => {}
        (Role::LinkPath, _) => {
            let name = words[0][..2].to_string();
            arguments.push(LinkArgument::Path(name, argument.value.clone()));
        }
        (Role::Output | Role::Dependencies | Role::DependencyFile, _) => {
            arguments.push(LinkArgument::Silent(words));
        }
        (Role::DependencyTarget | Role::DependencyDetail, _) => {
            arguments.push(LinkArgument::Silent(words))
        }
        _ => arguments.push(LinkArgument::Option(words)),
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
