//! The log of a captured process: records, each written as one piece to the end of the file.
//!
//! Descriptors belong to the program: it may close ours and open a file of its own under the
//! same number. So each write first makes sure that the descriptor is still the log. A program
//! with few descriptors may count them: there the log is open only while it is written.

use nearmiss_abi::capture::{Loss, RecordKind};

use super::kernel::{self, Details, Part, open};
use crate::system::{self, EEXIST};
use crate::text::Text;

/// As for the trace: programs know the numbers of the descriptors they open.
const LOWEST_DESCRIPTORS: [i32; 4] = [220, 120, 60, 20];
const MOST_NAMES: u32 = 10_000;
const ROOM: usize = 16 << 10;
/// Parts of one record.
pub const MOST_PARTS: usize = 4;

/// The log.
pub struct Log {
    path: Text<4096>,
    fd: i32,
    device: u64,
    inode: u64,
    process: u32,
    /// Records that are not written yet.
    waiting: [u8; ROOM],
    used: usize,
    broken: bool,
    /// Descriptors are few: none is kept.
    closes: bool,
}

impl Log {
    /// No log.
    pub const fn none() -> Log {
        Log {
            path: Text::EMPTY,
            fd: 0,
            device: 0,
            inode: 0,
            process: 0,
            waiting: [0; ROOM],
            used: 0,
            broken: false,
            closes: false,
        }
    }

    /// Makes the first free `DIRECTORY/PID.capsule`, `DIRECTORY/PID.1.capsule`, ….
    pub fn create(&mut self, directory: &[u8]) -> bool {
        self.process = system::process();
        for attempt in 0..MOST_NAMES {
            let path = &mut self.path;
            path.clear();
            let fits = path.push(directory)
                && path.push(b"/")
                && path.push_number(self.process)
                && (attempt == 0 || path.push(b".") && path.push_number(attempt))
                && path.push(b".capsule");
            if !fits {
                return false;
            }
            let how = open::WRONLY | open::CREAT | open::EXCL | open::APPEND | open::CLOEXEC;
            // SAFETY: a text ends with a zero.
            match unsafe { system::open(self.path.as_ptr(), how, 0o600) } {
                Ok(fd) => {
                    let adopted = self.adopt(fd);
                    self.let_go();
                    return adopted;
                }
                Err(EEXIST) => continue,
                Err(_) => return false,
            }
        }
        false
    }

    /// The name of another file of this process: as the log's, with another ending.
    pub fn beside(&self, ending: &[u8]) -> Option<Text<4096>> {
        let text = self.path.text();
        let stem = text.strip_suffix(b"capsule")?;
        let mut name = Text::EMPTY;
        let fits = name.push(stem) && name.push(ending);
        fits.then_some(name)
    }

    /// Takes a new descriptor of the log, as a high number.
    fn adopt(&mut self, low: i32) -> bool {
        let mut lowest = LOWEST_DESCRIPTORS.into_iter();
        let high = lowest.find_map(|least| system::duplicate_above(low, least).ok());
        if high.is_some() {
            system::close(low);
        }
        self.fd = high.unwrap_or(low);
        self.closes = high.is_none();
        let Ok(details) = kernel::details(self.fd) else {
            return false;
        };
        // Whatever the mask of the program is, who reads the capsule must be able to.
        if details.permissions() != 0o600 {
            kernel::permit(self.fd, 0o600);
        }
        (self.device, self.inode) = (details.device(), details.inode());
        true
    }

    /// Gives the descriptor back where they are few.
    fn let_go(&mut self) {
        if self.closes && self.fd >= 0 {
            system::close(self.fd);
            self.fd = -1;
        }
    }

    /// Whether this is the process that made the log, not a child of it.
    pub fn is_of_this_process(&self) -> bool {
        self.process == system::process()
    }

    /// Adds a record.
    pub fn record(&mut self, kind: RecordKind, parts: &[&[u8]]) {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let mut head = [0u8; 8];
        let (kind_bytes, size_bytes) = ((kind as u32).to_le_bytes(), (size as u32).to_le_bytes());
        for (place, byte) in head
            .iter_mut()
            .zip(kind_bytes.into_iter().chain(size_bytes))
        {
            *place = byte;
        }
        if self.used + head.len() + size > ROOM {
            self.flush();
        }
        if head.len() + size > ROOM {
            return self.write_apart(&head, parts);
        }
        self.wait(&head);
        for part in parts {
            self.wait(part);
        }
    }

    /// Says that something was not kept.
    pub fn lost(&mut self, loss: Loss, what: &[u8]) {
        self.record(RecordKind::Lost, &[&(loss as u32).to_le_bytes(), what]);
    }

    fn wait(&mut self, bytes: &[u8]) {
        let Some(room) = self.waiting.get_mut(self.used..) else {
            return;
        };
        if room.len() >= bytes.len() {
            // SAFETY: there is room.
            unsafe { system::copy_bytes(room.as_mut_ptr(), bytes.as_ptr(), bytes.len()) };
            self.used += bytes.len();
        }
    }

    fn write_apart(&mut self, head: &[u8], parts: &[&[u8]]) {
        let mut pieces = [Part::NONE; MOST_PARTS + 1];
        let bytes = core::iter::once(&head).chain(parts);
        let mut size = 0;
        for (piece, bytes) in pieces.iter_mut().zip(bytes) {
            *piece = Part::of(bytes);
            size += bytes.len();
        }
        self.write(&pieces, size);
    }

    /// Writes what is waiting.
    pub fn flush(&mut self) {
        if self.used == 0 {
            return;
        }
        let used = core::mem::take(&mut self.used);
        let piece = Part::of(self.waiting.get(..used).unwrap_or(&[]));
        self.write(&[piece], used);
    }

    /// A record that is not written as a whole ends the log: what others append behind it
    /// could not be read.
    fn write(&mut self, pieces: &[Part], size: usize) {
        if self.broken || !self.is_writable(size as u64) {
            self.broken = true;
            return;
        }
        // SAFETY: pieces are made of slices.
        let written = unsafe { kernel::write(self.fd, pieces) };
        self.broken = written != Ok(size);
        self.let_go();
    }

    fn is_writable(&mut self, more: u64) -> bool {
        let Some(details) = self.details_now() else {
            return false;
        };
        // A file beyond the limit would kill the program by SIGXFSZ.
        details.size().saturating_add(more) <= system::file_size_limit()
    }

    /// The log's own details, after opening it anew if the program closed it.
    fn details_now(&mut self) -> Option<Details> {
        let is_log = |details: &Details, log: &Log| {
            (details.device(), details.inode()) == (log.device, log.inode)
        };
        if let Ok(details) = kernel::details(self.fd)
            && is_log(&details, self)
        {
            return Some(details);
        }
        let how = open::WRONLY | open::APPEND | open::CLOEXEC | open::NOFOLLOW;
        // SAFETY: a text ends with a zero.
        let fd = unsafe { system::open(self.path.as_ptr(), how, 0) }.ok()?;
        let known = (self.device, self.inode);
        let adopted = self.adopt(fd) && (self.device, self.inode) == known;
        adopted.then(|| kernel::details(self.fd).ok()).flatten()
    }

    /// Whether nothing can be written any more.
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}
