//! `<stdlib.h>`, `<malloc.h>`: memory that changes hands.
//!
//! Fresh memory is concrete; memory that is given back has no labels any more. [`crate::heap`]
//! says what becomes of sizes that depend on input.

use super::real;
use crate::calls::Call;
use crate::heap::Request;
use crate::runtime::Runtime;
use crate::turn::{self, recording};

const ENOMEM: i32 = 12;

/// How much memory an allocation has.
fn usable(memory: *mut u8) -> u64 {
    // A program with an allocator of its own but without this function gets libc's, whose
    // answer would be nonsense: believe plausible sizes only.
    const PLAUSIBLE: u64 = 1 << 40;
    if memory.is_null() {
        return 0;
    }
    // SAFETY: the program is about to give it to `free` or `realloc`, so it is an allocation.
    let size = unsafe { real::malloc_usable_size(memory) } as u64;
    if size < PLAUSIBLE { size } else { 0 }
}

/// The bytes of an old block whose labels move to a new one.
fn kept(runtime: &Runtime, memory: *mut u8) -> u64 {
    let known = runtime.objects.find_live(memory as u64);
    match known.filter(|object| object.start == memory as u64) {
        Some(object) => object.size,
        None => usable(memory),
    }
}

/// The arguments of an allocation, with the positions of those that make its size.
#[derive(Clone, Copy)]
enum Asked {
    Block(usize, usize),
    Product([usize; 2], [usize; 2]),
}

impl Asked {
    fn request(self, runtime: &mut Runtime, call: &Call) -> Request {
        match self {
            Asked::Block(index, size) => runtime.request(call.label(index), size as u64),
            Asked::Product(indices, sizes) => {
                let labels = indices.map(|index| call.label(index));
                runtime.request_product(labels, sizes.map(|size| size as u64))
            }
        }
    }
}

/// An allocation by the real function `real`, or its refusal.
fn allocate(function: u64, asked: Asked, real: impl FnOnce() -> *mut u8) -> *mut u8 {
    let call = Call::take(function);
    let (request, refused) = turn::with((Request::NONE, false), |runtime| {
        let request = asked.request(runtime, &call);
        (request, runtime.refuses(&request))
    });
    let memory = if refused { refuse() } else { real() };
    turn::with((), |runtime| {
        runtime.allocated(&request, memory as u64, call.site());
    });
    memory
}

/// What an allocation does that fails.
fn refuse() -> *mut u8 {
    // SAFETY: libc's word of this thread.
    unsafe { *real::__errno_location() = ENOMEM };
    core::ptr::null_mut()
}

/// A new size for an old block, by the real function `real`.
fn reallocate(
    function: u64,
    memory: *mut u8,
    asked: Asked,
    real: impl FnOnce() -> *mut u8,
) -> *mut u8 {
    let call = Call::take(function);
    let before = (Request::NONE, false, 0);
    let (request, refused, old_size) = turn::with(before, |runtime| {
        runtime.check_free(call.label(0), memory as u64, call.site());
        let request = asked.request(runtime, &call);
        (request, runtime.refuses(&request), kept(runtime, memory))
    });
    let new = if refused { refuse() } else { real() };
    turn::with((), |runtime| {
        moved(runtime, (memory as u64, old_size), new as u64, &request);
        runtime.answered(&request, new as u64, call.site());
    });
    new
}

/// The labels of an old block go where its bytes went.
fn moved(runtime: &mut Runtime, (old, old_size): (u64, u64), new: u64, request: &Request) {
    let size = request.size.value;
    if new == 0 {
        // As glibc has it, a block of no bytes is a block given back.
        if size == 0 && !request.overflows.holds && old != 0 {
            runtime.released(old, old_size);
        }
        return;
    }
    let kept = old_size.min(size);
    if old == 0 {
        return runtime.shadow.clear(new, size);
    }
    runtime.shadow.clear_sized(old, old_size);
    if new != old {
        runtime.shadow.copy(new, old, kept);
        runtime.released(old, old_size);
    }
    runtime.shadow.clear(new + kept, size - kept);
}

macro_rules! allocation {
    ($name:ident($($argument:ident: $type:ty),*), $asked:expr) => {
        #[doc = concat!("The model of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> *mut u8 {
            // SAFETY: as promised by the caller.
            let real = || unsafe { real::$name($($argument),*) };
            if !recording() {
                return real();
            }
            allocate($name as *const () as u64, $asked, real)
        }
    };
    ($name:ident of $memory:ident: *mut u8, $($argument:ident: $type:ty),*; $asked:expr) => {
        #[doc = concat!("The model of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($memory: *mut u8, $($argument: $type),*) -> *mut u8 {
            // SAFETY: as promised by the caller.
            let real = || unsafe { real::$name($memory, $($argument),*) };
            if !recording() {
                return real();
            }
            reallocate($name as *const () as u64, $memory, $asked, real)
        }
    };
}

allocation! { malloc(size: usize), Asked::Block(0, size) }
allocation! { calloc(count: usize, size: usize), Asked::Product([0, 1], [count, size]) }
allocation! { aligned_alloc(alignment: usize, size: usize), Asked::Block(1, size) }
allocation! { memalign(alignment: usize, size: usize), Asked::Block(1, size) }
allocation! { valloc(size: usize), Asked::Block(0, size) }
allocation! { realloc of memory: *mut u8, size: usize; Asked::Block(1, size) }
allocation! {
    reallocarray of memory: *mut u8, count: usize, size: usize;
    Asked::Product([1, 2], [count, size])
}

/// The model of `posix_memalign`, which says what went wrong by its result.
///
/// # Safety
/// As for the real function.
#[unsafe(export_name = "__nm_model_posix_memalign")]
pub unsafe extern "C" fn posix_memalign(to: *mut *mut u8, alignment: usize, size: usize) -> i32 {
    // SAFETY: as promised by the caller.
    let real = || unsafe { real::posix_memalign(to, alignment, size) };
    if !recording() {
        return real();
    }
    let call = Call::take(posix_memalign as *const () as u64);
    let (request, refused) = turn::with((Request::NONE, false), |runtime| {
        let request = runtime.request(call.label(2), size as u64);
        (request, runtime.refuses(&request))
    });
    let result = if refused { ENOMEM } else { real() };
    turn::with((), |runtime| {
        call.fix(runtime, "pl");
        let mut memory = 0;
        if result == 0 {
            runtime.shadow.clear(to as u64, size_of::<*mut u8>() as u64);
            // SAFETY: the real function wrote it.
            memory = unsafe { *to } as u64;
        }
        runtime.allocated(&request, memory, call.site());
    });
    result
}

/// The model of `free`.
///
/// # Safety
/// As for the real function.
#[unsafe(export_name = "__nm_model_free")]
pub unsafe extern "C" fn free(memory: *mut u8) {
    if recording() {
        let call = Call::take(free as *const () as u64);
        turn::with((), |runtime| {
            runtime.check_free(call.label(0), memory as u64, call.site());
            if !memory.is_null() {
                let size = kept(runtime, memory);
                runtime.released(memory as u64, size);
            }
        });
    }
    // SAFETY: as promised by the caller.
    unsafe { real::free(memory) }
}
