//! Bitwuzla: terms over bit vectors. A comparison has the sort of truths, not of one bit;
//! callers convert.
//!
//! Misuse (operands of different widths, a value without a model) makes Bitwuzla end the
//! process with a message; the random tests of `nearmiss-solve` see to it that there is none.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null;
use std::time::{Duration, Instant};

use crate::{Deadline, past_deadline};

/// A term of one [`Bitwuzla`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Term(*mut c_void);

type Sort = *mut c_void;

/// What an operation is; the numbers are those of Bitwuzla's C interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
#[expect(missing_docs, reason = "SMT-LIB's own names")]
pub enum Kind {
    Equal = 6,
    Not = 9,
    Distinct = 5,
    Ite = 12,
    Add = 19,
    And = 20,
    AShr = 21,
    Concat = 23,
    Mul = 26,
    Neg = 28,
    BitNot = 31,
    Or = 32,
    SAddOverflow = 38,
    SDiv = 40,
    Shl = 43,
    LShr = 44,
    Sle = 45,
    Slt = 46,
    SMulOverflow = 48,
    SRem = 49,
    SSubOverflow = 50,
    Sub = 51,
    UAddOverflow = 52,
    UDiv = 53,
    Ule = 56,
    Ult = 57,
    UMulOverflow = 58,
    URem = 59,
    USubOverflow = 60,
    Xor = 62,
    Extract = 63,
    SignExtend = 67,
    ZeroExtend = 68,
}

const OPTION_PRODUCE_MODELS: u32 = 1;

unsafe extern "C" {
    fn bitwuzla_term_manager_new() -> *mut c_void;
    fn bitwuzla_term_manager_delete(manager: *mut c_void);
    fn bitwuzla_options_new() -> *mut c_void;
    fn bitwuzla_options_delete(options: *mut c_void);
    fn bitwuzla_set_option(options: *mut c_void, option: u32, value: u64);
    fn bitwuzla_new(manager: *mut c_void, options: *const c_void) -> *mut c_void;
    fn bitwuzla_delete(solver: *mut c_void);
    fn bitwuzla_set_termination_callback(
        solver: *mut c_void,
        stop: extern "C" fn(*mut c_void) -> c_int,
        state: *mut c_void,
    );
    fn bitwuzla_mk_bv_sort(manager: *mut c_void, width: u64) -> Sort;
    fn bitwuzla_mk_bv_value(
        manager: *mut c_void,
        sort: Sort,
        digits: *const c_char,
        base: u8,
    ) -> Term;
    fn bitwuzla_mk_bv_value_uint64(manager: *mut c_void, sort: Sort, value: u64) -> Term;
    fn bitwuzla_mk_const(manager: *mut c_void, sort: Sort, name: *const c_char) -> Term;
    fn bitwuzla_mk_term_indexed(
        manager: *mut c_void,
        kind: u32,
        count: u32,
        operands: *mut Term,
        index_count: u32,
        indices: *const u64,
    ) -> Term;
    fn bitwuzla_assert(solver: *mut c_void, truth: Term);
    fn bitwuzla_check_sat_assuming(solver: *mut c_void, count: u32, truths: *mut Term) -> u32;
    fn bitwuzla_get_value(solver: *mut c_void, term: Term) -> Term;
    fn bitwuzla_term_value_get_str_fmt(term: Term, base: u8) -> *const c_char;
}

/// An instance of Bitwuzla with its terms.
pub struct Bitwuzla {
    manager: *mut c_void,
    options: *mut c_void,
    solver: *mut c_void,
    /// Read by the callback that Bitwuzla holds, which is why it has a place of its own.
    deadline: Box<Cell<Deadline>>,
}

impl Default for Bitwuzla {
    fn default() -> Bitwuzla {
        Bitwuzla::new()
    }
}

impl Bitwuzla {
    /// An instance without assertions that can give models.
    pub fn new() -> Bitwuzla {
        let over = Deadline::after(Duration::ZERO, Instant::now());
        let deadline = Box::new(Cell::new(over));
        // SAFETY: each call gets what the ones before it have made. The callback reads the
        // deadline, which lives as long as the solver, and only during checks.
        unsafe {
            let manager = bitwuzla_term_manager_new();
            let options = bitwuzla_options_new();
            bitwuzla_set_option(options, OPTION_PRODUCE_MODELS, 1);
            let solver = bitwuzla_new(manager, options);
            bitwuzla_set_termination_callback(solver, past_deadline, deadline.as_ptr().cast());
            Bitwuzla {
                manager,
                options,
                solver,
                deadline,
            }
        }
    }

