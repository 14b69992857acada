//! The engine's side of the board: `nearmiss_abi::server` has its layout.
//!
//! On `unsafe`: the file is mapped as long as this value lives, and nobody makes it shorter. The
//! program may write anything there: sizes are looked at before they are used, and what it may
//! write while we read is read once.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nearmiss_abi::ABI_VERSION;
use nearmiss_abi::server::{
    BOARD_SIZE, Board as Words, INPUT_OFFSET, MAGIC, QUIT, RESULT_OFFSET, RESULT_ROOM,
};

use crate::{Ended, Request, Run};

/// How long to wait before looking whether the program is still there.
const PAUSE: Duration = Duration::from_millis(50);

/// A mapped board.
#[derive(Debug)]
pub struct Board {
    words: *mut Words,
}

// SAFETY: the mapping belongs to this value, whatever thread that is in.
unsafe impl Send for Board {}

impl Board {
    /// A new board in a file of this name; from which run on children may make many each, if they may.
    pub fn create(path: &Path, restarts: Option<u32>) -> io::Result<Board> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.set_len(BOARD_SIZE as u64)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping changes no other memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                BOARD_SIZE,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let words: *mut Words = start.cast();
        // SAFETY: it is mapped, and nobody else knows it yet.
        unsafe {
            words.write(Words {
                magic: MAGIC,
                abi_version: ABI_VERSION,
                restarts: restarts.unwrap_or(0),
                ..Words::default()
            });
        }
        Ok(Board { words })
    }

    /// Waits until the program is ready; false if that takes too long, or it has ended.
    pub fn wait_ready(&self, time: Duration, is_alive: impl Fn() -> bool) -> bool {
        // SAFETY: see the module's comment.
        let ready = unsafe { word(&raw mut (*self.words).ready) };
        wait_until(ready, 1, time, is_alive)
    }

    /// Makes request number `number`.
    pub fn ask(&mut self, number: u32, request: &Request<'_>) {
        let time = request.time.as_millis().clamp(1, i32::MAX as u128) as u32;
        // SAFETY: see the module's comment; the rows fit, as the caller looked.
        unsafe {
            let rows = self.words.cast::<u8>().add(INPUT_OFFSET);
            rows.copy_from_nonoverlapping(request.rows.as_ptr(), request.rows.len());
            (*self.words).input_size = request.rows.len() as u32;
            (*self.words).mode = request.mode;
            (*self.words).fresh = request.fresh.into();
            (*self.words).time_limit = time;
        }
        self.request(number);
    }

    /// Tells the program to end.
    pub fn quit(&mut self) {
        self.request(QUIT);
    }

    fn request(&mut self, number: u32) {
        // SAFETY: see the module's comment.
        let request = unsafe { word(&raw mut (*self.words).request) };
        request.store(number, Ordering::Release);
        wake(request);
    }

    /// Waits until request `number` is answered; false if that takes too long, or the program has
    /// ended.
    pub fn wait_answer(&self, number: u32, time: Duration, is_alive: impl Fn() -> bool) -> bool {
        // SAFETY: see the module's comment.
        let answer = unsafe { word(&raw mut (*self.words).answer) };
        wait_until(answer, number, time, is_alive)
    }

    /// The answer to the last request.
    pub fn answer(&self) -> Run {
        // SAFETY: see the module's comment. Nothing runs between two requests that could write.
        let (status, timed_out, size) = unsafe {
            let words = self.words.read_volatile();
            (words.status, words.timed_out != 0, words.result_size)
        };
        let ended = if timed_out {
            None
        } else if libc::WIFSIGNALED(status) {
            Some(Ended::Signal(libc::WTERMSIG(status)))
        } else {
            Some(Ended::Exited(libc::WEXITSTATUS(status)))
        };
        let size = (size as usize).min(RESULT_ROOM);
        let mut rows = vec![0; size];
        // SAFETY: see the module's comment.
        unsafe {
            let from = self.words.cast::<u8>().add(RESULT_OFFSET);
            from.copy_to_nonoverlapping(rows.as_mut_ptr(), size);
        }
        Run {
            ended,
            results: decode(&rows),
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { libc::munmap(self.words.cast(), BOARD_SIZE) };
    }
}

/// # Safety
/// `place` is an aligned word that outlives the reference.
unsafe fn word<'a>(place: *mut u32) -> &'a AtomicU32 {
    // SAFETY: as promised by the caller.
    unsafe { AtomicU32::from_ptr(place) }
}

/// Waits until `word` is `value`.
fn wait_until(word: &AtomicU32, value: u32, time: Duration, is_alive: impl Fn() -> bool) -> bool {
    let end = Instant::now() + time;
    loop {
        let now = word.load(Ordering::Acquire);
        if now == value {
            return true;
        }
        let has_ended = !wait(word, now, PAUSE) && (!is_alive() || Instant::now() >= end);
        // It may have answered before it ended.
        if has_ended && word.load(Ordering::Acquire) != value {
            return false;
        }
    }
}

/// Waits until `word` is not `old`; false if that takes too long.
fn wait(word: &AtomicU32, old: u32, time: Duration) -> bool {
    let time = libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: the kernel reads the word and the time.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            old,
            &raw const time,
        )
    };
    result == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ETIMEDOUT)
}

fn wake(word: &AtomicU32) {
    // SAFETY: the kernel looks at the address only.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// A name and its content.
type Row = (String, Vec<u8>);

/// All rows; whatever follows a row that is not whole is no row.
fn decode(mut rows: &[u8]) -> Vec<Row> {
    let mut found = Vec::new();
    while let Some((row, rest)) = decode_row(rows) {
        found.push(row);
        rows = rest;
    }
    found
}

fn decode_row(rows: &[u8]) -> Option<(Row, &[u8])> {
    let number = |start: usize| {
        let bytes = rows.get(start..start + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let (name_size, content_size) = (number(0)?, number(8)?);
    let rest = rows.get(12..)?;
    let (name, rest) = rest.split_at_checked(name_size)?;
    let (content, rest) = rest.split_at_checked(content_size)?;
    let name = String::from_utf8_lossy(name).into_owned();
    Some(((name, content.to_vec()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, content: &[u8]) -> Vec<u8> {
        let mut row = Vec::new();
        for number in [name.len(), 0, content.len()] {
            row.extend((number as u32).to_le_bytes());
        }
        row.extend(name.as_bytes());
        row.extend(content);
        row
    }

    #[test]
    fn results_are_decoded_as_far_as_they_are_whole() {
        let rows = [row("a", b"one"), row("", b""), row("bc", &[0, 255])].concat();
        let expected = [
            ("a".to_string(), b"one".to_vec()),
            (String::new(), vec![]),
            ("bc".to_string(), vec![0, 255]),
        ];
        assert_eq!(decode(&rows), expected);
        assert_eq!(decode(&rows[..rows.len() - 1]), expected[..2]);
        assert_eq!(decode(&[0xff; 40]), []);
    }
}
