//! The launcher: this executable started anew, with one thread and nothing to lose.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use crate::spec::{Report, Spec};
use crate::{init, mounts, sys};

/// Why the program is not run.
pub(crate) struct Refusal(pub Report);

/// Says which feature of the kernel is missing where a system call fails.
pub(crate) trait Needs<T> {
    /// The feature that this call needs.
    fn needs(self, feature: &str) -> Result<T, Refusal>;
}

impl<T> Needs<T> for io::Result<T> {
    fn needs(self, feature: &str) -> Result<T, Refusal> {
        self.map_err(|error| {
            Refusal(Report::Unavailable {
                feature: feature.to_string(),
                error: error.to_string(),
            })
        })
    }
}

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
    let spec = read_spec(shared).map_err(|error| Refusal(Report::NotStarted(error.to_string())))?;
    let user_namespace = enter_namespaces()?;
    let not_started = |error: io::Error| Refusal(Report::NotStarted(error.to_string()));
    // Opened before anything is hidden beneath a mount.
    let stdin = init::open_stdin(&spec).map_err(not_started)?;
    mounts::prepare(&spec, user_namespace)?;
    match sys::fork().map_err(not_started)? {
        0 => {
            init::run(&spec, shared, stdin);
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

/// Leaves the namespaces of the system; says whether there is a new one for users.
fn enter_namespaces() -> Result<bool, Refusal> {
    let (user, group) = sys::identity();
    if user != 0 {
        sys::unshare(libc::CLONE_NEWUSER).needs(
            "user namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone)",
        )?;
        map_identity(user, group).needs("mapping one's own user into a user namespace")?;
    }
    let namespaces = [
        (libc::CLONE_NEWNS, "mount namespaces"),
        (libc::CLONE_NEWPID, "pid namespaces"),
        (libc::CLONE_NEWIPC, "ipc namespaces"),
        (libc::CLONE_NEWNET, "network namespaces"),
        (libc::CLONE_NEWUTS, "uts namespaces"),
    ];
    for (flag, feature) in namespaces {
        sys::unshare(flag).needs(feature)?;
    }
    Ok(user != 0)
}

/// The user stays who they were, and is nobody else.
fn map_identity(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
