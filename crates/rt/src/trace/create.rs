//! Making the trace file: its name, its regions, its descriptor; and the small file that is
//! left behind where a recording is not possible.
//!
//! The file gets its name when its header is complete, so that whoever finds a trace finds a
//! valid one; a process killed before leaves `<pid>.new`.

use nearmiss_abi::ABI_VERSION;
use nearmiss_abi::note::{NoteKind, NoteRow};
use nearmiss_abi::trace::{Header, MAGIC, NOTES_OFFSET, REGIONS_OFFSET, STATE_RUNNING};

use super::{PAGE, Region, Trace, region_limits, round_up};
use crate::options::Options;
use crate::system::{self, EEXIST, EINTR, EOPNOTSUPP, Errno, advice, map};
use crate::text::Text;

const O_RDWR: i32 = 2;
const O_CREAT: i32 = 0o100;
const O_EXCL: i32 = 0o200;
const O_CLOEXEC: i32 = 0o2000000;
/// Programs know the numbers of the descriptors they open, some close all up to a small one:
/// the trace has a large one, as far as the process may.
const LOWEST_DESCRIPTORS: [i32; 4] = [200, 100, 50, 20];
/// How often a process number may come back in one directory.
const MOST_NAMES: u32 = 10_000;
const LONGEST_NAME: usize = 4096;

impl Trace {
    /// Creates the trace in `directory`. `None` if nothing can be written there at all.
    pub fn create(directory: &[u8], options: &Options) -> Option<Trace> {
        let (fd, mut unfinished) = create_file(directory)?;
        let trace = Trace::over_file(fd, options);
        if trace.is_err() {
            leave_refusal(fd);
            system::close(fd);
        }
        unfinished.finish(directory)?;
        trace.ok()
    }

    /// Leaves a trace in `directory` that says that recording was not possible.
    pub fn refuse(directory: &[u8]) {
        if let Some((fd, mut unfinished)) = create_file(directory) {
            leave_refusal(fd);
            system::close(fd);
            unfinished.finish(directory);
        }
    }

    /// The trace in the new file `fd`.
    fn over_file(fd: i32, options: &Options) -> Result<Trace, Errno> {
        let [snapshots, blob, events, terms] = region_limits(options);
        let mut end = REGIONS_OFFSET as u64;
        let mut region = |limit: u64| {
            let offset = end;
            end += round_up(limit);
            Region {
                offset,
                reserved: 0,
                limit,
            }
        };
        let mut trace = Trace::none();
        trace.snapshots = region(snapshots);
        trace.blob = region(blob);
        trace.events = region(events);
        trace.terms = region(terms);
        // A file beyond the limit would kill the program by SIGXFSZ.
        const EFBIG: Errno = Errno(27);
        if end > system::file_size_limit() {
            return Err(EFBIG);
        }
        system::truncate(fd, end)?;
        if !reserve_disk(fd, 0, REGIONS_OFFSET as u64) {
            return Err(EFBIG);
        }
        trace.fd = fd;
        trace.identity = system::status(fd)?;
        let access = map::PROT_READ | map::PROT_WRITE;
        trace.base = system::map(end as usize, access, map::SHARED, fd)?;
        // SAFETY: the mapping is new. Readahead would fill the cache with megabytes of zeros.
        unsafe { system::advise(trace.base, end as usize, advice::RANDOM) };
        // SAFETY: the terms' offset lies in the mapping.
        trace.term_start = unsafe { trace.base.add(trace.terms.offset as usize).cast() };
        trace.term_limit = options.terms;
        trace.event_limit = options.events;
        trace.terms = trace
            .reserve(trace.terms, PAGE.min(terms))
            .map_err(|_| EFBIG)?;
        trace.term_count = 1;
        // SAFETY: the header's page is reserved and mapped.
        unsafe { trace.header().write(trace.first_header()) };
        Ok(trace)
    }

    fn first_header(&self) -> Header {
        Header {
            term_count: self.term_count,
            terms_offset: self.terms.offset,
            events_offset: self.events.offset,
            blob_offset: self.blob.offset,
            snapshots_offset: self.snapshots.offset,
            ..empty_header()
        }
    }

    /// Records which program this is.
    pub fn set_program(&mut self, path: &[u8]) {
        // SAFETY: a slice is readable; the header is mapped.
        unsafe {
            if let Ok(offset) = self.append_blob(path.as_ptr(), path.len() as u64) {
                let header = self.header();
                (&raw mut (*header).program_offset).write(offset);
                (&raw mut (*header).program_size).write(path.len() as u64);
            }
        }
    }
}

