//! Stand-ins: whatever executes or loads the original's path gets the stand-in, by every name, and the disk
//! stays as it is. Each test fails where they are ignored: then programs say "original".

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::forked;
use crate::support::{Test, World, sandbox, shell, spec, text};
use nearmiss_sandbox::{Ended, Outcome, Replacement, Sandbox, SandboxError, Spec, StandIn};

/// All of them.
pub const TESTS: &[Test] = &[
    ("stand_ins_are_executed", stand_ins_are_executed),
    ("stand_ins_start_themselves", stand_ins_start_themselves),
    ("stand_ins_behind_links", stand_ins_behind_links),
    ("stand_ins_of_libraries", stand_ins_of_libraries),
    ("stand_ins_of_the_system", stand_ins_of_the_system),
    ("stand_ins_without_a_sandbox", stand_ins_without_a_sandbox),
    ("stand_ins_are_forked", stand_ins_are_forked),
    ("refused_stand_ins", refused_stand_ins),
];

/// A build of the user's, with a program, a library, and a program that uses it; beside it the
/// stand-ins of all three.
pub struct Build {
    pub originals: PathBuf,
    pub made: PathBuf,
}

impl Build {
    /// Compiles all of them.
    pub fn new(world: &World) -> Build {
        let build = Build {
            originals: world.outside.join("build"),
            made: world.outside.join("made"),
        };
        fs::write(world.outside.join("a.c"), include_str!("stand_ins.c")).unwrap();
        for (directory, says) in [(&build.originals, "original"), (&build.made, "stand-in")] {
            fs::create_dir(directory).unwrap();
            let says = format!("-DSAYS=\"{says}\"");
            compile(directory, &[&says, "-o", "program"]);
            compile(
                directory,
                &[&says, "-DLIBRARY", "-fPIC", "-shared", "-o", "libsays.so"],
            );
            let rpath = format!(
                "-Wl,--enable-new-dtags,-rpath,{}",
                build.originals.display()
            );
            compile(
                directory,
                &[&says, "-DLINKED", "-L.", "-lsays", &rpath, "-o", "user"],
            );
        }
        build
    }

    /// Path of an original.
    pub fn path(&self, name: &str) -> PathBuf {
        self.originals.join(name)
    }

    /// The stand-in of an original.
    pub fn stand_in(&self, name: &str) -> StandIn {
        StandIn {
            path: self.path(name),
            file: self.made.join(name),
        }
    }

    /// The program, of which there is a stand-in.
    pub fn program(&self, world: &World, arguments: &[&str]) -> Spec {
        let mut spec = spec(&self.path("program"), &world.directory, arguments);
        spec.stand_ins = vec![self.stand_in("program")];
        spec
    }

    /// A script that may start the program.
    pub fn shell(&self, world: &World, script: &str) -> Spec {
        let mut spec = shell(&world.directory, script);
        spec.stand_ins = vec![self.stand_in("program")];
        spec
    }

    /// What the program says of itself when it is started by a name.
    pub fn says(&self, name: &str) -> String {
        format!("stand-in {name} {}\n", self.path("program").display())
    }
}

fn compile(directory: &Path, options: &[&str]) {
    let mut command = Command::new("cc");
    command
        .args(["-O0", "-D_GNU_SOURCE", "../a.c"])
        .args(options);
    let status = command.current_dir(directory).status();
    assert!(status.expect("cc starts").success(), "{options:?}");
}

/// All that lies in a directory: its names, permissions, times and contents.
fn listing(directory: &Path) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let it = fs::symlink_metadata(&path).unwrap();
        let content = fs::read(&path).unwrap_or_default();
        all.push((path.clone(), it.mode(), it.mtime_nsec(), content));
        if it.is_dir() {
            all.extend(listing(&path));
        }
    }
    all.sort();
    all
}

/// Runs it; the disk must be as before.
pub fn run_by(sandbox: &Sandbox, world: &World, spec: &Spec) -> Outcome {
    let disk = || (listing(&world.outside), listing(&world.directory));
    let before = disk();
    let outcome = sandbox.run(spec).unwrap_or_else(|error| panic!("{error}"));
    assert!(disk() == before, "the disk has changed");
    outcome
}

