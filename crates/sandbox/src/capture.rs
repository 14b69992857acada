//! Reads what a child writes, up to a limit, until it ends or its time is up.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::spec::{Ended, Outcome};
use crate::sys;

/// A child that has ended.
pub struct Captured {
    /// How it ended.
    pub ended: Ended,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Captured {
    /// The outcome of the program, which may have ended otherwise than the child.
    pub fn outcome(self, ended: Ended, timed_out: bool, out_of_memory: bool) -> Outcome {
        Outcome {
            ended,
            timed_out,
            out_of_memory,
            stdout: self.stdout,
            stderr: self.stderr,
        }
    }
}

/// One of the two pipes.
struct Stream {
    source: Option<Box<dyn Read>>,
    fd: RawFd,
    kept: Vec<u8>,
    limit: usize,
}

impl Stream {
    fn new<T: Read + AsRawFd + 'static>(source: Option<T>, limit: usize) -> Stream {
        Stream {
            fd: source.as_ref().map_or(-1, |source| source.as_raw_fd()),
            source: source.map(|source| Box::new(source) as Box<dyn Read>),
            kept: Vec::new(),
            limit,
        }
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

/// How long to go on reading after the child has ended: what it wrote is in the pipes already;
/// a process that it left behind may hold them open for ever.
const AFTERWARDS: Duration = Duration::from_millis(100);

/// Reads a child's output to its end. Its process group is killed when `time` is over, and
/// in any case when it has ended.
pub fn capture(mut child: Child, time: Duration, limit: usize) -> io::Result<Captured> {
    let mut streams = [
        Stream::new(child.stdout.take(), limit),
        Stream::new(child.stderr.take(), limit),
    ];
    let start = Instant::now();
    let mut timed_out = false;
    let mut status = None;
    let mut pause = 1;
    let mut end = start + time;
    loop {
        let open: Vec<usize> = (0..2).filter(|at| streams[*at].source.is_some()).collect();
        let descriptors: Vec<RawFd> = open.iter().map(|at| streams[*at].fd).collect();
        let readable = sys::wait_readable(&descriptors, pause)?;
        for (at, _) in open
            .iter()
            .zip(&readable)
            .filter(|(_, readable)| **readable)
        {
            streams[*at].read();
        }
        if !readable.contains(&true) {
            pause = (pause * 2).min(20);
        }
        if status.is_none() {
            status = child.try_wait()?;
            if status.is_some() {
                end = Instant::now() + AFTERWARDS;
            }
        }
        if status.is_some() && (open.is_empty() || Instant::now() >= end) {
            break;
        }
        if status.is_none() && Instant::now() >= end {
            timed_out = true;
            sys::kill_group(child.id());
            child.kill()?;
            status = Some(child.wait()?);
            end = Instant::now() + AFTERWARDS;
        }
    }
    sys::kill_group(child.id());
    let [stdout, stderr] = streams.map(|stream| stream.kept);
    let status = status.expect("the loop ends with a status");
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    };
    Ok(Captured {
        ended,
        timed_out,
        stdout,
        stderr,
    })
}
