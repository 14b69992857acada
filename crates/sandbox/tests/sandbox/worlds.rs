//! Worlds: what the program found when it ran first is there again, whatever became of it on the
//! disk, and the disk stays as it is.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{Test, World, run, shell, text};
use nearmiss_sandbox::{Ended, Nature, Outcome, Replacement, Sandbox, Spec, Thing};

/// All of them.
pub const TESTS: &[Test] = &[
    ("things_are_made", things_are_made),
    ("things_are_removed", things_are_removed),
    ("things_replace_others", things_replace_others),
    ("equal_things_stay", equal_things_stay),
    ("directories_that_are_gone", directories_that_are_gone),
    ("worlds_elsewhere", worlds_elsewhere),
    ("worlds_of_the_system", worlds_of_the_system),
    ("replacements_win", replacements_win),
    ("made_files_are_like_others", made_files_are_like_others),
    ("permissions_and_umask", permissions_and_umask),
    ("many_places", many_places),
    ("the_number_of_the_process", the_number_of_the_process),
    ("what_cannot_be_made", what_cannot_be_made),
    (
        "plain_runs_have_the_disks_world",
        plain_runs_have_the_disks_world,
    ),
    ("addresses_stay", addresses_stay),
    ("time_is_told", time_is_told),
];

const THEN: (i64, u32) = (1_000_000_000, 123_456_789);

/// Something that was last changed [`THEN`].
pub fn thing(path: impl Into<PathBuf>, nature: Nature, mode: u32) -> Thing {
    Thing {
        path: path.into(),
        nature,
        mode,
        modified: THEN,
    }
}

/// A file whose content is this text.
fn file(world: &World, path: impl Into<PathBuf>, content: &str) -> Thing {
    let kept = world.outside.join("contents");
    fs::create_dir_all(&kept).unwrap();
    let number = fs::read_dir(&kept).unwrap().count();
    let kept = kept.join(number.to_string());
    fs::write(&kept, content).unwrap();
    let size = content.len() as u64;
    let content = Some(kept);
    thing(path, Nature::File { content, size }, 0o644)
}

fn complete(spec: &Spec) -> Outcome {
    let outcome = run(spec);
    assert_eq!(outcome.missing, [] as [PathBuf; 0]);
    outcome
}

fn assert_says(spec: &Spec, expected: &str) {
    let outcome = complete(spec);
    let said = text(&outcome.stderr);
    assert_eq!(text(&outcome.stdout), expected, "{said}");
}

fn things_are_made(world: &World) {
    let here = &world.directory;
    let script = "cat a/b/file; stat -c '%n %F %a %s %Y' a a/b/file empty zeros pipe dir; \
                  stat -c %y a/b/file; readlink link; cat link";
    let mut spec = shell(here, script);
    let zeros = Nature::File {
        content: None,
        size: 5,
    };
    spec.world = vec![
        thing(here.join("a"), Nature::Directory, 0o711),
        file(world, here.join("a/b/file"), "hello\n"),
        file(world, here.join("empty"), ""),
        thing(here.join("zeros"), zeros, 0o600),
        thing(here.join("pipe"), Nature::Pipe, 0o620),
        thing(here.join("dir"), Nature::Directory, 0o1755),
        thing(here.join("link"), Nature::Link("a/b/file".into()), 0),
    ];
    spec.environment.push(("TZ".into(), "UTC".into()));
    assert_says(
        &spec,
        "hello\n\
         a directory 711 60 1000000000\n\
         a/b/file regular file 644 6 1000000000\n\
         empty regular empty file 644 0 1000000000\n\
         zeros regular file 600 5 1000000000\n\
         pipe fifo 620 0 1000000000\n\
         dir directory 1755 40 1000000000\n\
         2001-09-09 01:46:40.123456789 +0000\n\
         a/b/file\nhello\n",
    );
    assert_eq!(fs::read_dir(here).unwrap().count(), 0);
}

