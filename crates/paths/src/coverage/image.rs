//! What a program with clang's counters says about itself: its functions, and where their counters are.

use std::ops::Range;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};

use super::mapping::{Malformed, Mapping};
use super::md5;

/// A function whose regions are counted.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; a static function has that of its unit and a colon before it.
    pub name: String,
    /// The file that it is in, as clang names it.
    pub file: String,
    /// The same from the root.
    pub path: PathBuf,
    /// Its counters: bytes from the start of their section.
    pub counters: Range<usize>,
    /// Its tested combinations of conditions: bytes from the start of their section.
    pub bitmap: Range<usize>,
    /// Its regions.
    pub mapping: Mapping,
}

impl Function {
    /// Whether this is the function of that name, static or not.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.rsplit([':', ';']).next() == Some(name)
    }
}

/// What all programs with counters have.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The counted functions.
    pub functions: Vec<Function>,
    /// Bytes of all counters.
    pub counters_size: usize,
    /// Bytes of all bitmaps.
    pub bitmap_size: usize,
}

/// Bytes of a row of the table of functions (`__llvm_prf_data`).
const ROW: usize = 64;
/// Bytes before the mapping of a function.
const HEAD: usize = 28;

/// A row of the table of functions.
struct Row {
    name: u64,
    counters: Range<usize>,
    bitmap: Range<usize>,
}

impl Image {
    /// Reads a program, of which one unit was compiled with `-fcoverage-mapping` and names that are not
    /// compressed.
    pub fn read(bytes: &[u8]) -> Result<Image, Malformed> {
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|_| Malformed)?;
        let section = |name: &str| {
            let section = file.section_by_name(name).ok_or(Malformed)?;
            Ok((section.address(), section.data().map_err(|_| Malformed)?))
        };
        let (counters, bits) = (section("__llvm_prf_cnts")?, section("__llvm_prf_bits")?);
        let (address, table) = section("__llvm_prf_data")?;
        let rows = rows(address, table, counters.0, bits.0)?;
        let names = names(section("__llvm_prf_names")?.1)?;
        let files = files(section("__llvm_covmap")?.1)?;
        let mut image = Image {
            functions: Vec::new(),
            counters_size: counters.1.len(),
            bitmap_size: bits.1.len(),
        };
        for (name, record) in records(section("__llvm_covfun")?.1)? {
            let row = rows.iter().find(|row| row.name == name);
            let text = names.iter().find(|text| md5::name(text) == name);
            // Functions that are never emitted have a mapping and no counters.
            let (Some(row), Some(text)) = (row, text) else {
                continue;
            };
            let mapping = Mapping::read(record)?;
            let file = mapping.files.first().and_then(|index| files.get(*index));
            let file = file.ok_or(Malformed)?;
            image.functions.push(Function {
                name: text.clone(),
                file: file.clone(),
                path: Path::new(&files[0]).join(file),
                counters: row.counters.clone(),
                bitmap: row.bitmap.clone(),
                mapping,
            });
        }
        let fits = |range: &Range<usize>, size: usize| range.end <= size;
        let all_fit = image.functions.iter().all(|function| {
            fits(&function.counters, image.counters_size)
                && fits(&function.bitmap, image.bitmap_size)
        });
        all_fit.then_some(image).ok_or(Malformed)
    }
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Malformed> {
    let found = bytes.get(at..at + N).ok_or(Malformed)?;
    found.try_into().map_err(|_| Malformed)
}

fn long(bytes: &[u8], at: usize) -> Result<u64, Malformed> {
    Ok(u64::from_le_bytes(word(bytes, at)?))
}

fn int(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    Ok(u32::from_le_bytes(word(bytes, at)?) as usize)
}

/// The table of functions: name, hash, distances to counters and bitmap, two pointers, numbers.
fn rows(address: u64, bytes: &[u8], counters: u64, bits: u64) -> Result<Vec<Row>, Malformed> {
    let mut rows = Vec::new();
    for at in (0..bytes.len()).step_by(ROW) {
        let here = address + at as u64;
        let range = |place: usize, section: u64, size: usize| {
            let start = here.wrapping_add(long(bytes, place)?).wrapping_sub(section) as usize;
            Ok(start..start.checked_add(size).ok_or(Malformed)?)
        };
        let bitmap_size = int(bytes, at + 60)?;
        rows.push(Row {
            name: long(bytes, at)?,
            counters: range(at + 16, counters, 8 * int(bytes, at + 48)?)?,
            bitmap: match bitmap_size {
                0 => 0..0,
                size => range(at + 24, bits, size)?,
            },
        });
    }
    Ok(rows)
}

/// A number of any size at the start, and what follows.
fn number(bytes: &[u8]) -> Result<(usize, &[u8]), Malformed> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err(Malformed)
}

fn text(bytes: &[u8], size: usize) -> Result<(&[u8], &[u8]), Malformed> {
    (bytes.len() >= size)
        .then(|| bytes.split_at(size))
        .ok_or(Malformed)
}

/// Names of functions: pieces of a size, a size if compressed, and names with a byte 1 between.
fn names(mut bytes: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut names = Vec::new();
    // Between the pieces of units there may be zeros.
    while !bytes.is_empty() {
        let (size, rest) = number(bytes)?;
        if size == 0 {
            bytes = rest;
            continue;
        }
        let (compressed, rest) = number(rest)?;
        if compressed != 0 {
            return Err(Malformed);
        }
        let (piece, rest) = text(rest, size)?;
        let piece = String::from_utf8_lossy(piece);
        names.extend(piece.split('\u{1}').map(str::to_string));
        bytes = rest;
    }
    Ok(names)
}

/// The files of the unit; the first name is the directory that the others are relative to.
fn files(bytes: &[u8]) -> Result<Vec<String>, Malformed> {
    let (count, rest) = number(bytes.get(16..).ok_or(Malformed)?)?;
    let (_, rest) = number(rest)?;
    let (compressed, mut rest) = number(rest)?;
    if compressed != 0 {
        return Err(Malformed);
    }
    let mut files = Vec::new();
    for _ in 0..count {
        let (size, after) = number(rest)?;
        let (name, after) = text(after, size)?;
        files.push(String::from_utf8_lossy(name).into_owned());
        rest = after;
    }
    Ok(files)
}

/// The mappings of functions: name, size, hash, unit, bytes; each starts at a multiple of eight.
fn records(bytes: &[u8]) -> Result<Vec<(u64, &[u8])>, Malformed> {
    let mut records = Vec::new();
    let mut at = 0;
    while at + HEAD <= bytes.len() {
        let size = int(bytes, at + 8)?;
        let start = at + HEAD;
        let record = bytes.get(start..start + size).ok_or(Malformed)?;
        records.push((long(bytes, at)?, record));
        at = (start + size).next_multiple_of(8);
    }
    Ok(records)
}
