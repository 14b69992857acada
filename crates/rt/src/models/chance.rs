//! Functions whose answers differ from run to run: the real one is called, then its answer is
//! captured or replaced ([`crate::chance`]). They move no labels.
//!
//! On `unsafe`: each function asks what the real one asks.
#![allow(clippy::missing_safety_doc)]

use super::children::read_by_kernel;
use crate::chance;
use crate::text::Text;
use crate::turn;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;
const REALTIME: i32 = 0;
const PROCESSOR: i32 = 2;

/// `struct timespec`, and `struct timeval`, whose second word counts microseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Time {
    seconds: i64,
    rest: i64,
}

mod real {
    use super::Time;
    unsafe extern "C" {
        pub fn time(to: *mut i64) -> i64;
        pub fn clock_gettime(clock: i32, to: *mut Time) -> i32;
        pub fn gettimeofday(to: *mut Time, zone: *mut u8) -> i32;
        pub fn timespec_get(to: *mut Time, base: i32) -> i32;
        pub fn clock() -> i64;
        pub fn times(to: *mut u8) -> i64;
        pub fn getrusage(of: i32, to: *mut u8) -> i32;
        pub fn sysinfo(to: *mut u8) -> i32;
        pub fn getloadavg(to: *mut f64, count: i32) -> i32;
        pub fn getppid() -> i32;
        pub fn getrandom(to: *mut u8, size: usize, how: u32) -> isize;
        pub fn getentropy(to: *mut u8, size: usize) -> i32;
        pub fn syscall(number: i64, ...) -> i64;
    }
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

#[unsafe(export_name = "__nm_model_time")]
pub unsafe extern "C" fn time(to: *mut i64) -> i64 {
    // SAFETY: see the module's comment.
    unsafe {
        let mut now = real::time(to);
        if chance::is_on() && now != -1 {
            now = chance::clock(b"time", REALTIME, now.wrapping_mul(SECOND)).div_euclid(SECOND);
            if !to.is_null() {
                to.write(now);
            }
        }
        now
    }
}

#[unsafe(export_name = "__nm_model_clock_gettime")]
pub unsafe extern "C" fn clock_gettime(clock: i32, to: *mut Time) -> i32 {
    // SAFETY: see the module's comment.
    unsafe {
        let result = real::clock_gettime(clock, to);
        if chance::is_on() && result == 0 {
            show(numbered(b"clock_gettime", clock).text(), clock, to, 1);
        }
        result
    }
}

#[unsafe(export_name = "__nm_model_gettimeofday")]
pub unsafe extern "C" fn gettimeofday(to: *mut Time, zone: *mut u8) -> i32 {
    // SAFETY: see the module's comment.
    unsafe {
        let result = real::gettimeofday(to, zone);
        if chance::is_on() && result == 0 && !to.is_null() {
            show(b"gettimeofday", REALTIME, to, 1000);
        }
        result
    }
}

#[unsafe(export_name = "__nm_model_timespec_get")]
pub unsafe extern "C" fn timespec_get(to: *mut Time, base: i32) -> i32 {
    const TIME_UTC: i32 = 1;
    // SAFETY: see the module's comment.
    unsafe {
        let result = real::timespec_get(to, base);
        if chance::is_on() && result == TIME_UTC {
            show(b"timespec_get", REALTIME, to, 1);
        }
        result
    }
}

#[unsafe(export_name = "__nm_model_clock")]
pub unsafe extern "C" fn clock() -> i64 {
    // SAFETY: see the module's comment.
    let used = unsafe { real::clock() };
    match chance::is_on() && used != -1 {
        true => chance::clock(b"clock", PROCESSOR, used * 1000) / 1000,
        false => used,
    }
}

#[unsafe(export_name = "__nm_model_times")]
pub unsafe extern "C" fn times(to: *mut u8) -> i64 {
    // SAFETY: see the module's comment; `struct tms` has 32 bytes.
    unsafe {
        let mut ticks = real::times(to);
        if chance::is_on() && ticks != -1 {
            chance::give(b"times", (&raw mut ticks).cast(), 8);
            if !to.is_null() {
                chance::give(b"times-record", to, 32);
            }
        }
        ticks
    }
}

#[unsafe(export_name = "__nm_model_getrusage")]
pub unsafe extern "C" fn getrusage(of: i32, to: *mut u8) -> i32 {
    // SAFETY: see the module's comment; `struct rusage` has 144 bytes.
    unsafe {
        let result = real::getrusage(of, to);
        if chance::is_on() && result == 0 {
            chance::give(numbered(b"getrusage", of).text(), to, 144);
        }
        result
    }
}

#[unsafe(export_name = "__nm_model_sysinfo")]
pub unsafe extern "C" fn sysinfo(to: *mut u8) -> i32 {
    // SAFETY: see the module's comment; `struct sysinfo` has 112 bytes.
    unsafe {
        let result = real::sysinfo(to);
        if chance::is_on() && result == 0 {
            chance::give(b"sysinfo", to, 112);
        }
        result
    }
}

#[unsafe(export_name = "__nm_model_getloadavg")]
pub unsafe extern "C" fn getloadavg(to: *mut f64, count: i32) -> i32 {
    // SAFETY: see the module's comment.
    unsafe {
        let got = real::getloadavg(to, count);
        if chance::is_on() && got > 0 {
            chance::give(b"getloadavg", to.cast(), got as usize * 8);
        }
        got
    }
}

#[unsafe(export_name = "__nm_model_getppid")]
pub unsafe extern "C" fn getppid() -> i32 {
    // SAFETY: see the module's comment.
    let parent = unsafe { real::getppid() };
    chance::parent(parent)
}

#[unsafe(export_name = "__nm_model_getrandom")]
pub unsafe extern "C" fn getrandom(to: *mut u8, size: usize, how: u32) -> isize {
    // SAFETY: see the module's comment.
    unsafe {
        let got = real::getrandom(to, size, how);
        if chance::is_on() && got > 0 {
            chance::random(b"getrandom", to, got as usize);
        }
        got
    }
}

#[unsafe(export_name = "__nm_model_getentropy")]
pub unsafe extern "C" fn getentropy(to: *mut u8, size: usize) -> i32 {
    // SAFETY: see the module's comment.
    unsafe {
        let result = real::getentropy(to, size);
        if chance::is_on() && result == 0 {
            chance::random(b"getentropy", to, size);
        }
        result
    }
}

/// System calls by their numbers: those that programs make where libc was too old for a function.
#[unsafe(export_name = "__nm_model_syscall")]
pub unsafe extern "C" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    const GETTIMEOFDAY: i64 = 96;
    const GETPPID: i64 = 110;
    const TIME: i64 = 201;
    const CLOCK_GETTIME: i64 = 228;
    const GETRANDOM: i64 = 318;
    const READS: [i64; 4] = [0, 17, 19, 295];
    if READS.contains(&number) {
        turn::with((), |runtime| read_by_kernel(runtime, a as i32));
    }
    // SAFETY: see the module's comment.
    unsafe {
        let result = real::syscall(number, a, b, c, d, e, f);
        if !chance::is_on() || result < 0 {
            return result;
        }
        match number {
            GETRANDOM if result > 0 => chance::random(b"getrandom", a as *mut u8, result as usize),
            GETTIMEOFDAY if a != 0 => show(b"gettimeofday", REALTIME, a as *mut Time, 1000),
            CLOCK_GETTIME => {
                let clock = a as i32;
                show(
                    numbered(b"clock_gettime", clock).text(),
                    clock,
                    b as *mut Time,
                    1,
                );
            }
            TIME if a == 0 => {
                let now = chance::clock(b"time", REALTIME, result.wrapping_mul(SECOND));
                return now.div_euclid(SECOND);
            }
            GETPPID => return chance::parent(result as i32).into(),
            _ => {}
        }
        result
    }
}

/// Random bytes came from a function whose model is in C (`libc/random.c`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_chance_random(name: *const u8, to: *mut u8, size: usize) {
    if chance::is_on() && size > 0 {
        // SAFETY: see the module's comment; the name ends with a zero.
        unsafe { chance::random(crate::system::text(name), to, size) };
    }
}
