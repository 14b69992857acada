//! The file system that the program sees.
//!
//! New mounts are built beneath a tmpfs that lies on `/tmp` for a moment, cloned away from
//! there, and attached where they belong when it is gone again. So nothing of the machinery is
//! in the program's sight, and what is mounted never hides what is still needed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::launcher::Users;
use crate::refusal::{Needs, Refusal};
use crate::spec::{Replacement, Spec};
use crate::sys;
use crate::world::{self, World};

/// Where mounts are built.
const WORKSHOP: &str = "/tmp";
/// Directories that programs expect to be able to write in.
const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/run"];
/// The devices a program may see.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Mounts to be attached at a path.
struct Prepared {
    mount: OwnedFd,
    path: PathBuf,
}

/// The file system as the program is to see it.
pub struct View {
    /// The directories in which the program can write.
    pub writable: Vec<PathBuf>,
    /// What of its world is not there.
    pub missing: Vec<PathBuf>,
}

/// Makes the file system as the program is to see it.
pub fn prepare(spec: &Spec, users: Users) -> Result<View, Refusal> {
    sys::make_everything_private().needs("private mounts")?;
    let writable = clone_all(spec.writable.iter())?;
    sys::make_read_only(Path::new("/"))
        .needs("recursive read-only mounts (mount_setattr, Linux 5.12)")?;
    let contents = open_contents(spec)?;
    let world = World::open(spec);
    let lowers = clone_all(overlay_candidates(spec))?;
    let devices = clone_all(DEVICES.iter().map(|name| Path::new("/dev").join(name)))?;
    let workshop = Path::new(WORKSHOP);
    sys::mount("tmpfs", workshop, 0, &size_option(spec)).needs("tmpfs")?;
    let mut finished = build_overlays(spec, &lowers, users)?;
    let device_directory = build_devices(&workshop.join("dev"), &devices);
    finished.push(device_directory.needs("a /dev of its own")?);
    sys::detach(workshop).needs("unmounting")?;
    attach(&finished)?;
    let missing = world.make();
    // Suites remove their directories, and campaigns may lie in what was not there yet.
    for directory in spec.writable.iter().chain([&spec.directory]) {
        let _ = fs::create_dir_all(directory);
    }
    for (file, content) in spec.files.iter().zip(contents) {
        replace(file, content).needs(&format!("replacing {}", file.path.display()))?;
    }
    attach(&writable)?;
    let places = finished.into_iter().chain(writable);
    Ok(View {
        writable: places.map(|prepared| prepared.path).collect(),
        missing,
    })
}

fn attach(mounts: &[Prepared]) -> Result<(), Refusal> {
    for prepared in mounts {
        sys::attach_mount(&prepared.mount, &prepared.path)
            .needs(&format!("mounting on {}", prepared.path.display()))?;
    }
    Ok(())
}

/// What a file is to have in it, opened before anything is hidden beneath a mount.
struct Content {
    mount: OwnedFd,
    file: File,
}

fn open_contents(spec: &Spec) -> Result<Vec<Content>, Refusal> {
    let mounts = clone_all(spec.files.iter().map(|file| &file.content))?;
    let open = |prepared: Prepared| {
        let file = File::open(&prepared.path)?;
        let mount = prepared.mount;
        Ok(Content { mount, file })
    };
    mounts.into_iter().map(open).collect()
}

fn clone_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Vec<Prepared>, Refusal> {
    let clone = |path: PathBuf| {
        let mount =
            sys::clone_mount(&path).needs(&format!("a bind mount of {}", path.display()))?;
        Ok(Prepared { mount, path })
    };
    paths
        .into_iter()
        .map(|path| clone(path.as_ref().to_path_buf()))
        .collect()
}

/// The directories that should get an overlay, outer ones first. The root cannot have one. A
/// working directory that is gone has one above it.
fn overlay_candidates(spec: &Spec) -> Vec<PathBuf> {
    let home = spec.environment.iter().find(|(name, _)| name == "HOME");
    let home = home.map(|(_, value)| PathBuf::from(value));
    let wanted = SCRATCH.iter().map(PathBuf::from).chain(home);
    let is_fit = |path: &PathBuf| path.is_absolute() && path.is_dir() && path != Path::new("/");
    let mut candidates: Vec<PathBuf> = wanted
        .filter(is_fit)
        .map(|path| real(&path))
        .chain(world::nearest_directory(&spec.directory))
        .chain(world::places(spec))
        .collect();
    candidates.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    candidates.dedup();
    candidates
}

/// A path without symbolic links, as far as there is one.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Whether the program lies in a directory, or something that it was given.
fn is_needed(spec: &Spec, directory: &Path) -> bool {
    let files = spec.files.iter().map(|file| &file.path);
    let mut needed = files.chain([&spec.program, &spec.directory]);
    needed.any(|path| real(path).starts_with(directory))
}

