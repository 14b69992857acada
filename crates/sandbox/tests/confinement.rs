//! Programs in the sandbox, and what they cannot do.
//!
//! Has a `main` of its own because the sandbox starts this executable anew as its launcher.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nearmiss_sandbox::{Ended, Exceeded, Outcome, Replacement, Sandbox, Spec, Stdin};

/// A test gets a directory of its own.
type Test = fn(&Path);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).map(String::as_str) == Some("__sandbox") {
        nearmiss_sandbox::enter(arguments[2].parse().expect("a descriptor"));
    }
    let tests: &[(&str, Test)] = &[
        ("ends_and_output", ends_and_output),
        ("aborts_are_seen", aborts_are_seen),
        ("writes_do_not_last", writes_do_not_last),
        ("writable_directories", writable_directories),
        ("files_are_replaced", files_are_replaced),
        ("system_files_are_replaced", system_files_are_replaced),
        (
            "killed_on_timeout_with_children",
            killed_on_timeout_with_children,
        ),
        ("no_network", no_network),
        ("stdin_file_and_pipe", stdin_file_and_pipe),
        ("output_is_limited", output_is_limited),
        ("memory_is_limited", memory_is_limited),
        ("missing_program", missing_program),
        ("plain_runs", plain_runs),
        ("working_directory_at_root", working_directory_at_root),
        ("a_run_is_cheap", a_run_is_cheap),
    ];
    for (name, test) in tests {
        let directory = tempfile::tempdir().expect("a directory");
        test(directory.path());
        println!("test {name} ... ok");
    }
}

fn sandbox() -> Sandbox {
    let this = std::env::current_exe().expect("this executable");
    Sandbox::confined(vec![this.into(), "__sandbox".into()])
}

fn shell(directory: &Path, script: &str) -> Spec {
    Spec {
        program: "/bin/sh".into(),
        arguments: ["sh", "-c", script].map(OsString::from).to_vec(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: directory.into(),
        stdin: Stdin::Null,
        files: Vec::new(),
        writable: Vec::new(),
        limits: Default::default(),
    }
}

fn run(spec: &Spec) -> Outcome {
    sandbox()
        .run(spec)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ends_and_output(directory: &Path) {
    let outcome = run(&shell(directory, "echo out; echo err >&2; pwd; exit 3"));
    assert_eq!(outcome.ended, Ended::Exited(3));
    let here = directory.canonicalize().unwrap();
    assert_eq!(text(&outcome.stdout), format!("out\n{}\n", here.display()));
    assert_eq!(text(&outcome.stderr), "err\n");
}

fn aborts_are_seen(directory: &Path) {
    let outcome = run(&shell(directory, "kill -ABRT $$"));
    assert_eq!(outcome.ended, Ended::Signal(6));
}

fn writes_do_not_last(directory: &Path) {
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

fn writable_directories(directory: &Path) {
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

fn files_are_replaced(directory: &Path) {
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

fn system_files_are_replaced(directory: &Path) {
    fs::write(directory.join("content"), "invented").unwrap();
    let mut spec = shell(directory, "cat /etc/passwd");
    spec.files.push(Replacement {
        path: "/etc/passwd".into(),
        content: directory.join("content"),
    });
    assert_eq!(text(&run(&spec).stdout), "invented");
    assert_ne!(fs::read_to_string("/etc/passwd").unwrap(), "invented");
}

fn killed_on_timeout_with_children(directory: &Path) {
    fs::create_dir(directory.join("w")).unwrap();
    let script = "(setsid sh -c 'while :; do date +%N > w/alive; sleep 0.02; done' &) ; sleep 60";
    let mut spec = shell(directory, script);
    spec.writable.push(directory.join("w"));
    spec.limits.wall = Duration::from_millis(400);
    let start = Instant::now();
    let outcome = run(&spec);
    assert!(outcome.exceeded == Some(Exceeded::Time));
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "{:?}",
        start.elapsed()
    );
    let before = fs::read(directory.join("w/alive")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(directory.join("w/alive")).unwrap(), before);
}

fn no_network(directory: &Path) {
    let outcome = run(&shell(
        directory,
        "tail -n +3 /proc/net/dev | grep -v ' lo:' | wc -l",
    ));
    assert_eq!(text(&outcome.stdout).trim(), "0");
}

fn stdin_file_and_pipe(directory: &Path) {
    let content = "x".repeat(200_000);
    fs::write(directory.join("in"), &content).unwrap();
    let mut spec = shell(directory, "test -p /dev/stdin && echo pipe; wc -c");
    spec.stdin = Stdin::File(directory.join("in"));
    assert_eq!(text(&run(&spec).stdout), "200000\n");
    spec.stdin = Stdin::Pipe(directory.join("in"));
    assert_eq!(text(&run(&spec).stdout), "pipe\n200000\n");
}

fn output_is_limited(directory: &Path) {
    let mut spec = shell(directory, "head -c 3000000 /dev/zero; echo end >&2");
    spec.limits.output = 1000;
    let outcome = run(&spec);
    assert_eq!(outcome.stdout.len(), 1000);
    assert_eq!(text(&outcome.stderr), "end\n");
}

fn memory_is_limited(directory: &Path) {
    let mut spec = shell(directory, "dd if=/dev/zero of=/dev/null bs=300M count=100");
    spec.limits.memory = 100 << 20;
    assert!(run(&spec).exceeded == Some(Exceeded::Memory));
}

fn missing_program(directory: &Path) {
    let mut spec = shell(directory, "");
    spec.program = "/no/such/program".into();
    let error = sandbox().run(&spec).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}

fn plain_runs(directory: &Path) {
    let mut spec = shell(directory, "cat; echo there > there; kill -SEGV $$");
    fs::write(directory.join("in"), "hello").unwrap();
    spec.stdin = Stdin::Pipe(directory.join("in"));
    let outcome = Sandbox::none().run(&spec).unwrap();
    assert_eq!(
        (text(&outcome.stdout), outcome.ended),
        ("hello".into(), Ended::Signal(11))
    );
    assert!(directory.join("there").exists());
    let mut spec = shell(directory, "sleep 60 & sleep 60");
    spec.limits.wall = Duration::from_millis(200);
    assert!(Sandbox::none().run(&spec).unwrap().exceeded == Some(Exceeded::Time));
}

fn working_directory_at_root(_: &Path) {
    let outcome = run(&shell(Path::new("/"), "pwd; echo x > /mark"));
    assert_eq!(text(&outcome.stdout), "/\n");
    assert!(!Path::new("/mark").exists());
}

/// Thousands of runs are made. The limit is far above what is usual, for busy machines.
fn a_run_is_cheap(directory: &Path) {
    let mut spec = shell(directory, "");
    spec.program = "/bin/true".into();
    spec.arguments = vec!["true".into()];
    let median = |sandbox: &Sandbox| {
        let mut times: Vec<Duration> = (0..100)
            .map(|_| {
                let start = Instant::now();
                assert_eq!(sandbox.run(&spec).unwrap().ended, Ended::Exited(0));
                start.elapsed()
            })
            .collect();
        times.sort();
        times[times.len() / 2]
    };
    let (confined, plain) = (median(&sandbox()), median(&Sandbox::none()));
    println!("/bin/true: {confined:.1?} in the sandbox, {plain:.1?} without");
    assert!(confined < Duration::from_millis(50), "{confined:?}");
}
