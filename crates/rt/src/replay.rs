//! The contents of named channels for this run: from the board of a fork server, or from the file
//! that `NEARMISS_REPLAY` names.

use core::sync::atomic::{AtomicPtr, Ordering};

use crate::server;
use crate::system::{self, map};

/// The variable's value; null: there is none.
static PATH: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// Remembers where the file is.
pub fn set_path(path: *const u8) {
    PATH.store(path.cast_mut(), Ordering::Relaxed);
}

/// The content that there is for call number `index` with this name. A file is looked at for
/// each: such calls are few.
pub fn with_content(name: &[u8], index: u32, take: impl FnOnce(&[u8])) {
    if let Some(rows) = server::input_rows() {
        if let Some(content) = find(rows, name, index) {
            take(content);
        }
        return;
    }
    let path = PATH.load(Ordering::Relaxed);
    if path.is_null() {
        return;
    }
    const O_RDONLY_CLOEXEC: i32 = 0o2000000;
    // SAFETY: a value of the environment ends with a zero.
    let Ok(fd) = (unsafe { system::open(path, O_RDONLY_CLOEXEC, 0) }) else {
        return;
    };
    let size = system::status(fd).map_or(0, |status| status.size as usize);
    let mapped = system::map(size, map::PROT_READ, map::PRIVATE, fd);
    system::close(fd);
    let Ok(start) = mapped else {
        return;
    };
    // SAFETY: the file is mapped with this size.
    let rows = unsafe { core::slice::from_raw_parts(start, size) };
    if let Some(content) = find(rows, name, index) {
        take(content);
    }
    // SAFETY: the slice is not used any more.
    unsafe { system::unmap(start, size) };
}

/// The content of the row with this name and index.
fn find<'a>(mut rows: &'a [u8], name: &[u8], index: u32) -> Option<&'a [u8]> {
    loop {
        let [name_size, row_index, content_size] =
            [number(rows, 0)?, number(rows, 4)?, number(rows, 8)?];
        let row_name = part(rows, 12, name_size)?;
        let content = part(rows, 12 + name_size as usize, content_size)?;
        if row_index == index && row_name == name {
            return Some(content);
        }
        rows = &rows[12 + name_size as usize + content_size as usize..];
    }
}

fn part(rows: &[u8], start: usize, size: u32) -> Option<&[u8]> {
    rows.get(start..start.checked_add(size as usize)?)
}

fn number(rows: &[u8], start: usize) -> Option<u32> {
    let bytes = part(rows, start, 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_row_and_survives_garbage() {
        let mut rows = Vec::new();
        for (name, index, content) in [("x", 0, "abc"), ("x", 1, ""), ("yy", 0, "de")] {
            rows.extend((name.len() as u32).to_le_bytes());
            rows.extend(u32::to_le_bytes(index));
            rows.extend((content.len() as u32).to_le_bytes());
            rows.extend(name.as_bytes());
            rows.extend(content.as_bytes());
        }
        assert_eq!(find(&rows, b"x", 0), Some(&b"abc"[..]));
        assert_eq!(find(&rows, b"x", 1), Some(&b""[..]));
        assert_eq!(find(&rows, b"yy", 0), Some(&b"de"[..]));
        assert_eq!(find(&rows, b"yy", 1), None);
        for size in 0..rows.len() {
            assert_eq!(find(&rows[..size], b"yy", 0), None);
        }
        assert_eq!(find(&[0xff; 40], b"x", 0), None);
    }
}
