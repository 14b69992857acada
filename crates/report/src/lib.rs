//! Results to text and JSON: pure functions.