fn empty_header() -> Header {
    Header {
        magic: MAGIC,
        abi_version: ABI_VERSION,
        state: STATE_RUNNING,
        pid: system::process(),
        exit_status: 0,
        stopped: 0,
        reserved: 0,
        term_count: 1,
        event_count: 0,
        blob_size: 0,
        snapshot_count: 0,
        terms_offset: REGIONS_OFFSET as u64,
        events_offset: REGIONS_OFFSET as u64,
        blob_offset: REGIONS_OFFSET as u64,
        snapshots_offset: REGIONS_OFFSET as u64,
        program_offset: 0,
        program_size: 0,
        hook_calls: 0,
    }
}

/// Leaves a trace without terms (but the empty term 0) that says that recording was not
/// possible here.
fn leave_refusal(fd: i32) {
    let header = Header {
        stopped: 1,
        ..empty_header()
    };
    let note = NoteRow {
        site: 0,
        count: 1,
        kind: NoteKind::Limit as u8,
        reserved: [0; 3],
    };
    let _ = system::truncate(fd, REGIONS_OFFSET as u64 + PAGE);
    let _ = system::pwrite(fd, bytes_of(&note), NOTES_OFFSET as u64);
    let _ = system::pwrite(fd, bytes_of(&header), 0);
}

fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: used on records of the ABI only, which have no padding.
    unsafe { core::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// Reserves disk space; where the file system cannot, writes zeros (nothing is there yet).
pub fn reserve_disk(fd: i32, offset: u64, size: u64) -> bool {
    const TRIES: u32 = 100;
    static ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
    for _ in 0..TRIES {
        match system::allocate(fd, offset, size) {
            Ok(()) => return true,
            Err(EINTR) => continue,
            Err(EOPNOTSUPP) => {
                return (0..size / PAGE).all(|page| {
                    system::pwrite(fd, &ZEROS, offset + page * PAGE) == Ok(ZEROS.len())
                });
            }
            Err(_) => return false,
        }
    }
    false
}

/// Creates `<directory>/<pid>.new`, or the first free `<pid>.<n>.new`, as a high descriptor.
fn create_file(directory: &[u8]) -> Option<(i32, Name)> {
    let mut name = Name::new(directory)?;
    for attempt in 0..MOST_NAMES {
        let path = name.set(attempt, b".new")?;
        // SAFETY: the name ends with a zero.
        let opened = unsafe { system::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) };
        match opened {
            Ok(low) => {
                let mut lowest = LOWEST_DESCRIPTORS.into_iter();
                let high = lowest.find_map(|least| system::duplicate_above(low, least).ok());
                if high.is_some() {
                    system::close(low);
                }
                return Some((high.unwrap_or(low), name));
            }
            Err(EEXIST) => continue,
            Err(_) => return None,
        }
    }
    None
}

/// A path under construction.
struct Name {
    path: Text<LONGEST_NAME>,
    directory: usize,
}

impl Name {
    fn new(directory: &[u8]) -> Option<Name> {
        let mut path = Text::EMPTY;
        path.push(directory).then_some(Name {
            path,
            directory: directory.len(),
        })
    }

    /// Makes it `<directory>/<pid>` or `<directory>/<pid>.<attempt>`, with this end.
    fn set(&mut self, attempt: u32, end: &[u8]) -> Option<*const u8> {
        let path = &mut self.path;
        path.shorten(self.directory);
        let fits = path.push(b"/")
            && path.push_number(system::process())
            && (attempt == 0 || path.push(b".") && path.push_number(attempt))
            && path.push(end);
        fits.then_some(path.as_ptr())
    }

    /// Gives the file of this name its final one: the first free.
    fn finish(&mut self, directory: &[u8]) -> Option<()> {
        let mut last = Name::new(directory)?;
        for attempt in 0..MOST_NAMES {
            let path = last.set(attempt, b".trace")?;
            // SAFETY: both names end with a zero.
            match unsafe { system::rename_new(self.path.as_ptr(), path) } {
                Ok(()) => return Some(()),
                Err(EEXIST) => continue,
                Err(_) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let mut name = Name::new(b"/some/where").unwrap();
        let mut set = |attempt| {
            name.set(attempt, b".trace").unwrap();
            name.path.text().to_vec()
        };
        let process = std::process::id();
        assert_eq!(set(0), format!("/some/where/{process}.trace").as_bytes());
        assert_eq!(
            set(10),
            format!("/some/where/{process}.10.trace").as_bytes()
        );
        assert!(Name::new(&[b'x'; LONGEST_NAME]).is_none());
    }
}
