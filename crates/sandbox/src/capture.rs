//! Reads what a program writes, up to a limit, until it ends or its time is up.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use crate::spec::{Ended, Exceeded, Outcome, Used};
use crate::sys;

/// How long to go on reading after the end: what was written is in the pipes already; a process
/// that was left behind may hold them open for ever.
const AFTERWARDS: Duration = Duration::from_millis(100);

/// The ends of two pipes that are read from.
pub struct Output {
    streams: [Stream; 2],
}

/// What was written to standard output and standard error.
#[derive(Debug)]
pub struct Captured {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Captured {
    /// Puts this before what an outcome has; together they keep to the limit.
    pub fn precede(&self, outcome: &mut Outcome, limit: usize) {
        let streams = [
            (&self.stdout, &mut outcome.stdout),
            (&self.stderr, &mut outcome.stderr),
        ];
        for (before, later) in streams {
            later.splice(..0, before.iter().copied());
            later.truncate(limit);
        }
    }

    /// The outcome of the program that wrote it.
    pub fn outcome(self, ended: Ended, exceeded: Option<Exceeded>, used: Used) -> Outcome {
        Outcome {
            ended,
            exceeded,
            stdout: self.stdout,
            stderr: self.stderr,
            used,
            missing: Vec::new(),
        }
    }
}

impl Output {
    /// Of each pipe up to `limit` bytes are kept.
    pub fn new(stdout: OwnedFd, stderr: OwnedFd, limit: usize) -> Output {
        Output {
            streams: [stdout, stderr].map(|source| Stream::new(source, limit)),
        }
    }

    /// Reads until something else can be read from, or is at its end; false if that takes longer
    /// than `time`.
    pub fn read_until(&mut self, sign: impl AsFd, time: Duration) -> io::Result<bool> {
        let sign = sign.as_fd().as_raw_fd();
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            if self.read_once(sign, left)? {
                return Ok(true);
            }
        }
    }

    /// What was written so far, by a program that waits.
    pub fn so_far(mut self) -> io::Result<Captured> {
        loop {
            let [first, second] = &self.streams;
            let descriptors = [first.descriptor(), second.descriptor()];
            let readable = sys::wait_readable(descriptors, Duration::ZERO)?;
            if readable == [false, false] {
                break;
            }
            let streams = self.streams.iter_mut().zip(readable);
            streams
                .filter(|(_, is_readable)| *is_readable)
                .for_each(|(stream, _)| stream.read());
        }
        Ok(self.captured())
    }

    /// Reads what is left, when the program has ended.
    pub fn rest(mut self) -> io::Result<Captured> {
        let end = Instant::now() + AFTERWARDS;
        while self.streams.iter().any(|stream| stream.source.is_some()) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.read_once(NOTHING, left)?;
        }
        Ok(self.captured())
    }

    fn captured(self) -> Captured {
        let [stdout, stderr] = self.streams.map(|stream| stream.kept);
        Captured { stdout, stderr }
    }

    fn read_once(&mut self, sign: RawFd, time: Duration) -> io::Result<bool> {
        let [first, second] = &mut self.streams;
        let descriptors = [sign, first.descriptor(), second.descriptor()];
        // Whole milliseconds are waited for: less than one must not become none.
        let pause = time.max(Duration::from_millis(1));
        let [is_given, reads_first, reads_second] = sys::wait_readable(descriptors, pause)?;
        if reads_first {
            first.read();
        }
        if reads_second {
            second.read();
        }
        Ok(is_given)
    }
}

/// The kernel's `poll` passes over negative descriptors.
const NOTHING: RawFd = -1;

/// One of the two pipes.
struct Stream {
    source: Option<File>,
    kept: Vec<u8>,
    limit: usize,
}

impl Stream {
    fn new(source: OwnedFd, limit: usize) -> Stream {
        Stream {
            source: Some(source.into()),
            kept: Vec::new(),
            limit,
        }
    }

    fn descriptor(&self) -> RawFd {
        self.source
            .as_ref()
            .map_or(NOTHING, |source| source.as_raw_fd())
    }

    /// Reads once; what exceeds the limit is dropped, so that the writer never blocks.
    fn read(&mut self) {
        let mut buffer = [0; 1 << 16];
        let Some(source) = &mut self.source else {
            return;
        };
        match source.read(&mut buffer) {
            Ok(0) => self.source = None,
            Ok(count) => {
                let room = self.limit - self.kept.len();
                self.kept.extend(&buffer[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.source = None,
        }
    }
}
