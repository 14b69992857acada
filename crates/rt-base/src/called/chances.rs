//! Functions whose answers differ from run to run: the real one is called, then its answer is
//! captured or replaced ([`crate::chance`]).
//!
//! Each function here takes what the real one of its name returned, and gives what the program gets.
//!
//! On `unsafe`: pointers are those that the real function was given, and has written to.
#![allow(clippy::missing_safety_doc)]

use crate::chance;
use crate::text::Text;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;
const REALTIME: i32 = 0;
const PROCESSOR: i32 = 2;

/// `struct timespec`, and `struct timeval`, whose second word counts microseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Time {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest, in smaller units.
    pub rest: i64,
}

/// `NAME-NUMBER`: one stream for each clock.
fn numbered(name: &[u8], number: i32) -> Text<32> {
    let mut text = Text::EMPTY;
    let _ = text.push(name) && text.push(b"-") && text.push_number(number as u32);
    text
}

/// What a clock shows in units of `unit` nanoseconds.
///
/// # Safety
/// `to` has been written by the real function.
unsafe fn show(name: &[u8], clock: i32, to: *mut Time, unit: i64) {
    // SAFETY: as promised by the caller.
    unsafe {
        let Time { seconds, rest } = to.read();
        let now = chance::clock(name, clock, seconds.wrapping_mul(SECOND) + rest * unit);
        to.write(Time {
            seconds: now.div_euclid(SECOND),
            rest: now.rem_euclid(SECOND) / unit,
        });
    }
}

/// `time`.
pub unsafe fn time(now: i64, to: *mut i64) -> i64 {
    if now == -1 {
        return now;
    }
    let now = chance::clock(b"time", REALTIME, now.wrapping_mul(SECOND)).div_euclid(SECOND);
    if !to.is_null() {
        // SAFETY: see the module's comment.
        unsafe { to.write(now) };
    }
    now
}

/// `clock_gettime`.
pub unsafe fn clock_gettime(result: i32, clock: i32, to: *mut Time) -> i32 {
    if result == 0 {
        // SAFETY: see the module's comment.
        unsafe { show(numbered(b"clock_gettime", clock).text(), clock, to, 1) };
    }
    result
}

/// `gettimeofday`.
pub unsafe fn gettimeofday(result: i32, to: *mut Time) -> i32 {
    if result == 0 && !to.is_null() {
        // SAFETY: see the module's comment.
        unsafe { show(b"gettimeofday", REALTIME, to, 1000) };
    }
    result
}

/// `timespec_get`.
pub unsafe fn timespec_get(result: i32, to: *mut Time) -> i32 {
    const TIME_UTC: i32 = 1;
    if result == TIME_UTC {
        // SAFETY: see the module's comment.
        unsafe { show(b"timespec_get", REALTIME, to, 1) };
    }
    result
}

/// `clock`.
pub fn clock(used: i64) -> i64 {
    match used {
        -1 => used,
        _ => chance::clock(b"clock", PROCESSOR, used * 1000) / 1000,
    }
}

/// `times`; `struct tms` has 32 bytes.
pub unsafe fn times(mut ticks: i64, to: *mut u8) -> i64 {
    if ticks != -1 {
        // SAFETY: see the module's comment.
        unsafe {
            chance::give(b"times", (&raw mut ticks).cast(), 8);
            if !to.is_null() {
                chance::give(b"times-record", to, 32);
            }
        }
    }
    ticks
}

/// `getrusage`; `struct rusage` has 144 bytes.
pub unsafe fn getrusage(result: i32, of: i32, to: *mut u8) -> i32 {
    if result == 0 {
        // SAFETY: see the module's comment.
        unsafe { chance::give(numbered(b"getrusage", of).text(), to, 144) };
    }
    result
}

/// `sysinfo`; `struct sysinfo` has 112 bytes.
pub unsafe fn sysinfo(result: i32, to: *mut u8) -> i32 {
    if result == 0 {
        // SAFETY: see the module's comment.
        unsafe { chance::give(b"sysinfo", to, 112) };
    }
    result
}

/// `getloadavg`.
pub unsafe fn getloadavg(got: i32, to: *mut f64) -> i32 {
    if got > 0 {
        // SAFETY: see the module's comment.
        unsafe { chance::give(b"getloadavg", to.cast(), got as usize * 8) };
    }
    got
}

