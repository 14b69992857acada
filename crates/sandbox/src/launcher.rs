//! The launcher: this executable started anew, with one thread and nothing to lose.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use crate::mounts::View;
use crate::refusal::{Needs, Refusal};
use crate::spec::{Report, Spec};
use crate::{init, mounts, sockets, sys};

/// Runs the program that the memory file `fd` tells of, in a sandbox, and writes there how it
/// went. Never returns.
///
/// Only for the command given to [`crate::Sandbox::confined`]: the process must have one
/// thread.
pub fn enter(fd: RawFd) -> ! {
    // SAFETY: our parent made this descriptor for us, and nobody else knows of it.
    let mut shared = unsafe { File::from_raw_fd(fd) };
    if let Err(error) = run(&mut shared) {
        say(&mut shared, &error.0);
    }
    std::process::exit(0);
}

/// Writes a report behind the specification.
pub(crate) fn say(shared: &mut File, report: &Report) {
    let text = serde_json::to_string(report).expect("plain data serialises");
    // Nobody could be told of a failure here: the parent sees that nothing was said.
    let _ = shared
        .seek(SeekFrom::End(0))
        .and_then(|_| shared.write_all(format!("\n{text}").as_bytes()));
}

fn run(shared: &mut File) -> Result<(), Refusal> {
    let spec = read_spec(shared)?;
    let sockets = sockets::known();
    let users = enter_namespaces()?;
    // Opened before anything is hidden beneath a mount.
    let stdin = init::open_stdin(&spec)?;
    let View { writable, missing } = mounts::prepare(&spec, users)?;
    if !missing.is_empty() {
        say(shared, &Report::MissingThings(missing));
    }
    sockets::hide(&sockets, &writable).needs("hiding sockets of other programs")?;
    match sys::fork()? {
        0 => {
            let mut init = init::Init {
                spec: &spec,
                writable,
                users,
                shared,
            };
            init.run(stdin);
            std::process::exit(0);
        }
        pid => {
            // Nothing is left to do but to be there: init has the say.
            let _ = sys::wait(pid, 0);
            Ok(())
        }
    }
}

fn read_spec(shared: &mut File) -> io::Result<Spec> {
    sys::close_on_exec(shared.as_raw_fd())?;
    shared.rewind()?;
    let mut text = String::new();
    shared.read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// In which user namespace the sandbox is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// The system's: root needs no other to make the sandbox, and has only the program enter one.
    System,
    /// One in which there is nobody but the user.
    Own,
}

/// Namespaces besides that of users, with what they are called.
const NAMESPACES: [(i32, &str); 6] = [
    (libc::CLONE_NEWNS, "mount namespaces"),
    (libc::CLONE_NEWPID, "pid namespaces"),
    (libc::CLONE_NEWIPC, "ipc namespaces"),
    (libc::CLONE_NEWNET, "network namespaces"),
    (libc::CLONE_NEWUTS, "uts namespaces"),
    (libc::CLONE_NEWCGROUP, "cgroup namespaces"),
];

/// Leaves the namespaces of the system. Whoever may not make them as they are, which root may
/// not in a container, makes a user namespace first.
fn enter_namespaces() -> Result<Users, Refusal> {
    let (user, group) = sys::identity();
    let all = NAMESPACES.iter().fold(0, |all, (flag, _)| all | flag);
    let users = if sys::unshare(all).is_ok() {
        Users::System
    } else {
        sys::unshare(libc::CLONE_NEWUSER).needs("user namespaces")?;
        map_identity(user, group).needs("mapping one's own user into a user namespace")?;
        for (flag, feature) in NAMESPACES {
            sys::unshare(flag).needs(feature)?;
        }
        Users::Own
    };
    // Programs that talk to themselves may go on doing so.
    let _ = sys::raise_loopback();
    Ok(users)
}

/// The user stays who they were, and is nobody else.
fn map_identity(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
