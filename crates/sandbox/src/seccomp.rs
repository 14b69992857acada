//! A filter of system calls, beneath the namespaces: what a tested program has no business with
//! fails, as it would on a kernel without it. Nothing is killed for trying: programs probe.
//!
//! `ptrace` stays allowed, for sanitizers that look for leaks: it reaches processes of the
//! sandbox only. The filter is a tree of comparisons; for calls that it always allows the
//! kernel does not even run it.

use std::io;

use libc::{sock_filter, *};

use crate::sys;

/// These fail with `EPERM`.
const FORBIDDEN: &[i64] = &[
    // Changing what the file system looks like, or leaving it.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_quotactl,
    SYS_fanotify_init,
    // Other namespaces.
    SYS_setns,
    // The machine itself.
    SYS_kexec_load,
    #[cfg(target_arch = "x86_64")]
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_settimeofday,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_syslog,
    SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    // Keys of the user's session.
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    // Looking into the kernel.
    SYS_bpf,
    SYS_perf_event_open,
];

/// These fail with `ENOSYS`: programs then do it another way. The flags of `clone3` are in
/// memory, where a filter cannot see them; libc goes back to `clone`.
const ABSENT: &[i64] = &[
    SYS_clone3,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_userfaultfd,
    SYS_memfd_secret,
];

/// Flags of `clone` and `unshare` that make namespaces.
const NAMESPACES: i32 = CLONE_NEWUSER
    | CLONE_NEWNS
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWIPC
    | CLONE_NEWUTS
    | CLONE_NEWCGROUP;

/// Families of sockets that stay within a network namespace. Others (the virtual machine's host,
/// the kernel's cryptography) do not.
const FAMILIES: [i32; 4] = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

/// Putting characters into a terminal's input, as if typed.
const TYPING: [u64; 2] = [TIOCSTI, TIOCLINUX];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// System calls of the x32 interface have this bit; elsewhere no call is that large.
const FOREIGN_CALLS: u32 = 0x4000_0000;

// Where `struct seccomp_data` has what; of arguments the lower half.
const NUMBER: u32 = 0;
const ARCHITECTURE_WORD: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// Filters the system calls of this process and its children.
pub fn confine() -> io::Result<()> {
    sys::filter_system_calls(&filter())
}

fn filter() -> Vec<sock_filter> {
    let mut program = vec![
        load(ARCHITECTURE_WORD),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        fail(ENOSYS),
        load(NUMBER),
        jump(BPF_JGE, FOREIGN_CALLS, 0, 1),
        fail(ENOSYS),
    ];
    let mut cases = cases();
    cases.sort_by_key(|(call, _)| *call);
    program.extend(search(&cases));
    program
}

/// A system call, and code that decides about it.
type Case = (i64, Vec<sock_filter>);

fn cases() -> Vec<Case> {
    let forbidden = FORBIDDEN.iter().map(|call| (*call, vec![fail(EPERM)]));
    let absent = ABSENT.iter().map(|call| (*call, vec![fail(ENOSYS)]));
    let mut cases: Vec<Case> = forbidden.chain(absent).collect();
    let no_namespaces = vec![
        load(FIRST_ARGUMENT),
        jump(BPF_JSET, NAMESPACES as u32, 0, 1),
        fail(EPERM),
        allow(),
    ];
    let mut no_typing = vec![load(SECOND_ARGUMENT)];
    for request in TYPING {
        no_typing.extend([jump(BPF_JEQ, request as u32, 0, 1), fail(EPERM)]);
    }
    no_typing.push(allow());
    cases.extend([
        (SYS_clone, no_namespaces.clone()),
        (SYS_unshare, no_namespaces),
        (SYS_socket, socket_families()),
        (SYS_ioctl, no_typing),
    ]);
    cases
}

/// Finds the case of a call by halves: the kernel tries the filter on each call there is when a
/// process gets it. What has no case is allowed.
fn search(cases: &[Case]) -> Vec<sock_filter> {
    match cases {
        [] => vec![allow()],
        [(call, body)] => {
            let mut code = vec![jump(BPF_JEQ, *call as u32, 0, body.len() as u8)];
            code.extend(body);
            code.push(allow());
            code
        }
        _ => {
            let (low, high) = cases.split_at(cases.len() / 2);
            let low = search(low);
            let mut code = vec![jump(BPF_JGE, high[0].0 as u32, low.len() as u8, 0)];
            code.extend(low);
            code.extend(search(high));
            code
        }
    }
}

