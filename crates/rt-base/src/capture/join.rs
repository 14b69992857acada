//! The log of a process image that another copy of this code has begun: the program's, that of a
//! library, or, for a library that is loaded late, one in a process of which this is a forked child.
//!
//! The image is identified by the bytes behind `AT_RANDOM`, which each log has in its first record.

use nearmiss_abi::capture::{CAPTURE_VERSION, IMAGE_SIZE, RecordKind, START_SIZE};

use super::kernel::{self, open};
use super::log::Log;
use super::meeting::Ancestor;
use crate::system;

/// Ancestors that may have begun the log.
const MOST_ANCESTORS: u32 = 16;
/// Process images of one process that are looked at.
const MOST_IMAGES: u32 = 64;
/// The kind and the size of a record.
const HEAD: usize = 8;

/// A log that was opened.
pub enum Opened {
    /// It was made.
    New,
    /// It was there.
    Joined(Start),
}

/// The first record of a log.
pub struct Start {
    /// The process that began it.
    pub process: u32,
    /// Its parent.
    pub parent: u32,
    /// Its umask.
    pub mask: u32,
    /// Its process image.
    pub image: [u8; IMAGE_SIZE],
    /// Device and number of standard input, if its bytes are captured.
    pub stdin: Option<(u64, u64)>,
}

impl Start {
    /// The payload of the record.
    pub fn bytes(&self) -> [u8; START_SIZE] {
        let (device, inode) = self.stdin.unwrap_or((0, 0));
        let mut bytes = [0; START_SIZE];
        let numbers = [CAPTURE_VERSION, self.process, self.parent, self.mask];
        let numbers = numbers.into_iter().flat_map(u32::to_le_bytes);
        let identity = [device, inode].into_iter().flat_map(u64::to_le_bytes);
        let all = numbers.chain(self.image).chain(identity);
        for (place, byte) in bytes.iter_mut().zip(all) {
            *place = byte;
        }
        bytes
    }

    /// The record at the beginning of a log.
    fn parse(log: &[u8]) -> Option<Start> {
        let number = |at: usize| Some(u32::from_le_bytes(log.get(at..at + 4)?.try_into().ok()?));
        let large = |at: usize| Some(u64::from_le_bytes(log.get(at..at + 8)?.try_into().ok()?));
        let is_start = number(0)? == RecordKind::Start as u32
            && number(4)? == START_SIZE as u32
            && number(HEAD)? == CAPTURE_VERSION;
        let stdin = (large(HEAD + 32)?, large(HEAD + 40)?);
        let image = log.get(HEAD + 16..HEAD + 16 + IMAGE_SIZE)?;
        is_start.then_some(Start {
            process: number(HEAD + 4)?,
            parent: number(HEAD + 8)?,
            mask: number(HEAD + 12)?,
            image: image.try_into().ok()?,
            stdin: (stdin != (0, 0)).then_some(stdin),
        })
    }
}

impl Log {
    /// The log of this image that an ancestor has begun; its name is then this log's.
    pub fn find_above(&mut self, directory: &[u8], image: &[u8; IMAGE_SIZE]) -> Option<Start> {
        let mut process = system::process();
        for _ in 0..MOST_ANCESTORS {
            process = Ancestor::read(process)?.parent;
            for number in 0..MOST_IMAGES {
                if process == 0 || !self.name(directory, process, number) {
                    return None;
                }
                match self.join(image) {
                    Joining::Joined(start) => return Some(start),
                    Joining::OfAnother => {}
                    Joining::Missing => break,
                }
            }
        }
        None
    }

    /// Joins the log of this name, if it is that of the image.
    pub fn join(&mut self, image: &[u8; IMAGE_SIZE]) -> Joining {
        let how = open::CLOEXEC | open::NOFOLLOW | open::NONBLOCK;
        // SAFETY: a text ends with a zero.
        let Ok(fd) = (unsafe { system::open(self.path().as_ptr(), how, 0) }) else {
            return Joining::Missing;
        };
        let mut bytes = [0; HEAD + START_SIZE];
        // SAFETY: the array has room for its size.
        let read = unsafe { system::pread(fd, bytes.as_mut_ptr(), bytes.len(), 0) };
        let details = kernel::details(fd);
        system::close(fd);
        let start = Start::parse(bytes.get(..read.unwrap_or(0)).unwrap_or(&[]));
        match (start, details) {
            (Some(start), Ok(details)) if start.image == *image => {
                self.belong(start.process, &details);
                Joining::Joined(start)
            }
            _ => Joining::OfAnother,
        }
    }
}

/// A log of a name that may be that of an image.
pub enum Joining {
    /// It is, and was joined.
    Joined(Start),
    /// It is not.
    OfAnother,
    /// There is none.
    Missing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_as_it_was_written() {
        let start = Start {
            process: 1,
            parent: 2,
            mask: 0o22,
            image: [7; IMAGE_SIZE],
            stdin: Some((3, u64::MAX)),
        };
        let mut log = vec![RecordKind::Start as u8, 0, 0, 0, START_SIZE as u8, 0, 0, 0];
        log.extend(start.bytes());
        let read = Start::parse(&log).unwrap();
        assert_eq!((read.process, read.parent, read.mask), (1, 2, 0o22));
        assert_eq!((read.image, read.stdin), (start.image, start.stdin));
        for size in 0..log.len() {
            assert!(Start::parse(&log[..size]).is_none(), "{size}");
        }
    }
}
