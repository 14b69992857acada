//! Archives without their instrumented members.
//!
//! A program is linked with an archive; the members it took are units of the program, and
//! their twins take their place. Members that are not instrumented are still needed, but
//! instrumented ones would bring the runtime along.

use std::fs;
use std::path::{Path, PathBuf};

use object::read::archive::{ArchiveFile, ArchiveMember};

use crate::image::is_instrumented_object;
use crate::{TwinError, hash, tool};

/// The path of an archive with the members of `path` that are not instrumented: `path` itself
/// if all are, otherwise a new one below `directory`.
pub fn without_instrumented(path: &Path, directory: &Path) -> Result<PathBuf, TwinError> {
    let bytes = fs::read(path).map_err(|error| TwinError::file(path, error))?;
    let Ok(archive) = ArchiveFile::parse(&*bytes) else {
        // A linker script, or what only the linker understands.
        return Ok(path.to_path_buf());
    };
    let base = path.parent().unwrap_or(Path::new("/"));
    let members: Vec<Vec<u8>> = archive
        .members()
        .flatten()
        .map(|member| contents(&member, &bytes, base))
        .collect();
    let plain: Vec<&Vec<u8>> = members
        .iter()
        .filter(|member| !is_instrumented_object(member))
        .collect();
    match plain.len() == members.len() {
        true => Ok(path.to_path_buf()),
        false => write(&plain, &directory.join(hash::name(&[&bytes]))),
    }
}

/// A member; one of a thin archive is a file of its own.
fn contents(member: &ArchiveMember<'_>, archive: &[u8], base: &Path) -> Vec<u8> {
    match member.is_thin() {
        true => {
            fs::read(base.join(String::from_utf8_lossy(member.name()).as_ref())).unwrap_or_default()
        }
        false => member.data(archive).unwrap_or_default().to_vec(),
    }
}

fn write(members: &[&Vec<u8>], directory: &Path) -> Result<PathBuf, TwinError> {
    fs::create_dir_all(directory).map_err(|error| TwinError::file(directory, error))?;
    let path = directory.join("lib.a");
    // `ar` adds to an archive that exists.
    let _ = fs::remove_file(&path);
    let mut arguments = vec!["qcs".to_string(), path.to_string_lossy().into_owned()];
    for (number, member) in members.iter().enumerate() {
        let file = directory.join(format!("{number}.o"));
        fs::write(&file, member).map_err(|error| TwinError::file(&file, error))?;
        arguments.push(file.to_string_lossy().into_owned());
    }
    tool::run(
        Path::new("ar"),
        arguments,
        directory,
        "write an archive without instrumented members",
    )?;
    Ok(path)
}
