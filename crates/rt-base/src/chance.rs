//! Clocks, random numbers and process numbers: captured in the first run of a program, given again
//! in every later one. `abi::chance` says how; `libc/chance.c` does the same in the twin.
//!
//! The real function is always called first, with the program's own arguments, so that its errors
//! and its faults stay what they are; only what it gave is captured or replaced. Whatever goes wrong
//! here leaves the real value: a lock that is held for long, more streams than there is room for.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::chance::{self as names, STEP};

use crate::auxiliary;
use crate::capture;
use crate::streams::{self, File};
use crate::system;
use crate::text::Text;

/// Functions and clocks that one run asks, at most.
const STREAMS: usize = 32;
/// Clocks that differ: the time of day, the time since the machine's start, two of processor time.
const CLOCKS: usize = 4;
/// The name of a stream.
type Name = Text<32>;

/// The values of one function for one process.
struct Stream {
    name: Name,
    process: u32,
    /// Two hexadecimal digits for each byte.
    digits: *const u8,
    size: usize,
    used: usize,
}

impl Stream {
    const NONE: Stream = Stream {
        name: Text::EMPTY,
        process: 0,
        digits: core::ptr::null(),
        size: 0,
        used: 0,
    };

    fn byte(&self, index: usize) -> u8 {
        // SAFETY: callers stay within the size; the digits are part of the environment.
        let digit = |at| value_of_digit(unsafe { self.digits.add(at).read() });
        digit(2 * index) << 4 | digit(2 * index + 1)
    }

    /// The next bytes, if there are as many.
    fn take(&mut self, bytes: &mut [u8]) -> bool {
        let enough = self.size - self.used >= bytes.len();
        if enough {
            for byte in bytes {
                *byte = self.byte(self.used);
                self.used += 1;
            }
        }
        enough
    }
}

struct State {
    /// The streams of all processes: see `abi::chance`.
    text: *const u8,
    process: u32,
    forks: u32,
    count: usize,
    streams: [Stream; STREAMS],
    /// The latest value that each clock has shown; 0: nothing yet.
    clocks: [i64; CLOCKS],
    /// The generator of random bytes beyond those that were captured.
    random: u64,
}

struct Global(UnsafeCell<State>);

// SAFETY: reached through the lock only, and before there is a second thread.
unsafe impl Sync for Global {}

static STATE: Global = Global(UnsafeCell::new(State::NEW));
static LOCK: AtomicU32 = AtomicU32::new(0);
static REPLAYS: AtomicU32 = AtomicU32::new(0);
/// Whether a random device was opened: until then no read has to look.
static DEVICES: AtomicU32 = AtomicU32::new(0);

/// Whether values are captured or given again.
#[inline(always)]
pub fn is_on() -> bool {
    capture::active() || REPLAYS.load(Ordering::Relaxed) != 0
}

/// The value of the variable with the streams, as it is in the environment.
pub fn set_streams(text: *const u8) {
    // SAFETY: nothing else runs yet.
    unsafe { (*STATE.0.get()).text = text };
    REPLAYS.store(1, Ordering::Relaxed);
}

/// Does `work` on the state of a process that gives values again.
fn with(work: impl FnOnce(&mut State)) {
    const PATIENCE: u32 = 1 << 12;
    if REPLAYS.load(Ordering::Relaxed) == 0 {
        return;
    }
    // A signal handler may have come in between: it gets the real value.
    for _ in 0..PATIENCE {
        if LOCK.swap(1, Ordering::Acquire) == 0 {
            // SAFETY: the lock is held.
            work(unsafe { &mut *STATE.0.get() });
            LOCK.store(0, Ordering::Release);
            return;
        }
        system::yield_processor();
    }
}

/// Before `main`: what a process is given without asking.
pub fn start() {
    if !is_on() {
        return;
    }
    let random = auxiliary::value(auxiliary::kind::RANDOM) as *mut u8;
    if !random.is_null() {
        // SAFETY: the kernel put 16 bytes there, on the stack.
        unsafe { give(names::AUXILIARY.as_bytes(), random, 16) };
    }
    if capture::active() {
        let now = |clock| capture::clock_now(clock).to_le_bytes();
        capture::chance(0, names::STARTED_REALTIME.as_bytes(), &now(0));
        capture::chance(0, names::STARTED_MONOTONIC.as_bytes(), &now(1));
        let parent = capture::parent().to_le_bytes();
        capture::chance(0, names::PARENT.as_bytes(), &parent);
    }
}

/// The kernel's clock `number` showed `now` nanoseconds: what it shows the program.
pub fn clock(name: &[u8], number: i32, now: i64) -> i64 {
    let Some(clock) = kind_of_clock(number) else {
        return now;
    };
    capture::chance(process(), name, &now.to_le_bytes());
    let mut shown = now;
    with(|state| shown = state.show(name, clock, now));
    shown
}

