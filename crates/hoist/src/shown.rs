//! Requirements shown to be true by calls that are made for it.
//!
//! What tests reveal is tied to their paths. A call of the tests is made again in the sanitizer twin with other inputs
//! ([`trial`]): that tells whether a part of a requirement is needed ([`general`]), and shows for each requirement one call
//! just outside of it that fails, and one inside of it that does not ([`evidence`]).

pub mod evidence;
pub mod general;
pub mod given;
pub mod sample;
pub mod trial;
