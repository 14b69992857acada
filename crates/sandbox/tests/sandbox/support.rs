//! What the tests of the sandbox share: a `main` of their own, because the sandbox starts the
//! test's executable anew as its launcher, and two passes, as root and as nobody.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::thread;
use std::time::{Duration, Instant};

use nearmiss_sandbox::{Limits, Outcome, Sandbox, Spec, StandIn, Stdin};

/// A test and its name.
pub type Test = (&'static str, fn(&World));

/// Whom root becomes for the second pass.
const NOBODY: u32 = 65534;

/// What a test finds.
pub struct World {
    /// Where programs run.
    pub directory: PathBuf,
    /// A directory that is none of theirs.
    pub outside: PathBuf,
    /// `harm.c`, compiled.
    pub harm: PathBuf,
    /// Second lines of defence that this kernel does not have.
    pub missing: Vec<String>,
}

impl World {
    /// Whether `outside` lies beneath a directory that programs may write in, and whatever they
    /// do there goes into an overlay: so where the sources are kept below `/tmp`.
    pub fn outside_is_overlaid(&self) -> bool {
        ["/tmp", "/var/tmp", "/run"]
            .iter()
            .any(|writable| self.outside.starts_with(writable))
    }
}

/// Runs the tests whose names contain the argument; as root, runs them as nobody too.
pub fn main(tests: &[Test]) {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [_, "__sandbox", fd] => nearmiss_sandbox::enter(fd.parse().expect("a descriptor")),
        [_, "__check"] => check_and_exit(),
        [_, "__run", program, directory, harm] => {
            let spec = spec(Path::new(program), Path::new(directory), &[harm]);
            print!("{}", text(&run(&spec).stdout));
            exit(0);
        }
        [
            _,
            "__time",
            program,
            directory,
            count,
            threads,
            ref pairs @ ..,
        ] => {
            let mut spec = spec(Path::new(program), Path::new(directory), &[]);
            let stand_in = |pair: &[&str]| StandIn {
                path: pair[0].into(),
                file: pair[1].into(),
            };
            spec.stand_ins = pairs.chunks_exact(2).map(stand_in).collect();
            measure(&spec, count.parse().expect("a number"), threads);
            exit(0);
        }
        [_, "__pass", base, filter] => return run_all(tests, Path::new(base), filter),
        _ => {}
    }
    let filter = words.iter().skip(1).find(|word| !word.starts_with('-'));
    let filter = filter.copied().unwrap_or("");
    // SAFETY: the call cannot fail and touches no memory.
    if unsafe { libc::geteuid() } == 0 {
        pass("as root", None, filter);
        pass("as nobody", Some(NOBODY), filter);
    } else {
        println!("skipped: the pass as root, because this is not root");
        pass("as this user", None, filter);
    }
}

/// One pass, in a process of its own, with everything where the user can reach it.
fn pass(name: &str, user: Option<u32>, filter: &str) {
    println!("{name}:");
    let base = Base::new();
    let this = std::env::current_exe().expect("this executable");
    fs::copy(this, base.0.join("test")).expect("a copy of this executable");
    compile_harm(&base.0);
    if let Some(user) = user {
        for entry in fs::read_dir(&base.0).expect("it was just made") {
            std::os::unix::fs::chown(entry.unwrap().path(), Some(user), Some(user)).unwrap();
        }
    }
    let mut command = Command::new(base.0.join("test"));
    command.arg("__pass").arg(&base.0).arg(filter);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let status = command.status().expect("the pass starts");
    assert!(status.success(), "{name}: {status}");
}

/// Where the sources are, if every user can go there (nobody can go to root's home directory).
fn reachable_directory() -> PathBuf {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let can_pass = |directory: &Path| {
        let metadata = fs::metadata(directory);
        metadata.is_ok_and(|found| found.permissions().mode() & 0o001 != 0)
    };
    match within.ancestors().skip(1).all(can_pass) {
        true => within.to_path_buf(),
        false => std::env::temp_dir(),
    }
}

/// A directory that is none of the sandbox's own.
struct Base(PathBuf);

impl Base {
    fn new() -> Base {
        let name = format!("sandbox-{}", std::process::id());
        let path = reachable_directory().join(name);
        let _ = fs::remove_dir_all(&path);
        for part in ["", "work", "outside"] {
            fs::create_dir_all(path.join(part)).expect("a directory");
            fs::set_permissions(path.join(part), Permissions::from_mode(0o777)).unwrap();
        }
        Base(path)
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn compile_harm(base: &Path) {
    let source = base.join("harm.c");
    fs::write(&source, include_str!("harm.c")).unwrap();
    let mut command = Command::new("cc");
    command.args(["-O0", "-w", "-o"]).arg(base.join("harm"));
    let status = command.arg(source).status().expect("cc starts");
    assert!(status.success(), "harm.c cannot be compiled");
}

fn run_all(tests: &[Test], base: &Path, filter: &str) {
    let missing = match sandbox().check() {
        Ok(missing) => missing,
        Err(error) => {
            println!("skipped: all tests of this pass: {error}");
            return;
        }
    };
    for feature in &missing {
        println!("this kernel does not have {feature}");
    }
    for (name, test) in tests.iter().filter(|(name, _)| name.contains(filter)) {
        let part = |kind: &str| {
            let path = base.join(kind).join(name);
            fs::create_dir_all(&path).expect("a directory");
            path
        };
        test(&World {
            directory: part("work"),
            outside: part("outside"),
            harm: base.join("harm"),
            missing: missing.clone(),
        });
        println!("test {name} ... ok");
    }
}

/// For developers: how long a run takes when several threads make many of them. Pairs of a path and a file behind
/// the number of threads are stand-ins.
fn measure(spec: &Spec, count: u32, threads: &str) {
    let threads: u32 = threads.parse().expect("a number");
    let sandbox = sandbox();
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..count / threads {
                    sandbox.run(spec).unwrap_or_else(|error| panic!("{error}"));
                }
            });
        }
    });
    println!("{:.3?} a run", start.elapsed() / count);
}

fn check_and_exit() -> ! {
    match sandbox().check() {
        Ok(missing) => println!("there is a sandbox; missing: {missing:?}"),
        Err(error) => println!("{error}"),
    }
    exit(0)
}

/// A sandbox whose launcher is this executable.
pub fn sandbox() -> Sandbox {
    let this = std::env::current_exe().expect("this executable");
    Sandbox::confined(vec![this.into(), "__sandbox".into()])
}

/// A program with its arguments.
pub fn spec(program: &Path, directory: &Path, arguments: &[&str]) -> Spec {
    let name = program.file_name().unwrap_or_default().to_os_string();
    let arguments = arguments.iter().map(OsString::from);
    Spec {
        program: program.into(),
        arguments: [name].into_iter().chain(arguments).collect(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: directory.into(),
        stdin: Stdin::Null,
        umask: None,
        process: None,
        world: Vec::new(),
        files: Vec::new(),
        stand_ins: Vec::new(),
        writable: Vec::new(),
        // What is to end by a limit has a shorter one; nothing else is to, however busy the machine.
        limits: Limits {
            wall: Duration::from_secs(120),
            ..Limits::default()
        },
    }
}

/// A script of the shell.
pub fn shell(directory: &Path, script: &str) -> Spec {
    spec(Path::new("/bin/sh"), directory, &["-c", script])
}

/// Runs it in the sandbox.
pub fn run(spec: &Spec) -> Outcome {
    sandbox()
        .run(spec)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
