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

use crate::launcher::{Needs, Refusal};
use crate::spec::{Replacement, Spec};
use crate::sys;

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

/// Makes the file system as the program is to see it.
pub fn prepare(spec: &Spec, user_namespace: bool) -> Result<(), Refusal> {
    sys::make_everything_private().needs("private mounts")?;
    let writable = clone_all(spec.writable.iter())?;
    let contents = clone_all(spec.files.iter().map(|file| &file.content))?;
    sys::make_everything_read_only()
        .needs("recursive read-only mounts (mount_setattr, Linux 5.12)")?;
    let mut lowers = Vec::new();
    for path in overlay_roots(&spec.directory) {
        let mount = sys::clone_mount(&path).needs("detached mounts (open_tree, Linux 5.2)")?;
        lowers.push(Prepared { mount, path });
    }
    let devices = clone_all(DEVICES.iter().map(|name| Path::new("/dev").join(name)))?;
    let workshop = Path::new(WORKSHOP);
    sys::mount("tmpfs", workshop, 0, &size_option(spec)).needs("tmpfs")?;
    let mut finished = Vec::new();
    for (number, lower) in lowers.iter().enumerate() {
        let directory = workshop.join(number.to_string());
        finished.push(overlay(spec, lower, &directory, user_namespace)?);
    }
    let device_directory =
        build_devices(&workshop.join("dev"), &devices).needs("a /dev of its own")?;
    sys::detach(workshop).needs("unmounting")?;
    for prepared in finished.iter().chain([&device_directory]) {
        sys::attach_mount(&prepared.mount, &prepared.path)
            .needs(&format!("mounting on {}", prepared.path.display()))?;
    }
    for (file, content) in spec.files.iter().zip(&contents) {
        replace(file, content).needs(&format!("replacing {}", file.path.display()))?;
    }
    for prepared in &writable {
        sys::attach_mount(&prepared.mount, &prepared.path)
            .needs(&format!("mounting on {}", prepared.path.display()))?;
    }
    Ok(())
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

/// The directories that get an overlay, outer ones first. The root cannot have one.
fn overlay_roots(directory: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    let mut wanted: Vec<PathBuf> = SCRATCH.iter().map(PathBuf::from).collect();
    wanted.push(directory.to_path_buf());
    wanted.retain(|path| path.is_dir() && path != Path::new("/"));
    wanted.sort_by_key(|path| path.as_os_str().len());
    for path in wanted {
        let covered = |root: &PathBuf| path.starts_with(root) && device(&path) == device(root);
        if !roots.iter().any(covered) {
            roots.push(path);
        }
    }
    roots
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

fn size_option(spec: &Spec) -> String {
    format!("mode=0755,size={}", spec.limits.scratch)
}

/// The lower directory with a throw-away layer above it. Where the kernel cannot overlay one
/// of the scratch directories (it holds mounts that are not ours), an empty one will do; the
/// working directory has no such substitute.
fn overlay(
    spec: &Spec,
    lower: &Prepared,
    workshop: &Path,
    user_namespace: bool,
) -> Result<Prepared, Refusal> {
    let result = build_overlay(lower, workshop, user_namespace);
    let substitute = SCRATCH.iter().any(|path| lower.path == Path::new(path))
        && !spec.directory.starts_with(&lower.path);
    let mount = match result {
        Err(_) if substitute => empty_directory(lower, workshop).needs("tmpfs")?,
        result => {
            result.needs("overlay file systems (overlayfs in a user namespace, Linux 5.11)")?
        }
    };
    Ok(Prepared {
        mount,
        path: lower.path.clone(),
    })
}

fn build_overlay(lower: &Prepared, workshop: &Path, user_namespace: bool) -> io::Result<OwnedFd> {
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
        if user_namespace { ",userxattr" } else { "" }
    );
    sys::mount("overlay", &part("merged"), 0, &options)?;
    sys::clone_mount(&part("merged"))
}

fn empty_directory(like: &Prepared, workshop: &Path) -> io::Result<OwnedFd> {
    let directory = workshop.join("empty");
    fs::create_dir_all(&directory)?;
    sys::mount("tmpfs", &directory, 0, "")?;
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
    sys::mount("tmpfs", directory, 0, "mode=0755,size=64m")?;
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
fn replace(file: &Replacement, content: &Prepared) -> io::Result<()> {
    if file.path.parent().is_some_and(|parent| !parent.exists()) {
        fs::create_dir_all(file.path.parent().expect("it has one"))?;
    }
    let target = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&file.path);
    match target {
        Ok(mut target) => io::copy(&mut File::open(&content.path)?, &mut target).map(drop),
        Err(_) => sys::attach_mount(&content.mount, &fs::canonicalize(&file.path)?),
    }
}
