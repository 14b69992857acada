//! Functions of libc's names that are the program's own: `getline` of a textbook takes other
//! arguments, and reads by functions that are captured anyway.
//!
//! The archive is linked behind the program and in front of libc, and linkers lay out code in the
//! order in which they are given it:
//!
//! ```text
//!  dynamic:  [ program | archive ]   [ libc.so ]      own: within the program
//!  static:   [ program | archive | libc.a ]           own: in front of the archive
//! ```
//!
//! Where a sanitizer's functions stand for libc's within the program, rows name them.

use nearmiss_rt_base::auxiliary;

use crate::rows::{Linking, Place};
use crate::start::__nm_capture_start;

/// Whether the function that would be wrapped is the program's own.
pub fn is_the_programs(real: usize, place: &Place) -> bool {
    if !auxiliary::is_own(real as u64) {
        return false;
    }
    match auxiliary::is_static() {
        true => {
            let first = match place.linking() {
                Linking::Indirect => auxiliary::value(auxiliary::kind::ENTRY) as usize,
                _ => 0,
            };
            (first..__nm_capture_start as *const () as usize).contains(&real)
        }
        false => place.linking() != Linking::Copied,
    }
}
