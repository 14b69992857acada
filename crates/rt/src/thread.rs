//! The words of the current thread.
//!
//! `__nm_thread` is defined in [`crate::entry`]; behind the words of the ABI lie some that only the
//! runtime uses: whether this thread is inside it, and how the arguments of a call are to be resized.
//!
//! On `unsafe`: the words belong to one thread and live as long as it does. A signal handler
//! may come in between two accesses, never beside one; no reference to them is ever made.

use core::arch::asm;
use core::ptr::addr_of_mut;

use nearmiss_abi::shadow::{MAX_ARGUMENTS, MAX_BY_VALUE, ThreadWords};
use nearmiss_abi::signature::Signature;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{LABEL_BITS, Label};

/// The label in a word of `arguments`, whose upper bits may be the class of the argument.
pub const fn label_of(word: u32) -> Label {
    word & ((1 << LABEL_BITS) - 1)
}

/// In place of the function that returned: whichever looks first. So `setjmp` returns what
/// `longjmp` was given.
pub const ANY_FUNCTION: u64 = u64::MAX;

#[repr(C)]
struct Words {
    shared: ThreadWords,
    inside: u64,
    /// The model that is called with integers of other widths than it takes, and its signature.
    expecting: u64,
    expected: u64,
}

/// Bytes of the runtime's own words.
pub const OWN_SIZE: usize = core::mem::size_of::<Words>() - core::mem::size_of::<ThreadWords>();

/// The words of the current thread.
#[derive(Clone, Copy)]
pub struct Thread(*mut Words);

impl Thread {
    /// Finds them: one addition, without a call.
    #[inline(always)]
    pub fn current() -> Thread {
        let words: *mut Words;
        // SAFETY: the initial-exec access to a thread-local variable.
        unsafe {
            asm!(
                "mov {words}, qword ptr fs:[0]",
                "add {words}, qword ptr [rip + __nm_thread@gottpoff]",
                words = out(reg) words,
                options(pure, nomem, nostack),
            );
        }
        Thread(words)
    }

    /// Marks the thread as inside the runtime; `false` if it was already.
    #[inline(always)]
    pub fn go_inside(self) -> bool {
        // SAFETY: see the module's comment; volatile because of signal handlers.
        unsafe {
            let inside = addr_of_mut!((*self.0).inside);
            let free = inside.read_volatile() == 0;
            if free {
                inside.write_volatile(1);
            }
            free
        }
    }

    /// The thread leaves the runtime.
    #[inline(always)]
    pub fn go_outside(self) {
        // SAFETY: see the module's comment.
        unsafe { addr_of_mut!((*self.0).inside).write_volatile(0) }
    }

    /// The function that the argument labels are for.
    pub fn callee(self) -> u64 {
        // SAFETY: see the module's comment.
        unsafe { (*self.0).shared.callee }
    }

    /// Nobody is being called any more.
    pub fn forget_callee(self) {
        // SAFETY: see the module's comment.
        unsafe { (*self.0).shared.callee = 0 }
    }

    /// The site of the call.
    pub fn call_site(self) -> SiteId {
        // SAFETY: see the module's comment.
        SiteId(unsafe { (*self.0).shared.call_site })
    }

    /// The site of the program's own call of a model.
    pub fn model_site(self) -> SiteId {
        // SAFETY: see the module's comment.
        SiteId(unsafe { (*self.0).shared.model_site })
    }

    /// The program is about to call a model at this site.
    pub fn set_model_site(self, site: u64) {
        // SAFETY: see the module's comment.
        unsafe { (*self.0).shared.model_site = site }
    }

    /// The next call of `function` passes integers of other widths than it takes.
    pub fn expect(self, function: u64, signature: Signature) {
        // SAFETY: see the module's comment.
        unsafe {
            (*self.0).expecting = function;
            (*self.0).expected = signature.0;
        }
    }

