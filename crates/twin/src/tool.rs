//! Running clang and ar.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::TwinError;

/// Runs a tool in a directory; `task` says for what, if it fails.
pub fn run<S: AsRef<OsStr>>(
    tool: &Path,
    arguments: impl IntoIterator<Item = S>,
    directory: &Path,
    task: &str,
) -> Result<(), TwinError> {
    let output = Command::new(tool)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TwinError::NoTool(tool.to_path_buf()),
            _ => TwinError::File(tool.to_path_buf(), error),
        })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(TwinError::Tool {
            task: task.to_string(),
            output: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}
