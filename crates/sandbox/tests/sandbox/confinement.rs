//! Programs in the sandbox: what goes on as outside, and what they get instead of the world.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{self, Test, World, run, sandbox, shell, text};
use nearmiss_sandbox::{Ended, Exceeded, Replacement, Sandbox, Stdin};

/// All of them.
pub const TESTS: &[Test] = &[
    ("ends_and_output", ends_and_output),
    ("aborts_are_seen", aborts_are_seen),
    ("writes_do_not_last", writes_do_not_last),
    ("home_is_writable", home_is_writable),
    ("writable_directories", writable_directories),
    ("files_are_replaced", files_are_replaced),
    ("system_files_are_replaced", system_files_are_replaced),
    (
        "contents_of_replaced_files_stay",
        contents_of_replaced_files_stay,
    ),
    (
        "killed_on_timeout_with_children",
        killed_on_timeout_with_children,
    ),
    ("no_network", no_network),
    ("stdin_file_and_pipe", stdin_file_and_pipe),
    ("output_is_limited", output_is_limited),
    ("missing_program", missing_program),
    ("the_user_stays", the_user_stays),
    ("directories_behind_links", directories_behind_links),
    ("crashes_leave_nothing", crashes_leave_nothing),
    ("sanitizers_work", sanitizers_work),
    ("plain_runs", plain_runs),
    ("plain_runs_replace_files", plain_runs_replace_files),
    ("working_directory_at_root", working_directory_at_root),
    ("a_run_is_cheap", a_run_is_cheap),
];

fn ends_and_output(world: &World) {
    let directory = &world.directory;
    let outcome = run(&shell(directory, "echo out; echo err >&2; pwd; exit 3"));
    assert_eq!(outcome.ended, Ended::Exited(3));
    let here = directory.canonicalize().unwrap();
    assert_eq!(text(&outcome.stdout), format!("out\n{}\n", here.display()));
    assert_eq!(text(&outcome.stderr), "err\n");
}

fn aborts_are_seen(world: &World) {
    let directory = &world.directory;
    let outcome = run(&shell(directory, "kill -ABRT $$"));
    assert_eq!(outcome.ended, Ended::Signal(6));
}

fn writes_do_not_last(world: &World) {
    let directory = &world.directory;
    fs::write(directory.join("kept"), "as it was").unwrap();
    let marks = [
        "/tmp/nearmiss-mark",
        "/var/tmp/nearmiss-mark",
        "/run/nearmiss-mark",
    ];
    let script = format!(
        "echo changed > kept; rm kept; echo new > new; cat new; for f in {}; do echo x > $f && cat $f; done; \
         for f in /etc/mark /usr/mark /root/mark /mark; do echo x > $f; done; mount -o remount,rw / ; test -e /etc/mark",
        marks.join(" ")
    );
    let outcome = run(&shell(directory, &script));
    assert_eq!(
        text(&outcome.stdout),
        "new\nx\nx\nx\n",
        "{}",
        text(&outcome.stderr)
    );
    assert_eq!(outcome.ended, Ended::Exited(1));
    assert_eq!(
        fs::read_to_string(directory.join("kept")).unwrap(),
        "as it was"
    );
    assert!(!directory.join("new").exists());
    for mark in marks
        .iter()
        .chain(&["/etc/mark", "/usr/mark", "/root/mark", "/mark"])
    {
        assert!(!Path::new(mark).exists(), "{mark}");
    }
}

fn writable_directories(world: &World) {
    let directory = &world.directory;
    fs::create_dir(directory.join("traces")).unwrap();
    let mut spec = shell(directory, "echo kept > traces/t; echo gone > t");
    spec.writable.push(directory.join("traces"));
    assert_eq!(run(&spec).ended, Ended::Exited(0));
    assert_eq!(
        fs::read_to_string(directory.join("traces/t")).unwrap(),
        "kept\n"
    );
    assert!(!directory.join("t").exists());
}

fn files_are_replaced(world: &World) {
    let directory = &world.directory;
    fs::write(directory.join("input"), "old").unwrap();
    fs::write(directory.join("content"), "new").unwrap();
    let mut spec = shell(directory, "cat input gone; mv input other && cat other");
    for name in ["input", "gone"] {
        spec.files.push(Replacement {
            path: directory.join(name),
            content: directory.join("content"),
        });
    }
    assert_eq!(text(&run(&spec).stdout), "newnewnew");
    assert_eq!(fs::read_to_string(directory.join("input")).unwrap(), "old");
    assert!(!directory.join("gone").exists());
}

