//! An overlay of clang's virtual file system: some files have another content than on disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::build::error::BuildError;

/// Writes an overlay that puts copies in place of files, as `name` in `directory`; gives the word for clang.
pub fn write(
    directory: &Path,
    name: &str,
    copies: &[(PathBuf, PathBuf)],
) -> Result<String, BuildError> {
    let files = copies.iter().map(|(file, copy)| {
        json!({
            "type": "directory",
            "name": file.parent().unwrap_or(Path::new("/")),
            "contents": [{
                "type": "file",
                "name": file.file_name().unwrap_or_default().to_string_lossy(),
                "external-contents": copy,
            }],
        })
    });
    // Names stay those of the files, in messages and in debug information.
    let overlay = json!({
        "version": 0,
        "case-sensitive": true,
        "use-external-names": false,
        "roots": files.collect::<Vec<_>>(),
    });
    let path = directory.join(format!("{name}.yaml"));
    fs::write(&path, overlay.to_string()).map_err(|error| BuildError::File(path.clone(), error))?;
    Ok(format!("-ivfsoverlay{}", path.display()))
}
