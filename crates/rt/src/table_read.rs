//! Reads at a symbolic address: of a table whose bytes are copied into the trace once.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, Term};
use nearmiss_abi::trace::Snapshot;

use crate::evaluate::mask;
use crate::runtime::Runtime;

/// The largest object that is copied.
const LARGEST_TABLE: u64 = 64 << 10;
const KNOWN: usize = 1024;

/// Snapshots by the hash of place and content; a collision only costs a second copy.
pub struct KnownSnapshots {
    rows: [Known; KNOWN],
}

#[derive(Clone, Copy)]
struct Known {
    hash: u64,
    /// The number of the snapshot and one more; 0: free.
    number: u32,
}

impl KnownSnapshots {
    /// None yet.
    pub const fn none() -> KnownSnapshots {
        const FREE: Known = Known { hash: 0, number: 0 };
        KnownSnapshots {
            rows: [FREE; KNOWN],
        }
    }
}

/// A read as the program did it.
#[derive(Clone, Copy)]
pub struct Access {
    /// The address.
    pub address: u64,
    /// Bytes, 1 to 8.
    pub size: u32,
    /// What was read.
    pub value: u64,
}

/// An object of the program.
#[derive(Clone, Copy)]
struct Object {
    start: u64,
    size: u64,
}

impl Runtime {
    /// The label of what was read at the symbolic address `label`.
    pub fn load_symbolic(
        &mut self,
        label: Label,
        access: Access,
        (object, object_size): (u64, u64),
        site: SiteId,
    ) -> Label {
        let known = if object != 0 {
            Some(Object {
                start: object,
                size: object_size,
            })
        } else {
            ctype_table(access.address)
        };
        let label = self.trusted(label, 64, access.address);
        if label != CONCRETE
            && !self.is_constant(label)
            && let Some(object) = known
            && let Some(result) = self.read_table(label, access, object)
        {
            return result;
        }
        self.fix(label, NoteKind::Address, site);
        self.load(access.address, access.size, access.value)
    }

    fn read_table(&mut self, label: Label, access: Access, object: Object) -> Option<Label> {
        let size = access.size as u64;
        let index = access.address.checked_sub(object.start)?;
        let inside = object.size <= LARGEST_TABLE && index + size <= object.size;
        let plausible = (1..=8).contains(&size);
        if !inside || !plausible || self.has_label(object) {
            return None;
        }
        // The program has run on since it read; it may have written here.
        // SAFETY: the program just read these bytes.
        let now = unsafe { read_bytes(access.address, access.size) };
        if now != access.value & mask(8 * access.size) {
            return None;
        }
        let snapshot = self.snapshot_of(object)?;
        let index = self.operate(Op::Sub, 64, [label, 0], [access.address, object.start]);
        if index == CONCRETE {
            return None;
        }
        let term = Term::new(Op::Read, 8 * access.size, index, snapshot, 0);
        Some(self.intern(term, now as u128))
    }

    fn has_label(&self, object: Object) -> bool {
        self.shadow.first_label(object.start, object.size).is_some()
    }

    /// The number of a copy of the object as it is now.
    fn snapshot_of(&mut self, object: Object) -> Option<u32> {
        // SAFETY: the compiler or libc says that these bytes are one object.
        let hash = unsafe { hash_of(object) };
        let row = hash as usize % KNOWN;
        let known = self.snapshots.rows[row];
        if known.number != 0 && known.hash == hash {
            let snapshot = self.trace.snapshot(known.number - 1);
            // SAFETY: as above.
            let same = snapshot.address == object.start
                && snapshot.size == object.size
                && unsafe { equal(self.trace.blob(snapshot.blob_offset, object.size), object) };
            if same {
                return Some(known.number - 1);
            }
        }
        // SAFETY: as above.
        let blob = unsafe {
            self.trace
                .append_blob(object.start as *const u8, object.size)
        };
        let number = blob.and_then(|blob_offset| {
            self.trace.append_snapshot(Snapshot {
                address: object.start,
                blob_offset,
                size: object.size,
            })
        });
        let number = number.ok()?;
        self.snapshots.rows[row] = Known {
            hash,
            number: number + 1,
        };
        Some(number)
    }
}

/// # Safety
/// The bytes are readable.
unsafe fn read_bytes(address: u64, size: u32) -> u64 {
    (0..size as u64).fold(0, |value, byte| {
        // SAFETY: as promised by the caller.
        let read = unsafe { ((address + byte) as *const u8).read_volatile() };
        value | (read as u64) << (8 * byte)
    })
}

/// # Safety
/// The object is readable.
unsafe fn hash_of(object: Object) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (object.start ^ object.size.rotate_left(40)).wrapping_mul(FACTOR);
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(FACTOR);
        hash ^= hash >> 31;
    };
    let words = object.size / 8;
    for index in 0..words {
        // SAFETY: as promised by the caller.
        mix(unsafe {
            (object.start as *const u64)
                .add(index as usize)
                .read_unaligned()
        });
    }
    let rest = object.start + words * 8;
    // SAFETY: as promised by the caller.
    mix(unsafe { read_bytes(rest, (object.size % 8) as u32) });
    hash
}

/// # Safety
/// The object is readable.
unsafe fn equal(copy: &[u8], object: Object) -> bool {
    copy.iter().enumerate().all(|(index, &byte)| {
        // SAFETY: as promised by the caller.
        byte == unsafe { ((object.start + index as u64) as *const u8).read_volatile() }
    })
}

/// The table of libc's `<ctype.h>` macros that the address lies in. They are reached through
/// pointers that no static analysis can follow, and nearly every parser uses them.
fn ctype_table(address: u64) -> Option<Object> {
    unsafe extern "C" {
        fn __ctype_b_loc() -> *const u64;
        fn __ctype_tolower_loc() -> *const u64;
        fn __ctype_toupper_loc() -> *const u64;
    }
    // Characters from -128 to 255.
    const BELOW: u64 = 128;
    const ENTRIES: u64 = 384;
    // SAFETY: libc's functions return the address of a pointer of this thread.
    let tables = unsafe {
        [
            (*__ctype_b_loc(), 2),
            (*__ctype_tolower_loc(), 4),
            (*__ctype_toupper_loc(), 4),
        ]
    };
    tables.into_iter().find_map(|(zero, entry)| {
        let start = zero.wrapping_sub(BELOW * entry);
        let size = ENTRIES * entry;
        (address.wrapping_sub(start) < size).then_some(Object { start, size })
    })
}
