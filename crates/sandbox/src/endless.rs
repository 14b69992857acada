//! Whether a program that has not ended ever will.
//!
//! A program that is alone, makes no system call and comes twice to the same state (registers and memory) does what it
//! did between the two for ever. Its states are sampled: it is stopped every now and then, and a digest of each is kept. In
//! a loop of `n` instructions some `sqrt(n)` samples have two that are equal. Between two samples at least one instruction is
//! executed. A loop that is merely long has a counter somewhere, and no state of it comes twice.
//!
//! | what could change it from outside | and so |
//! | --- | --- |
//! | another thread or process | there is none |
//! | a signal it waits for | it catches none but those of faults |
//! | a system call | only output, and reads at the end of a file |
//! | the time, which libc reads without a system call | the program is started without the kernel's library for that |
//!
//! Where the loop is, is asked of the program's twin in the same way: of many samples those with the least stack are of the function
//! that loops. It is sent `SIGABRT` there, and its sanitizer says where it is.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::spec::{Endless, EndlessSearch};
use crate::sys::{self, Registers, Stop};
use crate::watch;

/// What was found out about a program that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing: it may end.
    Nothing,
    /// It never ends.
    Endless,
    /// It was told to say where it is.
    Asked,
    /// It has ended, with this status of `wait`.
    Ended(i32),
}

/// Most samples of one attempt.
const MOST_SAMPLES: usize = 4000;
/// Samples after which the least stack is taken for the least.
const STACK_SAMPLES: usize = 400;
/// Most time for one attempt.
const MOST_TIME: Duration = Duration::from_millis(1500);
/// Most memory of a program whose states are compared, in bytes.
const MOST_MEMORY: u64 = 64 << 20;
/// Most pages of a mapping that are asked about.
const MOST_PAGES: u64 = 1 << 20;
/// How often is tried, each time after twice the processor time.
const MOST_ATTEMPTS: u32 = 3;
/// What is found asleep so often in a row waits for something.
const MOST_ASLEEP: u32 = 25;
const PAGE: u64 = 4096;
/// Bytes below the top of the stack that a function may use.
const RED_ZONE: u64 = 128;

/// Attempts to show that a program does not end, as its processor time goes by.
pub(crate) struct Search {
    wanted: Option<EndlessSearch>,
    attempts: u32,
    /// How often in a row the program was found asleep.
    sleeping: u32,
}

impl Search {
    /// One that was asked for, if one was.
    pub fn new(wanted: Option<EndlessSearch>) -> Search {
        Search {
            wanted,
            attempts: 0,
            sleeping: 0,
        }
    }

    /// Whether all attempts were made.
    pub fn is_over(&self) -> bool {
        let proves = self.wanted.is_some_and(|it| it.what == Endless::Proof);
        proves && (self.attempts >= MOST_ATTEMPTS || self.sleeping >= MOST_ASLEEP)
    }

    /// Makes an attempt, if it is time for one.
    pub fn look(&mut self, program: libc::pid_t) -> io::Result<Seen> {
        let Some(wanted) = self.wanted.filter(|_| self.attempts < MOST_ATTEMPTS) else {
            return Ok(Seen::Nothing);
        };
        self.sleeping = match is_asleep(program) {
            true => self.sleeping + 1,
            false => 0,
        };
        if used_time(program) < wanted.after * (1 << self.attempts) {
            return Ok(Seen::Nothing);
        }
        self.attempts += 1;
        if wanted.what == Endless::Proof && !is_alone(program) {
            return Ok(Seen::Nothing);
        }
        let Ok(mut traced) = Traced::seize(program) else {
            // This system does not let us.
            return Ok(Seen::Nothing);
        };
        let seen = match wanted.what {
            Endless::Proof => traced.comes_back(),
            Endless::Place => traced.shallowest(),
        };
        match seen {
            Ok(Seen::Ended(status)) => Ok(Seen::Ended(status)),
            Ok(Seen::Asked) => {
                self.attempts = MOST_ATTEMPTS;
                // With the stop that was asked for no signal can be given.
                sys::send_abort(program);
                sys::let_go(program, 0);
                Ok(Seen::Asked)
            }
            seen => {
                sys::let_go(program, traced.signal);
                Ok(seen.unwrap_or(Seen::Nothing))
            }
        }
    }
}

