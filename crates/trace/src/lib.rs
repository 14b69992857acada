//! A recorded trace file, read as a path of events over terms.
