//! Throw-away layers above directories.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::ground::Users;
use crate::spec::Spec;
use crate::{sys, world};

/// Directories that programs expect to be able to write in.
const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// A directory that is to get an overlay.
pub struct Lower {
    pub path: PathBuf,
    /// A mount of it, where another overlay is going to hide it.
    mount: Option<OwnedFd>,
}

/// An overlay to be.
pub struct Overlay<'a> {
    pub lower: &'a Lower,
    /// What lies between the directory and the layer that is written into.
    pub layer: Option<PathBuf>,
    /// A directory for what the kernel needs, to be made.
    pub workshop: PathBuf,
}

/// The program's home directory.
pub fn home(spec: &Spec) -> Option<&OsString> {
    let home = spec.environment.iter().find(|(name, _)| name == "HOME");
    home.map(|(_, value)| value)
}

/// The directories that should get an overlay, outer ones first, none beneath another one. The
/// root cannot have one. A working directory that is gone has one above it.
///
/// In a user namespace what lies beneath a scratch directory has one of its own: directories in
/// between that belong to users whom the namespace does not know cannot be copied into a layer.
pub fn places(spec: &Spec, users: Users) -> Vec<PathBuf> {
    let home = home(spec).map(PathBuf::from);
    let wanted = SCRATCH.iter().map(PathBuf::from).chain(home);
    let is_fit = |path: &PathBuf| path.is_absolute() && path.is_dir();
    let mut wanted: Vec<PathBuf> = wanted
        .filter(is_fit)
        .map(|path| real(&path))
        .filter(|path| path != Path::new("/"))
        .chain(world::nearest_directory(&spec.directory))
        .chain(world::places(spec))
        .collect();
    wanted.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    let mut places: Vec<PathBuf> = Vec::new();
    for path in wanted {
        let covers = |root: &PathBuf| {
            let reaches = path.starts_with(root) && device(&path) == device(root);
            let is_enough = path == *root || users == Users::System || !is_scratch(root);
            reaches && is_enough
        };
        if places.iter().any(covers) {
            continue;
        }
        // An overlay has of another file system beneath it only the directory that it is mounted on.
        let is_hidden = |root: &PathBuf| path.starts_with(root) && device(&path) != device(root);
        let is_hidden = places.iter().any(is_hidden);
        places.push(if is_hidden { mount_point(&path) } else { path });
    }
    places
}

/// The directory that the file system of a path is mounted on.
fn mount_point(path: &Path) -> PathBuf {
    let is_same = |above: &&Path| device(above) == device(path);
    let inside = path.ancestors().take_while(is_same);
    inside.last().unwrap_or(path).to_path_buf()
}

/// Whether programs expect to be able to write there.
pub fn is_scratch(path: &Path) -> bool {
    SCRATCH.iter().any(|one| *path == real(Path::new(one)))
}

/// A path without symbolic links, as far as there is one.
pub fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

/// Looks up all that get an overlay, before any has.
pub fn lowers(places: &[PathBuf]) -> io::Result<Vec<Lower>> {
    let is_hidden = |path: &Path| {
        let mut others = places.iter().filter(|other| *other != path);
        others.any(|other| path.starts_with(other))
    };
    let lower = |path: &PathBuf| {
        let mount = is_hidden(path)
            .then(|| sys::clone_mount(path))
            .transpose()?;
        let path = path.clone();
        Ok(Lower { path, mount })
    };
    places.iter().map(lower).collect()
}

impl Overlay<'_> {
    /// Covers the directory with its overlay.
    pub fn mount(&self, users: Users) -> io::Result<()> {
        let path = &self.lower.path;
        let part = |name: &str| self.workshop.join(name);
        fs::create_dir_all(part("upper"))?;
        fs::create_dir(part("work"))?;
        // Names in options must not have a comma or a colon in them.
        match &self.lower.mount {
            None => symlink(path, part("lower"))?,
            Some(mount) => {
                fs::create_dir(part("lower"))?;
                sys::attach_mount(mount, &part("lower"))?;
            }
        }
        let top = self.layer.clone().unwrap_or_else(|| part("lower"));
        copy_attributes(&top, &part("upper"))?;
        let layer = self
            .layer
            .iter()
            .map(|layer| format!("{}:", layer.display()));
        let options = format!(
            "lowerdir={}{},upperdir={},workdir={}{}",
            layer.collect::<String>(),
            part("lower").display(),
            part("upper").display(),
            part("work").display(),
            match users {
                Users::System => "",
                Users::Own => ",userxattr",
            }
        );
        sys::mount("overlay", path, 0, &options)
    }

    /// Covers the directory with an empty one.
    pub fn mount_empty(&self) -> io::Result<()> {
        let directory = self.workshop.join("empty");
        fs::create_dir_all(&directory)?;
        copy_attributes(&self.lower.path, &directory)?;
        sys::bind(&directory, &self.lower.path)
    }
}

fn copy_attributes(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    // Users that the namespace does not know cannot own anything in it.
    let _ = chown(to, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(to, metadata.permissions())?;
    sys::set_modified(to, (metadata.mtime(), metadata.mtime_nsec() as u32))
}