fn system_files_are_replaced(world: &World) {
    let directory = &world.directory;
    fs::write(directory.join("content"), "invented").unwrap();
    let mut spec = shell(directory, "cat /etc/passwd");
    spec.files.push(Replacement {
        path: "/etc/passwd".into(),
        content: directory.join("content"),
    });
    assert_eq!(text(&run(&spec).stdout), "invented");
    assert_ne!(fs::read_to_string("/etc/passwd").unwrap(), "invented");
}

fn killed_on_timeout_with_children(world: &World) {
    let directory = &world.directory;
    fs::create_dir(directory.join("w")).unwrap();
    let script = "(setsid sh -c 'while :; do date +%N > w/alive; sleep 0.02; done' &) ; sleep 1000";
    let mut spec = shell(directory, script);
    spec.writable.push(directory.join("w"));
    // Long enough for the first word, however busy the machine is.
    spec.limits.wall = Duration::from_secs(2);
    let start = Instant::now();
    let outcome = run(&spec);
    assert!(outcome.exceeded == Some(Exceeded::Time));
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    let before = fs::read(directory.join("w/alive")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(directory.join("w/alive")).unwrap(), before);
}

fn no_network(world: &World) {
    let directory = &world.directory;
    let outcome = run(&shell(
        directory,
        "tail -n +3 /proc/net/dev | grep -v ' lo:' | wc -l",
    ));
    assert_eq!(text(&outcome.stdout).trim(), "0");
}

fn stdin_file_and_pipe(world: &World) {
    let directory = &world.directory;
    let content = "x".repeat(200_000);
    fs::write(directory.join("in"), &content).unwrap();
    let mut spec = shell(directory, "test -p /dev/stdin && echo pipe; wc -c");
    spec.stdin = Stdin::File(directory.join("in"));
    assert_eq!(text(&run(&spec).stdout), "200000\n");
    spec.stdin = Stdin::Pipe(directory.join("in"));
    assert_eq!(text(&run(&spec).stdout), "pipe\n200000\n");
}

fn output_is_limited(world: &World) {
    let directory = &world.directory;
    let mut spec = shell(directory, "head -c 3000000 /dev/zero; echo end >&2");
    spec.limits.output = 1000;
    let outcome = run(&spec);
    assert_eq!(outcome.stdout.len(), 1000);
    assert_eq!(text(&outcome.stderr), "end\n");
}

fn missing_program(world: &World) {
    let directory = &world.directory;
    let mut spec = shell(directory, "");
    spec.program = "/no/such/program".into();
    let error = sandbox().run(&spec).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}

fn plain_runs(world: &World) {
    let directory = &world.directory;
    let mut spec = shell(directory, "cat; echo there > there; kill -SEGV $$");
    fs::write(directory.join("in"), "hello").unwrap();
    spec.stdin = Stdin::Pipe(directory.join("in"));
    let outcome = Sandbox::none().run(&spec).unwrap();
    assert_eq!(
        (text(&outcome.stdout), outcome.ended),
        ("hello".into(), Ended::Signal(11))
    );
    assert!(directory.join("there").exists());
    let mut spec = shell(directory, "sleep 1000 & sleep 1000");
    spec.limits.wall = Duration::from_millis(200);
    assert!(Sandbox::none().run(&spec).unwrap().exceeded == Some(Exceeded::Time));
}

fn working_directory_at_root(_: &World) {
    let outcome = run(&shell(Path::new("/"), "pwd; echo x > /mark"));
    assert_eq!(text(&outcome.stdout), "/\n");
    assert!(!Path::new("/mark").exists());
}

/// Thousands of runs are made. The fastest of many counts, because machines that run tests are
/// busy; the limit is far above what is usual.
fn a_run_is_cheap(world: &World) {
    let spec = support::spec(Path::new("/bin/true"), &world.directory, &[]);
    let fastest = |sandbox: &Sandbox| {
        let time = || {
            let start = Instant::now();
            assert_eq!(sandbox.run(&spec).unwrap().ended, Ended::Exited(0));
            start.elapsed()
        };
        (0..50).map(|_| time()).min().expect("there are many")
    };
    let (confined, plain) = (fastest(&sandbox()), fastest(&Sandbox::none()));
    println!("/bin/true: {confined:.1?} in the sandbox, {plain:.1?} without");
    assert!(confined < Duration::from_millis(50), "{confined:?}");
}

