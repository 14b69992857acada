//! Paths as the capsule has them: absolute, without `.`, `..` and empty components.

use super::kernel::open;
use crate::files::AT_FDCWD;
use crate::system;
use crate::text::Text;

/// A path under construction.
pub type Path = Text<8192>;

/// Makes `path`, relative to `directory`, absolute in `buffer`; `false` if nobody can.
///
/// What `..` means depends on links on the way, so the kernel is asked about it.
pub fn make(buffer: &mut Path, scratch: &mut Path, directory: i32, path: &[u8]) -> bool {
    buffer.clear();
    let parts = split(path);
    if path.split(|&byte| byte == b'/').any(|part| part == b"..")
        && let Some((parent, last)) = parts
    {
        let parent: &[u8] = match (parent, path.first()) {
            (b"", Some(b'/')) => b"/",
            (b"", _) => b".",
            _ => parent,
        };
        let is_name = last != b".." && last != b".";
        let asked = if is_name { parent } else { path };
        if real_directory(buffer, scratch, directory, asked) {
            return !is_name || push_component(buffer, last);
        }
        buffer.clear();
    }
    (path.first() == Some(&b'/') || base(buffer, directory)) && push_components(buffer, path)
}

/// Appends the components of a path, one by one.
pub fn push_components(buffer: &mut Path, path: &[u8]) -> bool {
    if buffer.text() == b"/" {
        buffer.clear();
    }
    let mut components = path.split(|&byte| byte == b'/');
    components.all(|component| match component {
        b"" | b"." => true,
        b".." => {
            let size = parent_size(buffer.text());
            buffer.shorten(size);
            true
        }
        _ => push_component(buffer, component),
    }) && (!buffer.text().is_empty() || buffer.push(b"/"))
}

fn push_component(buffer: &mut Path, component: &[u8]) -> bool {
    let ends_with_slash = buffer.text().last() == Some(&b'/');
    (ends_with_slash || buffer.push(b"/")) && buffer.push(component)
}

/// Bytes of the path without its last component and the slash before that.
pub fn parent_size(path: &[u8]) -> usize {
    path.iter().rposition(|&byte| byte == b'/').unwrap_or(0)
}

/// The part before the last component, and that.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|&byte| byte != b'/')? + 1;
    let path = path.get(..end)?;
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => Some((path.get(..slash)?, path.get(slash + 1..)?)),
        None => Some((b"", path)),
    }
}

/// The directory that relative paths start at.
fn base(buffer: &mut Path, directory: i32) -> bool {
    let found = if directory == AT_FDCWD {
        // The kernel counts the zero.
        buffer.write(|bytes| system::current_directory(bytes).map(|size| size.max(1) - 1))
    } else {
        name_of_descriptor(buffer, directory)
    };
    // A directory that cannot be reached from the root has another name.
    found && buffer.text().first() == Some(&b'/')
}

/// What an open file is called.
pub fn name_of_descriptor(buffer: &mut Path, fd: i32) -> bool {
    let mut link = Text::<32>::EMPTY;
    fd >= 0
        && link.push(b"/proc/self/fd/")
        && link.push_number(fd as u32)
        // SAFETY: a text ends with a zero.
        && buffer.write(|bytes| unsafe { system::read_link(link.as_ptr(), bytes) })
        && buffer.text().first() == Some(&b'/')
}

/// What a directory is really called.
fn real_directory(buffer: &mut Path, scratch: &mut Path, directory: i32, path: &[u8]) -> bool {
    scratch.clear();
    let is_absolute = path.first() == Some(&b'/');
    let starts = is_absolute || base(scratch, directory) && scratch.push(b"/");
    if !(starts && scratch.push(path)) {
        return false;
    }
    let how = open::PATH | open::DIRECTORY | open::CLOEXEC;
    // SAFETY: a text ends with a zero.
    let Ok(fd) = (unsafe { system::open(scratch.as_ptr(), how, 0) }) else {
        return false;
    };
    let found = name_of_descriptor(buffer, fd);
    system::close(fd);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute(path: &str) -> String {
        let (mut buffer, mut scratch) = (Box::new(Path::EMPTY), Box::new(Path::EMPTY));
        assert!(make(&mut buffer, &mut scratch, AT_FDCWD, path.as_bytes()));
        String::from_utf8(buffer.text().to_vec()).unwrap()
    }

    #[test]
    fn paths_are_absolute_and_plain() {
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(absolute("/a//b/./c/"), "/a/b/c");
        assert_eq!(absolute("/"), "/");
        assert_eq!(absolute("//."), "/");
        assert_eq!(absolute("."), here);
        assert_eq!(absolute("./x"), format!("{here}/x"));
        assert_eq!(absolute("src/.."), here);
        assert_eq!(absolute("src/../x"), format!("{here}/x"));
        assert_eq!(absolute("/nowhere/../x"), "/x");
        let name = here.rsplit('/').next().unwrap();
        assert_eq!(absolute(&format!("../{name}")), here);
        assert_eq!(absolute("/.."), "/");
    }

    #[test]
    fn dots_go_where_links_lead() {
        let place = std::env::temp_dir().join(format!("rt-absolute-{}", std::process::id()));
        let place = place.to_str().unwrap();
        std::fs::create_dir_all(format!("{place}/a/b")).unwrap();
        std::os::unix::fs::symlink("a/b", format!("{place}/link")).unwrap();
        let real = std::fs::canonicalize(place).unwrap();
        let expected = format!("{}/a/x", real.display());
        assert_eq!(absolute(&format!("{place}/link/../x")), expected);
        std::fs::remove_dir_all(place).unwrap();
    }
}