/// Runs it in the sandbox.
pub fn assert_says(world: &World, spec: &Spec, expected: &str) -> Outcome {
    let outcome = run_by(&sandbox(), world, spec);
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
    outcome
}

fn stand_ins_are_executed(world: &World) {
    let build = Build::new(world);
    let path = build.path("program");
    let mut spec = build.program(world, &[]);
    assert_says(world, &spec, &build.says("program"));
    spec.arguments[0] = "another name".into();
    assert_says(world, &spec, &build.says("another name"));
    let absolute = path.display().to_string();
    assert_says(
        world,
        &build.shell(world, &absolute),
        &build.says(&absolute),
    );
    let script = format!(
        "cd {}; ./program; PATH=. program",
        build.originals.display()
    );
    let expected = [build.says("./program"), build.says("program")];
    assert_says(world, &build.shell(world, &script), &expected.concat());
    // A copy is a copy of the stand-in, as when the recorded program was copied.
    let script = format!("cp {absolute} copy && ./copy | cut -d' ' -f1");
    assert_says(world, &build.shell(world, &script), "stand-in\n");
    // Without any the program is the user's own.
    spec.stand_ins.clear();
    let own = text(&run_by(&sandbox(), world, &spec).stdout);
    assert!(own.starts_with("original "), "{own}");
}

fn stand_ins_start_themselves(world: &World) {
    let build = Build::new(world);
    let spec = build.program(world, &["again"]);
    assert_says(world, &spec, &build.says("program").repeat(2));
    let path = build.path("program").display().to_string();
    let spec = build.program(world, &["start", &path]);
    let expected = [build.says("program"), build.says(&path)];
    assert_says(world, &spec, &expected.concat());
}

/// Symbolic links to the program and to its directory lead to the stand-in, and it may be named by them; hard links do not.
fn stand_ins_behind_links(world: &World) {
    let build = Build::new(world);
    symlink("build", world.outside.join("builds")).unwrap();
    symlink(build.path("program"), world.directory.join("link")).unwrap();
    let indirect = world.outside.join("builds/program");
    let expected = [build.says("./link"), build.says(indirect.to_str().unwrap())];
    let script = format!("./link; {}", indirect.display());
    let mut spec = build.shell(world, &script);
    assert_says(world, &spec, &expected.concat());
    spec.stand_ins[0].path = indirect.clone();
    assert_says(world, &spec, &expected.concat());
    spec.stand_ins[0].path = world.directory.join("link");
    assert_says(world, &spec, &expected.concat());
    let mut spec = build.program(world, &[]);
    spec.program = indirect;
    assert_says(world, &spec, &build.says("program"));
    fs::hard_link(build.path("program"), world.outside.join("hard")).unwrap();
    spec.program = world.outside.join("hard");
    let outcome = run_by(&sandbox(), world, &spec);
    assert!(text(&outcome.stdout).starts_with("original "));
}

/// By rpath, by an absolute name, and a program and its library in one directory.
fn stand_ins_of_libraries(world: &World) {
    let build = Build::new(world);
    let mut spec = spec(&build.path("user"), &world.directory, &[]);
    spec.stand_ins = vec![build.stand_in("libsays.so")];
    let expected = format!("stand-in user {}\n", build.path("user").display());
    assert_says(world, &spec, &expected);
    spec.stand_ins.push(build.stand_in("user"));
    assert_says(world, &spec, &expected);
    let library = build.path("libsays.so").display().to_string();
    let mut spec = build.program(world, &["load", &library]);
    spec.stand_ins.push(build.stand_in("libsays.so"));
    let said = build.says("program").replace('\n', " loads stand-in\n");
    assert_says(world, &spec, &said);
    spec.stand_ins.pop();
    assert_says(
        world,
        &spec,
        &said.replace("loads stand-in", "loads original"),
    );
}