/// Random bytes came.
///
/// # Safety
/// The bytes are writable.
pub unsafe fn random(name: &[u8], start: *mut u8, size: usize) {
    // SAFETY: as promised by the caller.
    let bytes = unsafe { core::slice::from_raw_parts_mut(start, size) };
    capture::chance(process(), name, bytes);
    with(|state| {
        for byte in bytes {
            let mut one = [0];
            let captured = state
                .stream(name)
                .is_some_and(|one_of| one_of.take(&mut one));
            *byte = if captured { one[0] } else { state.generate() };
        }
    });
}

/// A record of this size came: later runs get it again, and beyond those captured the last one.
///
/// # Safety
/// The bytes are writable.
pub unsafe fn give(name: &[u8], start: *mut u8, size: usize) {
    // SAFETY: as promised by the caller.
    let bytes = unsafe { core::slice::from_raw_parts_mut(start, size) };
    capture::chance(process(), name, bytes);
    with(|state| {
        let Some(stream) = state.stream(name) else {
            return;
        };
        if stream.size >= bytes.len() && !stream.take(bytes) {
            stream.used = stream.size - bytes.len();
            stream.take(bytes);
        }
    });
}

/// The parent's number, where the real one is `real`: only of the process itself. What its children
/// ask is about processes of this run.
pub fn parent(real: i32) -> i32 {
    let mut shown = real;
    with(|state| {
        let mut bytes = [0; 4];
        if state.process == 0
            && let Some(stream) = state.stream(names::PARENT.as_bytes())
        {
            stream.used = 0;
            if stream.take(&mut bytes) {
                shown = i32::from_le_bytes(bytes);
            }
        }
    });
    shown
}

/// The process is about to fork; gives the number of the child.
pub fn before_fork() -> u32 {
    if !is_on() {
        return 0;
    }
    // SAFETY: two threads that fork at once may give their children one number, no more.
    let state = unsafe { &mut *STATE.0.get() };
    state.forks += 1;
    names::child(state.process, state.forks - 1)
}

/// This is the child.
pub fn in_child(number: u32) {
    // SAFETY: a new child has one thread.
    let state = unsafe { &mut *STATE.0.get() };
    (state.process, state.forks, state.count) = (number, 0, 0);
    LOCK.store(0, Ordering::Relaxed);
}

/// A path was opened: it may be that of a random device.
///
/// # Safety
/// `path` is null or ends with a zero.
#[inline(always)]
pub unsafe fn opened(path: *const u8) {
    if is_on() && !path.is_null() {
        // SAFETY: as promised by the caller.
        let path = unsafe { system::text(path) };
        if matches!(path, b"/dev/urandom" | b"/dev/random") {
            DEVICES.store(1, Ordering::Relaxed);
            capture::stdin::look_at_all();
        }
    }
}

/// Whether a random device was opened.
pub fn has_devices() -> bool {
    DEVICES.load(Ordering::Relaxed) != 0
}

/// `got` bytes were read from a descriptor: those of a random device are random bytes.
///
/// # Safety
/// The bytes are writable.
#[inline(always)]
pub unsafe fn read_from(fd: i32, start: *mut u8, got: isize) {
    if DEVICES.load(Ordering::Relaxed) != 0 && got > 0 && is_random_device(fd) {
        // SAFETY: as promised by the caller.
        unsafe { random(names::DEVICE.as_bytes(), start, got as usize) };
    }
}

/// The same of a stream.
///
/// # Safety
/// The stream is open and the bytes are writable.
#[inline(always)]
pub unsafe fn read_from_stream(file: *mut File, start: *mut u8, got: usize) {
    if DEVICES.load(Ordering::Relaxed) != 0 {
        // SAFETY: as promised by the caller.
        unsafe { read_from(streams::descriptor(file), start, got as isize) };
    }
}

/// The same of a byte that came from a stream; negative: none came.
///
/// # Safety
/// The stream is open.
#[inline(always)]
pub unsafe fn byte_from_stream(file: *mut File, byte: i32) -> i32 {
    let mut one = byte as u8;
    if DEVICES.load(Ordering::Relaxed) == 0 || byte < 0 {
        return byte;
    }
    // SAFETY: as promised by the caller.
    unsafe { read_from(streams::descriptor(file), &raw mut one, 1) };
    one.into()
}

#[cold]
fn is_random_device(fd: i32) -> bool {
    // Memory devices: `random` is number 8, `urandom` 9.
    let device = capture::device_of(fd);
    device == Some((1, 8)) || device == Some((1, 9))
}

fn process() -> u32 {
    // SAFETY: a word that changes in a new child only.
    unsafe { (*STATE.0.get()).process }
}

/// Which of our clocks a clock of the kernel's is; those of other processes are left alone.
fn kind_of_clock(number: i32) -> Option<usize> {
    match number {
        0 | 5 | 8 | 11 => Some(0),
        1 | 4 | 6 | 7 | 9 => Some(1),
        2 => Some(2),
        3 => Some(3),
        _ => None,
    }
}

impl State {
    const NEW: State = State {
        text: core::ptr::null(),
        process: 0,
        forks: 0,
        count: 0,
        streams: [const { Stream::NONE }; STREAMS],
        clocks: [0; CLOCKS],
        random: 0,
    };

