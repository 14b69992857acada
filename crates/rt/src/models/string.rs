//! `<string.h>`, `<strings.h>`: memory that moves.
//!
//! Both ends are checked before anything is moved or fixed: a size that is fixed for one of
//! them could not be found wrong for the other.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::model;
use crate::bounds::Span;
use crate::calls::Call;
use crate::runtime::Runtime;
use crate::thread::Thread;

/// A range that a function accesses: the address with the position of its argument, the size
/// likewise.
type Range = ((u64, usize), (u64, usize));

fn span(runtime: &mut Runtime, call: &Call, (address, size): Range, write: bool) -> Span {
    Span {
        address: runtime.word(call.label(address.1), address.0),
        size: runtime.word(call.label(size.1), size.0),
        write,
        site: call.site(),
    }
}

/// Checks what is written and, if anything, what is read; then both keep their values.
fn check(runtime: &mut Runtime, call: &Call, written: Range, read: Option<Range>) {
    let to = span(runtime, call, written, true);
    runtime.check_span(&to);
    if let Some(read) = read {
        let from = span(runtime, call, read, false);
        runtime.check_span(&from);
        runtime.settle(from.address, NoteKind::Address, call.site());
    }
    runtime.settle(to.address, NoteKind::Address, call.site());
    runtime.settle(to.size, NoteKind::Size, call.site());
}

/// What a function returns.
#[derive(Clone, Copy)]
enum Returns {
    /// Nothing.
    Nothing,
    /// Its first argument, where it writes.
    Target,
    /// The end of what it has written.
    End,
}

impl Returns {
    /// Tells the caller the label of what `function` returns: `p = memcpy(end - n, s, n)` moves
    /// with n as its argument does.
    fn tell(self, runtime: &mut Runtime, call: &Call, function: u64, (to, size): (u64, u64)) {
        let label = match self {
            Returns::Nothing => return,
            Returns::Target => call.label(0),
            Returns::End => {
                let to = runtime.word(call.label(0), to);
                let size = runtime.word(call.label(2), size);
                runtime.calculate(Op::Add, to, size).label
            }
        };
        Thread::current().set_returned(function, label);
    }
}

macro_rules! moves {
    ($returns:ident by $name:ident($($before:ident: $type:ty),*; $size:ident at $position:literal $(, $room:ident)?) $(-> $result:ty)?; $to:ident at $to_position:literal, $from:ident at $from_position:literal) => {
        model! {
            fn $name($($before: $type,)* $size: usize $(, $room: usize)?) $(-> $result)?;
            before |runtime, call| {
                let size = ($size as u64, $position);
                let written = (($to as u64, $to_position), size);
                let read = (($from as u64, $from_position), size);
                check(runtime, call, written, Some(read));
            };
            after |runtime, call, (), _| {
                runtime.shadow.copy($to as u64, $from as u64, $size as u64);
                let function = $name as *const () as u64;
                Returns::$returns.tell(runtime, call, function, ($to as u64, $size as u64));
            }
        }
    };
}

moves! { Target by memcpy(to: *mut u8, from: *const u8; size at 2) -> *mut u8; to at 0, from at 1 }
moves! { Target by memmove(to: *mut u8, from: *const u8; size at 2) -> *mut u8; to at 0, from at 1 }
moves! { End by mempcpy(to: *mut u8, from: *const u8; size at 2) -> *mut u8; to at 0, from at 1 }
moves! { Nothing by bcopy(from: *const u8, to: *mut u8; size at 2); to at 1, from at 0 }
moves! { Target by __memcpy_chk(to: *mut u8, from: *const u8; size at 2, room) -> *mut u8; to at 0, from at 1 }
moves! { Target by __memmove_chk(to: *mut u8, from: *const u8; size at 2, room) -> *mut u8; to at 0, from at 1 }
moves! { End by __mempcpy_chk(to: *mut u8, from: *const u8; size at 2, room) -> *mut u8; to at 0, from at 1 }

model! {
    fn memset(to: *mut u8, byte: i32, size: usize) -> *mut u8;
    before |runtime, call| check(runtime, call, ((to as u64, 0), (size as u64, 2)), None);
    after |runtime, call, (), _| {
        runtime.fill(to as u64, size as u64, call.label(1));
        let function = memset as *const () as u64;
        Returns::Target.tell(runtime, call, function, (to as u64, size as u64));
    }
}

model! {
    fn __memset_chk(to: *mut u8, byte: i32, size: usize, room: usize) -> *mut u8;
    before |runtime, call| check(runtime, call, ((to as u64, 0), (size as u64, 2)), None);
    after |runtime, call, (), _| {
        runtime.fill(to as u64, size as u64, call.label(1));
        let function = __memset_chk as *const () as u64;
        Returns::Target.tell(runtime, call, function, (to as u64, size as u64));
    }
}

macro_rules! zeroes {
    ($($name:ident($($room:ident)?))*) => { $(
        model! {
            fn $name(to: *mut u8, size: usize $(, $room: usize)?);
            before |runtime, call| check(runtime, call, ((to as u64, 0), (size as u64, 1)), None);
            after |runtime, _, (), ()| runtime.shadow.clear(to as u64, size as u64)
        }
    )* };
}

zeroes! { bzero() explicit_bzero() __explicit_bzero_chk(room) }
