//! The log of a captured process: records, each written as one piece to the end of the file.
//!
//! Descriptors belong to the program: it may close ours and open a file of its own under the
//! same number. So each write first makes sure that the descriptor is still the log. A program
//! with few descriptors may count them: there the log is open only while it is written.

use nearmiss_abi::capture::{IMAGE_SIZE, Loss, PROGRAM_SUFFIX, RecordKind};

use super::begin::Descriptor;
use super::join::{Joining, Opened};
use super::kernel::{self, Details, Part, open};
use crate::system::{self, EEXIST, EMFILE, ENFILE, Errno};
use crate::text::Text;

/// As for the trace: programs know the numbers of the descriptors they open.
const LOWEST_DESCRIPTORS: [i32; 4] = [220, 120, 60, 20];
const MOST_NAMES: u32 = 10_000;
const ROOM: usize = 16 << 10;
/// Parts of one record.
pub const MOST_PARTS: usize = 4;

/// What became of bytes that were to be written.
#[derive(PartialEq, Eq)]
enum Written {
    Yes,
    No,
    /// There is no descriptor now.
    Later,
}

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
    /// No descriptor is kept: they are few, or none ever is.
    closes: bool,
    never_keeps: bool,
}

impl Log {
    /// What becomes of the descriptor between two writes.
    pub fn set_descriptor(&mut self, descriptor: Descriptor) {
        self.never_keeps = descriptor == Descriptor::Closed;
    }

    /// Makes the first free `DIRECTORY/PID.capsule`, `DIRECTORY/PID.1.capsule`, …, or joins the one of
    /// this process image.
    pub fn create(&mut self, directory: &[u8], image: &[u8; IMAGE_SIZE]) -> Option<Opened> {
        let process = system::process();
        for attempt in 0..MOST_NAMES {
            if !self.name(directory, process, attempt) {
                return None;
            }
            let how = open::WRONLY | open::CREAT | open::EXCL | open::APPEND | open::CLOEXEC;
            // SAFETY: a text ends with a zero.
            match unsafe { system::open(self.path.as_ptr(), how, 0o600) } {
                Ok(fd) => {
                    let details = self.adopt(fd)?;
                    self.belong(process, &details);
                    self.let_go();
                    return Some(Opened::New);
                }
                Err(EEXIST) => {}
                Err(_) => return None,
            }
            if let Joining::Joined(start) = self.join(image) {
                return Some(Opened::Joined(start));
            }
        }
        None
    }

    /// Takes this as the name of the log; `false` if it is too long.
    pub(super) fn name(&mut self, directory: &[u8], process: u32, number: u32) -> bool {
        let path = &mut self.path;
        path.clear();
        path.push(directory)
            && path.push(b"/")
            && path.push_number(process)
            && (number == 0 || path.push(b".") && path.push_number(number))
            && path.push(b".capsule")
    }

    /// The path of the log.
    pub(super) fn path(&self) -> &Text<4096> {
        &self.path
    }

    /// The log is this file, begun by this process.
    pub(super) fn belong(&mut self, process: u32, details: &Details) {
        self.process = process;
        (self.device, self.inode) = (details.device(), details.inode());
    }

    /// Keeps the program beside the log: a suite may remove it, or build another in its place, as soon as it
    /// has ended.
    pub fn keep_program(&self) {
        let mut name: Text<4096> = Text::EMPTY;
        if name.push(self.path.text()) && name.push(PROGRAM_SUFFIX.as_bytes()) {
            // SAFETY: a text ends with a zero.
            unsafe { kernel::link_program(name.as_ptr()) };
        }
    }

    /// Takes a new descriptor of the log, as a high number if it is kept.
    fn adopt(&mut self, low: i32) -> Option<Details> {
        let mut lowest = LOWEST_DESCRIPTORS.into_iter();
        let high = match self.never_keeps {
            true => None,
            false => lowest.find_map(|least| system::duplicate_above(low, least).ok()),
        };
        if high.is_some() {
            system::close(low);
        }
        self.fd = high.unwrap_or(low);
        self.closes = high.is_none();
        let details = kernel::details(self.fd).ok()?;
        // Whatever the mask of the program is, who reads the capsule must be able to.
        if details.permissions() != 0o600 {
            kernel::permit(self.fd, 0o600);
        }
        Some(details)
    }

    /// Gives the descriptor back where it is not kept.
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
            // What waits for a descriptor comes first.
            self.broken |= self.used != 0;
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
        // It cannot wait.
        self.broken |= self.write(&pieces, size) != Written::Yes;
    }

    /// Writes what is waiting. Where the program has all descriptors that there are, it waits on.
    pub fn flush(&mut self) {
        if self.used == 0 {
            return;
        }
        let piece = Part::of(self.waiting.get(..self.used).unwrap_or(&[]));
        if self.write(&[piece], self.used) != Written::Later {
            self.used = 0;
        }
    }

    /// A record that is not written as a whole ends the log: what others append behind it
    /// could not be read.
    fn write(&mut self, pieces: &[Part], size: usize) -> Written {
        let details = match self.details_now() {
            _ if self.broken => return Written::No,
            Err(EMFILE | ENFILE) => return Written::Later,
            details => details.ok(),
        };
        // A file beyond the limit would kill the program by SIGXFSZ.
        let fits = details.is_some_and(|details| {
            details.size().saturating_add(size as u64) <= system::file_size_limit()
        });
        // SAFETY: pieces are made of slices.
        self.broken = !fits || unsafe { kernel::write(self.fd, pieces) } != Ok(size);
        self.let_go();
        match self.broken {
            true => Written::No,
            false => Written::Yes,
        }
    }

    /// The log's own details, after opening it anew if the program closed it.
    fn details_now(&mut self) -> Result<Details, Errno> {
        let identity = (self.device, self.inode);
        let is_log = |details: &Details| (details.device(), details.inode()) == identity;
        if !self.closes
            && let Ok(details) = kernel::details(self.fd)
            && is_log(&details)
        {
            return Ok(details);
        }
        let how = open::WRONLY | open::APPEND | open::CLOEXEC | open::NOFOLLOW;
        // SAFETY: a text ends with a zero.
        let fd = unsafe { system::open(self.path.as_ptr(), how, 0) }?;
        let details = self.adopt(fd).filter(is_log);
        if details.is_none() {
            self.let_go();
        }
        details.ok_or(kernel::ENOENT)
    }

    /// Whether nothing can be written any more.
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}
