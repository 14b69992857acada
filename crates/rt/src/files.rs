//! Files as inputs: which of those that a program opens are, and their contents.

use nearmiss_abi::channel::{ChannelKind, ChannelRow, PIECE_WHOLE};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

pub use crate::base_files::{AT_FDCWD, flags, flags_of, is_system};
use crate::events::place_of;
use crate::models::real;
use crate::runtime::Runtime;
use crate::system::{self, Status};
use crate::text::Text;

/// The most bytes of one file that are copied into the trace.
const LARGEST_CONTENT: u64 = 16 << 20;

impl Runtime {
    /// The program opened a file as descriptor `fd`.
    ///
    /// # Safety
    /// `path` ends with a zero.
    pub unsafe fn opened(&mut self, fd: i32, directory: i32, path: *const u8, how: i32) {
        if fd < 0 {
            return;
        }
        self.inputs.set_descriptor(fd, None);
        let Ok(status) = system::status(fd) else {
            return;
        };
        if how & flags::ACCESS_MODE == flags::WRONLY || how & flags::TRUNC != 0 {
            return self.remember_written(&status);
        }
        let made_now = how & flags::CREAT != 0 && status.size == 0;
        // SAFETY: as promised by the caller.
        if made_now || !unsafe { self.can_be_input(directory, path) } {
            return;
        }
        let channel = self.file_channel(fd, status);
        self.inputs.set_descriptor(fd, channel);
    }

    /// Whether a file of this name may be an input; the buffer then has its absolute path.
    ///
    /// # Safety
    /// `path` ends with a zero.
    unsafe fn can_be_input(&mut self, directory: i32, path: *const u8) -> bool {
        // SAFETY: as promised by the caller.
        let path = unsafe { system::text(path) };
        self.options.has_channel(ChannelKind::File)
            && make_absolute(&mut self.inputs.path, directory, path)
            && !is_system(self.inputs.path.text())
    }

    /// The channel of the open file whose name is in the buffer, old or new.
    fn file_channel(&mut self, fd: i32, status: Status) -> Option<u32> {
        if !status.is_regular() || self.was_written(&status) {
            return None;
        }
        let changed = (status.changed_seconds, status.changed_nanoseconds);
        if self.inputs.has_forked() && changed >= self.inputs.forked_at {
            // A child made it, or filled it: it is no input.
            self.trace
                .note(NoteKind::Outside, place_of(SiteId::NONE), 1);
            return None;
        }
        match self.find_file() {
            Some(known) if self.is_unchanged(known, &status) => Some(known),
            Some(_) => {
                self.trace.note(NoteKind::InputChanged, SiteId::NONE, 1);
                None
            }
            None => self.add_file(fd, status),
        }
    }

    /// The program asked about a regular file of `size` bytes by its name: its channel, if it
    /// is an input. Programs ask for the size first and open the file afterwards, so a file
    /// that was not opened yet becomes one, unless it is large or they ask about many.
    ///
    /// # Safety
    /// `path` ends with a zero.
    pub unsafe fn asked_about(
        &mut self,
        directory: i32,
        path: *const u8,
        size: u64,
    ) -> Option<u32> {
        const MOST: u32 = 16;
        // SAFETY: as promised by the caller.
        if !unsafe { self.can_be_input(directory, path) } {
            return None;
        }
        if let Some(known) = self.find_file() {
            return Some(known);
        }
        if size > self.options.input || self.inputs.asked_about >= MOST {
            return None;
        }
        self.inputs.asked_about += 1;
        const O_RDONLY_CLOEXEC: i32 = 0o2000000;
        // SAFETY: the buffer ends with a zero.
        let fd = unsafe { system::open(self.inputs.path.as_ptr(), O_RDONLY_CLOEXEC, 0) }.ok()?;
        let channel = match system::status(fd) {
            Ok(status) => self.file_channel(fd, status),
            Err(_) => None,
        };
        system::close(fd);
        channel
    }

