//! `<string.h>`: memory that moves.

use super::model;

model! {
    fn memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "ppl");
        runtime.shadow.copy(to as u64, from as u64, size as u64);
    }
}

model! {
    fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "ppl");
        runtime.shadow.copy(to as u64, from as u64, size as u64);
    }
}

model! {
    fn mempcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "ppl");
        runtime.shadow.copy(to as u64, from as u64, size as u64);
    }
}

model! {
    fn __memcpy_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "ppll");
        runtime.shadow.copy(to as u64, from as u64, size as u64);
    }
}

model! {
    fn __memmove_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "ppll");
        runtime.shadow.copy(to as u64, from as u64, size as u64);
    }
}

model! {
    fn memset(to: *mut u8, byte: i32, size: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "p.l");
        runtime.fill(to as u64, size as u64, call.label(1));
    }
}

model! {
    fn __memset_chk(to: *mut u8, byte: i32, size: usize, room: usize) -> *mut u8;
    after |runtime, call, _| {
        call.fix(runtime, "p.ll");
        runtime.fill(to as u64, size as u64, call.label(1));
    }
}
