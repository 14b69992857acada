//! The Solver trait, its layers and back ends; the only crate that knows a solver.
