//! The world as the program first found it, made anew in the overlays.
//!
//! What is on the disk already stays untouched there; what differs is made in the throw-away
//! layer. Nothing here can harm: all but overlays is read-only by now, so that what has no overlay
//! cannot be made, which the outcome says.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::spec::{Nature, Spec, Thing};
use crate::{stand_ins, sys};

/// Directories whose content is the kernel's, not a test's.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Directories of the system: a program changes nothing there unless its world says so.
const SYSTEM: [&str; 8] = [
    "/usr", "/etc", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/boot",
];
/// Overlays made for the world, at most: each costs time in every run.
const MOST_OVERLAYS: usize = 8;

/// The directories that need an overlay so that the world can be made in them: the nearest that
/// there are. Those of equal things too, because the program may be about to change them, but
/// for the system's.
pub fn places(spec: &Spec) -> Vec<PathBuf> {
    let may_change =
        |thing: &&Thing| !is_beneath(&thing.path, &SYSTEM) || !is_so(thing).unwrap_or(false);
    let things = made(spec).filter(may_change);
    let gaps = stand_ins::gaps(spec);
    let gaps = gaps
        .iter()
        .filter_map(|path| nearest_directory(path.parent()?));
    few(things.filter_map(place).chain(gaps).collect())
}

/// What is not on the disk as the world says.
pub fn differences(spec: &Spec) -> Vec<PathBuf> {
    let differs = |thing: &&Thing| !is_so(thing).unwrap_or(false);
    let paths = made(spec).filter(differs).map(|thing| thing.path.clone());
    paths.collect()
}

/// The nearest directory that exists; never the root.
pub fn nearest_directory(path: &Path) -> Option<PathBuf> {
    let found = path.ancestors().find(|ancestor| ancestor.is_dir())?;
    let found = fs::canonicalize(found).ok()?;
    (found != Path::new("/")).then_some(found)
}

fn place(thing: &Thing) -> Option<PathBuf> {
    let is_there = thing.nature == Nature::Directory
        && fs::symlink_metadata(&thing.path).is_ok_and(|metadata| metadata.is_dir());
    let start = if is_there {
        Some(thing.path.as_path())
    } else {
        thing.path.parent()
    };
    nearest_directory(start?)
}

/// Fewer of them, by going up from the deepest.
fn few(mut places: Vec<PathBuf>) -> Vec<PathBuf> {
    loop {
        places.sort_by_key(|path| (path.components().count(), path.clone()));
        let mut outer: Vec<PathBuf> = Vec::new();
        for path in places {
            if !outer.iter().any(|known| path.starts_with(known)) {
                outer.push(path);
            }
        }
        places = outer;
        if places.len() <= MOST_OVERLAYS {
            return places;
        }
        let deepest = places.pop().expect("there are many");
        let above = deepest.parent().filter(|above| *above != Path::new("/"));
        places.extend(above.map(Path::to_path_buf));
    }
}

/// The things that are for us to make, and not covered by a stand-in.
fn made(spec: &Spec) -> impl Iterator<Item = &Thing> {
    let covered: HashSet<&Path> = spec.stand_ins.iter().map(|it| it.path.as_path()).collect();
    let is_ours = move |thing: &&Thing| {
        let is_covered = covered.contains(thing.path.as_path());
        let is_kernel = is_beneath(&thing.path, &KERNEL) && !thing.path.starts_with("/dev/shm");
        !is_covered && !is_kernel
    };
    spec.world.iter().filter(is_ours)
}

fn is_beneath(path: &Path, directories: &[&str]) -> bool {
    directories
        .iter()
        .any(|directory| path.starts_with(directory))
}

/// The world, with all that is needed to make it: contents may be out of sight by then.
pub struct World<'a> {
    things: Vec<(&'a Thing, Option<Source>)>,
    /// Paths of stand-ins, at which there must be a file.
    stand_ins: Vec<&'a Path>,
}

/// A file with a content: its directory, opened, and its name. Worlds have many files, and their
/// contents lie in a few directories.
struct Source {
    directory: Rc<OwnedFd>,
    name: PathBuf,
}

