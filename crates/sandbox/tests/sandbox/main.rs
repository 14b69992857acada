//! Tests of the sandbox: each module has a table of its own.

mod confinement;
mod harms;
mod refusals;
mod support;

fn main() {
    let tests: Vec<support::Test> = [confinement::TESTS, harms::TESTS, refusals::TESTS].concat();
    support::main(&tests);
}