/// Where nothing can be written and nothing is overlaid, in a directory reached by a symbolic link.
fn stand_ins_of_the_system(world: &World) {
    let build = Build::new(world);
    let mut spec = build.shell(world, "/bin/true; /usr/bin/true; env true");
    spec.stand_ins[0].path = "/bin/true".into();
    let path = fs::canonicalize("/bin/true").unwrap();
    let names = ["/bin/true", "/usr/bin/true", "true"];
    let lines = names.map(|name| format!("stand-in {name} {}\n", path.display()));
    assert_says(world, &spec, &lines.concat());
}

/// The program itself and its libraries are the stand-ins'; what is started by its path is the original.
fn stand_ins_without_a_sandbox(world: &World) {
    let build = Build::new(world);
    let none = Sandbox::none();
    let said = |spec: &Spec| text(&run_by(&none, world, spec).stdout);
    let file = build.made.join("program");
    let expected = format!("stand-in program {}\n", file.display());
    let mut spec = build.program(world, &[]);
    assert_eq!(said(&spec), expected);
    symlink(build.path("program"), world.outside.join("link")).unwrap();
    spec.program = world.outside.join("link");
    assert_eq!(said(&spec), expected);
    fs::remove_file(build.path("program")).unwrap();
    assert_eq!(said(&build.program(world, &[])), expected);
    // `LD_LIBRARY_PATH` comes before the program's `DT_RUNPATH`.
    let mut spec = spec_of_user(world, &build);
    assert!(said(&spec).starts_with("stand-in user "));
    spec.stand_ins.truncate(1);
    assert!(said(&spec).starts_with("original user "));
    let script = "echo $LD_LIBRARY_PATH";
    let mut spec = build.shell(world, script);
    spec.stand_ins.push(build.stand_in("libsays.so"));
    assert_eq!(said(&spec), format!("{}\n", build.made.display()));
    spec.environment
        .push(("LD_LIBRARY_PATH".into(), "/a:/b".into()));
    assert_eq!(said(&spec), format!("{}:/a:/b\n", build.made.display()));
}

fn spec_of_user(world: &World, build: &Build) -> Spec {
    let mut spec = spec(&build.path("user"), &world.directory, &[]);
    spec.stand_ins = vec![build.stand_in("user"), build.stand_in("libsays.so")];
    spec
}

/// One server serves many runs: a stand-in is nothing that a run has left.
fn stand_ins_are_forked(world: &World) {
    let build = Build::new(world);
    let sandbox = sandbox();
    let program = forked::program(world);
    let content = world.outside.join("content");
    fs::write(&content, "content").unwrap();
    for is_there in [true, false] {
        let mut spec = build.program(world, &["one"]);
        spec.stand_ins[0].file = program.clone();
        spec.stand_ins.push(build.stand_in("libsays.so"));
        // One is beneath a stand-in, one is not.
        for path in [build.path("libsays.so"), world.directory.join("input")] {
            let content = content.clone();
            spec.files.push(Replacement { path, content });
        }
        if !is_there {
            fs::remove_file(build.path("program")).unwrap();
        }
        let mut server = sandbox.fork_server(&spec).unwrap();
        for _ in 0..5 {
            let outcome = server.run(&spec).unwrap().expect("it is alive");
            assert_eq!(outcome.ended, Ended::Exited(2));
            let said = text(&outcome.stdout);
            assert!(said.starts_with("2: one [] [content]"), "{said}");
            assert!(server.is_alive());
        }
        let mut other = spec.clone();
        assert!(spec.is_alike(&other));
        other.stand_ins[1].file = build.made.join("user");
        assert!(!spec.is_alike(&other));
        assert_eq!(spec.executed(), program);
    }
}

fn refused_stand_ins(world: &World) {
    let build = Build::new(world);
    let sandbox = sandbox();
    let mut spec = build.program(world, &[]);
    spec.stand_ins[0].path = "/dev/shm/program".into();
    let refusal = sandbox.run(&spec);
    assert!(matches!(refusal, Err(SandboxError::Hidden(path)) if path.ends_with("shm/program")));
    spec = build.program(world, &[]);
    spec.stand_ins[0].file = world.outside.join("lost");
    assert!(sandbox.run(&spec).unwrap_err().to_string().contains("lost"));
}
