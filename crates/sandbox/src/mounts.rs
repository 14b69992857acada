//! The file system that the program sees.
//!
//! New mounts are built in the workshop, which is gone when the program starts: nothing of the
//! machinery is in its sight.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ground::{Ground, Users, WORKSHOP};
use crate::overlay::{self, Overlay, real};
use crate::refusal::{Needs, Refusal};
use crate::spec::{Replacement, Spec};
use crate::stage::Stage;
use crate::{stand_ins, sys, world};

/// A mount to be attached at a path.
pub struct Prepared {
    pub mount: OwnedFd,
    pub path: PathBuf,
}

/// The file system as the program sees it.
pub struct View {
    /// The directories in which it can write.
    pub writable: Vec<PathBuf>,
    /// What runs write into, of each throw-away layer.
    pub layers: Vec<File>,
}

/// Makes the file system as the program is to see it.
pub fn prepare(spec: &Spec, stage: &Stage, ground: &Ground) -> Result<View, Refusal> {
    let kept = clone_all(&spec.writable)?;
    sys::make_read_only(Path::new("/"))
        .needs("recursive read-only mounts (mount_setattr, Linux 5.12)")?;
    let contents = open_contents(spec)?;
    let stand_ins = stand_ins::clone_all(spec)?;
    let run = Path::new(WORKSHOP).join("run");
    sys::mount("tmpfs", &run, 0, &size_option(spec)).needs("tmpfs")?;
    let View {
        mut writable,
        layers,
    } = mount_overlays(spec, stage, ground.users, &run)?;
    mount_shared_memory().needs("a /dev of its own")?;
    writable.push("/dev".into());
    // Suites remove their directories, and campaigns may lie in what was not there yet.
    for directory in spec.writable.iter().chain([&spec.directory]) {
        let _ = fs::create_dir_all(directory);
    }
    for (file, content) in spec.files.iter().zip(contents) {
        replace(file, content).needs(&format!("replacing {}", file.path.display()))?;
    }
    for prepared in kept.iter().chain(&stand_ins) {
        sys::attach_mount(&prepared.mount, &prepared.path)
            .needs(&format!("mounting on {}", prepared.path.display()))?;
    }
    writable.extend(kept.into_iter().map(|prepared| prepared.path));
    let hidden = ground.sockets.hide(&writable);
    hidden.needs("hiding sockets of other programs")?;
    sys::detach(Path::new(WORKSHOP)).needs("unmounting")?;
    Ok(View { writable, layers })
}

fn clone_all(paths: &[PathBuf]) -> Result<Vec<Prepared>, Refusal> {
    let clone = |path: &PathBuf| {
        let mount = sys::clone_mount(path).needs(&format!("a bind mount of {}", path.display()))?;
        let path = path.clone();
        Ok(Prepared { mount, path })
    };
    paths.iter().map(clone).collect()
}

/// What files are to have in them, opened before anything is hidden beneath a mount.
fn open_contents(spec: &Spec) -> io::Result<Vec<File>> {
    let contents = spec.files.iter().map(|file| &file.content);
    contents.map(File::open).collect()
}

fn size_option(spec: &Spec) -> String {
    let size = spec.limits.scratch;
    format!("mode=0755,size={size},nr_inodes={}", size / 4096)
}

/// Whether the program lies in a directory, or something that it was given.
fn is_needed(spec: &Spec, directory: &Path) -> bool {
    let files = spec.files.iter().map(|file| &file.path);
    let stand_ins = spec.stand_ins.iter().map(|it| &it.path);
    let mut needed = (files.chain(stand_ins)).chain([&spec.program, &spec.directory]);
    needed.any(|path| real(path).starts_with(directory))
}

/// Overlays for all places. The working directory must have one; where the kernel cannot overlay
/// a scratch directory (it holds mounts that are not ours), an empty one will do; others then
/// stay read-only.
fn mount_overlays(spec: &Spec, stage: &Stage, users: Users, run: &Path) -> Result<View, Refusal> {
    let working_directory = world::nearest_directory(&spec.directory);
    let lowers = overlay::lowers(&stage.places)?;
    let (mut writable, mut layers) = (Vec::new(), Vec::new());
    for (number, lower) in lowers.iter().enumerate() {
        let path = &lower.path;
        let overlay = Overlay {
            lower,
            layer: stage.layer(number),
            workshop: run.join(number.to_string()),
        };
        let mut written = "upper";
        match overlay.mount(users) {
            Ok(()) => {}
            Err(_) if overlay::is_scratch(path) && !is_needed(spec, path) => {
                overlay.mount_empty().needs("tmpfs")?;
                written = "empty";
            }
            Err(_) if working_directory.as_ref() != Some(path) => continue,
            Err(error) => {
                return Err(error).needs("overlay file systems (overlayfs, Linux 5.11)");
            }
        }
        writable.push(path.clone());
        layers.push(File::open(overlay.workshop.join(written))?);
    }
    Ok(View { writable, layers })
}

fn mount_shared_memory() -> io::Result<()> {
    let options = "mode=1777,size=64m,nr_inodes=4096";
    sys::mount("tmpfs", Path::new("/dev/shm"), 0, options)
}

/// Gives a file another content: by writing it where that changes nothing for good (then the
/// program may rename or remove it as it likes), else by a mount over it.
fn replace(file: &Replacement, content: File) -> io::Result<()> {
    let path = &file.path;
    match write_content(path, &content) {
        Ok(()) => Ok(()),
        Err(_) => sys::attach_mount(&sys::clone_mount_of(&content)?, path),
    }
}

/// Gives a file another content by writing it.
pub fn write_content(path: &Path, mut content: &File) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
        fs::create_dir_all(parent)?;
    }
    let time = fs::metadata(path).map(|old| (old.mtime(), old.mtime_nsec() as u32));
    let mut target = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    io::copy(&mut content, &mut target)?;
    // The program may look at it, and must not see another one each time.
    time.map_or(Ok(()), |time| {
        sys::set_modified(&fs::canonicalize(path)?, time)
    })
}
