//! System calls that start, end and await processes, and those by which they talk.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{check, owned};

/// Forks into new namespaces. Only for processes with one thread.
pub fn fork_into(namespaces: i32) -> io::Result<libc::pid_t> {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: without a stack of its own the child goes on as after `fork`.
    let result = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    Ok(check(result)? as libc::pid_t)
}

/// Starts a child that shares our memory until it becomes another program or ends, and waits that
/// long: nothing has to be copied for it. Only for processes with one thread.
pub fn fork_sharing_memory(mut child: impl FnMut()) -> io::Result<libc::pid_t> {
    extern "C" fn start<F: FnMut()>(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: this is the closure of the parent, which waits.
        let child = unsafe { &mut *child.cast::<F>() };
        child();
        NOT_STARTED
    }
    fn starter<F: FnMut()>(_: &F) -> extern "C" fn(*mut libc::c_void) -> libc::c_int {
        start::<F>
    }
    // As aligned as any stack has to be.
    let mut stack = vec![0u128; STACK / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let starter = starter(&child);
    // SAFETY: the child has a stack of its own, and the parent goes on when it uses our memory
    // no more.
    let result = unsafe {
        let top = stack.as_mut_ptr_range().end.cast();
        libc::clone(starter, top, flags, (&raw mut child).cast())
    };
    Ok(check(result.into())? as libc::pid_t)
}

/// The status of a child that did not become a program.
pub const NOT_STARTED: i32 = 127;

/// Bytes of the stack of a child that shares our memory.
const STACK: usize = 1 << 18;

/// Becomes another program; returns only why it could not.
pub fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        let pointers = strings.iter().map(|string| string.as_ptr());
        pointers.chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: all strings outlive the calls, and the lists end with a null pointer. Rust ignores
    // broken pipes; other programs do not.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execvpe(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    io::Error::last_os_error()
}

/// Ends this process at once: a forked child must not do what its parent has to do at its end.
pub fn end(status: i32) -> ! {
    // SAFETY: the call does not return.
    unsafe { libc::_exit(status) }
}

/// Waits to be killed.
pub fn pause() -> ! {
    loop {
        // SAFETY: no memory is involved.
        unsafe { libc::pause() };
    }
}

/// Closes a descriptor that a forked child has no use for.
pub fn close(fd: RawFd) {
    // SAFETY: the child ends without using it again.
    unsafe { libc::close(fd) };
}

/// Enters the namespace of users that a descriptor stands for.
pub fn enter_user_namespace(namespace: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWUSER) }.into()).map(drop)
}

/// Kills a child that has not been waited for.
pub fn kill(pid: libc::pid_t) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Two ends of a line for messages, closed on `exec`.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }.into())?;
    // SAFETY: the descriptors are new and nobody else's.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Most descriptors that go with a message.
pub const MOST_PASSED: usize = 64;

/// Room for the descriptors of a message, as the kernel wants it: a header, then the numbers.
#[repr(C)]
struct Passed {
    header: libc::cmsghdr,
    descriptors: [RawFd; MOST_PASSED],
}

/// How long header and so many numbers are together, without padding.
fn passed_length(count: usize) -> usize {
    size_of::<libc::cmsghdr>() + count * size_of::<RawFd>()
}

/// A message with room for descriptors.
fn message(bytes: &mut libc::iovec, passed: &mut Passed) -> libc::msghdr {
    // SAFETY: a message header is plain data.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = bytes;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut *passed).cast();
    message.msg_controllen = size_of::<Passed>();
    message
}

