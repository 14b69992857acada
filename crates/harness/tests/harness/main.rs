//! Harnesses of real C files, compiled by clang, run without nearmiss around them.

mod attributes;
mod callers;
mod choices;
mod kinds;
mod refusals;
mod workbench;