fn things_are_removed(world: &World) {
    let here = &world.directory;
    fs::create_dir_all(here.join("tree/deep")).unwrap();
    for name in ["tree/deep/file", "file", "kept"] {
        fs::write(here.join(name), name).unwrap();
    }
    symlink("tree", here.join("link")).unwrap();
    let mut spec = shell(here, "ls -A");
    for name in ["tree", "file", "link", "never/was"] {
        spec.world.push(thing(here.join(name), Nature::Absent, 0));
    }
    assert_says(&spec, "kept\n");
    assert_eq!(
        fs::read_to_string(here.join("link/deep/file")).unwrap(),
        "tree/deep/file"
    );
}

fn things_replace_others(world: &World) {
    let here = &world.directory;
    fs::create_dir_all(here.join("file/deep")).unwrap();
    fs::write(here.join("directory"), "a file").unwrap();
    fs::write(here.join("link"), "a file").unwrap();
    symlink("/etc/passwd", here.join("was-link")).unwrap();
    let mut spec = shell(here, "cat file was-link; readlink link; ls directory");
    spec.world = vec![
        file(world, here.join("file"), "1\n"),
        file(world, here.join("was-link"), "2\n"),
        thing(here.join("link"), Nature::Link("nowhere".into()), 0),
        thing(here.join("directory"), Nature::Directory, 0o755),
        file(world, here.join("directory/inner"), "3\n"),
    ];
    assert_says(&spec, "1\n2\nnowhere\ninner\n");
    assert!(here.join("file/deep").is_dir());
    assert_eq!(fs::read_to_string(here.join("link")).unwrap(), "a file");
}

/// What has the same size and time has the same content: it is not copied.
fn equal_things_stay(world: &World) {
    let here = &world.directory;
    fs::write(here.join("same"), "on disk").unwrap();
    fs::write(here.join("touched"), "on disk").unwrap();
    let times = |name: &str| {
        let found = fs::metadata(here.join(name)).unwrap();
        (found.mtime(), found.mtime_nsec() as u32)
    };
    let mut spec = shell(here, "cat same; echo; cat touched");
    for name in ["same", "touched"] {
        let mut thing = file(world, here.join(name), "made up");
        thing.mode = fs::metadata(here.join(name)).unwrap().mode();
        thing.modified = times(name);
        spec.world.push(thing);
    }
    spec.world[1].modified.0 -= 1;
    assert_says(&spec, "on disk\nmade up");
}

/// A suite's temporary directory.
fn directories_that_are_gone(world: &World) {
    let gone = world.directory.join("gone/with/the/suite");
    let mut spec = shell(&gone, "pwd; ls; cat file; echo x > new && cat new");
    spec.world = vec![
        thing(&gone, Nature::Directory, 0o700),
        file(world, gone.join("file"), "content\n"),
    ];
    let expected = format!("{}\nfile\ncontent\nx\n", gone.display());
    assert_says(&spec, &expected);
    // Also if the world says nothing of it.
    spec.world.clear();
    assert!(text(&run(&spec).stdout).ends_with("/suite\nx\n"));
    assert!(!world.directory.join("gone").exists());
    let mut spec = shell(Path::new("/tmp/nearmiss-gone/x"), "pwd; cat f");
    spec.world = vec![file(world, "/tmp/nearmiss-gone/x/f", "f\n")];
    assert_says(&spec, "/tmp/nearmiss-gone/x\nf\n");
    assert!(!Path::new("/tmp/nearmiss-gone").exists());
}

/// Neither in the working directory nor in one for scratch.
fn worlds_elsewhere(world: &World) {
    let there = world.outside.join("project");
    fs::create_dir(&there).unwrap();
    fs::write(there.join("out"), "old output").unwrap();
    let script = format!(
        "cd {}; cat out; cat in; echo new > out && cat out; echo more > new && cat new",
        there.display()
    );
    let mut spec = shell(&world.directory, &script);
    spec.world = vec![
        thing(there.join("out"), Nature::Absent, 0),
        file(world, there.join("in"), "in\n"),
    ];
    assert_says(&spec, "in\nnew\nmore\n");
    assert_eq!(fs::read_to_string(there.join("out")).unwrap(), "old output");
    assert!(!there.join("in").exists() && !there.join("new").exists());
    // Nothing differs, but the program wrote there when it ran first.
    spec.world = vec![thing(there.join("new"), Nature::Absent, 0)];
    assert!(text(&run(&spec).stdout).ends_with("new\nmore\n"));
    assert!(!there.join("new").exists());
}