    /// The eight bytes at `address` are the size of the file that is this channel.
    pub fn label_size(&mut self, channel: u32, address: u64, size: u64) {
        let known = self.inputs.channel(channel);
        let (whole, starts_later) = (known.whole, known.start != 0);
        if whole == CONCRETE || starts_later || self.value(whole) != size as u128 {
            return;
        }
        let label = self.zero_extend(whole, 64);
        self.store(address, 8, label);
    }

    /// A file was asked for by a name. If that is symbolic, the file of another name is not
    /// looked at: a note says so.
    ///
    /// # Safety
    /// `path` is what the kernel was given; if it was found, it ends with a zero.
    pub unsafe fn named(&mut self, path: *const u8, found: bool, site: SiteId) {
        const EFAULT: i32 = 14;
        const LONGEST_PATH: usize = 4096;
        // SAFETY: `errno` has an address in every thread.
        let readable = found || unsafe { *real::__errno_location() } != EFAULT;
        if path.is_null() || !readable {
            return;
        }
        // SAFETY: the kernel has just read the path to its zero, or as far as this.
        let size = unsafe { system::length_within(path, LONGEST_PATH) };
        // That the name ends where it does is part of it.
        self.opaque(path as u64, size as u64 + 1, NoteKind::FileName, site);
        // SAFETY: as above.
        let name = unsafe { core::slice::from_raw_parts(path, size) };
        if found && shows_process(name) {
            self.trace.note(NoteKind::Outside, site, 1);
        }
    }

    fn remember_written(&mut self, status: &Status) {
        let place = self.inputs.written_count % self.inputs.written.len();
        self.inputs.written[place] = status.identity();
        self.inputs.written_count += 1;
    }

    /// Whether the program itself wrote the file: then it is no input.
    fn was_written(&self, status: &Status) -> bool {
        let identity = status.identity();
        self.inputs.written_count != 0 && self.inputs.written.contains(&identity)
    }

    /// The channel of the file whose name is in the buffer.
    fn find_file(&self) -> Option<u32> {
        let name = self.inputs.path.text();
        (0..self.inputs.count()).find(|&number| {
            let row = self.trace.channel(number);
            row.kind == ChannelKind::File as u8
                && row.name_size == name.len() as u64
                && self.trace.blob(row.name_offset, row.name_size) == name
        })
    }

    fn is_unchanged(&mut self, channel: u32, status: &Status) -> bool {
        self.inputs.channel(channel).status == *status
    }

    /// A channel for the file whose name is in the buffer, with its content.
    fn add_file(&mut self, fd: i32, status: Status) -> Option<u32> {
        let name = self.inputs.path.text();
        let name_size = name.len() as u64;
        // SAFETY: the text is readable.
        let name_offset = match unsafe { self.trace.append_blob(name.as_ptr(), name_size) } {
            Ok(offset) => offset,
            Err(full) => {
                self.blob_full(full);
                return None;
            }
        };
        let (content_offset, content_size) = self.copy_content(fd, status.size);
        let row = ChannelRow {
            name_offset,
            name_size,
            content_offset,
            content_size,
            ..ChannelRow::default()
        };
        let channel = self.add_row(ChannelKind::File, row)?;
        self.inputs.channel(channel).status = status;
        // Of a file that is not in the trace as a whole there is no longer or shorter version.
        if content_size == status.size {
            self.add_length(channel, 0, status.size, PIECE_WHOLE);
        }
        Some(channel)
    }

    /// Copies a file's content into the trace without moving its position.
    fn copy_content(&mut self, fd: i32, size: u64) -> (u64, u64) {
        let wanted = size.min(LARGEST_CONTENT);
        if wanted < size {
            self.trace.note(NoteKind::InputLimit, SiteId::NONE, 1);
        }
        let room = match self.trace.blob_room(wanted) {
            Ok(room) => room,
            Err(full) => {
                self.blob_full(full);
                return (0, 0);
            }
        };
        let mut done = 0;
        while done < wanted {
            // SAFETY: the room has `wanted` bytes.
            let read = unsafe {
                system::pread(fd, room.add(done as usize), (wanted - done) as usize, done)
            };
            match read {
                Ok(count) if count > 0 => done += count as u64,
                _ => break,
            }
        }
        (self.trace.blob_keep(done), done)
    }
}

