//! Sockets of other processes that lie in the file system: a network namespace does not keep a
//! program from them, nor does a read-only file system. Overlays do; what is not beneath one is
//! covered by `/dev/null`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sys;

/// The sockets that the kernel knows; to be asked before the network namespace is left.
pub fn known() -> BTreeSet<PathBuf> {
    parse(&fs::read_to_string("/proc/net/unix").unwrap_or_default())
}

/// `ffff…: 00000002 00000000 00010000 0001 01 12345 /run/x.socket`.
fn parse(table: &str) -> BTreeSet<PathBuf> {
    let path = |line: &str| {
        let (_, path) = line.split_once(" /")?;
        Some(PathBuf::from(format!("/{path}")))
    };
    table.lines().filter_map(path).collect()
}

/// Covers the sockets that are in sight.
pub fn hide(sockets: &BTreeSet<PathBuf>, overlays: &[PathBuf]) -> io::Result<()> {
    let is_covered = |socket: &PathBuf| overlays.iter().any(|root| socket.starts_with(root));
    for socket in sockets.iter().filter(|socket| !is_covered(socket)) {
        if fs::symlink_metadata(socket).is_ok() {
            sys::attach_mount(&sys::clone_mount(Path::new("/dev/null"))?, socket)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000: 00000002 00000000 00010000 0001 01 10 /run/a b.sock\n\
                     0000: 00000003 00000000 00000000 0001 03 11\n\
                     0000: 00000002 00000000 00010000 0001 01 12 @abstract\n\
                     0000: 00000002 00000000 00010000 0001 01 13 /run/a b.sock\n";
        assert_eq!(parse(table), BTreeSet::from(["/run/a b.sock".into()]));
    }
}