    /// A constant of `width` bits.
    pub fn constant(&mut self, width: u32, value: u128) -> Term {
        let sort = self.sort(width);
        if let Ok(value) = u64::try_from(value) {
            // SAFETY: manager and sort are alive; the value fits as the caller promises.
            return unsafe { bitwuzla_mk_bv_value_uint64(self.manager, sort, value) };
        }
        let digits = CString::new(format!("{value:x}")).expect("digits have no zero byte");
        // SAFETY: as above; the digits outlive the call.
        unsafe { bitwuzla_mk_bv_value(self.manager, sort, digits.as_ptr(), 16) }
    }

    /// An unknown of `width` bits.
    pub fn unknown(&mut self, width: u32) -> Term {
        let sort = self.sort(width);
        // SAFETY: manager and sort are alive; no name is allowed.
        unsafe { bitwuzla_mk_const(self.manager, sort, null()) }
    }

    fn sort(&mut self, width: u32) -> Sort {
        // SAFETY: the manager is alive; widths are at least 1.
        unsafe { bitwuzla_mk_bv_sort(self.manager, width.into()) }
    }

    /// An operation on operands of this instance.
    pub fn term(&mut self, kind: Kind, operands: &[Term]) -> Term {
        self.indexed_term(kind, operands, &[])
    }

    /// An operation with numbers: the bits of an extraction, the length of an extension.
    pub fn indexed_term(&mut self, kind: Kind, operands: &[Term], indices: &[u64]) -> Term {
        // SAFETY: pointers and counts are those of the two slices, which outlive the call;
        // Bitwuzla does not write to the operands, its interface merely lacks the `const`.
        unsafe {
            bitwuzla_mk_term_indexed(
                self.manager,
                kind as u32,
                operands.len() as u32,
                operands.as_ptr().cast_mut(),
                indices.len() as u32,
                indices.as_ptr(),
            )
        }
    }

    /// The truth holds from now on.
    pub fn assert(&mut self, truth: Term) {
        // SAFETY: solver and term are alive.
        unsafe { bitwuzla_assert(self.solver, truth) };
    }

    /// Whether all assertions and, for this once, all assumptions can hold together; `None`
    /// when the deadline was reached first.
    pub fn check(&mut self, assumptions: &[Term], deadline: Deadline) -> Option<bool> {
        self.deadline.set(deadline);
        // SAFETY: pointer and count are those of the slice, which is not written to.
        let result = unsafe {
            bitwuzla_check_sat_assuming(
                self.solver,
                assumptions.len() as u32,
                assumptions.as_ptr().cast_mut(),
            )
        };
        match result {
            10 => Some(true),
            20 => Some(false),
            _ => None,
        }
    }

    /// The value of a bit vector in the model of a check that has just said yes.
    pub fn value(&mut self, term: Term) -> u128 {
        // SAFETY: there is a model, as the caller promises; the digits are copied before the
        // next call to Bitwuzla overwrites them.
        let digits = unsafe {
            let value = bitwuzla_get_value(self.solver, term);
            CStr::from_ptr(bitwuzla_term_value_get_str_fmt(value, 2)).to_bytes()
        };
        digits
            .iter()
            .fold(0, |value, &digit| value << 1 | u128::from(digit == b'1'))
    }
}

impl Drop for Bitwuzla {
    fn drop(&mut self) {
        // SAFETY: made in `new` and deleted only here, the users before what they use.
        unsafe {
            bitwuzla_delete(self.solver);
            bitwuzla_options_delete(self.options);
            bitwuzla_term_manager_delete(self.manager);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_product_is_factored() {
        let mut solver = Bitwuzla::new();
        let (a, b) = (solver.unknown(128), solver.unknown(128));
        let product = solver.term(Kind::Mul, &[a, b]);
        let wanted = solver.constant(128, 1 << 100);
        let equal = solver.term(Kind::Equal, &[product, wanted]);
        let two = solver.constant(128, 2);
        let assumed = solver.term(Kind::Equal, &[a, two]);
        solver.assert(equal);
        let time = Duration::from_secs(20);
        let deadline = Deadline::after(time, Instant::now() + time);
        assert_eq!(solver.check(&[assumed], deadline), Some(true));
        assert_eq!(solver.value(a), 2);
        assert_eq!(solver.value(b) << 1, 1 << 100);
    }
}
