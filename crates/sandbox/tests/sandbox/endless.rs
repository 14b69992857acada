//! Programs that do not end: it is shown of those that never will, and of no other.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::support::{Test, World, run, spec};
use nearmiss_sandbox::{Ended, Endless, EndlessSearch, Exceeded, Outcome};

/// All of them.
pub const TESTS: &[Test] = &[
    ("endless_loops_are_seen", endless_loops_are_seen),
    ("what_may_end_is_not_endless", what_may_end_is_not_endless),
];

/// `endless.c`, compiled.
fn program(world: &World, level: &str) -> PathBuf {
    let source = world.outside.join("endless.c");
    fs::write(&source, include_str!("endless.c")).unwrap();
    let program = world.outside.join("endless");
    let mut command = Command::new("cc");
    command.args([level, "-w", "-o"]).arg(&program).arg(source);
    assert!(command.status().expect("cc starts").success());
    program
}

fn look(program: &std::path::Path, world: &World, name: &str) -> Outcome {
    let mut spec = spec(program, &world.directory, &[name]);
    spec.limits.cpu_seconds = 60;
    spec.limits.endless = Some(EndlessSearch {
        what: Endless::Proof,
        after: Duration::from_millis(20),
    });
    run(&spec)
}

fn endless_loops_are_seen(world: &World) {
    for level in ["-O0", "-O2"] {
        let program = program(world, level);
        for name in ["tight", "parse", "ask", "series"] {
            let outcome = look(&program, world, name);
            assert_eq!(outcome.exceeded, Some(Exceeded::Endless), "{name} {level}");
        }
        assert_eq!(look(&program, world, "end").ended, Ended::Exited(0));
    }
}

fn what_may_end_is_not_endless(world: &World) {
    let program = program(world, "-O0");
    for name in ["count", "seconds", "alarmed", "shared", "polling", "sleep"] {
        let outcome = look(&program, world, name);
        assert_eq!(outcome.exceeded, Some(Exceeded::Time), "{name}");
    }
}
