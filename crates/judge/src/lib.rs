//! Does an input fail, where and of what: the sanitizer twin's word on it.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`twin_run`] | runs a twin so that its sanitizers report everything |
//! | [`complaint`], [`symbolize`] | what sanitizers, `assert` and the kernel say about a failure |
//! | [`spot`] | a site of the program as a place in the source |
//! | [`steps`] | a path as places in the source and the ways that were taken there |
//! | [`confirm`](mod@confirm) | a predicted failure, tried and judged |
//! | [`contract`] | a violated contract, and the failure that follows from it |
//! | [`verdict`] | a predicted failure against what replay and twin showed |
//! | [`defects`] | failures of one defect become one finding |
//! | [`identity`] | whether two findings are of one defect |
//! | [`nearness`] | how far one input is from another |
//! | [`minimise`] | the nearest input that still fails |
//!
//! Everything but `twin_run` and `symbolize` is a pure function: how inputs are run ([`Trial`]), and in
//! which order, is up to the caller.

pub mod complaint;
pub mod confirm;
pub mod contract;
pub mod defects;
pub mod identity;
pub mod minimise;
pub mod nearness;
pub mod spot;
pub mod steps;
pub mod symbolize;
pub mod twin_run;
pub mod verdict;

pub use complaint::Complaint;
pub use confirm::{Trial, confirm};
pub use minimise::Minimise;
pub use twin_run::{complaints_of, run_twin, sanitizer_variables, symbolized, twin_spec};
pub use verdict::{Expected, Seen, Verdict};
