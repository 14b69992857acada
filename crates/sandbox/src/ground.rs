//! What all runs of a launcher stand on: namespaces that a run cannot leave anything in, the
//! devices, and a place to build mounts in.
//!
//! The network is shared by the runs of a launcher, one after the other: all sockets of a run end
//! with its processes, and connections that the kernel would remember for a while are not.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::refusal::{Needs, Refusal};
use crate::sockets::Sockets;
use crate::sys;

/// Where mounts are built: nothing of nearmiss needs what is there, and in a run it is there
/// again.
pub const WORKSHOP: &str = "/sys";
/// The devices a program may see.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// In which user namespace the sandbox is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// The system's: root needs no other to make the sandbox, and has only the program enter one.
    System,
    /// One in which there is nobody but the user.
    Own,
}

/// What all runs of a launcher share.
#[derive(Debug)]
pub(crate) struct Ground {
    pub users: Users,
    /// Namespaces that every run has for itself.
    pub namespaces_of_a_run: i32,
    /// A user namespace for programs of root, in which everybody is who they were.
    pub user_namespace: Option<OwnedFd>,
    /// Sockets of other programs.
    pub sockets: Sockets,
    /// The umask of nearmiss.
    pub umask: u32,
}

/// Namespaces besides that of users that the runs of a launcher share, with what they are called.
const SHARED_NAMESPACES: [(i32, &str); 4] = [
    (libc::CLONE_NEWNS, "mount namespaces"),
    (libc::CLONE_NEWNET, "network namespaces"),
    (libc::CLONE_NEWUTS, "uts namespaces"),
    (libc::CLONE_NEWCGROUP, "cgroup namespaces"),
];
const NAMESPACES_OF_A_RUN: i32 = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;

impl Ground {
    /// Makes it. Of the descriptors that were inherited only `line` is kept.
    pub fn prepare(line: &OwnedFd) -> Result<Ground, Refusal> {
        sys::close_others(line.as_raw_fd())?;
        sys::close_on_exec(line.as_raw_fd())?;
        // Signals from a terminal are for nearmiss.
        sys::new_session()?;
        std::env::set_current_dir("/")?;
        let umask = sys::set_umask(0o022);
        let sockets = Sockets::open();
        let users = enter_namespaces()?;
        let user_namespace = match users {
            Users::System => user_namespace_of_all().ok(),
            Users::Own => None,
        };
        let mut namespaces_of_a_run = NAMESPACES_OF_A_RUN;
        if fs::write("/proc/sys/net/ipv4/tcp_max_tw_buckets", "0").is_err() {
            namespaces_of_a_run |= libc::CLONE_NEWNET;
        }
        let _ = sys::raise_loopback();
        sys::make_everything_private().needs("private mounts")?;
        build_workshop()?;
        Ok(Ground {
            users,
            namespaces_of_a_run,
            user_namespace,
            sockets,
            umask,
        })
    }

    /// Whether a run has a network of its own.
    pub fn has_network_per_run(&self) -> bool {
        self.namespaces_of_a_run & libc::CLONE_NEWNET != 0
    }
}

/// Leaves the namespaces of the system. Whoever may not make them as they are, which root may
/// not in a container, makes a user namespace first.
fn enter_namespaces() -> Result<Users, Refusal> {
    let (user, group) = sys::identity();
    let all = SHARED_NAMESPACES
        .iter()
        .fold(0, |all, (flag, _)| all | flag);
    if sys::unshare(all).is_ok() {
        return Ok(Users::System);
    }
    sys::unshare(libc::CLONE_NEWUSER).needs("user namespaces")?;
    map_identity(user, group).needs("mapping one's own user into a user namespace")?;
    for (flag, feature) in SHARED_NAMESPACES {
        sys::unshare(flag).needs(feature)?;
    }
    Ok(Users::Own)
}

/// The user stays who they were, and is nobody else.
fn map_identity(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// A user namespace in which everybody is who they were. A process holds it for a moment.
fn user_namespace_of_all() -> io::Result<OwnedFd> {
    let holder = sys::fork_into(libc::CLONE_NEWUSER)?;
    if holder == 0 {
        sys::pause();
    }
    let namespace = map_all_identities(holder)
        .and_then(|()| File::open(format!("/proc/{holder}/ns/user")))
        .map(OwnedFd::from);
    sys::kill(holder);
    sys::wait(holder, 0)?;
    namespace
}

fn map_all_identities(pid: libc::pid_t) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(format!("/proc/{pid}/{name}"), identity_map(&own))?;
    }
    Ok(())
}

/// Each line of a map says: from this number, to that one outside, so many.
fn identity_map(own: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (first, count) = (words.next()?, words.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    own.lines().filter_map(line).collect()
}

/// The workshop, and with its help a `/dev` for all runs.
fn build_workshop() -> Result<(), Refusal> {
    let workshop = Path::new(WORKSHOP);
    sys::mount("tmpfs", workshop, 0, "mode=0700").needs("tmpfs")?;
    for name in ["dev", "run", "stage"] {
        fs::create_dir(workshop.join(name))?;
    }
    build_devices(&workshop.join("dev")).needs("a /dev of its own")
}

/// A `/dev` with the harmless devices; every run has shared memory of its own in it.
fn build_devices(directory: &Path) -> io::Result<()> {
    sys::mount("tmpfs", directory, 0, "mode=0755,size=1m,nr_inodes=64")?;
    for name in DEVICES {
        let place = directory.join(name);
        File::create(&place)?;
        sys::bind(&Path::new("/dev").join(name), &place)?;
    }
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ];
    for (name, target) in links {
        symlink(target, directory.join(name))?;
    }
    for name in ["shm", "pts"] {
        fs::create_dir(directory.join(name))?;
    }
    fs::set_permissions(directory.join("shm"), fs::Permissions::from_mode(0o1777))?;
    let finished = sys::clone_mount(directory)?;
    sys::detach(directory)?;
    sys::attach_mount(&finished, Path::new("/dev"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_stay() {
        assert_eq!(
            identity_map("         0     100000      65536\n     70000  1000 1\n"),
            "0 0 65536\n70000 70000 1\n"
        );
    }
}
