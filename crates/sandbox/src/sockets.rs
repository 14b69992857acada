//! Sockets of other processes that lie in the file system: a network namespace does not keep a
//! program from them, nor does a read-only file system. Overlays do; what is not beneath one is
//! covered by `/dev/null`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::sys;

/// The sockets of the system, which no other network namespace shows.
#[derive(Debug)]
pub struct Sockets {
    table: Option<File>,
    /// What the table said last.
    text: String,
    known: BTreeSet<PathBuf>,
}

impl Sockets {
    /// To be called before the network namespace is left.
    pub fn open() -> Sockets {
        Sockets {
            table: File::open("/proc/net/unix").ok(),
            text: String::new(),
            known: BTreeSet::new(),
        }
    }

    /// Asks which sockets there are now.
    pub fn look(&mut self) {
        let mut text = String::with_capacity(self.text.len());
        if let Some(table) = &mut self.table {
            // What cannot be read is not known.
            let _ = table
                .rewind()
                .and_then(|()| table.read_to_string(&mut text));
        }
        if text != self.text {
            self.known = parse(&text);
            self.text = text;
        }
    }

    /// Covers the sockets that are in sight.
    pub fn hide(&self, overlays: &[PathBuf]) -> io::Result<()> {
        let is_covered = |socket: &PathBuf| overlays.iter().any(|root| socket.starts_with(root));
        for socket in self.known.iter().filter(|socket| !is_covered(socket)) {
            if fs::symlink_metadata(socket).is_ok() {
                sys::bind(Path::new("/dev/null"), socket)?;
            }
        }
        Ok(())
    }
}

/// `ffff…: 00000002 00000000 00010000 0001 01 12345 /run/x.socket`.
fn parse(table: &str) -> BTreeSet<PathBuf> {
    let path = |line: &str| {
        let (_, path) = line.split_once(" /")?;
        Some(PathBuf::from(format!("/{path}")))
    };
    table.lines().filter_map(path).collect()
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
