//! `nearmiss sandbox`: is there one? And `nearmiss __sandbox FD`: this executable as the launcher
//! of its own sandbox.

use std::ffi::OsString;

use crate::{environment, output};

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

/// Says whether there is a sandbox, and what it lacks.
pub fn check() -> Result<(), String> {
    let missing = environment::sandbox(false)?
        .check()
        .map_err(|error| error.to_string())?;
    let mut text = String::from("Invented inputs can be run without harm here.\n");
    for feature in missing {
        text += &format!("This kernel does not have {feature}.\n");
    }
    output::result(text.as_bytes())
}
