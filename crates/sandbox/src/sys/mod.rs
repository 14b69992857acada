//! System calls as functions with results: the only place with `libc` calls.

mod confine;
mod mount;
mod process;
mod trace;

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use confine::{
    LandlockRights, allow_beneath, drop_privileges, filter_system_calls, landlock_ruleset,
    landlock_version, restrict_self,
};
pub use mount::{
    attach_mount, bind, clone_mount, clone_mount_of, detach, detached, make_everything_private,
    make_read_only, make_writable, mount,
};
pub use process::{
    MOST_PASSED, become_descriptor, become_standard, close, close_others, end,
    enter_user_namespace, execute, fork_into, fork_sharing_memory, kill, limit_time_of,
    open_process, pause, receive_byte, receive_message, receive_number, send_byte, send_message,
    socket_pair,
};
pub use trace::{
    Registers, Stop, go_on, interrupt, kernel_memory, let_go, put, registers, seize, send_abort,
    step, trace_me, vector_registers, wait_for_stop,
};

/// A new descriptor that a system call gave us.
fn owned(result: i64) -> io::Result<OwnedFd> {
    let fd = check(result)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

fn check(result: i64) -> io::Result<i64> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn path_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// A file that lives in memory only, closed on `exec`.
pub fn memory_file(name: &str) -> io::Result<File> {
    let name = CString::new(name)?;
    // SAFETY: `name` is a string that outlives the call.
    owned(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) }.into()).map(File::from)
}

/// Lets a descriptor stay open across `exec`.
pub fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }.into()).map(drop)
}

/// Closes a descriptor on `exec`.
pub fn close_on_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }.into()).map(drop)
}

/// Has the kernel kill this process when its parent ends.
pub fn die_with_parent() -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }.into()).map(drop)
}

/// Leaves namespaces of the caller.
pub fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: this process has one thread, and no memory is involved.
    check(unsafe { libc::unshare(flags) }.into()).map(drop)
}

/// The user and group this process acts as.
pub fn identity() -> (u32, u32) {
    // SAFETY: these calls cannot fail and touch no memory.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Forks. Only for processes with one thread.
pub fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: launcher and init have one thread, so the child may do what it likes.
    Ok(check(unsafe { libc::fork() }.into())? as libc::pid_t)
}

/// Starts a session, away from any terminal.
pub fn new_session() -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::setsid() }.into()).map(drop)
}

/// A child that has ended and its raw status: of `pid`, or of any child for -1.
pub fn wait(pid: libc::pid_t, options: i32) -> io::Result<Option<(libc::pid_t, i32)>> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let ended = check(unsafe { libc::waitpid(pid, &mut status, options) }.into())?;
    Ok((ended != 0).then_some((ended as libc::pid_t, status)))
}

