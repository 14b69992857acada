//! Tests of the sandbox: each module has a table of its own.

mod confinement;
mod endless;
mod forked;
mod harms;
mod refusals;
mod reuse;
mod stand_in_places;
mod stand_ins;
mod support;
mod worlds;

fn main() {
    let tests: Vec<support::Test> = [
        confinement::TESTS,
        worlds::TESTS,
        reuse::TESTS,
        stand_ins::TESTS,
        stand_in_places::TESTS,
        forked::TESTS,
        endless::TESTS,
        harms::TESTS,
        refusals::TESTS,
    ]
    .concat();
    support::main(&tests);
}
