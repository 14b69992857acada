//! Archives without their instrumented members, and the twins of those.
//!
//! A program is linked with an archive; the members it took are units of the program, and
//! their twins take their place. Members that are not instrumented are still needed, but
//! instrumented ones would bring the runtime along. What the program did not take, since its
//! optimiser removed the only call, the twin may need: then its twin is taken from the archive.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_abi::site::{RECIPE_SECTION, TWIN_SECTION};
use nearmiss_sites::Twin;
use nearmiss_sites::recipe::Recipe;
use object::read::archive::{ArchiveFile, ArchiveMember};
use serde::de::DeserializeOwned;

use crate::image::{self, is_compiled_again, values_of_object};
use crate::{TwinError, hash, tool};

/// The path of an archive with the members of `path` that are not instrumented: `path` itself
/// if all are, otherwise a new one below `directory`.
pub fn without_instrumented(path: &Path, directory: &Path) -> Result<PathBuf, TwinError> {
    let bytes = fs::read(path).map_err(|error| TwinError::file(path, error))?;
    let Some(members) = members(path, &bytes) else {
        return Ok(path.to_path_buf());
    };
    let plain: Vec<&Vec<u8>> = members
        .iter()
        .filter(|member| !is_compiled_again(member))
        .collect();
    match plain.len() == members.len() {
        true => Ok(path.to_path_buf()),
        false => write_members(&plain, &directory.join(hash::name(&[&bytes]))),
    }
}

/// A file of a recorded link as it is linked again: what was built of it in the place of a library, an archive without what
/// is compiled once more. `directory` is for such archives.
pub fn of_link(
    path: &Path,
    libraries: &[(PathBuf, PathBuf)],
    directory: &Path,
) -> Result<PathBuf, TwinError> {
    let canonical = fs::canonicalize(path).map_err(|_| TwinError::Gone(path.to_path_buf()))?;
    if let Some((_, built)) = libraries.iter().find(|(library, _)| *library == canonical) {
        return Ok(built.clone());
    }
    match path.extension().is_some_and(|extension| extension == "a") {
        true => without_instrumented(path, &directory.join("archives")),
        false => Ok(path.to_path_buf()),
    }
}

/// What the twins of an archive's instrumented members are compiled from.
pub fn twins(path: &Path) -> Result<Vec<Twin>, TwinError> {
    values(path, TWIN_SECTION)
}

/// The recipes of an archive's members.
pub fn recipes(path: &Path) -> Result<Vec<Recipe>, TwinError> {
    values(path, RECIPE_SECTION)
}

fn values<T: DeserializeOwned>(path: &Path, section: &str) -> Result<Vec<T>, TwinError> {
    let bytes = fs::read(path).map_err(|error| TwinError::file(path, error))?;
    let members = members(path, &bytes).unwrap_or_default();
    let values = members.iter();
    let values = values.flat_map(|member| values_of_object(member, section));
    Ok(values.collect())
}

/// The members of an archive that are not instrumented and that `is_part` takes for a part of the program, by
/// the names of the functions that they define.
pub fn plain_members(path: &Path, is_part: impl Fn(&[&[u8]]) -> bool) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let Ok(archive) = ArchiveFile::parse(&*bytes) else {
        return Vec::new();
    };
    let base = path.parent().unwrap_or(Path::new("/"));
    let plain = archive.members().flatten().filter(|member| {
        let object = contents(member, &bytes, base);
        let functions = image::functions(&object);
        !is_compiled_again(&object) && !functions.is_empty() && is_part(&functions)
    });
    plain
        .map(|member| {
            let name = String::from_utf8_lossy(member.name()).into_owned();
            format!("{}({name})", path.display())
        })
        .collect()
}

/// The members of an archive; `None` for a linker script, or what only the linker understands.
fn members(path: &Path, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let archive = ArchiveFile::parse(bytes).ok()?;
    let base = path.parent().unwrap_or(Path::new("/"));
    let members = archive.members().flatten();
    Some(
        members
            .map(|member| contents(&member, bytes, base))
            .collect(),
    )
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

fn write_members(members: &[&Vec<u8>], directory: &Path) -> Result<PathBuf, TwinError> {
    fs::create_dir_all(directory).map_err(|error| TwinError::file(directory, error))?;
    let mut files = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let file = directory.join(format!("{number}.o"));
        fs::write(&file, member).map_err(|error| TwinError::file(&file, error))?;
        files.push(file);
    }
    write(&files, directory)
}

/// Writes an archive of these objects into a directory.
pub fn write(objects: &[PathBuf], directory: &Path) -> Result<PathBuf, TwinError> {
    fs::create_dir_all(directory).map_err(|error| TwinError::file(directory, error))?;
    let path = directory.join("lib.a");
    // `ar` adds to an archive that exists.
    let _ = fs::remove_file(&path);
    let mut arguments = vec![OsString::from("qcs"), path.clone().into()];
    arguments.extend(objects.iter().map(OsString::from));
    tool::run(
        Path::new("ar"),
        arguments,
        directory,
        "write an archive for the sanitizer twin",
    )?;
    Ok(path)
}