/// Sends bytes and copies of descriptors, of which there are not too many.
pub fn send_message(socket: &OwnedFd, bytes: &[u8], descriptors: &[RawFd]) -> io::Result<()> {
    if descriptors.len() > MOST_PASSED {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = passed_length(descriptors.len());
    let mut passed = Passed {
        header: libc::cmsghdr {
            cmsg_len: length,
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        },
        descriptors: [0; MOST_PASSED],
    };
    passed.descriptors[..descriptors.len()].copy_from_slice(descriptors);
    let mut bytes = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut message = message(&mut bytes, &mut passed);
    message.msg_controllen = if descriptors.is_empty() {
        0
    } else {
        length.next_multiple_of(8)
    };
    let flags = libc::MSG_NOSIGNAL;
    // SAFETY: all that the message points to outlives the call, which writes to none of it.
    check(unsafe { libc::sendmsg(socket.as_raw_fd(), &message, flags) } as i64).map(drop)
}

/// Waits for a byte and its descriptors; none come when the other end is closed.
pub fn receive_message(socket: &OwnedFd) -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    // SAFETY: a header and numbers are plain data.
    let (mut byte, mut passed): (u8, Passed) = (0, unsafe { mem::zeroed() });
    let mut bytes = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let mut message = message(&mut bytes, &mut passed);
    let flags = libc::MSG_CMSG_CLOEXEC;
    // SAFETY: all that the message points to outlives the call and is as long as it says.
    let count = check(unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) } as i64)?;
    if count == 0 {
        return Ok(None);
    }
    let size = passed.header.cmsg_len.saturating_sub(passed_length(0));
    let count = (size / size_of::<RawFd>()).min(MOST_PASSED);
    // SAFETY: the kernel made these descriptors for us just now.
    let own = |fd: &RawFd| unsafe { OwnedFd::from_raw_fd(*fd) };
    let descriptors = passed.descriptors[..count].iter().map(own).collect();
    Ok(Some((byte, descriptors)))
}

/// Takes a number that another process sent; there is none when the other end is closed.
pub fn receive_number(socket: &OwnedFd) -> Option<i32> {
    let mut number = [0; 4];
    // SAFETY: there is room for four bytes.
    let result = unsafe { libc::recv(socket.as_raw_fd(), number.as_mut_ptr().cast(), 4, 0) };
    (result == 4).then(|| i32::from_ne_bytes(number))
}

/// Sends a byte.
pub fn send_byte(socket: &OwnedFd, byte: u8) -> io::Result<()> {
    let flags = libc::MSG_NOSIGNAL;
    // SAFETY: the byte outlives the call.
    let result = unsafe { libc::send(socket.as_raw_fd(), (&raw const byte).cast(), 1, flags) };
    check(result as i64).map(drop)
}

/// Takes a byte; there is none when the other end is closed.
pub fn receive_byte(socket: &OwnedFd) -> Option<u8> {
    let mut byte = MaybeUninit::<u8>::uninit();
    // SAFETY: there is room for one byte.
    let result = unsafe { libc::recv(socket.as_raw_fd(), byte.as_mut_ptr().cast(), 1, 0) };
    // SAFETY: if one byte came, it is there.
    (result == 1).then(|| unsafe { byte.assume_init() })
}

/// A descriptor that becomes readable when a child has ended.
pub fn open_process(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}

/// Makes a descriptor one of the standard ones: 0, 1 or 2.
pub fn become_standard(fd: RawFd, number: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::dup2(fd, number) }.into()).map(drop)
}

/// Makes a descriptor another one that stays open across `exec`.
pub fn become_descriptor(fd: &OwnedFd, number: RawFd) -> io::Result<()> {
    become_standard(fd.as_raw_fd(), number)
}

/// Lowers the processor time that a process may use, if that can be done.
pub fn limit_time_of(pid: libc::pid_t, seconds: u64) {
    let limit = libc::rlimit {
        rlim_cur: seconds,
        rlim_max: seconds,
    };
    // SAFETY: the limit outlives the call, and no old one is asked for.
    unsafe {
        libc::prlimit(
            pid,
            libc::RLIMIT_CPU,
            &raw const limit,
            std::ptr::null_mut(),
        )
    };
}

/// Closes all descriptors but the standard ones and this.
pub fn close_others(kept: RawFd) -> io::Result<()> {
    let close = |first: u32, last: u32| {
        // SAFETY: no memory is involved; the caller owns none of these descriptors.
        check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop)
    };
    let kept = kept as u32;
    if kept > 3 {
        close(3, kept - 1)?;
    }
    close(kept + 1, u32::MAX)
}
