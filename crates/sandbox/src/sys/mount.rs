//! System calls that change what the file system looks like.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::{check, owned, path_string};

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

/// A file system of this kind, attached nowhere.
pub fn detached(kind: &str) -> io::Result<OwnedFd> {
    const FSCONFIG_CMD_CREATE: i64 = 6;
    const CLOEXEC: i64 = 1;
    let kind = CString::new(kind)?;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: the string outlives the call; the others are given no memory.
    unsafe {
        let context = owned(libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC))?;
        let fd = context.as_raw_fd();
        let create = FSCONFIG_CMD_CREATE;
        check(libc::syscall(
            libc::SYS_fsconfig,
            fd,
            create,
            nothing,
            nothing,
            0,
        ))?;
        owned(libc::syscall(libc::SYS_fsmount, fd, CLOEXEC, 0))
    }
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
    owned(result)
}

/// A mount of an opened file alone, attached nowhere yet.
pub fn clone_mount_of(file: &File) -> io::Result<OwnedFd> {
    const OPEN_TREE_CLONE: i64 = 1;
    let flags = OPEN_TREE_CLONE | i64::from(libc::O_CLOEXEC) | i64::from(libc::AT_EMPTY_PATH);
    let empty: &CStr = c"";
    // SAFETY: the string outlives the call.
    let result =
        unsafe { libc::syscall(libc::SYS_open_tree, file.as_raw_fd(), empty.as_ptr(), flags) };
    owned(result)
}

/// Shows a directory at another place, too.
pub fn bind(directory: &Path, target: &Path) -> io::Result<()> {
    attach_mount(&clone_mount(directory)?, target)
}

/// Attaches mounts at a path; symbolic links are followed.
pub fn attach_mount(mount: &OwnedFd, path: &Path) -> io::Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: i64 = 4;
    const MOVE_MOUNT_T_SYMLINKS: i64 = 16;
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
            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS,
        )
    };
    check(result).map(drop)
}

/// Makes a mount and all beneath it read-only.
pub fn make_read_only(path: &Path) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    set_attributes(path, libc::AT_RECURSIVE, &attributes)
}

/// Makes one mount writable again.
pub fn make_writable(path: &Path) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: 0,
        attr_clr: libc::MOUNT_ATTR_RDONLY,
        propagation: 0,
        userns_fd: 0,
    };
    set_attributes(path, 0, &attributes)
}

fn set_attributes(path: &Path, flags: i32, attributes: &libc::mount_attr) -> io::Result<()> {
    let path = path_string(path)?;
    let attributes: *const libc::mount_attr = attributes;
    // SAFETY: the string and the structure, whose size is given, outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Makes all mounts private to this namespace.
pub fn make_everything_private() -> io::Result<()> {
    mount("none", Path::new("/"), libc::MS_REC | libc::MS_PRIVATE, "")
}
