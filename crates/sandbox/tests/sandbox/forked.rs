//! A program that is forked for every run: each has its own input and nothing of the runs before, and what
//! cannot be had that way is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{Test, World, sandbox, spec, text};
use nearmiss_sandbox::{Ended, Exceeded, ForkServer, Outcome, Replacement, Spec, Stdin};

/// All of them.
pub const TESTS: &[Test] = &[
    (
        "forked_runs_have_inputs_of_their_own",
        runs_have_inputs_of_their_own,
    ),
    (
        "what_a_run_leaves_ends_its_server",
        what_a_run_leaves_ends_its_server,
    ),
    (
        "forked_runs_have_the_number_they_ask_for",
        runs_have_the_number_they_ask_for,
    ),
    ("forked_runs_are_limited", runs_are_limited),
    (
        "what_was_written_before_is_every_run_s",
        what_was_written_before_is_every_run_s,
    ),
    ("some_programs_are_not_forked", some_programs_are_not_forked),
];

/// `forked.c`, linked as programs and twins are.
pub fn program(world: &World) -> PathBuf {
    let sources = [
        ("forked.c", include_str!("forked.c")),
        ("main.c", include_str!("../../../../libc/main.c")),
        ("restart.c", include_str!("../../../../libc/restart.c")),
        ("restart.h", include_str!("../../../../libc/restart.h")),
    ];
    for (name, text) in sources {
        fs::write(world.outside.join(name), text).unwrap();
    }
    let program = world.outside.join("forked");
    let clang = std::env::var_os("NEARMISS_CLANG").unwrap_or("clang-19".into());
    let mut command = Command::new(clang);
    command
        .args(["-O1", "-w", "-Wl,--wrap=main", "-o"])
        .arg(&program)
        .args(["forked.c", "main.c", "restart.c"])
        .current_dir(&world.outside);
    let status = command.status();
    assert!(status.expect("clang starts").success());
    program
}

fn served(server: &mut ForkServer, spec: &Spec) -> Outcome {
    server.run(spec).unwrap().expect("it is alive")
}

/// All runs give what a process of its own gives, whatever was run before.
fn runs_have_inputs_of_their_own(world: &World) {
    let sandbox = sandbox();
    let program = program(world);
    let content = |name: &str, text: &str| {
        let path = world.outside.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    fs::write(world.directory.join("input"), "old").unwrap();
    let stdins = [
        Stdin::Null,
        Stdin::File(content("a", "one")),
        Stdin::Pipe(content("b", "three")),
        Stdin::File(content("c", "")),
    ];
    let long = "x".repeat(3000);
    let arguments: [&[&str]; 5] = [&[], &["a"], &["one", "two", "three"], &["", ""], &[&long]];
    let mut server: Option<ForkServer> = None;
    for round in 0..20 {
        let mut spec = spec(&program, &world.directory, arguments[round % 5]);
        spec.stdin = stdins[round % 4].clone();
        spec.files.push(Replacement {
            path: world.directory.join("input"),
            content: content("file", &"f".repeat(round % 7)),
        });
        let server = server.get_or_insert_with(|| sandbox.fork_server(&spec).unwrap());
        let (forked, alone) = (served(server, &spec), sandbox.run(&spec).unwrap());
        // The constructor saw what the server was given, and no run before.
        let expected = text(&alone.stdout).replace(
            &format!(" {} 3 1 1 clean", spec.arguments.len()),
            " 1 3 1 1 clean",
        );
        assert_eq!(text(&forked.stdout), expected);
        assert_eq!(forked.ended, alone.ended);
        assert!(server.is_alive());
    }
    assert_eq!(fs::read(world.directory.join("input")).unwrap(), b"old");
}

fn what_a_run_leaves_ends_its_server(world: &World) {
    let sandbox = sandbox();
    let program = program(world);
    fs::write(world.directory.join("input"), "old").unwrap();
    let clean = spec(&program, &world.directory, &["clean"]);
    let expected = sandbox.run(&clean).unwrap();
    for (what, is_alive) in [
        ("clean", true),
        ("file", false),
        ("change", false),
        ("memory", false),
        ("process", true),
        ("all", false),
    ] {
        let mut server = sandbox.fork_server(&clean).unwrap();
        let outcome = served(&mut server, &spec(&program, &world.directory, &[what]));
        assert_eq!(outcome.exceeded, None, "{what}");
        let next = server.run(&clean).unwrap();
        assert_eq!(next.is_some(), is_alive, "{what}");
        if let Some(next) = next {
            assert_eq!(
                text(&next.stdout),
                text(&expected.stdout).replace("] 2 3 1", "] 1 3 1")
            );
        }
    }
}

fn runs_have_the_number_they_ask_for(world: &World) {
    let sandbox = sandbox();
    let program = program(world);
    let mut spec = spec(&program, &world.directory, &[]);
    let mut server = sandbox.fork_server(&spec).unwrap();
    for number in [None, Some(4711), Some(4711), Some(17), None] {
        spec.process = number;
        let outcome = served(&mut server, &spec);
        assert_eq!(outcome.ended, Ended::Exited(1), "{number:?}");
    }
}

fn runs_are_limited(world: &World) {
    let sandbox = sandbox();
    let program = program(world);
    let mut spec = spec(&program, &world.directory, &["time"]);
    let mut server = sandbox.fork_server(&spec).unwrap();
    spec.limits.wall = Duration::from_millis(200);
    let outcome = served(&mut server, &spec);
    assert_eq!(outcome.exceeded, Some(Exceeded::Time));
    assert!(!server.is_alive());
    assert!(sandbox.fork_server(&spec).is_ok());
}

/// A program that writes before it waits gives with each run what a process of its own gives, within the limit.
fn what_was_written_before_is_every_run_s(world: &World) {
    let sandbox = sandbox();
    let mut spec = spec(&program(world), &world.directory, &["one"]);
    spec.environment.push(("BEFORE".into(), "say".into()));
    let mut server = sandbox.fork_server(&spec).unwrap();
    for limit in [1 << 20, 1 << 20, 7] {
        spec.limits.output = limit;
        let forked = served(&mut server, &spec);
        let alone = sandbox.run(&spec).unwrap();
        assert!(text(&alone.stdout).starts_with("early"));
        let said = |outcome: &Outcome| outcome.stdout.len();
        assert_eq!(said(&forked), said(&alone), "{}", text(&forked.stdout));
        assert!(text(&forked.stdout).starts_with("early2"));
    }
}

fn some_programs_are_not_forked(world: &World) {
    let sandbox = sandbox();
    let program = program(world);
    for before in ["thread", "open", "write", "hang"] {
        let mut spec = spec(&program, &world.directory, &[]);
        spec.environment.push(("BEFORE".into(), before.into()));
        assert!(sandbox.fork_server(&spec).is_err(), "{before}");
    }
    // One that knows of no server never says that it is ready.
    let other = spec(Path::new("/bin/true"), &world.directory, &[]);
    assert!(sandbox.fork_server(&other).is_err());
    assert!(sandbox.without_fork_servers().fork_server(&other).is_err());
}
