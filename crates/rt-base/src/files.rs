//! How files are opened, and which of them are part of the system.

use nearmiss_abi::environment::SYSTEM_PATHS;

/// Relative paths start at the current directory.
pub const AT_FDCWD: i32 = -100;
/// How a file was opened, as `open` has it.
pub mod flags {
    /// For writing only.
    pub const WRONLY: i32 = 1;
    /// The bits that say whether for reading or writing.
    pub const ACCESS_MODE: i32 = 3;
    /// For both.
    pub const RDWR: i32 = 2;
    /// Made if it did not exist.
    pub const CREAT: i32 = 0o100;
    /// Emptied first.
    pub const TRUNC: i32 = 0o1000;
}

/// Whether a path is part of the system, not an input.
pub fn is_system(path: &[u8]) -> bool {
    SYSTEM_PATHS
        .iter()
        .any(|prefix| path.starts_with(prefix.as_bytes()))
}

/// The flags of `open` for a mode of `fopen`.
///
/// # Safety
/// `mode` ends with a zero.
pub unsafe fn flags_of(mode: *const u8) -> i32 {
    // SAFETY: as promised by the caller.
    let mode = unsafe { crate::system::text(mode) };
    let both = mode.iter().skip(1).any(|&letter| letter == b'+');
    match mode.first() {
        Some(b'r') if both => flags::RDWR,
        Some(b'r') => 0,
        Some(b'a') if both => flags::RDWR | flags::CREAT,
        Some(b'w') => flags::WRONLY | flags::TRUNC,
        _ => flags::WRONLY,
    }
}
