//! Run, read, choose, solve, confirm.
