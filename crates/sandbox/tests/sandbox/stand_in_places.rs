//! Stand-ins where the disk or the world has something else at their paths, or nothing, and
//! a launcher that serves runs with others.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::stand_ins::{Build, assert_says, run_by};
use crate::support::{Test, World, run, sandbox, shell, text};
use crate::worlds::thing;
use nearmiss_sandbox::{Nature, Replacement, Spec};

/// All of them.
pub const TESTS: &[Test] = &[
    ("stand_ins_cannot_be_changed", stand_ins_cannot_be_changed),
    ("stand_ins_of_what_is_gone", stand_ins_of_what_is_gone),
    ("stand_ins_win", stand_ins_win),
    ("stand_ins_without_a_place", stand_ins_without_a_place),
    ("stand_ins_take_turns", stand_ins_take_turns),
    (
        "stand_ins_do_not_hold_the_disk",
        stand_ins_do_not_hold_the_disk,
    ),
];

/// A mount point stays where it is. Set-user-id bits have no effect: the program compares its users.
fn stand_ins_cannot_be_changed(world: &World) {
    let build = Build::new(world);
    let file = build.made.join("program");
    // SAFETY: the call cannot fail and touches no memory.
    if unsafe { libc::geteuid() } == 0 {
        std::os::unix::fs::chown(&file, Some(65534), Some(65534)).unwrap();
    }
    fs::set_permissions(&file, Permissions::from_mode(0o6755)).unwrap();
    let mut spec = build.program(world, &["change"]);
    if !world.outside_is_overlaid() {
        let said = text(&run_by(&sandbox(), world, &spec).stdout);
        assert!(said.contains(" unlink=EROFS rename=EXDEV link=EXDEV chmod=EROFS"));
    }
    spec.directory = build.originals.clone();
    let said = build.says("program");
    let fails = " unlink=EBUSY rename=EBUSY link=EXDEV chmod=EROFS write=ETXTBSY read=done\n";
    assert_says(world, &spec, &said.replace('\n', fails));
    let script = "echo x >> program; mkdir new; cp program new; mv new old; old/program | wc -l";
    let mut spec = build.shell(world, script);
    spec.directory = build.originals.clone();
    let outcome = assert_says(world, &spec, "1\n");
    let complaint = text(&outcome.stderr);
    assert!(complaint.contains("Read-only file system"), "{complaint}");
}

/// Programs of a suite that was cleaned up: in the working directory, elsewhere, with and without a world.
fn stand_ins_of_what_is_gone(world: &World) {
    let build = Build::new(world);
    for (place, name) in [
        (world.directory.join("gone/deep"), "gone/deep/program"),
        (
            world.outside.join("gone"),
            "../../outside/stand_ins_of_what_is_gone/gone/program",
        ),
        (build.originals.clone(), "program"),
        ("/tmp/nearmiss-gone".into(), "/tmp/nearmiss-gone/program"),
    ] {
        let path = place.join("program");
        let _ = fs::remove_file(&path);
        let mut spec = build.program(world, &["again"]);
        spec.program = path.clone();
        spec.arguments[0] = name.into();
        spec.stand_ins[0].path = path.clone();
        let expected = format!("stand-in {name} {}\n", path.display()).repeat(2);
        assert_says(world, &spec, &expected);
        if place.exists() {
            let it = fs::metadata(&place).unwrap();
            let modified = format!("{}.{:09}\n", it.mtime(), it.mtime_nsec());
            let script = format!("stat -c %.9Y {}", place.display());
            let mut look = shell(&world.directory, &script);
            look.stand_ins = spec.stand_ins.clone();
            assert_says(world, &look, &modified);
        }
        spec.directory = place.clone();
        assert_says(world, &spec, &expected);
        let directory = thing(&place, Nature::Directory, 0o755);
        spec.world = vec![directory, thing(&path, Nature::Absent, 0o755)];
        let outcome = assert_says(world, &spec, &expected);
        assert_eq!(outcome.missing, [] as [PathBuf; 0]);
        let script = format!("stat -c '%a %Y' {}", place.display());
        let mut look = shell(&world.directory, &script);
        look.world = spec.world;
        look.stand_ins = spec.stand_ins;
        assert_says(world, &look, "755 1000000000\n");
    }
    assert!(!Path::new("/tmp/nearmiss-gone").exists());
}

