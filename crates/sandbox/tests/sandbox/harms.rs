//! What programs do on inputs that nobody chose, and that it harms nothing.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::support::{Test, World, run, shell, spec, text};
use nearmiss_sandbox::{Ended, Exceeded, Outcome, Spec, Stdin};

/// All of them.
pub const TESTS: &[Test] = &[
    ("removes_everything", removes_everything),
    ("writes_outside", writes_outside),
    ("forks_without_end", forks_without_end),
    ("starts_many_processes", starts_many_processes),
    ("fills_the_disk", fills_the_disk),
    ("fills_a_kept_directory", fills_a_kept_directory),
    ("makes_many_files", makes_many_files),
    ("writes_a_large_file", writes_a_large_file),
    ("opens_too_much", opens_too_much),
    ("connects_to_the_host", connects_to_the_host),
    ("kills_others", kills_others),
    ("looks_at_others", looks_at_others),
    ("changes_the_system", changes_the_system),
    ("calls_what_it_should_not", calls_what_it_should_not),
    ("types_into_the_terminal", types_into_the_terminal),
    ("leaves_a_daemon", leaves_a_daemon),
    ("uses_inherited_descriptors", uses_inherited_descriptors),
    ("allocates_without_end", allocates_without_end),
    ("recurses_without_end", recurses_without_end),
    ("never_ends", never_ends),
    ("uses_up_the_processor", uses_up_the_processor),
    ("outlives_nearmiss", outlives_nearmiss),
];

fn harm(world: &World, arguments: &[&str]) -> Spec {
    spec(&world.harm, &world.directory, arguments)
}

fn lines(outcome: &Outcome) -> Vec<String> {
    text(&outcome.stdout).lines().map(str::to_string).collect()
}

/// Whether a process of this machine has this word among its arguments.
fn is_running(word: &str) -> bool {
    let has_word = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|one| one == word.as_bytes())
    };
    fs::read_dir("/proc").unwrap().flatten().any(has_word)
}