/// `getrandom`, `getentropy` and `arc4random_buf`: random bytes came.
pub unsafe fn random<T>(result: T, name: &[u8], to: *mut u8, size: isize) -> T {
    if size > 0 {
        // SAFETY: see the module's comment.
        unsafe { chance::random(name, to, size as usize) };
    }
    result
}

/// `arc4random`: a random number came.
pub fn number(mut number: u32, name: &[u8]) -> u32 {
    // SAFETY: it has four bytes.
    unsafe { chance::random(name, (&raw mut number).cast(), 4) };
    number
}

/// `syscall`: those that programs make where libc was too old for a function.
pub unsafe fn syscall(result: i64, number: i64, a: usize, b: usize) -> i64 {
    const GETTIMEOFDAY: i64 = 96;
    const GETPPID: i64 = 110;
    const TIME: i64 = 201;
    const CLOCK_GETTIME: i64 = 228;
    const GETRANDOM: i64 = 318;
    if result < 0 {
        return result;
    }
    // SAFETY: see the module's comment.
    unsafe {
        match number {
            GETRANDOM => random(result, b"getrandom", a as *mut u8, result as isize),
            GETTIMEOFDAY => gettimeofday(result as i32, a as *mut Time).into(),
            CLOCK_GETTIME => clock_gettime(result as i32, a as i32, b as *mut Time).into(),
            TIME if a == 0 => time(result, core::ptr::null_mut()),
            GETPPID => chance::parent(result as i32).into(),
            _ => result,
        }
    }
}

/// See [`crate::called`].
#[macro_export]
macro_rules! chance_functions {
    ($take:ident) => {
        $take! {
            fn time(to: *mut i64) -> i64 { |now| chances::time(now, to) }
            fn clock_gettime(clock: i32, to: *mut Time) -> i32 { |result| chances::clock_gettime(result, clock, to) }
            fn gettimeofday(to: *mut Time, zone: *mut u8) -> i32 { |result| chances::gettimeofday(result, to) }
            fn timespec_get(to: *mut Time, base: i32) -> i32 { |result| chances::timespec_get(result, to) }
            fn clock() -> i64 { |used| chances::clock(used) }
            fn times(to: *mut u8) -> i64 { |ticks| chances::times(ticks, to) }
            fn getrusage(of: i32, to: *mut u8) -> i32 { |result| chances::getrusage(result, of, to) }
            fn sysinfo(to: *mut u8) -> i32 { |result| chances::sysinfo(result, to) }
            fn getloadavg(to: *mut f64, count: i32) -> i32 { |got| chances::getloadavg(got, to) }
            fn getppid() -> i32 { |parent| $crate::chance::parent(parent) }
            fn getrandom(to: *mut u8, size: usize, how: u32) -> isize { |got| chances::random(got, b"getrandom", to, got) }
            fn getentropy(to: *mut u8, size: usize) -> i32 { |result| chances::random(result, b"getentropy", to, if result == 0 { size as isize } else { 0 }) }
        }
    };
}

/// See [`crate::called`]. Newer C libraries and libbsd have these.
#[macro_export]
macro_rules! random_functions {
    ($take:ident) => {
        $take! {
            fn arc4random() -> u32 { |number| chances::number(number, b"arc4random") }
            fn arc4random_buf(to: *mut u8, size: usize) -> () { |nothing| chances::random(nothing, b"arc4random", to, size as isize) }
            fn arc4random_uniform(bound: u32) -> u32 { |number| chances::number(number, b"arc4random_uniform") }
        }
    };
}

/// See [`crate::called`]. A system call by its number.
#[macro_export]
macro_rules! syscall_function {
    ($take:ident) => {
        $take! {
            fn syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 { |result| chances::syscall(result, number, a, b) }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_chance {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { |$returned:ident| $shown:expr })*) => { $(
        #[inline(always)]
        #[allow(unused_unsafe, clippy::let_unit_value, clippy::unit_arg)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                let $returned: $result = real::$name($($argument),*);
                match $crate::chance::is_on() {
                    true => $shown,
                    false => $returned,
                }
            }
        }
    )* };
}
