//! Reads what a child writes, up to a limit, until it ends or its time is up.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::spec::{Ended, Exceeded, Outcome};
use crate::sys;

/// A child that has ended.
pub struct Captured {
    /// How it ended.
    pub ended: Ended,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    elapsed: Duration,
}

impl Captured {
    /// The outcome of the program, which may have ended otherwise than the child.
    pub fn outcome(self, ended: Ended, exceeded: Option<Exceeded>) -> Outcome {
        Outcome {
            ended,
            exceeded,
            stdout: self.stdout,
            stderr: self.stderr,
            elapsed: self.elapsed,
            missing: Vec::new(),
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
            Ok(0) => self.close(),
            Ok(count) => {
                let room = self.limit - self.kept.len();
                self.kept.extend(&buffer[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.close(),
        }
    }

    /// The kernel's `poll` passes over negative descriptors.
    fn close(&mut self) {
        self.source = None;
        self.fd = -1;
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
    let watched = sys::open_process(child.id())?;
    let start = Instant::now();
    let mut end = start + time;
    let mut elapsed = Duration::ZERO;
    let mut timed_out = false;
    let mut status: Option<ExitStatus> = None;
    while status.is_none() || streams.iter().any(|stream| stream.source.is_some()) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() && status.is_some() {
            break;
        }
        if left.is_zero() {
            timed_out = true;
            child.kill()?;
        }
        let process = match status {
            None => watched.as_raw_fd(),
            Some(_) => -1,
        };
        let descriptors = [process, streams[0].fd, streams[1].fd];
        // A killed child ends soon, but not at once.
        let pause = left.max(Duration::from_millis(1));
        let ready = sys::wait_readable(descriptors, pause)?;
        for (stream, _) in streams.iter_mut().zip(&ready[1..]).filter(|pair| *pair.1) {
            stream.read();
        }
        if ready[0] {
            // Before the child is waited for: until then nobody else can have its number.
            sys::kill_group(child.id());
            status = child.try_wait()?;
            elapsed = start.elapsed();
            end = Instant::now() + AFTERWARDS;
        }
    }
    let [stdout, stderr] = streams.map(|stream| stream.kept);
    let status = status.expect("the loop ends with a status");
    Ok(Captured {
        ended: ended(status),
        timed_out,
        stdout,
        stderr,
        elapsed,
    })
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}