fn worlds_of_the_system(world: &World) {
    let mut spec = shell(
        &world.directory,
        "cat /etc/nearmiss-test; ls /etc/passwd; echo x > /usr/x; echo x > /proc/x",
    );
    spec.world = vec![
        file(world, "/etc/nearmiss-test", "made\n"),
        file(world, "/proc/self/status", "never"),
        thing("/usr/nearmiss-test", Nature::Absent, 0),
        thing("/dev/nearmiss-test", Nature::Absent, 0),
    ];
    assert_says(&spec, "made\n/etc/passwd\n");
    assert!(!Path::new("/etc/nearmiss-test").exists() && !Path::new("/usr/x").exists());
}

fn replacements_win(world: &World) {
    let here = &world.directory;
    let content = world.outside.join("content");
    fs::write(&content, "invented\n").unwrap();
    let mut spec = shell(here, "cat a b; stat -c '%a %Y' a; mv a c && rm b && ls");
    spec.world = vec![
        file(world, here.join("a"), "recorded\n"),
        thing(here.join("b"), Nature::Absent, 0),
    ];
    for name in ["a", "b"] {
        spec.files.push(Replacement {
            path: here.join(name),
            content: content.clone(),
        });
    }
    assert_says(&spec, "invented\ninvented\n644 1000000000\nc\n");
    assert_eq!(fs::read_to_string(content).unwrap(), "invented\n");
}

fn made_files_are_like_others(world: &World) {
    let here = &world.directory;
    let script = "echo y >> big; tail -n1 big; mv big other && rm other && ln -s x big && ls; stat -c %u:%h file";
    let mut spec = shell(here, script);
    spec.world = vec![
        file(world, here.join("big"), &"x\n".repeat(3 << 20)),
        file(world, here.join("file"), "x"),
    ];
    // SAFETY: the call cannot fail and touches no memory.
    let user = unsafe { libc::geteuid() };
    assert_says(&spec, &format!("y\nbig\nfile\n{user}:1\n"));
    let kept = world.outside.join("contents/0");
    assert_eq!(fs::metadata(kept).unwrap().len(), 6 << 20);
}

fn permissions_and_umask(world: &World) {
    let here = &world.directory;
    let script = "umask; touch new; mkdir d; stat -c %a new d; echo x > locked/new || echo refused";
    let mut spec = shell(here, script);
    spec.umask = Some(0o027);
    let mut inner = file(world, here.join("locked/inner"), "x");
    inner.mode = 0o4000;
    spec.world = vec![thing(here.join("locked"), Nature::Directory, 0o555), inner];
    // SAFETY: the call cannot fail and touches no memory.
    let refused = match unsafe { libc::geteuid() } {
        0 => "",
        _ => "refused\n",
    };
    assert_says(&spec, &format!("0027\n640\n750\n{refused}"));
    let outcome = Sandbox::none().run(&shell_with_umask(here)).unwrap();
    assert_eq!(text(&outcome.stdout), "0031\n");
}

fn shell_with_umask(directory: &Path) -> Spec {
    let mut spec = shell(directory, "umask");
    spec.umask = Some(0o031);
    spec
}

/// The program has the number that it had before, and its children cannot be many because of that.
fn the_number_of_the_process(world: &World) {
    let script = "echo $$; kill -0 $$ && echo there; sh -c 'test $$ -lt 400 && echo small'; \
                  cat /proc/sys/kernel/pid_max; echo 9999 2>&- > /proc/sys/kernel/pid_max; echo $?";
    let mut spec = shell(&world.directory, script);
    spec.process = Some(20_123);
    let outcome = complete(&spec);
    let said = text(&outcome.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["20123", "there"], "{said}");
    // Older kernels have one limit for all namespaces.
    if lines[2] == "small" {
        assert!(
            lines[3].parse::<u32>().is_ok_and(|most| most < 400),
            "{said}"
        );
    }
    assert_ne!(lines.last(), Some(&"0"), "{said}");
    spec.process = None;
    assert!(!text(&complete(&spec).stdout).starts_with("20123"));
}