impl World<'_> {
    /// To be called while everything is in sight.
    pub fn open(spec: &Spec) -> World<'_> {
        let mut directories = HashMap::new();
        let mut source = |thing: &Thing| {
            let Nature::File {
                content: Some(content),
                ..
            } = &thing.nature
            else {
                return None;
            };
            let parent = content.parent()?;
            if !directories.contains_key(parent) {
                let opened = Rc::new(sys::open_directory(parent).ok()?);
                directories.insert(parent.to_path_buf(), opened);
            }
            Some(Source {
                directory: directories[parent].clone(),
                name: content.file_name()?.into(),
            })
        };
        let things = made(spec).map(|thing| (thing, source(thing)));
        World {
            things: things.collect(),
            stand_ins: spec.stand_ins.iter().map(|it| it.path.as_path()).collect(),
        }
    }

    /// Makes it; gives the paths of what could not be made.
    pub fn make(&self) -> Vec<PathBuf> {
        let mut failed: Vec<PathBuf> = Vec::new();
        for (thing, source) in &self.things {
            if make(thing, source.as_ref()).is_err() {
                failed.push(thing.path.clone());
            }
        }
        let places = self.stand_ins.iter().copied();
        let no_room = places.filter(|path| stand_ins::make_room(path).is_err());
        failed.extend(no_room.map(Path::to_path_buf));
        // What was made in a directory changed its time, and may not have been allowed in it.
        let directories = self.things.iter().rev().map(|(thing, _)| thing);
        for thing in directories.filter(|thing| thing.nature == Nature::Directory) {
            if !failed.contains(&thing.path) && dress(thing).is_err() {
                failed.push(thing.path.clone());
            }
        }
        failed
    }
}

fn make(thing: &Thing, source: Option<&Source>) -> io::Result<()> {
    let path = &thing.path;
    let there = find(path)?;
    let is_directory = there.as_ref().is_some_and(Metadata::is_dir);
    if is_so(thing)? || thing.nature == Nature::Directory && is_directory {
        return Ok(());
    }
    if let Some(there) = there {
        remove(path, &there)?;
    } else if let (Some(parent), false) = (path.parent(), thing.nature == Nature::Absent) {
        fs::create_dir_all(parent)?;
    }
    match &thing.nature {
        Nature::Absent => Ok(()),
        Nature::Directory => fs::create_dir(path),
        Nature::Link(target) => symlink(target, path),
        Nature::Pipe => sys::make_pipe(path).and_then(|()| dress(thing)),
        Nature::File { content, size } => {
            let mut file = File::create_new(path)?;
            match (content, source) {
                (None, _) => file.set_len(*size)?,
                (Some(_), Some(source)) => {
                    let mut content = sys::open_in(&source.directory, &source.name)?;
                    io::copy(&mut content, &mut file)?;
                }
                (Some(_), None) => return Err(io::ErrorKind::NotFound.into()),
            }
            dress(thing)
        }
    }
}

fn find(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

fn remove(path: &Path, there: &Metadata) -> io::Result<()> {
    if there.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

/// Gives a thing its permissions and its time.
fn dress(thing: &Thing) -> io::Result<()> {
    if is_so(thing)? {
        return Ok(());
    }
    fs::set_permissions(&thing.path, Permissions::from_mode(thing.mode & 0o7777))?;
    sys::set_modified(&thing.path, thing.modified)
}

/// Whether a thing is there as it should be. Contents are not compared: who changes one changes
/// its size or its time.
fn is_so(thing: &Thing) -> io::Result<bool> {
    let Some(there) = find(&thing.path)? else {
        return Ok(thing.nature == Nature::Absent);
    };
    let kind = there.file_type();
    let is_dressed = (there.mode() ^ thing.mode) & 0o7777 == 0
        && (there.mtime(), there.mtime_nsec() as u32) == thing.modified;
    Ok(match &thing.nature {
        Nature::Absent => false,
        Nature::Directory => kind.is_dir() && is_dressed,
        Nature::File { size, .. } => kind.is_file() && there.len() == *size && is_dressed,
        Nature::Link(target) => {
            kind.is_symlink() && fs::read_link(&thing.path).is_ok_and(|it| it == *target)
        }
        Nature::Pipe => kind.is_fifo() && is_dressed,
    })
}
