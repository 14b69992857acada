//! Landlock, beneath the namespaces: even if a mount were left writable by mistake, the program
//! could change files only where it is meant to. It also keeps the program from writing into
//! named pipes of others, which a read-only file system does not, and from signals and abstract
//! sockets outside.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::sys::{self, LandlockRights};

// Rights on files, as bits of the kernel's interface. Reading and executing need none.
const WRITE_FILE: u64 = 1 << 1;
const REMOVE_DIRECTORY: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHARACTER_DEVICE: u64 = 1 << 6;
const MAKE_DIRECTORY: u64 = 1 << 7;
const MAKE_FILE: u64 = 1 << 8;
const MAKE_SOCKET: u64 = 1 << 9;
const MAKE_PIPE: u64 = 1 << 10;
const MAKE_BLOCK_DEVICE: u64 = 1 << 11;
const MAKE_LINK: u64 = 1 << 12;
const MOVE_ELSEWHERE: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const CONTROL_DEVICE: u64 = 1 << 15;

// What can be kept within the sandbox.
const ABSTRACT_SOCKETS: u64 = 1 << 0;
const SIGNALS: u64 = 1 << 1;

/// Rights that make no sense for anything in the sandbox.
const NEVER: u64 = MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE;

/// One step in the history of Landlock: its version, the rights on files and the scopes that it
/// brought, its name.
type Step = (u32, u64, u64, &'static str);

/// The steps. The first version is left out: with it no file can be moved to another directory.
const STEPS: [Step; 4] = [
    (
        2,
        WRITE_FILE
            | REMOVE_DIRECTORY
            | REMOVE_FILE
            | MAKE_DIRECTORY
            | MAKE_FILE
            | MAKE_SOCKET
            | MAKE_PIPE
            | MAKE_LINK
            | MOVE_ELSEWHERE
            | NEVER,
        0,
        "Landlock (Linux 5.19)",
    ),
    (3, TRUNCATE, 0, "Landlock for truncation (Linux 6.2)"),
    (5, CONTROL_DEVICE, 0, "Landlock for devices (Linux 6.10)"),
    (
        6,
        0,
        ABSTRACT_SOCKETS | SIGNALS,
        "Landlock for signals and abstract sockets (Linux 6.12)",
    ),
];

/// What a version of Landlock can confine, and what of it is missing.
fn supported(version: u32) -> (LandlockRights, Vec<&'static str>) {
    let mut rights = LandlockRights::default();
    let mut missing = Vec::new();
    for (since, files, scoped, name) in STEPS {
        if since > version {
            missing.push(name);
        } else {
            rights.files |= files;
            rights.scoped |= scoped;
        }
    }
    (rights, missing)
}

/// Lets this process and its children change files beneath these directories only. Says what
/// the kernel cannot do.
pub fn confine(writable: &[PathBuf]) -> io::Result<Vec<&'static str>> {
    let version = sys::landlock_version().unwrap_or(0);
    let (rights, missing) = supported(version);
    if rights.files == 0 {
        return Ok(missing);
    }
    // Older versions refuse a longer structure than they know.
    let known_words = match version {
        2..=3 => 1,
        4..=5 => 2,
        _ => 3,
    };
    let ruleset = sys::landlock_ruleset(&rights, known_words * size_of::<u64>())?;
    for directory in writable {
        let place = open_place(directory)?;
        sys::allow_beneath(&ruleset, &place, rights.files & !NEVER)?;
    }
    sys::restrict_self(&ruleset)?;
    Ok(missing)
}

fn open_place(path: &Path) -> io::Result<OwnedFd> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(path)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_versions_confine_less_and_say_so() {
        let (nothing, missing) = supported(0);
        assert_eq!(nothing, LandlockRights::default());
        assert_eq!(missing.len(), STEPS.len());
        let (rights, missing) = supported(3);
        assert!(rights.files & TRUNCATE != 0 && rights.files & CONTROL_DEVICE == 0);
        assert_eq!(missing[0], "Landlock for devices (Linux 6.10)");
        let (rights, missing) = supported(7);
        assert!(rights.scoped == 0b11 && missing.is_empty());
    }
}