fn many_places(world: &World) {
    let mut spec = shell(&world.directory, "");
    let mut script = String::from("cat");
    for number in 0..40 {
        let directory = world.outside.join(format!("many/{number}/deep"));
        fs::create_dir_all(&directory).unwrap();
        script += &format!(" {}", directory.join("made").display());
        spec.world
            .push(file(world, directory.join("made"), &format!("{number} ")));
    }
    spec.arguments[2] = script.into();
    let expected: String = (0..40).map(|number| format!("{number} ")).collect();
    assert_says(&spec, &expected);
    assert!(!world.outside.join("many/0/deep/made").exists());
}

/// The root has no overlay. The program runs all the same.
fn what_cannot_be_made(world: &World) {
    let mut spec = shell(&world.directory, "cat here; cat /nearmiss-test; true");
    let lost = Nature::File {
        content: Some(world.outside.join("no-such-content")),
        size: 1,
    };
    spec.world = vec![
        file(world, "/nearmiss-test", "x"),
        file(world, world.directory.join("here"), "here"),
        thing(world.directory.join("lost"), lost, 0o644),
    ];
    let outcome = run(&spec);
    assert_eq!(outcome.ended, Ended::Exited(0));
    assert_eq!(text(&outcome.stdout), "here");
    let expected = [
        PathBuf::from("/nearmiss-test"),
        world.directory.join("lost"),
    ];
    assert_eq!(outcome.missing, expected);
}

fn plain_runs_have_the_disks_world(world: &World) {
    let here = &world.directory;
    fs::write(here.join("kept"), "kept").unwrap();
    fs::set_permissions(here.join("kept"), Permissions::from_mode(0o600)).unwrap();
    let mut spec = shell(here, "cat kept; ls");
    spec.world = vec![
        thing(here.join("kept"), Nature::Absent, 0),
        thing(here.join("absent"), Nature::Absent, 0),
        file(world, here.join("made"), "x"),
    ];
    let outcome = Sandbox::none().run(&spec).unwrap();
    assert_eq!(text(&outcome.stdout), "keptkept\n");
    assert_eq!(outcome.missing, [here.join("kept"), here.join("made")]);
}

const ADDRESSES: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
    int main(void) { int local; printf(\"%p %p %p %p %d %d\\n\", (void *)&local, malloc(9), \
    malloc(1 << 20), (void *)main, getpid(), getppid()); return 0; }";

fn addresses_stay(world: &World) {
    let here = &world.directory;
    fs::write(here.join("a.c"), ADDRESSES).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-pie", "-fPIE", "a.c", "-o", "a"]);
    let status = compiler.current_dir(here).status().unwrap();
    assert!(status.success());
    let first = run(&shell(here, "exec ./a"));
    assert_eq!(first.ended, Ended::Exited(0));
    for _ in 0..3 {
        assert_eq!(run(&shell(here, "exec ./a")).stdout, first.stdout);
    }
    let said = text(&first.stdout);
    assert!(said.ends_with(" 2 1\n"), "{said}");
}

fn time_is_told(world: &World) {
    let spec = shell(&world.directory, "sleep 0.2");
    for sandbox in [crate::support::sandbox(), Sandbox::none()] {
        let elapsed = sandbox.run(&spec).unwrap().used.elapsed;
        let expected = Duration::from_millis(190)..Duration::from_secs(60);
        assert!(expected.contains(&elapsed), "{elapsed:?}");
    }
    let mut spec = shell(&world.directory, "sleep 9");
    spec.limits.wall = Duration::from_millis(100);
    assert!(run(&spec).used.elapsed >= Duration::from_millis(100));
}
