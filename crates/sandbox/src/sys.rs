//! System calls as functions with results: the only place with `libc` calls.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) }.into())?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { File::from_raw_fd(fd as RawFd) })
}

/// Lets a descriptor stay open across `exec`.
pub fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }.into()).map(drop)
}

/// Closes a descriptor on `exec` again.
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

/// `mount`.
pub fn mount(kind: &str, target: &Path, flags: u64, options: &str) -> io::Result<()> {
    let (kind, target) = (CString::new(kind)?, path_string(target)?);
    let options = CString::new(options)?;
    // SAFETY: all strings outlive the call.
    let result = unsafe {
        libc::mount(
            kind.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    };
    check(result.into()).map(drop)
}

/// Unmounts as soon as nobody uses it.
pub fn detach(target: &Path) -> io::Result<()> {
    let target = path_string(target)?;
    // SAFETY: the string outlives the call.
    check(unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) }.into()).map(drop)
}

/// A copy of the mounts at a path, attached nowhere yet.
pub fn clone_mount(path: &Path) -> io::Result<OwnedFd> {
    const OPEN_TREE_CLONE: i64 = 1;
    let path = path_string(path)?;
    let flags = OPEN_TREE_CLONE | i64::from(libc::O_CLOEXEC) | i64::from(libc::AT_RECURSIVE);
    // SAFETY: the string outlives the call.
    let result =
        unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    let fd = check(result)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Attaches mounts at a path.
pub fn attach_mount(mount: &OwnedFd, path: &Path) -> io::Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: i64 = 4;
    let path = path_string(path)?;
    let empty: &CStr = c"";
    // SAFETY: the strings outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            empty.as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    check(result).map(drop)
}

/// Makes all mounts private to this namespace, and read-only.
pub fn make_everything_read_only() -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    // SAFETY: the string and the structure, whose size is given, outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Makes all mounts private to this namespace.
pub fn make_everything_private() -> io::Result<()> {
    mount("none", Path::new("/"), libc::MS_REC | libc::MS_PRIVATE, "")
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

/// Blocks `SIGCHLD`, so that [`wait_for_child`] can wait for it.
pub fn block_child_signal() -> io::Result<()> {
    let set = child_signal_set();
    // SAFETY: `set` outlives the call.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) }.into())
        .map(drop)
}

/// Unblocks all signals: a program starts with a clean mask.
pub fn unblock_signals() -> io::Result<()> {
    let set = child_signal_set();
    // SAFETY: `set` outlives the call.
    check(unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut()) }.into())
        .map(drop)
}

/// Waits until a child changes, at most this long.
pub fn wait_for_child(milliseconds: i64) {
    let set = child_signal_set();
    let time = libc::timespec {
        tv_sec: milliseconds / 1000,
        tv_nsec: milliseconds % 1000 * 1_000_000,
    };
    // SAFETY: `set` and `time` outlive the call. A time-out is as good as a signal here.
    unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &time) };
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

/// Sets a limit of this process and its children.
pub fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: `limit` outlives the call.
    check(unsafe { libc::setrlimit(resource, &limit) }.into()).map(drop)
}

/// A pipe, closed on `exec`: reading end, writing end.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
    // SAFETY: the descriptors are new and nobody else's.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Makes `fd` this process's standard input.
pub fn become_stdin(fd: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::dup2(fd, 0) }.into()).map(drop)
}

/// Gives up every capability but those for one's own files, and all ways to get more.
pub fn drop_privileges() -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    for capability in (0..64).filter(|capability| KEPT & 1 << capability == 0) {
        // SAFETY: no memory is involved. Fails for capabilities that the kernel does not
        // have, and for all where there are none to drop.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    let header: [u32; 2] = [0x2008_0522, 0];
    let mut sets = [0u32; 6];
    // SAFETY: version 3 of the call reads a header of two and data of six words.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw const header, sets.as_mut_ptr()) })?;
    for (index, word) in sets.iter_mut().enumerate() {
        *word &= if index < 3 { KEPT as u32 } else { 0 };
    }
    // SAFETY: as above.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) }).map(drop)
}

/// `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_DAC_READ_SEARCH`, `CAP_FOWNER`, `CAP_FSETID`,
/// `CAP_SETGID`, `CAP_SETUID`: on a read-only file system they do what root expects and no
/// harm.
const KEPT: u64 = 0b1101_1111;

/// Waits until one of the descriptors can be read or is at its end.
pub fn wait_readable(descriptors: &[RawFd], milliseconds: i32) -> io::Result<Vec<bool>> {
    let mut polled: Vec<libc::pollfd> = descriptors
        .iter()
        .map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // SAFETY: `polled` outlives the call and its length is given.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as u64, milliseconds) };
    match check(result.into()) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    Ok(polled.iter().map(|entry| entry.revents != 0).collect())
}
