//! Stand-ins: files built by nearmiss that lie at the paths of the user's programs and libraries
//! while a run lasts ([`Spec::stand_ins`]).
//!
//! A stand-in is a bind mount of one file over the path, read-only, made in the run's mount
//! namespace after the overlays and the world. It costs two system calls, copies nothing (all
//! launchers share the file's pages) and needs no overlay, so that it also works in `/usr`. Every
//! name that leads to the path leads to the stand-in, and `/proc/self/exe` and `$ORIGIN` are spelled as
//! in the original run. Other hard links of the original are not covered. In a layer of the
//! overlays, which was the alternative, each launcher would hold a copy of each stand-in in memory.
//!
//! The path is a mount point, and this much a program can notice: removing and renaming the file fail
//! with `EBUSY`, hard links to it with `EXDEV`, changes of its attributes with `EROFS`; to write into a
//! program that is being executed fails as ever with `ETXTBSY`. Reading and copying it work. Permissions,
//! owner and times are those of the stand-in's file, which has to be built with the bits of the
//! original; set-user-id bits have no effect in the sandbox.
//!
//! The mount does not hold the disk: the user may remove or rebuild the original while a run lasts. Without an
//! overlay between, the kernel then takes the mount away, and what the run starts later is the new original.
//!
//! Where nothing lies at the path any more, the world gets an empty file to mount on. Where that
//! cannot be made, the path is reported as missing, and a program is executed from the stand-in's
//! own path.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::mounts::Prepared;
use crate::overlay::real;
use crate::refusal::{Needs, Refusal};
use crate::spec::{Spec, StandIn};
use crate::sys;

impl Spec {
    /// The file that is executed: the program's stand-in, else the program.
    pub fn executed(&self) -> &Path {
        let is_named = |it: &&StandIn| it.path == self.program;
        let named = self.stand_ins.iter().find(is_named);
        let found = named.or_else(|| {
            // A link, or a directory reached by one; without stand-ins nothing is looked up.
            let is_same = |it: &&StandIn| real(&it.path) == real(&self.program);
            self.stand_ins.iter().find(is_same)
        });
        found.map_or(&self.program, |it| &it.file)
    }

    /// Whether a stand-in lies at a path; it wins over files of the world and replaced contents.
    pub(crate) fn has_stand_in_at(&self, path: &Path) -> bool {
        self.stand_ins.iter().any(|it| it.path == path)
    }
}

/// Paths of stand-ins at which there is no file to mount on.
pub fn gaps(spec: &Spec) -> Vec<PathBuf> {
    let paths = spec.stand_ins.iter().map(|it| &it.path);
    paths.filter(|path| !is_file(path)).cloned().collect()
}

/// Anything but a directory can be mounted on.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_dir())
}

/// Makes an empty file at a path unless there is one. The time of its directory stays.
pub fn make_room(path: &Path) -> io::Result<()> {
    if is_file(path) {
        return Ok(());
    }
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let before = fs::metadata(parent);
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => fs::create_dir_all(parent)?,
    }
    File::create_new(path)?;
    before.map_or(Ok(()), |it| {
        sys::set_modified(&real(parent), (it.mtime(), it.mtime_nsec() as u32))
    })
}

/// Removes the stand-ins that have no place from a specification.
pub fn give_up(spec: &mut Spec, missing: &[PathBuf]) {
    let is_lost = |it: &StandIn| missing.contains(&it.path);
    let mut lost = spec.stand_ins.iter().filter(|it| is_lost(it));
    if let Some(program) = lost.find(|it| it.path == spec.program) {
        spec.program = program.file.clone();
    }
    spec.stand_ins.retain(|it| !is_lost(it));
}

/// Mounts of the files, read-only if everything is. To be called while all files are in sight.
pub fn clone_all(spec: &Spec) -> Result<Vec<Prepared>, Refusal> {
    let clone = |StandIn { path, file }: &StandIn| {
        let mount = sys::clone_mount(file).needs(&format!("a bind mount of {}", file.display()))?;
        let path = path.clone();
        Ok(Prepared { mount, path })
    };
    spec.stand_ins.iter().map(clone).collect()
}

/// The library path of a run without a sandbox: directories of the stand-ins, which have the file
/// names of their originals, before those of the environment.
pub fn library_path(spec: &Spec) -> Option<OsString> {
    let program = spec.executed();
    let mut directories: Vec<&Path> = Vec::new();
    for StandIn { file, .. } in &spec.stand_ins {
        let directory = file.parent().filter(|_| file != program);
        directories.extend(directory.filter(|it| !directories.contains(it)));
    }
    let mut path = directories.first()?.as_os_str().to_os_string();
    let others = directories[1..].iter().map(|it| it.as_os_str());
    let mut variables = spec.environment.iter();
    let own = variables.find(|(name, _)| name == "LD_LIBRARY_PATH");
    for next in others.chain(own.map(|(_, value)| value.as_os_str())) {
        path.push(":");
        path.push(next);
    }
    Some(path)
}
