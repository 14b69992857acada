//! Findings as plain data, versioned JSON.
