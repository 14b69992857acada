//! LLVM's raw profile: a file that the program wrote before it ran, with the counters put in.

/// Words before everything else.
const HEADER: usize = 16;
/// "\xfflprofr\x81", as a number.
const MAGIC: u64 = 0xff6c_7072_6f66_7281;
/// The version that clang 19 writes.
const VERSION: u64 = 10;
/// Bytes of a row of the table of functions.
const ROW: usize = 64;

/// The profile with these counters and bitmaps; `None` if the file has not the form of clang 19.
pub fn with_counts(template: &[u8], counters: &[u8], bitmap: &[u8]) -> Option<Vec<u8>> {
    let word = |index: usize| -> Option<usize> {
        let bytes = template.get(8 * index..8 * index + 8)?;
        usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
    };
    let is_known = word(0)? as u64 == MAGIC && word(1)? as u64 == VERSION;
    let [identities, rows, before, count, between, bits] =
        [word(2)?, word(3)?, word(4)?, word(5)?, word(6)?, word(7)?];
    if !is_known || count.checked_mul(8)? != counters.len() || bits != bitmap.len() {
        return None;
    }
    let first = (8 * HEADER + identities)
        .checked_add(rows.checked_mul(ROW)?)?
        .checked_add(before)?;
    let second = first.checked_add(counters.len())?.checked_add(between)?;
    let mut profile = template.to_vec();
    profile
        .get_mut(first..first + counters.len())?
        .copy_from_slice(counters);
    profile
        .get_mut(second..second + bitmap.len())?
        .copy_from_slice(bitmap);
    Some(profile)
}
