//! Bit-vector terms: build, simplify, evaluate, bound, print.
