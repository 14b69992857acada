//! `nearmiss __sandbox FD`: this executable as the launcher of its own sandbox.

use std::ffi::OsString;

/// The hidden command.
pub const COMMAND: &str = "__sandbox";

/// Becomes the launcher if the words say so; then it never returns.
pub fn enter_if_asked(words: &[OsString]) {
    if let [_, command, fd] = words
        && command == COMMAND
        && let Some(fd) = fd.to_str().and_then(|fd| fd.parse().ok())
    {
        nearmiss_sandbox::enter(fd);
    }
}