fn home_is_writable(world: &World) {
    let mut spec = shell(&world.directory, "echo x > $HOME/new && cat ~/new");
    let home = world.outside.join("home");
    fs::create_dir(&home).unwrap();
    spec.environment.push(("HOME".into(), home.clone().into()));
    assert_eq!(text(&run(&spec).stdout), "x\n");
    assert!(!home.join("new").exists());
}

/// A file that is replaced by a mount shows the content, but cannot change it.
fn contents_of_replaced_files_stay(world: &World) {
    let (seen, content) = (world.outside.join("seen"), world.outside.join("content"));
    fs::write(&seen, "old").unwrap();
    fs::write(&content, "new").unwrap();
    let script = format!("cat {0}; echo changed > {0}", seen.display());
    let mut spec = shell(&world.directory, &script);
    spec.files.push(Replacement {
        path: seen.clone(),
        content: content.clone(),
    });
    assert_eq!(text(&run(&spec).stdout), "new");
    assert_eq!(fs::read_to_string(seen).unwrap(), "old");
    assert_eq!(fs::read_to_string(content).unwrap(), "new");
}

fn the_user_stays(world: &World) {
    let spec = shell(&world.directory, "id -u; id -g; touch f; stat -c %u f");
    // SAFETY: these calls cannot fail and touch no memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    assert_eq!(
        text(&run(&spec).stdout),
        format!("{user}\n{group}\n{user}\n")
    );
}

const LEAK: &str = "#include <stdlib.h>\nchar *volatile p; int main(int c, char **v) { \
                    p = malloc(8); p[8 * (c > 1)] = 1; p = 0; return 0; }";

/// The twin is a program with sanitizers: they map terabytes, look at /proc and use ptrace.
fn sanitizers_work(world: &World) {
    let directory = &world.directory;
    fs::write(directory.join("leak.c"), LEAK).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-fsanitize=address,undefined", "-g", "leak.c", "-o", "leak"]);
    let compiled = compiler.current_dir(directory).output().expect("cc starts");
    if !compiled.status.success() {
        println!("skipped: sanitizers, because cc does not have them");
        return;
    }
    let outcome = run(&shell(directory, "./leak out"));
    let said = text(&outcome.stderr);
    assert!(said.contains("heap-buffer-overflow"), "{said}");
    let outcome = run(&shell(directory, "ASAN_OPTIONS=detect_leaks=1 ./leak"));
    let said = text(&outcome.stderr);
    assert!(said.contains("detected memory leaks"), "{said}");
}

fn plain_runs_replace_files(world: &World) {
    let directory = &world.directory;
    fs::create_dir(directory.join("sub")).unwrap();
    for name in ["input", "sub/input", "beside", "content"] {
        fs::write(directory.join(name), name).unwrap();
    }
    let full = directory.join("sub/input");
    let mut spec = shell(
        directory,
        "cat input sub/input beside new ../*/beside \"$0\"; echo x > made",
    );
    spec.arguments.push(full.clone().into());
    for name in ["input", "sub/input", "new"] {
        spec.files.push(Replacement {
            path: directory.join(name),
            content: directory.join("content"),
        });
    }
    let outcome = Sandbox::none().run(&spec).unwrap();
    assert_eq!(
        text(&outcome.stdout),
        "contentcontentbesidecontentbesidecontent",
        "{}",
        text(&outcome.stderr)
    );
    for name in ["input", "sub/input", "beside"] {
        assert_eq!(fs::read_to_string(directory.join(name)).unwrap(), name);
    }
    assert!(!directory.join("new").exists());
}

fn directories_behind_links(world: &World) {
    let home = world.outside.join("home");
    fs::create_dir_all(home.join("real")).unwrap();
    std::os::unix::fs::symlink(&world.directory, home.join("link")).unwrap();
    let mut spec = shell(
        &home.join("link"),
        "echo x > here && cat here && echo y > ~/there && cat ~/there",
    );
    spec.environment.push(("HOME".into(), home.clone().into()));
    let outcome = run(&spec);
    assert_eq!(text(&outcome.stdout), "x\ny\n", "{}", text(&outcome.stderr));
    assert!(!world.directory.join("here").exists() && !home.join("there").exists());
}

fn crashes_leave_nothing(world: &World) {
    let outcome = run(&shell(
        &world.directory,
        "grep core /proc/self/limits; kill -SEGV $$",
    ));
    let limits: Vec<String> = text(&outcome.stdout)
        .split_whitespace()
        .map(str::to_string)
        .collect();
    assert!(["0", "1"].contains(&limits[4].as_str()), "{limits:?}");
    assert_eq!(limits[4], limits[5]);
    assert_eq!(outcome.ended, Ended::Signal(libc::SIGSEGV));
}
