//! Flags, progress, exit status; the only crate that prints or reads the environment.
