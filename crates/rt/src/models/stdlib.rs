//! `<stdlib.h>`: memory that changes hands.
//!
//! Fresh memory is concrete; memory that is given back has no labels any more.

use super::{model, real};
use crate::runtime::Runtime;

/// How much memory an allocation has.
fn usable(memory: *mut u8) -> u64 {
    // A program with an allocator of its own but without this function gets libc's, whose
    // answer would be nonsense: believe plausible sizes only.
    const PLAUSIBLE: u64 = 1 << 40;
    // SAFETY: the program is about to give it to `free` or `realloc`, so it is an allocation.
    let size = unsafe { real::malloc_usable_size(memory) } as u64;
    if size < PLAUSIBLE { size } else { 0 }
}

/// `realloc` moved `old_size` bytes to new memory of `size` bytes.
fn moved(runtime: &mut Runtime, old: *mut u8, old_size: u64, new: *mut u8, size: u64) {
    let (old, new) = (old as u64, new as u64);
    let kept = old_size.min(size);
    if new != old {
        runtime.shadow.copy(new, old, kept);
        runtime.shadow.clear(old, old_size);
    }
    runtime.shadow.clear(new + kept, size - kept);
}

model! {
    fn malloc(size: usize) -> *mut u8;
    after |runtime, call, memory| {
        call.fix(runtime, "l");
        if !memory.is_null() {
            runtime.shadow.clear(memory as u64, size as u64);
        }
    }
}

model! {
    fn calloc(count: usize, size: usize) -> *mut u8;
    after |runtime, call, memory| {
        call.fix(runtime, "ll");
        if !memory.is_null() {
            // It did not overflow, or there would be no memory.
            runtime.shadow.clear(memory as u64, (count * size) as u64);
        }
    }
}

model! {
    fn realloc(memory: *mut u8, size: usize) -> *mut u8;
    before |_, _| if memory.is_null() { 0 } else { usable(memory) };
    after |runtime, call, old_size, new| {
        call.fix(runtime, "pl");
        if !new.is_null() {
            moved(runtime, memory, old_size, new, size as u64);
        } else if size == 0 {
            runtime.shadow.clear(memory as u64, old_size);
        }
    }
}

model! {
    fn free(memory: *mut u8);
    before |runtime, call| {
        call.fix(runtime, "p");
        if !memory.is_null() {
            runtime.shadow.clear(memory as u64, usable(memory));
        }
    }
}
