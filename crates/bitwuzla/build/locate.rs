//! Where cargo keeps the sources of a package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The directory of a package's sources: first where cargo unpacks what comes from a registry,
/// then, for vendored and other sources, wherever `cargo metadata` says.
pub fn package(name: &str, version: &str) -> PathBuf {
    in_registry(name, version)
        .or_else(|| in_metadata(name))
        .unwrap_or_else(|| panic!("the sources of {name} {version} are nowhere to be found"))
}

fn in_registry(name: &str, version: &str) -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries
        .filter_map(|registry| Some(registry.ok()?.path().join(format!("{name}-{version}"))))
        .find(|directory| directory.is_dir())
}

/// Asks cargo. The answer is JSON without spaces, in which a package's `manifest_path` follows
/// its `name`; that is little enough to do without a JSON parser.
fn in_metadata(name: &str) -> Option<PathBuf> {
    let output = Command::new(env::var_os("CARGO")?)
        .args(["metadata", "--offline", "--format-version", "1"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (_, package) = text.split_once(&format!("{{\"name\":\"{name}\",\"version\""))?;
    let (_, path) = package.split_once("\"manifest_path\":\"")?;
    let (manifest, _) = path.split_once('"')?;
    Path::new(manifest).parent().map(Path::to_path_buf)
}
