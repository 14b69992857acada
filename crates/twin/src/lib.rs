//! The ASan+UBSan twin of an instrumented program, built on demand.
