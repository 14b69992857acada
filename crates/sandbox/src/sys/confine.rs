//! System calls by which a process gives up rights for good.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{check, owned};

/// Gives up every capability but those for one's own files, and all ways to get more.
pub fn drop_privileges() -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    for capability in (0..=LAST_CAPABILITY).filter(|capability| KEPT & 1 << capability == 0) {
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

/// The highest capability there is, or may come to be soon.
const LAST_CAPABILITY: u32 = 45;

/// The rights of one ruleset of Landlock, as bits of its interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LandlockRights {
    /// What needs permission on files.
    pub files: u64,
    /// What needs permission on the network.
    pub network: u64,
    /// What must stay within the sandbox.
    pub scoped: u64,
}

/// The version of Landlock that the kernel has.
pub fn landlock_version() -> io::Result<u32> {
    const VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: the call reads no memory when it is asked for the version.
    let result = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, VERSION) };
    Ok(check(result)? as u32)
}

/// A new ruleset. `size` is how much of the structure the kernel's version knows.
pub fn landlock_ruleset(rights: &LandlockRights, size: usize) -> io::Result<OwnedFd> {
    let size = size.min(size_of::<LandlockRights>());
    let rights: *const LandlockRights = rights;
    // SAFETY: the structure outlives the call and is at least as long as is said.
    owned(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, rights, size, 0) })
}

/// Allows rights on all files beneath a directory.
pub fn allow_beneath(ruleset: &OwnedFd, directory: &OwnedFd, rights: u64) -> io::Result<()> {
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        directory: i32,
    }
    const PATH_BENEATH: u32 = 1;
    let rule = Rule {
        rights,
        directory: directory.as_raw_fd(),
    };
    let ruleset = ruleset.as_raw_fd();
    let call = libc::SYS_landlock_add_rule;
    // SAFETY: `rule` is the structure of this kind of rule, and outlives the call.
    check(unsafe { libc::syscall(call, ruleset, PATH_BENEATH, &raw const rule, 0) }).map(drop)
}

/// Confines this process and its children to a ruleset.
pub fn restrict_self(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
        .map(drop)
}

/// Has a filter decide about every system call of this process and its children.
pub fn filter_system_calls(instructions: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len()).map_err(io::Error::other)?,
        filter: instructions.as_ptr().cast_mut(),
    };
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the kernel copies the instructions, whose number is given, before it returns.
    check(unsafe { libc::syscall(libc::SYS_seccomp, mode, 0, &raw const program) }).map(drop)
}
