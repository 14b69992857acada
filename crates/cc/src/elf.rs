//! One more section in an object, without touching what is there.
//!
//! ```text
//!  before   header │ sections of the compiler │ section table
//!  after    header │ sections of the compiler │ (old table) │ section names │ the section │ section table
//! ```
//!
//! Only fields of the header that lead to the table change, and they are written last: an object is never half
//! changed. A section without flags takes no memory in a program; linkers put those of one name behind each other,
//! and neither `--gc-sections` nor `strip` removes them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectKind, ObjectSection, ReadCache};

const HEADER: usize = 64;
const ROW: usize = 64;
/// More sections than the header has room for are counted in the first row.
const MANY: u64 = 0xff00;

/// The fields of an ELF header that matter here.
struct Header {
    bytes: [u8; HEADER],
    table: u64,
    count: u64,
    names: u64,
}

/// Adds a section to an object file for x86-64. Objects of another format are left alone: `false`.
pub fn append(object: &Path, name: &str, content: &[u8]) -> io::Result<bool> {
    make_own(object)?;
    let file = OpenOptions::new().read(true).write(true).open(object)?;
    let Some(mut header) = Header::read(&file)? else {
        return Ok(false);
    };
    let mut rows = vec![0; header.count as usize * ROW];
    file.read_exact_at(&mut rows, header.table)?;
    let names_row = header.names as usize * ROW;
    let (names_start, names_size) = (word(&rows, names_row + 24), word(&rows, names_row + 32));
    let mut names = vec![0; usize::try_from(names_size).map_err(io::Error::other)?];
    file.read_exact_at(&mut names, names_start)?;
    let name_place = names.len() as u32;
    names.extend(name.as_bytes());
    names.push(0);
    let mut end = aligned(file.metadata()?.len());
    let mut add = |bytes: &[u8]| -> io::Result<u64> {
        let start = end;
        file.write_all_at(bytes, start)?;
        end = aligned(start + bytes.len() as u64);
        Ok(start)
    };
    let names_start = add(&names)?;
    put(&mut rows, names_row + 24, names_start);
    put(&mut rows, names_row + 32, names.len() as u64);
    let start = add(content)?;
    rows.extend(row(name_place, start, content.len() as u64));
    header.count += 1;
    if header.count >= MANY {
        put(&mut rows, 32, header.count);
    }
    header.table = add(&rows)?;
    file.write_all_at(&header.changed(), 0)?;
    Ok(true)
}

/// Whether an ELF file has a section of this name.
pub fn has_section(path: &Path, name: &str) -> bool {
    look(path, |file| file.section_by_name(name).is_some())
}

/// Whether this is an object file, and no program or library, with a section of one of these names.
pub fn is_object_with(path: &Path, names: &[&str]) -> bool {
    look(path, |file| {
        let has = |name: &&str| file.section_by_name(name).is_some();
        file.kind() == ObjectKind::Relocatable && names.iter().any(has)
    })
}

/// The content of a section of an ELF file; nothing if it has none.
pub fn section(path: &Path, name: &str) -> Option<Vec<u8>> {
    look(path, |file| {
        let section = file.section_by_name(name)?;
        Some(section.data().ok()?.to_vec())
    })
}

/// What an ELF file says; the default of anything else.
fn look<T: Default>(path: &Path, asks: impl Fn(&Elf<'_>) -> T) -> T {
    let Ok(file) = File::open(path) else {
        return T::default();
    };
    let cache = ReadCache::new(file);
    Elf::parse(&cache).map_or_else(|_| T::default(), |file| asks(&file))
}

type Elf<'a> = ElfFile64<'a, Endianness, &'a ReadCache<File>>;

/// A file that has other names (in a cache of compilers, say) is replaced by a copy before it is changed.
fn make_own(object: &Path) -> io::Result<()> {
    let found = fs::metadata(object)?;
    if found.nlink() == 1 && found.mode() & 0o200 != 0 {
        return Ok(());
    }
    let mut name = object.as_os_str().to_os_string();
    name.push(format!(".nearmiss-{}", std::process::id()));
    fs::copy(object, &name)?;
    let mut permissions = found.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, found.mode() | 0o200);
    fs::set_permissions(&name, permissions)?;
    fs::rename(&name, object)
}

