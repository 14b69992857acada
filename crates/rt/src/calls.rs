//! Labels on their way from caller to callee and back: `abi::shadow` has the protocol.

use nearmiss_abi::hook::{CLASS_FLOAT, CLASS_INTEGER};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::MAX_ARGUMENTS;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, LABEL_BITS, Label};

use crate::events::place_of;
use crate::runtime::Runtime;
use crate::thread::{Thread, label_of};
use crate::turn;

/// How many arguments a model can have.
const MODEL_ARGUMENTS: usize = 6;

/// The labels that a model was called with.
#[derive(Clone, Copy)]
pub struct Call {
    labels: [Label; MODEL_ARGUMENTS],
    site: SiteId,
}

impl Call {
    /// Takes the labels that were left for `function`, as an instrumented function does when
    /// it is entered.
    pub fn take(function: u64) -> Call {
        let thread = Thread::current();
        let mut call = Call {
            labels: [CONCRETE; MODEL_ARGUMENTS],
            site: thread.model_site(),
        };
        if thread.callee() == 0 {
            return call;
        }
        if thread.callee() == function {
            resize_arguments(thread, function);
            if call.site == SiteId::NONE {
                call.site = thread.call_site();
            }
            let count = thread.count().min(MODEL_ARGUMENTS);
            for (index, label) in call.labels.iter_mut().enumerate().take(count) {
                *label = label_of(thread.argument(index));
            }
        } else {
            turn::with((), |runtime| runtime.note_untaken(thread));
        }
        thread.forget_callee();
        call
    }

    /// The label of argument `index`.
    pub fn label(&self, index: usize) -> Label {
        self.labels.get(index).copied().unwrap_or(CONCRETE)
    }

    /// Where the program's own call is, also for what its model calls.
    pub fn site(&self) -> SiteId {
        self.site
    }

    /// Fixes the arguments that are symbolic: a model follows the recorded ones. `letters`
    /// has one for each: `p` an address, `l` a size or another number, `.` not fixed.
    pub fn fix(&self, runtime: &mut Runtime, letters: &str) {
        for (&label, letter) in self.labels.iter().zip(letters.bytes()) {
            let kind = match letter {
                b'p' => NoteKind::Address,
                b'l' => NoteKind::Size,
                _ => continue,
            };
            runtime.fix(label, kind, self.site);
        }
    }
}

impl Runtime {
    /// Labels were left for a function that never looked at them.
    pub fn note_untaken(&mut self, thread: Thread) {
        if thread.callee() != 0 && thread.has_labels() {
            self.trace.note(NoteKind::Call, thread.call_site(), 1);
        }
    }

    /// The label of what `callee` returned.
    pub fn returned(&mut self, callee: u64, value: u64, width: u32, index: u32) -> Label {
        let tails = self.tailing.as_slice().contains(&callee);
        let label = Thread::current().take_returned(callee, tails, index);
        if label == CONCRETE || self.width(label) == 0 {
            return CONCRETE;
        }
        // Caller and callee may disagree about the width (an old-style declaration).
        let label = self.resize(label, width);
        self.trusted(label, width, value)
    }

    /// `function` ends in calls that take its place. What was returned last is taken for its result
    /// from now on: where it returns a concrete value instead, the value tells.
    pub fn tails(&mut self, function: u64) {
        let known = self.tailing.as_slice().contains(&function);
        if !known && !self.tailing.push(function) {
            self.trace
                .note(NoteKind::Operation, place_of(SiteId::NONE), 1);
        }
    }

    /// Labels the variadic arguments of a call, now that `va_start` has said where they lie.
    ///
    /// # Safety
    /// `list` is a `va_list` of the System V ABI, `kept` was filled by [`keep_arguments`].
    pub unsafe fn label_variadic(&mut self, list: *const VaList, kept: *const u32, fixed: usize) {
        // SAFETY: as promised by the caller.
        let (mut list, count) = unsafe { (list.read(), kept.read() as usize) };
        let mut place_is_unknown = false;
        for index in fixed..count.min(MAX_ARGUMENTS) {
            // SAFETY: as promised by the caller.
            let word = unsafe { kept.add(1 + index).read() };
            let label = label_of(word);
            let Some(address) = list.next(word >> LABEL_BITS) else {
                place_is_unknown = true;
                continue;
            };
            if place_is_unknown {
                if label != CONCRETE {
                    let site = place_of(SiteId::NONE);
                    self.trace.note(NoteKind::Operation, site, 1);
                }
                continue;
            }
            self.shadow.clear(address, 8);
            if label != CONCRETE {
                let size = self.width(label).div_ceil(8);
                self.store(address, size.min(8), label);
            }
        }
    }
}

/// A function was entered while labels were under way: afterwards `arguments` are its own.
pub fn enter(function: u64) {
    let thread = Thread::current();
    if thread.callee() == function && turn::recording() {
        thread.zero_arguments_from(thread.count());
        resize_arguments(thread, function);
    } else {
        turn::with((), |runtime| runtime.note_untaken(thread));
        thread.zero_arguments_from(0);
        thread.forget_by_value();
    }
    thread.forget_callee();
}

/// An old-style call passes an `int` where the model takes a `long`: its register has zeros in its upper
/// half, and so has the label from now on.
fn resize_arguments(thread: Thread, function: u64) {
    let Some(expected) = thread.take_expected(function) else {
        return;
    };
    turn::with((), |runtime| {
        for index in 0..thread.count() {
            let label = label_of(thread.argument(index));
            if let Some(width) = expected.width(index + 1)
                && label != CONCRETE
            {
                thread.set_label(index, runtime.resize(label, width));
            }
        }
    });
}

/// Keeps the arguments' words until `va_start`.
///
/// # Safety
/// `buffer` has room for `1 + MAX_ARGUMENTS` words.
pub unsafe fn keep_arguments(buffer: *mut u32) {
    let thread = Thread::current();
    let count = if turn::recording() { thread.count() } else { 0 };
    // SAFETY: as promised by the caller.
    unsafe {
        buffer.write(count as u32);
        for index in 0..count {
            buffer.add(1 + index).write_volatile(thread.argument(index));
        }
    }
}

/// `va_list` of the System V ABI for x86-64.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    general_offset: u32,
    float_offset: u32,
    overflow_area: u64,
    save_area: u64,
}

impl VaList {
    /// Where the next argument lies, as `va_arg` would find it. `None`: nobody knows.
    fn next(&mut self, class: u32) -> Option<u64> {
        const GENERAL_END: u32 = 48;
        const FLOAT_END: u32 = 176;
        let (offset, end, step) = match class {
            CLASS_INTEGER => (&mut self.general_offset, GENERAL_END, 8),
            CLASS_FLOAT => (&mut self.float_offset, FLOAT_END, 16),
            _ => return None,
        };
        if *offset < end {
            let address = self.save_area + *offset as u64;
            *offset += step;
            return Some(address);
        }
        let address = self.overflow_area;
        self.overflow_area += 8;
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variadic_arguments_lie_where_va_arg_looks() {
        let mut list = VaList {
            general_offset: 40,
            float_offset: 160,
            overflow_area: 0x9000,
            save_area: 0x1000,
        };
        assert_eq!(list.next(CLASS_INTEGER), Some(0x1000 + 40));
        assert_eq!(list.next(CLASS_FLOAT), Some(0x1000 + 160));
        assert_eq!(list.next(CLASS_INTEGER), Some(0x9000));
        assert_eq!(list.next(CLASS_FLOAT), Some(0x9008));
        assert_eq!(list.next(2), None);
    }
}