/// Processor time that a process has used.
fn used_time(program: libc::pid_t) -> Duration {
    let text = fs::read_to_string(format!("/proc/{program}/schedstat")).unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a process waits in a system call. One that has to wait for a processor does not.
fn is_asleep(program: libc::pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{program}/stat")).unwrap_or_default();
    let state = text
        .rsplit_once(')')
        .map_or("", |(_, after)| after.trim_start());
    state.starts_with(['S', 'D'])
}

/// Signals of faults, which a program brings about itself.
const FAULTS: u64 = signal_set(&[
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGPIPE,
]);

const fn signal_set(signals: &[i32]) -> u64 {
    let (mut set, mut at) = (0, 0);
    while at < signals.len() {
        set |= 1 << (signals[at] - 1);
        at += 1;
    }
    set
}

/// Whether nothing but itself can change what a program does next.
fn is_alone(program: libc::pid_t) -> bool {
    let own = PathBuf::from(format!("/proc/{program}"));
    let status = fs::read_to_string(own.join("status")).unwrap_or_default();
    let field = |name: &str| {
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map_or("", str::trim)
    };
    let caught = u64::from_str_radix(field("SigCgt"), 16).unwrap_or(u64::MAX);
    let timers = fs::read_to_string(own.join("timers")).unwrap_or_default();
    field("Threads") == "1"
        && caught & !FAULTS == 0
        && timers.is_empty()
        && watch::processes().all(|process| process == own)
}

/// A program that is looked at.
struct Traced {
    program: libc::pid_t,
    /// A signal that came for it meanwhile.
    signal: i32,
    /// What the kernel changes by itself.
    changing: Range<u64>,
    /// For pauses of different lengths.
    random: u64,
    /// Whether it has stopped once: from then on its system calls are seen.
    is_stopped: bool,
}

impl Traced {
    fn seize(program: libc::pid_t) -> io::Result<Traced> {
        sys::seize(program)?;
        Ok(Traced {
            program,
            signal: 0,
            changing: 0..0,
            random: 0x9e37_79b9_7f4a_7c15,
            is_stopped: false,
        })
    }

    /// Whether the program comes to a state in which it was before.
    fn comes_back(&mut self) -> io::Result<Seen> {
        let start = Instant::now();
        let mut states = HashSet::new();
        for _ in 0..MOST_SAMPLES {
            let registers = match self.sample()? {
                Ok(registers) => registers,
                Err(seen) => return Ok(seen),
            };
            if states.is_empty() {
                let (address, size) = sys::kernel_memory(self.program);
                self.changing = address..address + size;
            }
            let Some(state) = self.digest(&registers)? else {
                return Ok(Seen::Nothing);
            };
            if !states.insert(state) {
                return Ok(Seen::Endless);
            }
            if start.elapsed() > MOST_TIME {
                break;
            }
        }
        Ok(Seen::Nothing)
    }

    /// Stops the program where its stack is least, at the first of the instructions that were seen there.
    fn shallowest(&mut self) -> io::Result<Seen> {
        let start = Instant::now();
        let mut least = (0, u64::MAX);
        for number in 0..MOST_SAMPLES {
            let registers = match self.sample()? {
                Ok(registers) => registers,
                Err(seen) => return Ok(seen),
            };
            let here = (registers.stack(), registers.instruction());
            if number >= STACK_SAMPLES && here == least {
                return Ok(Seen::Asked);
            }
            if here.0 > least.0 || here.0 == least.0 && here.1 < least.1 {
                least = here;
            }
            if start.elapsed() > MOST_TIME && here.0 == least.0 {
                return Ok(Seen::Asked);
            }
        }
        Ok(Seen::Asked)
    }

    /// Lets the program execute an instruction or more and stops it; what else happened is an error. System calls
    /// that leave the state of the program as it is are none of its business.
    fn sample(&mut self) -> io::Result<Result<Registers, Seen>> {
        let mut is_stepped = !self.is_stopped || self.is_at_system_call()?;
        while !is_stepped {
            sys::step(self.program)?;
            match sys::wait_for_stop(self.program)? {
                Stop::Step => is_stepped = true,
                Stop::Asked => {}
                other => return Ok(Err(self.other(other))),
            }
        }
        if self.is_stopped {
            sys::go_on(self.program)?;
        }
        std::thread::sleep(self.pause());
        sys::interrupt(self.program)?;
        loop {
            match sys::wait_for_stop(self.program)? {
                Stop::Asked => break,
                Stop::SystemCall if self.is_harmless()? => {
                    sys::interrupt(self.program)?;
                    sys::go_on(self.program)?;
                }
                other => return Ok(Err(self.other(other))),
            }
        }
        self.is_stopped = true;
        let registers = sys::registers(self.program)?;
        Ok(match registers.is_in_system_call() {
            // It waits there, and may wait for something.
            true => Err(Seen::Nothing),
            false => Ok(registers),
        })
    }

    fn other(&mut self, stop: Stop) -> Seen {
        match stop {
            Stop::Ended(status) => return Seen::Ended(status),
            Stop::Signal(signal) => self.signal = signal,
            _ => {}
        }
        Seen::Nothing
    }

    fn pause(&mut self) -> Duration {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        Duration::from_micros(10 + self.random % 200)
    }

    /// Whether the next instruction is a system call.
    fn is_at_system_call(&self) -> io::Result<bool> {
        const CALLS: [[u8; 2]; 3] = [[0x0f, 0x05], [0x0f, 0x34], [0xcd, 0x80]];
        let mut bytes = [0; 2];
        let memory = self.file("mem")?;
        memory.read_exact_at(&mut bytes, sys::registers(self.program)?.instruction())?;
        Ok(CALLS.contains(&bytes))
    }

    /// Whether a system call leaves everything as it is: output, and reading where there is nothing more. The
    /// stop is before the call; then the program is at its end.
    fn is_harmless(&mut self) -> io::Result<bool> {
        let (call, descriptor) = sys::registers(self.program)?.system_call();
        let is_output = |it: &PathBuf| it.to_string_lossy().starts_with("pipe:");
        let opened = self.path(&format!("fd/{descriptor}"));
        let is_known = match call {
            libc::SYS_write | libc::SYS_writev => {
                descriptor <= 2 && fs::read_link(&opened).is_ok_and(|it| is_output(&it))
            }
            libc::SYS_read => fs::metadata(&opened).is_ok_and(|it| it.is_file()) || descriptor == 0,
            _ => false,
        };
        if !is_known {
            return Ok(false);
        }
        sys::go_on(self.program)?;
        loop {
            match sys::wait_for_stop(self.program)? {
                Stop::Asked => sys::go_on(self.program)?,
                Stop::SystemCall => break,
                _ => return Ok(false),
            }
        }
        let result = sys::registers(self.program)?.result();
        Ok(if call == libc::SYS_read {
            result == 0
        } else {
            result > 0
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.program).into()
    }

    fn file(&self, name: &str) -> io::Result<File> {
        File::open(self.path(name))
    }

    /// A digest of registers and memory; none if there is too much.
    fn digest(&self, registers: &Registers) -> io::Result<Option<u64>> {
        let mut hasher = DefaultHasher::new();
        for word in registers.words() {
            hasher.write_u64(word);
        }
        let vectors = sys::vector_registers(self.program)?;
        // Between these lies what the kernel keeps for itself.
        hasher.write(&vectors[..vectors.len().min(464)]);
        hasher.write(vectors.get(576..).unwrap_or_default());
        let (memory, pages) = (self.file("mem")?, self.file("pagemap")?);
        let mut left = MOST_MEMORY;
        for mapping in mappings(&fs::read_to_string(self.path("maps"))?) {
            let dead = match mapping.contains(&registers.stack()) {
                true => registers.stack() - RED_ZONE,
                false => 0,
            };
            let Some(present) = present(&pages, &mapping)? else {
                return Ok(None);
            };
            for page in present.filter(|page| page + PAGE > dead) {
                let mut bytes = [0; PAGE as usize];
                memory.read_exact_at(&mut bytes, page)?;
                self.forget(&mut bytes, page, page..dead);
                self.forget(&mut bytes, page, self.changing.clone());
                hasher.write_u64(page);
                hasher.write(&bytes);
                let Some(less) = left.checked_sub(PAGE) else {
                    return Ok(None);
                };
                left = less;
            }
        }
        Ok(Some(hasher.finish()))
    }

    /// Clears what a page has of a range of addresses.
    fn forget(&self, bytes: &mut [u8], page: u64, range: Range<u64>) {
        let start = range.start.max(page);
        let end = range.end.min(page + PAGE);
        if start < end {
            bytes[(start - page) as usize..(end - page) as usize].fill(0);
        }
    }
}

/// The mappings of a process that can be written to.
fn mappings(text: &str) -> Vec<Range<u64>> {
    let mapping = |line: &str| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let is_written = words.next()?.contains('w');
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        is_written.then_some(number(start)?..number(end)?)
    };
    text.lines().filter_map(mapping).collect()
}

/// The pages of a mapping that were ever touched; nothing if it is too large.
fn present(pages: &File, mapping: &Range<u64>) -> io::Result<Option<impl Iterator<Item = u64>>> {
    const THERE: u64 = 3 << 62;
    let count = (mapping.end - mapping.start) / PAGE;
    if count > MOST_PAGES {
        return Ok(None);
    }
    let mut words = vec![0; count as usize * 8];
    pages.read_exact_at(&mut words, mapping.start / PAGE * 8)?;
    let start = mapping.start;
    let numbered = (0..count).filter(move |number| {
        let at = *number as usize * 8;
        let word: [u8; 8] = words[at..at + 8].try_into().unwrap_or_default();
        u64::from_ne_bytes(word) & THERE != 0
    });
    Ok(Some(numbered.map(move |number| start + number * PAGE)))
}

/// The entries of the auxiliary vector that matter here.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_SYSINFO_EHDR: u64 = 33;

/// A program that has just been started goes on without the kernel's library: then asking for the time is a system call.
pub(crate) fn hide_kernel_library(program: libc::pid_t) -> io::Result<()> {
    if sys::wait_for_stop(program)? != Stop::Step {
        return Ok(());
    }
    let memory = File::open(format!("/proc/{program}/mem"))?;
    let word = |address: u64| {
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, address)?;
        io::Result::Ok(u64::from_ne_bytes(bytes))
    };
    let mut at = sys::registers(program)?.stack() + 8;
    // Behind the arguments and the variables, each list with a null pointer at its end.
    for _ in 0..2 {
        while word(at)? != 0 {
            at += 8;
        }
        at += 8;
    }
    loop {
        match word(at)? {
            AT_NULL => break,
            AT_SYSINFO_EHDR => sys::put(program, at, AT_IGNORE)?,
            _ => {}
        }
        at += 16;
    }
    sys::let_go(program, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_written_to_is_state() {
        let text = "1000-3000 r-xp 0 08:01 9 /bin/a b\n3000-4000 rw-p 0 08:01 9 /bin/a\n\
                    7000-8000 rw-s 0 00:00 0\n9000-a000 r--p 0 00:00 0 [vvar]\n";
        assert_eq!(mappings(text), [0x3000..0x4000, 0x7000..0x8000]);
    }
}
