//! Many runs by one sandbox: its launchers stay, but nothing of a run is there in the next, and
//! threads do not get in each other's way.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Test, World, sandbox, shell, spec, text};
use nearmiss_sandbox::{Ended, Exceeded, Nature, Replacement, Thing};

/// All of them.
pub const TESTS: &[Test] = &[
    (
        "runs_leave_nothing_for_the_next",
        runs_leave_nothing_for_the_next,
    ),
    ("worlds_take_turns", worlds_take_turns),
    ("launchers_survive_limits", launchers_survive_limits),
    (
        "launchers_that_die_are_replaced",
        launchers_that_die_are_replaced,
    ),
    ("threads_share_a_sandbox", threads_share_a_sandbox),
    (
        "launchers_end_with_their_sandbox",
        launchers_end_with_their_sandbox,
    ),
];

fn runs_leave_nothing_for_the_next(world: &World) {
    let sandbox = sandbox();
    let harm = spec(&world.harm, &world.directory, &["leave"]);
    let script = "for d in . /tmp /var/tmp /run /dev/shm; do ls $d/nearmiss-left; \
                  echo x > $d/nearmiss-left; done 2>&1 | grep -c 'No such'; hostname";
    let look = shell(&world.directory, script);
    let first = sandbox.run(&look).unwrap();
    assert!(text(&first.stdout).starts_with("5\n"), "{first:?}");
    assert_eq!(sandbox.run(&look).unwrap().stdout, first.stdout);
    for _ in 0..3 {
        let outcome = sandbox.run(&harm).unwrap();
        assert_eq!(text(&outcome.stdout), "memory: done\nport: done\n");
    }
}

/// Each run has its own world and nobody else's, whether it was made before or not.
fn worlds_take_turns(world: &World) {
    let here = &world.directory;
    let content = world.outside.join("content");
    fs::write(&content, "made ").unwrap();
    let sandbox = sandbox();
    for number in [1, 1, 2, 0, 2, 1] {
        let mut spec = shell(
            here,
            "cat *; echo changed > 1; rm -rf 2; echo > 3; chmod 0 .",
        );
        for name in 1..=number {
            let nature = Nature::File {
                content: Some(content.clone()),
                size: 5,
            };
            spec.world.push(Thing {
                path: here.join(name.to_string()),
                nature,
                mode: 0o644,
                modified: (1, 0),
            });
        }
        spec.files.push(Replacement {
            path: here.join("input"),
            content: content.clone(),
        });
        let outcome = sandbox.run(&spec).unwrap();
        assert_eq!(text(&outcome.stdout), "made ".repeat(number + 1));
    }
    assert_eq!(fs::read_dir(here).unwrap().count(), 0);
}

fn launchers_survive_limits(world: &World) {
    let sandbox = sandbox();
    let mut slow = shell(&world.directory, "sleep 1000");
    slow.limits.wall = Duration::from_millis(50);
    let mut missing = shell(&world.directory, "");
    missing.program = "/no/such/program".into();
    for _ in 0..3 {
        let exceeded = sandbox.run(&slow).unwrap().exceeded;
        assert_eq!(exceeded, Some(Exceeded::Time));
        assert!(sandbox.run(&missing).is_err());
        let outcome = sandbox.run(&shell(&world.directory, "exit 4")).unwrap();
        assert_eq!(outcome.ended, Ended::Exited(4));
    }
}

/// The launchers of this process.
fn launchers() -> Vec<String> {
    let this = std::process::id();
    let children = format!("/proc/self/task/{this}/children");
    let children = fs::read_to_string(children).unwrap_or_default();
    let is_launcher = |pid: &&str| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        text(&line).contains("__sandbox")
    };
    let launchers = children.split_whitespace().filter(is_launcher);
    launchers.map(str::to_string).collect()
}

fn launchers_that_die_are_replaced(world: &World) {
    let sandbox = sandbox();
    let spec = shell(&world.directory, "exit 5");
    for _ in 0..2 {
        assert_eq!(sandbox.run(&spec).unwrap().ended, Ended::Exited(5));
        let launcher: libc::pid_t = launchers()[0].parse().unwrap();
        // SAFETY: no memory is involved; the process is a child of ours.
        unsafe { libc::kill(launcher, libc::SIGKILL) };
    }
    assert_eq!(sandbox.run(&spec).unwrap().ended, Ended::Exited(5));
}

fn threads_share_a_sandbox(world: &World) {
    let sandbox = sandbox();
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        for number in 0..4 {
            let (sandbox, done) = (&sandbox, &done);
            scope.spawn(move || {
                for round in 0..10 {
                    let said = format!("{number} {round}");
                    let script =
                        format!("echo {said} > /tmp/nearmiss-x; sleep 0.01; cat /tmp/nearmiss-x");
                    let outcome = sandbox.run(&shell(&world.directory, &script)).unwrap();
                    assert_eq!(text(&outcome.stdout), format!("{said}\n"));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 40);
    assert!(launchers().len() <= 4, "{:?}", launchers());
    // Their threads are gone; they serve others.
    let outcome = sandbox.run(&shell(&world.directory, "exit 6")).unwrap();
    assert_eq!(outcome.ended, Ended::Exited(6));
}

fn launchers_end_with_their_sandbox(world: &World) {
    let sandbox = sandbox();
    let other = sandbox.clone();
    sandbox.run(&shell(&world.directory, "")).unwrap();
    let launcher = Path::new("/proc").join(&launchers()[0]);
    drop(sandbox);
    assert!(launcher.exists());
    drop(other);
    assert!(!launcher.exists());
}