/// A stand-in lies at its path whatever else is to be there.
fn stand_ins_win(world: &World) {
    let build = Build::new(world);
    let path = build.path("program");
    let content = build.path("libsays.so");
    let file = |content: &Path| Nature::File {
        content: Some(content.into()),
        size: 3,
    };
    let natures = [
        file(&content),
        file(Path::new("/no/such/content")),
        Nature::Absent,
        Nature::Directory,
        Nature::Pipe,
        Nature::Link("libsays.so".into()),
    ];
    for nature in natures {
        let mut spec = build.program(world, &[]);
        spec.world = vec![thing(&path, nature, 0o755)];
        let outcome = assert_says(world, &spec, &build.says("program"));
        assert_eq!(outcome.missing, [] as [PathBuf; 0]);
    }
    // The world says that nothing of the build was there yet.
    let mut spec = build.program(world, &[]);
    spec.world = vec![thing(&build.originals, Nature::Absent, 0o755)];
    assert_says(world, &spec, &build.says("program"));
    // A directory came in the program's place.
    fs::remove_file(&path).unwrap();
    fs::create_dir_all(path.join("inner")).unwrap();
    assert_says(world, &spec, &build.says("program"));
    spec.world.clear();
    let replaced = Replacement { path, content };
    spec.files = vec![replaced];
    assert_says(world, &spec, &build.says("program"));
}

/// The root has no overlay, so what lay in a directory of it that is gone has no place.
fn stand_ins_without_a_place(world: &World) {
    let build = Build::new(world);
    let mut spec = build.program(world, &["again"]);
    spec.program = "/nearmiss-gone/program".into();
    spec.stand_ins[0].path = spec.program.clone();
    spec.stand_ins.push(build.stand_in("libsays.so"));
    let file = build.made.join("program");
    let expected = format!("stand-in program {}\n", file.display());
    let outcome = assert_says(world, &spec, &expected.repeat(2));
    assert_eq!(outcome.missing, [PathBuf::from("/nearmiss-gone/program")]);
}

/// One launcher, with and without stand-ins, with others, and when the original goes and comes back.
fn stand_ins_take_turns(world: &World) {
    let build = Build::new(world);
    let sandbox = sandbox();
    let path = build.path("program");
    let kept = world.outside.join("kept");
    let mut spec = build.program(world, &[]);
    spec.world = vec![thing(world.directory.join("new"), Nature::Directory, 0o755)];
    let first = |spec: &Spec| {
        let said = text(&run_by(&sandbox, world, spec).stdout);
        said.split(' ').next().unwrap_or_default().to_string()
    };
    let mut without = spec.clone();
    without.stand_ins.clear();
    let mut other = spec.clone();
    other.stand_ins[0].file = build.made.join("user");
    other.stand_ins.push(build.stand_in("libsays.so"));
    for _ in 0..2 {
        assert_eq!(first(&spec), "stand-in");
        assert_eq!(first(&without), "original");
        assert_eq!(first(&other), "stand-in");
        fs::rename(&path, &kept).unwrap();
        assert_eq!(first(&spec), "stand-in");
        assert!(sandbox.run(&without).is_err());
        fs::rename(&kept, &path).unwrap();
    }
    // Where the world removes the original, the stand-in still has its place.
    spec.world.push(thing(&path, Nature::Absent, 0o755));
    without.world = spec.world.clone();
    for _ in 0..2 {
        assert!(sandbox.run(&without).is_err());
        assert_eq!(first(&spec), "stand-in");
    }
}

/// The user may build anew while a run lasts. What the run then finds where there is no overlay is the new
/// original: the kernel takes the mount away with the file.
fn stand_ins_do_not_hold_the_disk(world: &World) {
    let build = Build::new(world);
    let line = world.outside.join("line");
    fs::create_dir(&line).unwrap();
    let name = line.display();
    let path = build.path("program");
    let script = format!(
        "{0}; touch {name}/started; until [ -e {name}/go ]; do sleep 0.01; done; {0}",
        path.display()
    );
    let mut spec = build.shell(world, &script);
    spec.writable = vec![line.clone()];
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| run(&spec));
        while !line.join("started").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        fs::rename(build.path("user"), &path).unwrap();
        fs::write(line.join("go"), "").unwrap();
        run.join().unwrap()
    });
    let said = text(&outcome.stdout);
    assert!(said.starts_with("stand-in "), "{said}");
    if !world.outside_is_overlaid() {
        assert!(said.contains("\noriginal "), "{said}");
    }
}