/// Whether a file of the kernel's shows arguments, environment or memory of a process.
fn shows_process(path: &[u8]) -> bool {
    const SHOWING: [&[u8]; 4] = [b"/mem", b"/cmdline", b"/environ", b"/comm"];
    path.starts_with(b"/proc/") && SHOWING.iter().any(|end| path.ends_with(end))
}

/// Makes a path absolute, in `buffer`; `false` if that cannot be done.
fn make_absolute(buffer: &mut Text<8192>, directory: i32, path: &[u8]) -> bool {
    buffer.clear();
    if path.first() == Some(&b'/') {
        return buffer.push(path);
    }
    let found = if directory == AT_FDCWD {
        // The kernel counts the zero.
        buffer.write(|bytes| system::current_directory(bytes).map(|size| size.max(1) - 1))
    } else {
        let mut link = Text::<32>::EMPTY;
        link.push(b"/proc/self/fd/")
            && link.push_number(directory as u32)
            // SAFETY: the link ends with a zero.
            && buffer.write(|bytes| unsafe { system::read_link(link.as_ptr(), bytes) })
    };
    let ends_with_slash = buffer.text().last() == Some(&b'/');
    found && (ends_with_slash || buffer.push(b"/")) && buffer.push(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::Scratch;
    use std::os::fd::AsRawFd;

    fn open(runtime: &mut Scratch, path: &str) -> std::fs::File {
        let file = std::fs::File::open(path).unwrap();
        let path = std::format!("{path}\0");
        // SAFETY: the path ends with a zero.
        unsafe { runtime.opened(file.as_raw_fd(), AT_FDCWD, path.as_ptr(), 0) };
        file
    }

    #[test]
    fn a_file_is_one_channel_until_it_changes() {
        let mut runtime = Scratch::new();
        let path = std::env::temp_dir().join(std::format!("rt-files-{}", std::process::id()));
        std::fs::write(&path, "content").unwrap();
        let text = path.to_str().unwrap();
        let first = open(&mut runtime, text);
        let second = open(&mut runtime, text);
        let channel = runtime.inputs.of_descriptor(first.as_raw_fd());
        assert_eq!(channel, Some(0));
        assert_eq!(runtime.inputs.of_descriptor(second.as_raw_fd()), channel);
        let row = runtime.trace.channel(0);
        assert_eq!(
            runtime.trace.blob(row.content_offset, row.content_size),
            b"content"
        );
        assert_eq!(
            runtime.trace.blob(row.name_offset, row.name_size),
            text.as_bytes()
        );
        std::fs::write(&path, "other content").unwrap();
        let third = open(&mut runtime, text);
        assert_eq!(runtime.inputs.of_descriptor(third.as_raw_fd()), None);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn parts_of_the_system_are_no_inputs() {
        let mut runtime = Scratch::new();
        let file = open(&mut runtime, "/etc/passwd");
        assert_eq!(runtime.inputs.of_descriptor(file.as_raw_fd()), None);
        let file = open(&mut runtime, "/dev/null");
        assert_eq!(runtime.inputs.of_descriptor(file.as_raw_fd()), None);
    }

    #[test]
    fn relative_paths_are_made_absolute() {
        let mut runtime = Scratch::new();
        let _file = open(&mut runtime, "Cargo.toml");
        let row = runtime.trace.channel(0);
        let name = runtime.trace.blob(row.name_offset, row.name_size);
        let expected = std::env::current_dir().unwrap().join("Cargo.toml");
        assert_eq!(name, expected.to_str().unwrap().as_bytes());
    }
}