impl Header {
    /// The header of an object file for this machine.
    fn read(file: &File) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER];
        match file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        // ELF of 64 bits, little-endian, relocatable, x86-64.
        let is_object = bytes.starts_with(b"\x7fELF\x02\x01") && bytes[16..20] == [1, 0, 62, 0];
        let mut header = Header {
            bytes,
            table: word(&bytes, 40),
            count: half(&bytes, 60),
            names: half(&bytes, 62),
        };
        if !is_object || header.table == 0 || half(&bytes, 58) != ROW as u64 {
            return Ok(None);
        }
        let mut first = [0; ROW];
        file.read_exact_at(&mut first, header.table)?;
        if header.count == 0 {
            header.count = word(&first, 32);
        }
        if header.names == 0xffff {
            header.names = word(&first, 40) & 0xffff_ffff;
        }
        Ok((header.names < header.count).then_some(header))
    }

    fn changed(&self) -> [u8; HEADER] {
        let mut bytes = self.bytes;
        bytes[40..48].copy_from_slice(&self.table.to_le_bytes());
        let count = if self.count >= MANY {
            0
        } else {
            self.count as u16
        };
        bytes[60..62].copy_from_slice(&count.to_le_bytes());
        bytes
    }
}

/// The row of a section that takes no memory.
fn row(name: u32, start: u64, size: u64) -> [u8; ROW] {
    const PROGBITS: u32 = 1;
    let mut row = [0; ROW];
    row[0..4].copy_from_slice(&name.to_le_bytes());
    row[4..8].copy_from_slice(&PROGBITS.to_le_bytes());
    put(&mut row, 24, start);
    put(&mut row, 32, size);
    put(&mut row, 48, 1);
    row
}

fn aligned(offset: u64) -> u64 {
    offset.next_multiple_of(8)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn half(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn run(directory: &Path, line: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The sections of an object that are there in memory, with their contents.
    fn loaded(path: &Path) -> Vec<(String, Vec<u8>)> {
        use object::{Object, ObjectSection, SectionFlags};
        let bytes = fs::read(path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let is_loaded =
            |flags| matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & 2 != 0);
        let sections = file.sections().filter(|section| is_loaded(section.flags()));
        sections
            .map(|section| {
                (
                    section.name().unwrap().into(),
                    section.data().unwrap().to_vec(),
                )
            })
            .collect()
    }

    #[test]
    fn a_section_is_added_and_nothing_else_changes() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        fs::write(place.join("a.c"), "int main(void) { return 7; }").unwrap();
        run(place, "cc -g -c a.c -o a.o && cp a.o b.o && cp a.o c.o");
        let object = place.join("b.o");
        assert!(append(&object, ".nearmiss.recipe", b"first").unwrap());
        assert!(has_section(&object, ".nearmiss.recipe") && !has_section(&object, ".other"));
        assert_eq!(loaded(&place.join("a.o")), loaded(&object));
        let before = fs::read(place.join("a.o")).unwrap();
        let after = fs::read(&object).unwrap();
        assert_eq!(before[HEADER..], after[HEADER..before.len()]);
        // Sections of one name lie behind each other in the program, whatever is removed from it.
        fs::write(place.join("f.c"), "int f(void) { return 7; }").unwrap();
        run(place, "cc -c f.c -o f.o");
        assert!(append(&place.join("f.o"), ".nearmiss.recipe", b"second").unwrap());
        run(
            place,
            "cc -Wl,--gc-sections -s b.o f.o -o program && strip program",
        );
        let dumped = run(
            place,
            "objcopy -O binary --only-section=.nearmiss.recipe program out 2>&1; ./program || echo $?",
        );
        assert_eq!(dumped.trim(), "7");
        let file = fs::read(place.join("program")).unwrap();
        let has = |text: &[u8]| file.windows(text.len()).any(|window| window == text);
        assert!(has(b"firstsecond"));
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        for content in [&b"text"[..], b"", &[0x7f; 200], b"BC\xc0\xde"] {
            let path = place.path().join("file");
            fs::write(&path, content).unwrap();
            assert!(!append(&path, ".nearmiss.recipe", b"x").unwrap());
            assert_eq!(fs::read(&path).unwrap(), content);
        }
    }

    #[test]
    fn files_with_other_names_are_not_changed_under_them() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        fs::write(place.join("a.c"), "int x;").unwrap();
        run(
            place,
            "cc -c a.c -o cached.o && ln cached.o a.o && cp a.o before.o",
        );
        assert!(append(&place.join("a.o"), ".nearmiss.recipe", b"x").unwrap());
        run(place, "cmp cached.o before.o && ! cmp -s a.o cached.o");
    }
}
