//! Copies of objects in the trace, for `Read` terms: each content once.

use nearmiss_abi::op::Op;
use nearmiss_abi::term::{CONCRETE, Label, Term};
use nearmiss_abi::trace::Snapshot;

use crate::formula::Word;
use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;
use crate::system;

/// The largest object that is copied.
pub const LARGEST_TABLE: u64 = 64 << 10;
/// Most bytes of all copies: objects that change between two reads could fill the disk.
const MOST_BYTES: u64 = 32 << 20;
const KNOWN: usize = 1024;

/// Snapshots by the hash of place and content; a collision only costs a second copy.
pub struct KnownSnapshots {
    rows: [Known; KNOWN],
    /// Bytes of all copies.
    bytes: u64,
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
            bytes: 0,
        }
    }
}

impl Runtime {
    /// A read of `width` bits, `value` in this run, of the object's concrete bytes as they are
    /// now. `None`: it is too large, or cannot be read.
    pub fn read_term(
        &mut self,
        address: Word,
        object: Object,
        width: u32,
        value: u64,
    ) -> Option<Label> {
        if object.size > LARGEST_TABLE || !is_readable(object) {
            return None;
        }
        let snapshot = self.snapshot_of(object)?;
        let index = self.calculate(Op::Sub, address, Word::concrete(object.start));
        if index.label == CONCRETE {
            return None;
        }
        let term = Term::new(Op::Read, width, index.label, snapshot, 0);
        Some(self.intern(term, value as u128))
    }

    /// The number of a copy of the object as it is now.
    fn snapshot_of(&mut self, object: Object) -> Option<u32> {
        // SAFETY: the object is readable.
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
        if self.snapshots.bytes + object.size > MOST_BYTES {
            return None;
        }
        self.snapshots.bytes += object.size;
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

/// Whether all of a live object can be read. The pages of a mapping may have been protected
/// since it was made.
pub fn is_readable(object: Object) -> bool {
    const PAGE: u64 = 4096;
    let end = object.start.saturating_add(object.size);
    let mut at = object.start;
    while object.kind == ObjectKind::Mapping && at < end {
        if !is_mapped(at) {
            return false;
        }
        at = (at & !(PAGE - 1)) + PAGE;
    }
    true
}

/// Whether there is memory at an address.
pub fn is_mapped(address: u64) -> bool {
    let mut probe = 0u8;
    // SAFETY: one byte of the runtime's own is written.
    unsafe { system::read_own(address, &raw mut probe, 1) }
}

/// # Safety
/// The bytes are readable.
pub unsafe fn read_bytes(address: u64, size: u32) -> u64 {
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

/// The table of libc's `<ctype.h>` macros that the address lies in. Nobody else knows their
/// bounds, and nearly every parser uses them.
pub fn ctype_table(address: u64) -> Option<Object> {
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
        let inside = address.wrapping_sub(start) < size;
        inside.then_some(Object::new(start, size, ObjectKind::Global))
    })
}
