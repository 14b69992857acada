//! Buffers of streams that the program gave them (`setvbuf`): libc writes there what it reads
//! ahead and what is to be written, and no model sees it. A program that reads such memory itself gets
//! bytes that may be input and have no label: a note says so. The summary sends each access to
//! it this way, as for objects of symbolic size.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;

use crate::bounds::Span;
use crate::runtime::Runtime;
use crate::streams::File;

/// Buffers that are known at a time.
const MOST: usize = 16;

/// A stream's buffer.
#[derive(Clone, Copy)]
struct Row {
    /// The stream; 0: the row is free.
    file: u64,
    start: u64,
    end: u64,
}

/// The buffers that streams were given.
pub struct StreamBuffers {
    rows: [Row; MOST],
}

impl StreamBuffers {
    /// None were given.
    pub const fn none() -> StreamBuffers {
        const FREE: Row = Row {
            file: 0,
            start: 0,
            end: 0,
        };
        StreamBuffers { rows: [FREE; MOST] }
    }

    /// The buffer of a stream is the program's alone again.
    pub fn remove(&mut self, file: *mut File) {
        for row in self.rows.iter_mut().filter(|row| row.file == file as u64) {
            row.file = 0;
        }
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        let mut used = self.rows.iter().filter(|row| row.file != 0);
        used.any(|row| start < row.end && row.start < end)
    }
}

impl Runtime {
    /// A stream has its buffer there.
    pub fn add_stream_buffer(&mut self, file: *mut File, (start, size): (u64, u64), site: SiteId) {
        self.stream_buffers.remove(file);
        let mut rows = self.stream_buffers.rows.iter_mut();
        let Some(free) = rows.find(|row| row.file == 0) else {
            return self.trace.note(NoteKind::ReadBack, site, 1);
        };
        *free = Row {
            file: file as u64,
            start,
            end: start.saturating_add(size),
        };
        self.shadow.set_sized(start, size);
    }

    /// The program accesses memory by itself.
    pub fn note_stream_buffer(&mut self, span: &Span) {
        let start = span.address.value;
        let end = start.saturating_add(span.size.value);
        if !span.write && self.stream_buffers.overlaps(start, end) {
            self.trace.note(NoteKind::ReadBack, span.site, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_a_stream_s_until_that_is_closed() {
        let mut buffers = StreamBuffers::none();
        buffers.rows[3] = Row {
            file: 7,
            start: 100,
            end: 200,
        };
        assert!(buffers.overlaps(199, 201) && buffers.overlaps(90, 101));
        assert!(!buffers.overlaps(200, 201) && !buffers.overlaps(90, 100));
        buffers.remove(7 as *mut File);
        assert!(!buffers.overlaps(100, 200));
    }
}