fn socket_families() -> Vec<sock_filter> {
    let mut body = vec![load(FIRST_ARGUMENT)];
    for family in FAMILIES {
        body.extend([jump(BPF_JEQ, family as u32, 0, 1), allow()]);
    }
    body.push(fail(EAFNOSUPPORT));
    body
}

fn instruction(code: u32, value: u32, jump_true: u8, jump_false: u8) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k: value,
    }
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

fn jump(comparison: u32, value: u32, jump_true: u8, jump_false: u8) -> sock_filter {
    instruction(BPF_JMP | comparison | BPF_K, value, jump_true, jump_false)
}

fn fail(errno: i32) -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno as u32, 0, 0)
}

fn allow() -> sock_filter {
    instruction(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter decides, by a small interpreter of the few instructions it has.
    fn decide(architecture: u32, call: i64, arguments: [u64; 2]) -> u32 {
        let program = filter();
        let (mut at, mut word) = (0, 0);
        loop {
            let one = program[at];
            let (code, value) = (u32::from(one.code), one.k);
            at += 1;
            let taken = match code {
                code if code == BPF_LD | BPF_W | BPF_ABS => {
                    word = match value {
                        NUMBER => call as u32,
                        ARCHITECTURE_WORD => architecture,
                        FIRST_ARGUMENT => arguments[0] as u32,
                        SECOND_ARGUMENT => arguments[1] as u32,
                        _ => panic!("load of {value}"),
                    };
                    continue;
                }
                code if code == BPF_RET | BPF_K => return value,
                code if code == BPF_JMP | BPF_JEQ | BPF_K => word == value,
                code if code == BPF_JMP | BPF_JGE | BPF_K => word >= value,
                code if code == BPF_JMP | BPF_JSET | BPF_K => word & value != 0,
                code => panic!("instruction {code}"),
            };
            at += usize::from(if taken { one.jt } else { one.jf });
        }
    }

    #[test]
    fn every_case_is_found() {
        for (call, body) in cases() {
            let decision = decide(ARCHITECTURE, call, [CLONE_NEWNS as u64, TIOCSTI]);
            assert_ne!(decision, SECCOMP_RET_ALLOW, "call {call}");
            assert!(body.len() < 256);
        }
    }

    #[test]
    fn decisions() {
        let errno = |errno: i32| SECCOMP_RET_ERRNO | errno as u32;
        let thread = (CLONE_VM | CLONE_FS | CLONE_THREAD) as u64;
        let cases = [
            (SYS_read, [0, 0], SECCOMP_RET_ALLOW),
            (SYS_personality, [0, 0], SECCOMP_RET_ALLOW),
            (SYS_ptrace, [16, 1], SECCOMP_RET_ALLOW),
            (SYS_mount, [0, 0], errno(EPERM)),
            (SYS_perf_event_open, [0, 0], errno(EPERM)),
            (SYS_io_uring_setup, [0, 0], errno(ENOSYS)),
            (SYS_clone3, [0, 0], errno(ENOSYS)),
            (SYS_clone, [thread, 0], SECCOMP_RET_ALLOW),
            (SYS_clone, [thread | CLONE_NEWUSER as u64, 0], errno(EPERM)),
            (SYS_unshare, [CLONE_FILES as u64, 0], SECCOMP_RET_ALLOW),
            (SYS_unshare, [CLONE_NEWNS as u64, 0], errno(EPERM)),
            (SYS_socket, [AF_UNIX as u64, 0], SECCOMP_RET_ALLOW),
            (SYS_socket, [AF_VSOCK as u64, 0], errno(EAFNOSUPPORT)),
            (SYS_ioctl, [1, TCGETS], SECCOMP_RET_ALLOW),
            (SYS_ioctl, [0, TIOCSTI], errno(EPERM)),
            (i64::from(FOREIGN_CALLS), [0, 0], errno(ENOSYS)),
        ];
        for (call, arguments, expected) in cases {
            let decision = decide(ARCHITECTURE, call, arguments);
            assert_eq!(decision, expected, "call {call} {arguments:?}");
        }
        assert_eq!(decide(0x4000_0003, SYS_read, [0, 0]), errno(ENOSYS));
    }
}
