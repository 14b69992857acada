//! CaDiCaL: clauses over literals, which are non-zero numbers, negated for the complement.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, from_ref};

use crate::{Deadline, past_deadline};

/// An instance of CaDiCaL.
pub struct Sat {
    instance: NonNull<c_void>,
}

type Stop = extern "C" fn(*mut c_void) -> c_int;

unsafe extern "C" {
    fn nearmiss_sat_new() -> *mut c_void;
    fn nearmiss_sat_delete(instance: *mut c_void);
    fn nearmiss_sat_add(instance: *mut c_void, literal: c_int);
    fn nearmiss_sat_assume(instance: *mut c_void, literal: c_int);
    fn nearmiss_sat_phase(instance: *mut c_void, literal: c_int);
    fn nearmiss_sat_solve(
        instance: *mut c_void,
        conflicts: c_int,
        stop: Stop,
        state: *mut c_void,
    ) -> c_int;
    fn nearmiss_sat_value(instance: *mut c_void, variable: c_int) -> c_int;
}

// SAFETY: an instance has no tie to the thread that made it.
unsafe impl Send for Sat {}

impl Default for Sat {
    fn default() -> Sat {
        Sat::new()
    }
}

impl Sat {
    /// An instance without clauses.
    pub fn new() -> Sat {
        // SAFETY: takes nothing, gives a new instance.
        let instance = unsafe { nearmiss_sat_new() };
        Sat {
            instance: NonNull::new(instance).expect("C++ `new` gives no null"),
        }
    }

    /// One of the literals is true, from now on.
    pub fn add_clause(&mut self, literals: &[i32]) {
        for &literal in literals {
            debug_assert_ne!(literal, 0);
            // SAFETY: the instance is alive as long as `self`; literals are not zero.
            unsafe { nearmiss_sat_add(self.instance.as_ptr(), literal) };
        }
        // SAFETY: as above; zero ends the clause.
        unsafe { nearmiss_sat_add(self.instance.as_ptr(), 0) };
    }

    /// A decision about the literal's variable shall make the literal true.
    pub fn prefer(&mut self, literal: i32) {
        // SAFETY: the instance is alive; the literal is not zero.
        unsafe { nearmiss_sat_phase(self.instance.as_ptr(), literal) };
    }

    /// Whether all clauses and, for this once, all assumptions can be true together; `None`
    /// when the deadline or the number of conflicts was reached first.
    pub fn check(
        &mut self,
        assumptions: impl IntoIterator<Item = i32>,
        conflicts: Option<u32>,
        deadline: Deadline,
    ) -> Option<bool> {
        for literal in assumptions {
            // SAFETY: the instance is alive; the literal is not zero.
            unsafe { nearmiss_sat_assume(self.instance.as_ptr(), literal) };
        }
        let conflicts = conflicts.map_or(-1, |count| c_int::try_from(count).unwrap_or(c_int::MAX));
        let state = from_ref(&deadline).cast_mut().cast();
        // SAFETY: the callback reads `deadline`, which outlives the call; CaDiCaL forgets the
        // callback before the call returns.
        let result =
            unsafe { nearmiss_sat_solve(self.instance.as_ptr(), conflicts, past_deadline, state) };
        match result {
            10 => Some(true),
            20 => Some(false),
            _ => None,
        }
    }

    /// Whether the literal is true in the model of a check that has just said yes.
    pub fn value(&self, literal: i32) -> bool {
        // SAFETY: the instance is alive and has a model, as the caller promises; without one
        // CaDiCaL would end the process, not misbehave.
        let variable = unsafe { nearmiss_sat_value(self.instance.as_ptr(), literal.abs()) != 0 };
        variable == (literal > 0)
    }
}

impl Drop for Sat {
    fn drop(&mut self) {
        // SAFETY: made by `nearmiss_sat_new` and deleted only here.
        unsafe { nearmiss_sat_delete(self.instance.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn soon() -> Deadline {
        let time = Duration::from_secs(10);
        Deadline::after(time, Instant::now() + time)
    }

    #[test]
    fn assumptions_hold_for_one_check() {
        let mut sat = Sat::new();
        sat.add_clause(&[1, 2]);
        assert_eq!(sat.check([-1, -2], None, soon()), Some(false));
        assert_eq!(sat.check([-1], None, soon()), Some(true));
        assert!(sat.value(2) && sat.value(-1));
    }

    #[test]
    fn preferences_are_followed_where_free() {
        let mut sat = Sat::new();
        sat.add_clause(&[1, 2, 3]);
        for literal in [1, -2, 3] {
            sat.prefer(literal);
        }
        assert_eq!(sat.check([], None, soon()), Some(true));
        assert!(sat.value(1) && sat.value(-2) && sat.value(3));
    }
}