    /// The stream of this name for this process.
    fn stream(&mut self, name: &[u8]) -> Option<&mut Stream> {
        let known = (self.streams.get(..self.count)?.iter())
            .position(|one| one.process == self.process && one.name.text() == name);
        let index = match known {
            Some(index) => index,
            None => self.open(name)?,
        };
        self.streams.get_mut(index)
    }

    fn open(&mut self, name: &[u8]) -> Option<usize> {
        let (digits, size) = find(self.text, name, self.process);
        let (index, process) = (self.count, self.process);
        let stream = self.streams.get_mut(index)?;
        stream.name.clear();
        stream.name.push(name).then_some(())?;
        (stream.process, stream.digits) = (process, digits);
        (stream.size, stream.used) = (size / 2, 0);
        self.count += 1;
        Some(index)
    }

    /// The next value of a clock's stream, or a step beyond the latest that the clock has shown.
    ///
    /// Functions of one clock disagree by up to a tick: `time` reads a coarser copy of it. The latest
    /// value counts, so that a function whose own stream is used up does not fall behind the others.
    fn show(&mut self, name: &[u8], clock: usize, now: i64) -> i64 {
        let mut bytes = [0; 8];
        let captured = self.stream(name).is_some_and(|one| one.take(&mut bytes));
        let shown = if captured {
            i64::from_le_bytes(bytes)
        } else {
            self.last(clock, now) + STEP
        };
        if let Some(last) = self.clocks.get_mut(clock) {
            *last = shown.max(*last);
        }
        shown
    }

    /// The latest value that a clock has shown.
    fn last(&mut self, clock: usize, now: i64) -> i64 {
        let shown = self.clocks.get(clock).copied().unwrap_or(0);
        if shown != 0 {
            return shown;
        }
        let name = match clock {
            0 => names::STARTED_REALTIME,
            1 => names::STARTED_MONOTONIC,
            _ => return 0,
        };
        let process = core::mem::replace(&mut self.process, 0);
        let mut bytes = [0; 8];
        let found = self
            .stream(name.as_bytes())
            .is_some_and(|one| one.take(&mut bytes));
        self.process = process;
        if found {
            i64::from_le_bytes(bytes)
        } else {
            now
        }
    }

    /// A generator that is good enough (splitmix64), and the same in all runs.
    fn generate(&mut self) -> u8 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random ^ u64::from(self.process);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) as u8
    }
}

/// The digits of a stream and how many there are.
fn find(text: *const u8, name: &[u8], process: u32) -> (*const u8, usize) {
    let mut key = Text::<64>::EMPTY;
    let fits = key.push(name) && key.push(b":") && key.push_number(process) && key.push(b"=");
    if text.is_null() || !fits {
        return (core::ptr::null(), 0);
    }
    // SAFETY: a value of the environment ends with a zero.
    let text = unsafe { system::text(text) };
    let mut rows = text.split(|&byte| byte == b';');
    let digits = rows.find_map(|row| row.strip_prefix(key.text()));
    digits.map_or((core::ptr::null(), 0), |digits| {
        (digits.as_ptr(), digits.len())
    })
}

fn value_of_digit(digit: u8) -> u8 {
    match digit {
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'0') & 15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_found_by_their_name_and_process() {
        let text = c"time:0=0100;time:1=02;getrandom:0=8d31ff;x:0="
            .as_ptr()
            .cast();
        let bytes = |name: &[u8], process| {
            let (digits, size) = find(text, name, process);
            let stream = Stream {
                digits,
                size: size / 2,
                ..Stream::NONE
            };
            (0..stream.size)
                .map(|index| stream.byte(index))
                .collect::<Vec<u8>>()
        };
        assert_eq!(bytes(b"time", 0), [1, 0]);
        assert_eq!(bytes(b"time", 1), [2]);
        assert_eq!(bytes(b"getrandom", 0), [0x8d, 0x31, 0xff]);
        assert!(bytes(b"x", 0).is_empty());
        assert!(bytes(b"tim", 0).is_empty());
        assert!(find(core::ptr::null(), b"time", 0).0.is_null());
    }

    #[test]
    fn a_stream_gives_whole_values_only() {
        let digits = c"010203".as_ptr().cast();
        let mut stream = Stream {
            digits,
            size: 3,
            ..Stream::NONE
        };
        let mut two = [0; 2];
        assert!(stream.take(&mut two));
        assert_eq!(two, [1, 2]);
        assert!(!stream.take(&mut two));
    }
    #[test]
    fn a_coarse_clock_does_not_fall_behind_the_fine_one() {
        // `clock_gettime` showed 2.5 ms past second 1, `time` still second 0: the kernel's tick.
        let mut state = State {
            text: c"fine:0=20ebc13b00000000;coarse:0=0100000000000000"
                .as_ptr()
                .cast(),
            ..State::NEW
        };
        let fine = state.show(b"fine", 0, 7);
        assert_eq!(fine, 1_002_564_384);
        assert_eq!(state.show(b"coarse", 0, 7), 1);
        assert_eq!(state.show(b"coarse", 0, 7), fine + STEP);
    }
}