/// Waits a little until something is so.
fn soon(what: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while !what() {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

fn removes_everything(world: &World) {
    let home = world.outside.join("home");
    fs::create_dir(&home).unwrap();
    let files = [
        world.directory.join("mine"),
        world.outside.join("theirs"),
        home.join("precious"),
    ];
    for file in &files {
        fs::write(file, "kept").unwrap();
    }
    let outside = world.outside.display();
    let script = format!(
        "rm -rf ./* ~/* {outside} \"$PWD\"; find / -maxdepth 1 -name 'nearmiss*' -delete; \
         ls mine ~/precious; test -e {outside}/theirs && echo refused"
    );
    let mut spec = shell(&world.directory, &script);
    spec.environment.push(("HOME".into(), home.into()));
    let outcome = run(&spec);
    // In an overlay some of it can be removed, for whoever looks from inside.
    if !world.outside_is_overlaid() {
        assert_eq!(
            text(&outcome.stdout),
            "refused\n",
            "{}",
            text(&outcome.stderr)
        );
    }
    for file in &files {
        assert_eq!(fs::read_to_string(file).unwrap(), "kept");
    }
}

fn writes_outside(world: &World) {
    let kept = world.outside.join("kept");
    fs::write(&kept, "as it was").unwrap();
    fs::set_permissions(&kept, Permissions::from_mode(0o666)).unwrap();
    let before = fs::metadata(&kept).unwrap();
    let kept_name = kept.display();
    let outside = world.outside.display();
    let script = format!(
        "echo x > {kept_name}; echo x >> {kept_name}; truncate -s 0 {kept_name}; chmod 600 {kept_name}; \
         touch {kept_name}; mv {kept_name} {outside}/moved; ln {kept_name} {outside}/link; \
         ln -s x {outside}/symbolic; mkdir {outside}/directory; mkfifo {outside}/pipe; \
         echo x > {outside}/new; ln -s {outside} way; echo x > way/new; echo x > ../../outside/new"
    );
    run(&shell(&world.directory, &script));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
    let after = fs::metadata(&kept).unwrap();
    assert_eq!(
        (before.mode(), before.mtime_nsec(), before.ctime_nsec()),
        (after.mode(), after.mtime_nsec(), after.ctime_nsec())
    );
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
    assert!(!world.outside.join("../new").exists());
}

fn forks_without_end(world: &World) {
    for processes in [64, 256] {
        let mut spec = harm(world, &["fork", "nearmiss-test-fork"]);
        spec.limits.processes = processes;
        let start = Instant::now();
        let outcome = run(&spec);
        assert_eq!(outcome.exceeded, Some(Exceeded::Processes));
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            start.elapsed()
        );
        assert!(soon(|| !is_running("nearmiss-test-fork")));
    }
}

/// That is no harm: what counts is how many there are at one time.
fn starts_many_processes(world: &World) {
    let mut spec = harm(world, &["many"]);
    spec.limits.wall = Duration::from_secs(300);
    assert_eq!(lines(&run(&spec)), ["went on"]);
}

fn fills_the_disk(world: &World) {
    for place in [".", "/tmp", "/var/tmp", "/dev/shm"] {
        let mut spec = harm(world, &["fill", place]);
        spec.limits.scratch = 8 << 20;
        let lines = lines(&run(&spec));
        assert_eq!(lines[0], "write: ENOSPC", "{place}");
        let most = if place == "/dev/shm" {
            64 << 20
        } else {
            8 << 20
        };
        assert!(
            lines[1].parse::<u64>().unwrap() <= most,
            "{place}: {lines:?}"
        );
    }
}

fn fills_a_kept_directory(world: &World) {
    let kept = world.outside.join("kept");
    fs::create_dir(&kept).unwrap();
    let script = "while :; do head -c 1000000 /dev/zero >> \"$0\"/x; done";
    let mut spec = shell(&world.directory, script);
    spec.arguments.push(kept.clone().into());
    spec.writable.push(kept.clone());
    spec.limits.kept = 8 << 20;
    assert_eq!(run(&spec).exceeded, Some(Exceeded::Disk));
    let size = fs::metadata(kept.join("x")).unwrap().len();
    assert!(size < 1 << 30, "{size}");
}

fn makes_many_files(world: &World) {
    let mut spec = harm(world, &["files"]);
    spec.limits.scratch = 4 << 20;
    let lines = lines(&run(&spec));
    assert_eq!(lines[0], "create: ENOSPC");
    assert!(lines[1].parse::<u64>().unwrap() <= 1024, "{lines:?}");
}

fn writes_a_large_file(world: &World) {
    let mut spec = harm(world, &["large"]);
    spec.limits.file_size = 1 << 20;
    assert_eq!(run(&spec).ended, Ended::Signal(libc::SIGXFSZ));
}

fn opens_too_much(world: &World) {
    let mut spec = harm(world, &["descriptors"]);
    spec.limits.open_files = 100;
    assert_eq!(lines(&run(&spec)), ["dup: EMFILE", "97"]);
}

fn connects_to_the_host(world: &World) {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port().to_string();
    let outside = world.outside.join("s");
    let in_tmp = format!("/tmp/nearmiss-test-{}", std::process::id());
    let name = format!("nearmiss-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listeners = [
        UnixListener::bind(&outside).unwrap(),
        UnixListener::bind(&in_tmp).unwrap(),
        UnixListener::bind_addr(&address).unwrap(),
    ];
    let mut pipe = named_pipe(&world.outside.join("pipe"));
    let outside = outside.to_str().unwrap();
    let pipe_name = world.outside.join("pipe");
    let pipe_name = pipe_name.to_str().unwrap();
    let arguments = ["connect", &port, outside, &in_tmp, &name, pipe_name];
    let outcome = run(&harm(world, &arguments));
    fs::remove_file(&in_tmp).unwrap();
    let mut lines = lines(&outcome);
    if world.missing.iter().any(|it| it.starts_with("Landlock (")) {
        println!("skipped: a named pipe of others, because this kernel has no Landlock");
        lines.retain(|line| !line.starts_with("named pipe"));
        let _ = pipe.read(&mut [0]);
    } else {
        // In an overlay it is another pipe, which nobody reads.
        let refusal = match world.outside_is_overlaid() {
            true => "named pipe: ENXIO",
            false => "named pipe: EACCES",
        };
        assert_eq!(lines.remove(4), refusal);
    }
    assert_eq!(
        lines,
        [
            "tcp: ECONNREFUSED",
            "socket outside: ECONNREFUSED",
            "socket in tmp: ECONNREFUSED",
            "abstract socket: ECONNREFUSED",
            "virtual machine's host: EAFNOSUPPORT",
            "own socket: done",
        ]
    );
    tcp.set_nonblocking(true).unwrap();
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    for listener in listeners {
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    assert_eq!(
        pipe.read(&mut [0]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
}

/// A named pipe, with somebody who reads it.
fn named_pipe(path: &Path) -> File {
    let status = Command::new("mkfifo").arg("-m666").arg(path).status();
    assert!(status.unwrap().success());
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(libc::O_NONBLOCK).open(path).unwrap()
}

/// Somebody else's process; it ends with the test.
struct Bystander(Child);

impl Bystander {
    fn new() -> Bystander {
        let mut command = Command::new("sleep");
        let child = command.arg("1000").process_group(0).stdin(Stdio::piped());
        Bystander(child.spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kills_others(world: &World) {
    let mut bystander = Bystander::new();
    let outcome = run(&harm(world, &["kill", &bystander.pid()]));
    assert_eq!(outcome.ended, Ended::Exited(0));
    let lines = lines(&outcome);
    assert_eq!(
        lines[..3],
        [
            "kill target: ESRCH",
            "kill its group: ESRCH",
            "kill own group: done"
        ]
    );
    assert_eq!(lines.last().unwrap(), "still here");
    assert!(bystander.0.try_wait().unwrap().is_none());
}

fn looks_at_others(world: &World) {
    let bystander = Bystander::new();
    let outcome = run(&harm(world, &["look", &bystander.pid()]));
    let lines = lines(&outcome);
    assert_eq!(lines[0], "2 processes");
    for line in &lines[1..] {
        let (who, what) = line.split_once(": ").unwrap();
        let expected: &[&str] = match who {
            "target" => &["ENOENT"],
            "init" | "init's root" => &["EACCES", "EPERM"],
            "attach to init" => &["EPERM"],
            _ => &["ESRCH"],
        };
        assert!(expected.contains(&what), "{line}");
    }
}

fn changes_the_system(world: &World) {
    let outcome = run(&harm(world, &["system"]));
    assert_eq!(
        (text(&outcome.stdout), outcome.ended),
        (String::new(), Ended::Exited(0))
    );
}

fn calls_what_it_should_not(world: &World) {
    let lines = lines(&run(&harm(world, &["calls"])));
    assert_eq!(lines.len(), 20, "{lines:?}");
    for line in &lines {
        let expected = match line.split(':').next().unwrap() {
            "uring" | "userfaultfd" => "ENOSYS",
            // Landlock answers first where it can.
            "device" => continue,
            "NoNewPrivs" => "NoNewPrivs:\t1",
            "Seccomp" => "Seccomp:\t2",
            _ => "EPERM",
        };
        assert!(line.ends_with(expected), "{line}");
    }
    assert!(!lines.contains(&"device: done".to_string()));
}

fn types_into_the_terminal(world: &World) {
    let (mut master, slave) = terminal().expect("a pseudo-terminal");
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command
        .arg("__run")
        .args([&world.harm, &world.directory])
        .arg("terminal")
        .stdin(slave);
    // SAFETY: the closure makes two system calls: the terminal becomes that of a new session.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            match libc::ioctl(0, libc::TIOCSCTTY, 0) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
    let output = command.output().unwrap();
    assert_eq!(
        text(&output.stdout),
        "terminal: ENXIO\n",
        "{}",
        text(&output.stderr)
    );
    // What is typed is echoed.
    assert_ne!(master.read(&mut [0]).unwrap_or(0), 1);
}

fn terminal() -> io::Result<(File, File)> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let mut name = [0; 64];
    // SAFETY: `name` has room for a name and its length is given.
    let master = unsafe {
        let master = libc::posix_openpt(flags);
        libc::grantpt(master);
        libc::unlockpt(master);
        if libc::ptsname_r(master, name.as_mut_ptr(), name.len()) != 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(master)
    };
    let name: Vec<u8> = name
        .iter()
        .take_while(|letter| **letter != 0)
        .map(|letter| *letter as u8)
        .collect();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOCTTY);
    Ok((master.into(), options.open(text(&name))?))
}

fn leaves_a_daemon(world: &World) {
    let kept = world.outside.join("kept");
    fs::create_dir(&kept).unwrap();
    let alive = kept.join("alive");
    let mut spec = harm(world, &["daemon", alive.to_str().unwrap()]);
    spec.writable.push(kept);
    assert_eq!(run(&spec).ended, Ended::Exited(0));
    assert!(!is_running(alive.to_str().unwrap()));
    let before = fs::read(&alive).unwrap_or_default();
    thread::sleep(Duration::from_millis(100));
    assert_eq!(fs::read(&alive).unwrap_or_default(), before);
}

fn uses_inherited_descriptors(world: &World) {
    let mut inherited = File::create(world.outside.join("inherited")).unwrap();
    inherited.write_all(b"kept").unwrap();
    // SAFETY: no memory is involved: the descriptor is left open for children.
    let left_open = unsafe { libc::fcntl(inherited.as_raw_fd(), libc::F_SETFD, 0) };
    assert_eq!(left_open, 0);
    let input = world.outside.join("input");
    fs::write(&input, "kept").unwrap();
    fs::set_permissions(&input, Permissions::from_mode(0o666)).unwrap();
    let mut spec = harm(world, &["inherited"]);
    spec.stdin = Stdin::File(input.clone());
    let lines = lines(&run(&spec));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(!lines[0].ends_with("done"), "{lines:?}");
    for file in [input, world.outside.join("inherited")] {
        assert_eq!(fs::read_to_string(file).unwrap(), "kept");
    }
}

fn allocates_without_end(world: &World) {
    for name in ["allocate", "allocate-file", "allocate-children"] {
        let mut spec = harm(world, &[name]);
        spec.limits.memory = 100 << 20;
        let start = Instant::now();
        assert_eq!(run(&spec).exceeded, Some(Exceeded::Memory), "{name}");
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{name}: {:?}",
            start.elapsed()
        );
    }
    let mut spec = harm(world, &["share"]);
    spec.limits.memory = 100 << 20;
    assert_eq!(lines(&run(&spec)), ["went on"]);
}

fn recurses_without_end(world: &World) {
    assert_eq!(
        run(&harm(world, &["recurse"])).ended,
        Ended::Signal(libc::SIGSEGV)
    );
}

fn never_ends(world: &World) {
    for name in ["ignore", "stop"] {
        let mut spec = harm(world, &[name]);
        spec.limits.wall = Duration::from_millis(300);
        let start = Instant::now();
        assert_eq!(run(&spec).exceeded, Some(Exceeded::Time), "{name}");
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{name}: {:?}",
            start.elapsed()
        );
    }
}

fn uses_up_the_processor(world: &World) {
    let mut spec = harm(world, &["spin"]);
    spec.limits.cpu_seconds = 1;
    let outcome = run(&spec);
    let by_limit = [libc::SIGKILL, libc::SIGXCPU].map(Ended::Signal);
    assert!(by_limit.contains(&outcome.ended), "{outcome:?}");
}

/// When nearmiss is killed, what it ran is killed too.
fn outlives_nearmiss(world: &World) {
    let directory = world.directory.to_str().unwrap();
    let this = std::env::current_exe().unwrap();
    let copy = world.directory.join("nearmiss-test-outlives");
    fs::copy(&world.harm, &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let mut nearmiss = Command::new(this)
        .args(["__run", copy, directory, "ignore"])
        .spawn()
        .unwrap();
    assert!(soon(|| is_running("nearmiss-test-outlives")));
    nearmiss.kill().unwrap();
    nearmiss.wait().unwrap();
    assert!(soon(|| !is_running("nearmiss-test-outlives")));
}