/// Overlays for all candidates that are not beneath another one. The working directory must have
/// one; where the kernel cannot overlay a scratch directory (it holds mounts that are not ours),
/// an empty one will do; others then stay read-only.
fn build_overlays(
    spec: &Spec,
    lowers: &[Prepared],
    users: Users,
) -> Result<Vec<Prepared>, Refusal> {
    let mut finished: Vec<Prepared> = Vec::new();
    for (number, lower) in lowers.iter().enumerate() {
        let path = &lower.path;
        let covers =
            |root: &Prepared| path.starts_with(&root.path) && device(path) == device(&root.path);
        if finished.iter().any(covers) {
            continue;
        }
        let workshop = Path::new(WORKSHOP).join(number.to_string());
        let is_scratch = SCRATCH.iter().any(|one| *path == real(Path::new(one)));
        let mount = match build_overlay(lower, &workshop, users) {
            Ok(mount) => mount,
            Err(_) if is_scratch && !is_needed(spec, path) => {
                empty_directory(spec, lower, &workshop).needs("tmpfs")?
            }
            Err(_) if world::nearest_directory(&spec.directory).as_ref() != Some(path) => continue,
            Err(error) => {
                return Err(error).needs("overlay file systems (overlayfs, Linux 5.11)");
            }
        };
        finished.push(Prepared {
            mount,
            path: path.clone(),
        });
    }
    Ok(finished)
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

fn size_option(spec: &Spec) -> String {
    let size = spec.limits.scratch;
    format!("mode=0755,size={size},nr_inodes={}", size / 4096)
}

/// The lower directory with a throw-away layer above it.
fn build_overlay(lower: &Prepared, workshop: &Path, users: Users) -> io::Result<OwnedFd> {
    let part = |name: &str| workshop.join(name);
    for name in ["lower", "upper", "work", "merged"] {
        fs::create_dir_all(part(name))?;
    }
    sys::attach_mount(&lower.mount, &part("lower"))?;
    copy_owner_and_mode(&part("lower"), &part("upper"))?;
    let options = format!(
        "lowerdir={},upperdir={},workdir={}{}",
        part("lower").display(),
        part("upper").display(),
        part("work").display(),
        match users {
            Users::System => "",
            Users::Own => ",userxattr",
        }
    );
    sys::mount("overlay", &part("merged"), 0, &options)?;
    sys::clone_mount(&part("merged"))
}

fn empty_directory(spec: &Spec, like: &Prepared, workshop: &Path) -> io::Result<OwnedFd> {
    let directory = workshop.join("empty");
    fs::create_dir_all(&directory)?;
    sys::mount("tmpfs", &directory, 0, &size_option(spec))?;
    copy_owner_and_mode(&like.path, &directory)?;
    sys::clone_mount(&directory)
}

fn copy_owner_and_mode(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    // Users that the namespace does not know cannot own anything in it.
    let _ = chown(to, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(to, metadata.permissions())
}

/// A `/dev` with the harmless devices and shared memory of its own.
fn build_devices(directory: &Path, devices: &[Prepared]) -> io::Result<Prepared> {
    fs::create_dir_all(directory)?;
    sys::mount("tmpfs", directory, 0, "mode=0755,size=64m,nr_inodes=4096")?;
    for device in devices {
        let name = device.path.file_name().expect("devices have names");
        let place = directory.join(name);
        File::create(&place)?;
        sys::attach_mount(&device.mount, &place)?;
    }
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ];
    for (name, target) in links {
        symlink(target, directory.join(name))?;
    }
    for name in ["shm", "pts"] {
        fs::create_dir(directory.join(name))?;
    }
    fs::set_permissions(directory.join("shm"), fs::Permissions::from_mode(0o1777))?;
    Ok(Prepared {
        mount: sys::clone_mount(directory)?,
        path: PathBuf::from("/dev"),
    })
}

/// Gives a file another content: by writing it where that changes nothing for good (then the
/// program may rename or remove it as it likes), else by a mount over it.
fn replace(file: &Replacement, mut content: Content) -> io::Result<()> {
    if file.path.parent().is_some_and(|parent| !parent.exists()) {
        fs::create_dir_all(file.path.parent().expect("it has one"))?;
    }
    let time = fs::metadata(&file.path).map(|old| (old.mtime(), old.mtime_nsec() as u32));
    let target = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&file.path);
    match target {
        Ok(mut target) => {
            io::copy(&mut content.file, &mut target)?;
            // The program may look at it, and must not see another one each time.
            time.map_or(Ok(()), |time| sys::set_modified(&file.path, time))
        }
        Err(_) => sys::attach_mount(&content.mount, &fs::canonicalize(&file.path)?),
    }
}