/// CPU time of this process and of those of its children that were waited for.
pub fn cpu_time() -> Duration {
    let used = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(|whose| {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` outlives the call, and zeros are a valid value where it fails.
        let usage = unsafe {
            libc::getrusage(whose, usage.as_mut_ptr());
            usage.assume_init()
        };
        [usage.ru_utime, usage.ru_stime].map(duration)
    });
    used.iter().flatten().sum()
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

/// Blocks `SIGCHLD`, so that [`wait_for_child`] can wait for it.
pub fn block_child_signal() -> io::Result<()> {
    let set = child_signal_set();
    // SAFETY: `set` outlives the call.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) }.into())
        .map(drop)
}

/// Blocks no signal: a program starts with a clean mask.
pub fn unblock_signals() -> io::Result<()> {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills `set`, which outlives the second.
    let result = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut())
    };
    check(result.into()).map(drop)
}

/// Waits until a child changes, at most this long.
pub fn wait_for_child(time: Duration) {
    let set = child_signal_set();
    let time = libc::timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    // SAFETY: `set` and `time` outlive the call. A time-out is as good as a signal here.
    unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &time) };
}

/// Bytes of memory that this machine has.
pub fn machine_memory() -> u64 {
    let mut information = MaybeUninit::<libc::sysinfo>::uninit();
    // SAFETY: the call fills the structure; it fails for bad addresses only.
    let information = unsafe {
        libc::sysinfo(information.as_mut_ptr());
        information.assume_init()
    };
    information.totalram * u64::from(information.mem_unit)
}

fn child_signal_set() -> libc::sigset_t {
    // SAFETY: a signal set is plain data, made by the two calls.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        set
    }
}

/// Kills a process group.
pub fn kill_group(pid: u32) {
    // SAFETY: no memory is involved; a group that is gone is fine.
    unsafe { libc::kill(-(pid as libc::pid_t), libc::SIGKILL) };
}

/// Lowers a limit of this process and its children; one that is lower already stays.
pub fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut limit = MaybeUninit::uninit();
    // SAFETY: the call fills `limit`, or fails.
    check(unsafe { libc::getrlimit(resource, limit.as_mut_ptr()) }.into())?;
    // SAFETY: it did not fail.
    let limit: libc::rlimit = unsafe { limit.assume_init() };
    let lower = libc::rlimit {
        rlim_cur: limit.rlim_cur.min(most),
        rlim_max: limit.rlim_max.min(most),
    };
    // SAFETY: `lower` outlives the call.
    check(unsafe { libc::setrlimit(resource, &lower) }.into()).map(drop)
}

/// Has crashes leave nothing behind. With a limit of 0 the kernel would still start the system's
/// collector of crashes; with 1 it does not.
pub fn leave_no_core() -> io::Result<()> {
    let set = |most| {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        // SAFETY: `limit` outlives the call.
        check(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &limit) }.into()).map(drop)
    };
    set(1).or_else(|_| set(0))
}

/// A pipe, closed on `exec`: reading end, writing end.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
    // SAFETY: the descriptors are new and nobody else's.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Has all descriptors but the standard ones closed by the next `exec`.
pub fn close_others_on_exec() -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    // SAFETY: no memory is involved.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    check(result).map(drop)
}

/// Sets the loopback interface of this network namespace up.
pub fn raise_loopback() -> io::Result<()> {
    let flags = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is involved.
    let socket = owned(unsafe { libc::socket(libc::AF_INET, flags, 0) }.into())?;
    // SAFETY: an interface request is plain data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, letter) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = *letter as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: `request` is what this call reads, and outlives it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) };
    check(result.into()).map(drop)
}

/// Waits until one of the descriptors can be read or is at its end; negative ones are passed
/// over.
pub fn wait_readable<const N: usize>(
    descriptors: [RawFd; N],
    time: Duration,
) -> io::Result<[bool; N]> {
    let mut polled = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let milliseconds = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: `polled` outlives the call and its length is given.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), N as u64, milliseconds) };
    match check(result.into()) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok([false; N]),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    Ok(polled.map(|entry| entry.revents != 0))
}

/// Waits until a process has ended, or the other end of a line is closed: then it says false.
pub fn wait_for_process(process: &OwnedFd, line: &OwnedFd) -> io::Result<bool> {
    let mut polled = [(process, libc::POLLIN), (line, 0)].map(|(fd, events)| libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    });
    loop {
        // SAFETY: `polled` outlives the call and its length is given.
        let result = unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
        match check(result.into()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(polled[0].revents != 0),
        }
    }
}

/// A new directory that nobody else can look into, for a while.
pub fn temporary_directory() -> io::Result<PathBuf> {
    let mut name = b"/tmp/nearmiss-XXXXXX\0".to_vec();
    // SAFETY: `name` is a string that ends with a zero, which the call writes into.
    if unsafe { libc::mkdtemp(name.as_mut_ptr().cast()) }.is_null() {
        return Err(io::Error::last_os_error());
    }
    name.pop();
    Ok(PathBuf::from(OsString::from_vec(name)))
}

/// Opens a directory, for [`open_in`].
pub fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let path = path_string(path)?;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the string outlives the call.
    owned(unsafe { libc::open(path.as_ptr(), flags) }.into())
}

/// Opens a file of a directory for reading.
pub fn open_in(directory: &OwnedFd, name: &Path) -> io::Result<File> {
    let name = path_string(name)?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the string outlives the call.
    let result = unsafe { libc::openat(directory.as_raw_fd(), name.as_ptr(), flags) };
    owned(result.into()).map(File::from)
}

/// Makes a named pipe.
pub fn make_pipe(path: &Path) -> io::Result<()> {
    let path = path_string(path)?;
    // SAFETY: the string outlives the call.
    check(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }.into()).map(drop)
}

/// Sets when something was last changed and last read: seconds and nanoseconds. Works for what
/// cannot be opened, too.
pub fn set_modified(path: &Path, (seconds, nanoseconds): (i64, u32)) -> io::Result<()> {
    let path = path_string(path)?;
    let time = libc::timespec {
        tv_sec: seconds,
        tv_nsec: i64::from(nanoseconds),
    };
    let times = [time, time];
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the string and the two times outlive the call.
    let result = unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) };
    check(result.into()).map(drop)
}

/// Sets which permissions files of this process and its children do not get when made; gives
/// what it was.
pub fn set_umask(mask: u32) -> u32 {
    // SAFETY: the call cannot fail and touches no memory.
    unsafe { libc::umask(mask) }
}

/// Has the next program lie at the same addresses in every run. Where that is not allowed,
/// addresses differ, and nothing else.
pub fn fix_addresses() {
    // SAFETY: no memory is involved.
    unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
}