    /// What `function` takes, if a call passes something else.
    pub fn take_expected(self, function: u64) -> Option<Signature> {
        // SAFETY: see the module's comment.
        unsafe {
            let is_expecting = (*self.0).expecting == function;
            (*self.0).expecting = 0;
            is_expecting.then_some(Signature((*self.0).expected))
        }
    }

    /// Replaces the label of argument `index`, below [`MAX_ARGUMENTS`].
    pub fn set_label(self, index: usize, label: Label) {
        debug_assert!(index < MAX_ARGUMENTS);
        let class = self.argument(index) & !((1 << LABEL_BITS) - 1);
        // SAFETY: see the module's comment; the index is below the array's size.
        unsafe {
            addr_of_mut!((*self.0).shared.arguments)
                .cast::<u32>()
                .add(index)
                .write(class | label);
        }
    }

    /// How many argument labels were stored.
    pub fn count(self) -> usize {
        // SAFETY: see the module's comment.
        let count = unsafe { (*self.0).shared.count } as usize;
        if count > MAX_ARGUMENTS {
            MAX_ARGUMENTS
        } else {
            count
        }
    }

    /// The word of argument `index`, below [`MAX_ARGUMENTS`].
    pub fn argument(self, index: usize) -> u32 {
        debug_assert!(index < MAX_ARGUMENTS);
        // SAFETY: see the module's comment; the index is below the array's size.
        unsafe {
            addr_of_mut!((*self.0).shared.arguments)
                .cast::<u32>()
                .add(index)
                .read()
        }
    }

    /// Makes the arguments from `first` on concrete.
    pub fn zero_arguments_from(self, first: usize) {
        for index in first..MAX_ARGUMENTS {
            // SAFETY: see the module's comment; the index is below the array's size. Volatile,
            // so that the loop does not become a call of `memset`.
            unsafe {
                addr_of_mut!((*self.0).shared.arguments)
                    .cast::<u32>()
                    .add(index)
                    .write_volatile(0);
            }
        }
    }

    /// Forgets the structs passed by value.
    pub fn forget_by_value(self) {
        for index in 0..MAX_BY_VALUE {
            // SAFETY: as in `zero_arguments_from`.
            unsafe {
                addr_of_mut!((*self.0).shared.by_value)
                    .cast::<u64>()
                    .add(index)
                    .write_volatile(0);
            }
        }
    }

    /// Whether any argument that was stored has a label.
    pub fn has_labels(self) -> bool {
        (0..self.count()).any(|index| label_of(self.argument(index)) != 0)
    }

    /// Takes the label that `callee` returned, or another function in its place (`tails`); `index` 1
    /// is its second scalar.
    pub fn take_returned(self, callee: u64, tails: bool, index: u32) -> Label {
        // SAFETY: see the module's comment.
        unsafe {
            let words = addr_of_mut!((*self.0).shared);
            let word = if index == 0 {
                addr_of_mut!((*words).returned)
            } else {
                addr_of_mut!((*words).returned_second)
            };
            let label = word.replace(0);
            let by = (*words).returned_by;
            if tails || by == callee || by == ANY_FUNCTION {
                label
            } else {
                0
            }
        }
    }

    /// Leaves the label of what `function` is about to return.
    pub fn set_returned(self, function: u64, label: Label) {
        // SAFETY: see the module's comment.
        unsafe {
            let words = addr_of_mut!((*self.0).shared);
            (*words).returned = label;
            (*words).returned_second = 0;
            (*words).returned_by = function;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own() {
        let thread = Thread::current();
        thread.set_returned(7, 9);
        let other = std::thread::spawn(|| Thread::current().take_returned(7, false, 0));
        assert_eq!(other.join().unwrap(), 0);
        assert_eq!(thread.take_returned(7, false, 0), 9);
        assert_eq!(thread.take_returned(7, false, 0), 0);
        assert!(thread.go_inside());
        assert!(!thread.go_inside());
        thread.go_outside();
    }
}
