//! Shadow memory: `abi::shadow` says what it means.
//!
//! Both shadows are mapped directly: the place of an address is a shift and an addition, and
//! the kernel gives pages only where something was labelled. Whatever can be decided by the
//! summary alone does not touch the labels, and nothing is written that is there already: a
//! page of zeros that is only read costs no memory.
//!
//! On `unsafe`: both mappings cover every address after it was masked, with a page to spare
//! for reads of a few bytes at the end.

mod mirrors;

use core::ptr;

use nearmiss_abi::shadow::{GRANULE_SHIFT, SUMMARY_LABEL, SUMMARY_MASK, SUMMARY_SIZED};
use nearmiss_abi::term::{Label, ShadowWord};

use crate::system::{self, advice};
use mirrors::Mirrors;

/// Both shadows.
pub struct Shadow {
    labels: *mut u32,
    summary: *mut u8,
    mirrors: Mirrors,
}

/// Bytes of memory for one byte of summary.
const GRANULE: u64 = 1 << GRANULE_SHIFT;
const ADDRESS_MASK: u64 = (SUMMARY_MASK << GRANULE_SHIFT) | (GRANULE - 1);
const SPARE: usize = 4096;
const LABELS_SIZE: usize = (ADDRESS_MASK as usize + 1) * 4 + SPARE;
const SUMMARY_SIZE: usize = SUMMARY_MASK as usize + 1 + SPARE;
/// Memory that a page of summary speaks for.
const SUMMARY_PAGE: u64 = 4096 << GRANULE_SHIFT;
/// From this size on, memory is cleared by giving whole pages of shadow back.
const HUGE: u64 = 4 << 20;

impl Shadow {
    /// No shadow yet.
    pub const fn none() -> Shadow {
        Shadow {
            labels: ptr::null_mut(),
            summary: ptr::null_mut(),
            mirrors: Mirrors::none(),
        }
    }

    /// Maps the shadows; `None` if the process may not have that much address space.
    pub fn create() -> Option<Shadow> {
        let labels = system::map_private(LABELS_SIZE).ok()?;
        let Ok(summary) = system::map_private(SUMMARY_SIZE) else {
            // SAFETY: it was just mapped.
            unsafe { system::unmap(labels, LABELS_SIZE) };
            return None;
        };
        // SAFETY: all advice is about memory that is still zero. A core dump need not have labels;
        // one label must not cost a huge page.
        unsafe {
            system::advise(labels, LABELS_SIZE, advice::NOHUGEPAGE);
            system::advise(labels, LABELS_SIZE, advice::DONTDUMP);
            system::advise(summary, SUMMARY_SIZE, advice::DONTDUMP);
        }
        Some(Shadow {
            labels: labels.cast(),
            summary,
            mirrors: Mirrors::none(),
        })
    }

    /// Children that are forked from now on are not recorded, and start without labels.
    pub fn forget_in_children(&self) {
        // SAFETY: nothing changes in this process.
        unsafe {
            system::advise(self.labels.cast(), LABELS_SIZE, advice::WIPEONFORK);
            system::advise(self.summary, SUMMARY_SIZE, advice::WIPEONFORK);
        }
    }

    /// No byte has a label any more, and no object is known to be of symbolic size.
    pub fn forget(&mut self) {
        // SAFETY: pages that are given back are read as zeros.
        unsafe {
            system::advise(self.labels.cast(), LABELS_SIZE, advice::DONTNEED);
            system::advise(self.summary, SUMMARY_SIZE, advice::DONTNEED);
        }
    }

    /// Gives the mappings back; nobody may use them afterwards.
    pub fn destroy(&mut self) {
        // SAFETY: as the caller promises.
        unsafe {
            system::unmap(self.labels.cast(), LABELS_SIZE);
            system::unmap(self.summary, SUMMARY_SIZE);
        }
    }

    /// What instrumented code needs to find the summary.
    pub fn summary_base(&self) -> *const u8 {
        self.summary
    }

    #[inline(always)]
    fn word(&self, address: u64) -> *mut u32 {
        // SAFETY: see the module's comment.
        unsafe { self.labels.add((address & ADDRESS_MASK) as usize) }
    }

    #[inline(always)]
    fn granule(&self, address: u64) -> *mut u8 {
        // SAFETY: see the module's comment.
        unsafe {
            self.summary
                .add((address >> GRANULE_SHIFT & SUMMARY_MASK) as usize)
        }
    }

    /// What the byte at `address` holds.
    #[inline(always)]
    pub fn get(&self, address: u64) -> ShadowWord {
        // SAFETY: see the module's comment.
        ShadowWord(unsafe { self.word(address).read() })
    }

    /// The byte at `address` now holds `word`, which is not concrete.
    #[inline(always)]
    pub fn set(&mut self, address: u64, word: ShadowWord) {
        self.set_here(address, word);
        if self.mirrors.may_have(address, 1) {
            self.set_mirrored(address, word);
        }
    }

    /// As [`Shadow::set`], for this address only.
    #[inline(always)]
    fn set_here(&mut self, address: u64, word: ShadowWord) {
        // SAFETY: see the module's comment.
        unsafe {
            self.word(address).write(word.0);
            let granule = self.granule(address);
            granule.write(granule.read() | SUMMARY_LABEL);
        }
    }

    /// Whether the byte at `address` may belong to an object of symbolic size.
    #[inline(always)]
    pub fn is_sized(&self, address: u64) -> bool {
        // SAFETY: see the module's comment.
        unsafe { self.granule(address).read() & SUMMARY_SIZED != 0 }
    }

    /// Whether the range starts or ends in an object of symbolic size.
    pub fn touches_sized(&self, address: u64, size: u64) -> bool {
        self.is_sized(address) || (size != 0 && self.is_sized(address.wrapping_add(size - 1)))
    }

    /// The range belongs to an object of symbolic size from now on.
    pub fn set_sized(&mut self, address: u64, size: u64) {
        self.change_sized(address, size, |bits| bits | SUMMARY_SIZED);
    }

    /// It does not any more.
    pub fn clear_sized(&mut self, address: u64, size: u64) {
        self.change_sized(address, size, |bits| bits & !SUMMARY_SIZED);
    }

    fn change_sized(&mut self, address: u64, size: u64, change: impl Fn(u8) -> u8) {
        let end = address.saturating_add(size);
        let mut at = address;
        while at < end {
            // SAFETY: see the module's comment.
            unsafe {
                let granule = self.granule(at);
                granule.write(change(granule.read()));
            }
            at = piece_end(at, end);
        }
    }

    /// The `size` bytes at `address` (at most 16) now hold the bytes of the term `label`.
    #[inline]
    pub fn set_term(&mut self, address: u64, size: u32, label: Label) {
        for byte in 0..size {
            self.set(address + byte as u64, ShadowWord::new(label, byte));
        }
    }

    /// The first address from `start` on whose granule may have labels.
    #[inline]
    fn next_dirty(&self, start: u64, end: u64) -> Option<u64> {
        let mut at = start;
        while at < end {
            // SAFETY: see the module's comment; eight bytes at any place are readable.
            let eight = unsafe { self.granule(at).cast::<u64>().read_unaligned() };
            if eight == 0 {
                at = (at & !(GRANULE - 1)) + 8 * GRANULE;
                continue;
            }
            let clean = (eight.trailing_zeros() / 8) as u64;
            if clean != 0 {
                at = (at & !(GRANULE - 1)) + clean * GRANULE;
            }
            return (at < end).then_some(at);
        }
        None
    }

    /// Whether a range surely has no labelled byte, and is no part of an object of symbolic size.
    pub fn is_plain(&self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size);
        self.next_dirty(address, end).is_none()
    }

    /// The first labelled byte of a range.
    pub fn first_label(&self, address: u64, size: u64) -> Option<u64> {
        let end = address.saturating_add(size);
        let mut at = address;
        while let Some(dirty) = self.next_dirty(at, end) {
            let next = piece_end(dirty, end);
            if let Some(found) = (dirty..next).find(|&byte| self.get(byte).0 != 0) {
                return Some(found);
            }
            at = next;
        }
        None
    }

    /// The bytes are concrete now.
    #[inline]
    pub fn clear(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        if self.mirrors.may_have(address, size) {
            self.clear_mirrored(address, end);
        }
        if size >= HUGE && !self.touches_sized(address, size) {
            self.clear_huge(address, end);
        } else {
            self.clear_dirty(address, end);
        }
    }

    fn clear_dirty(&mut self, address: u64, end: u64) {
        let mut at = address;
        while let Some(dirty) = self.next_dirty(at, end) {
            let next = piece_end(dirty, end);
            for byte in dirty..next {
                // SAFETY: see the module's comment. Volatile, so that it does not become a
                // call of `memset`.
                unsafe { self.word(byte).write_volatile(0) };
            }
            self.refresh(dirty);
            at = next;
        }
    }

    #[cold]
    fn clear_huge(&mut self, address: u64, end: u64) {
        let first = address.next_multiple_of(SUMMARY_PAGE);
        let last = end & !(SUMMARY_PAGE - 1);
        // Where the masked addresses wrap around, the pages are not one range.
        let wraps = (last - first) > ADDRESS_MASK
            || (first & ADDRESS_MASK) + (last - first) > ADDRESS_MASK + 1;
        if wraps {
            return self.clear_dirty(address, end);
        }
        self.clear_dirty(address, first);
        self.clear_dirty(last, end);
        let size = (last - first) as usize;
        // SAFETY: both ranges are whole pages of the shadows, for the memory in question.
        unsafe {
            system::advise(self.granule(first), size >> GRANULE_SHIFT, advice::DONTNEED);
            system::advise(self.word(first).cast(), size * 4, advice::DONTNEED);
        }
    }

    /// Makes the summary of a granule what its words say.
    #[inline]
    fn refresh(&mut self, address: u64) {
        let start = address & !(GRANULE - 1);
        let any = (start..start + GRANULE).fold(0, |any, byte| any | self.get(byte).0);
        // SAFETY: see the module's comment.
        unsafe {
            let granule = self.granule(address);
            let others = granule.read() & !SUMMARY_LABEL;
            granule.write(others | if any != 0 { SUMMARY_LABEL } else { 0 });
        }
    }

    /// Every byte now holds the lowest byte of `label`.
    pub fn fill(&mut self, address: u64, size: u64, label: Label) {
        for byte in address..address.saturating_add(size) {
            self.set(byte, ShadowWord::new(label, 0));
        }
    }

    /// As `memmove` of the memory, done or about to be done.
    pub fn copy(&mut self, to: u64, from: u64, size: u64) {
        if to == from || size == 0 {
            return;
        }
        if self.next_dirty(from, from.saturating_add(size)).is_none() {
            return self.clear(to, size);
        }
        if to > from && to < from.saturating_add(size) {
            self.copy_backward(to, from, size);
        } else {
            self.copy_forward(to, from, size);
        }
        if self.mirrors.may_have(to, size) {
            self.copy_mirrored(to, to.saturating_add(size));
        }
    }

    fn copy_forward(&mut self, to: u64, from: u64, size: u64) {
        let (to_end, from_end) = (to.saturating_add(size), from.saturating_add(size));
        let (mut next_to, mut next_from) = (to, from);
        let mut done = 0;
        while done < size {
            // Whatever was found dirty stays so until it is passed.
            if next_to <= to + done {
                next_to = self.next_dirty(to + done, to_end).unwrap_or(to_end);
            }
            if next_from <= from + done {
                next_from = self.next_dirty(from + done, from_end).unwrap_or(from_end);
            }
            let next = (next_to - to).min(next_from - from);
            if next >= size {
                return;
            }
            done = next;
            let end = piece_end(to + done, to_end);
            self.copy_piece(to + done, end, from + done);
            done = end - to;
        }
    }

    fn copy_backward(&mut self, to: u64, from: u64, size: u64) {
        let mut end = to + size;
        while end > to {
            let start = ((end - 1) & !(GRANULE - 1)).max(to);
            self.copy_piece(start, end, start - to + from);
            end = start;
        }
    }

    /// Copies what lies in one granule of the target.
    fn copy_piece(&mut self, start: u64, end: u64, from: u64) {
        let size = end - start;
        // SAFETY: see the module's comment.
        let (target, first, last) = unsafe {
            (
                self.granule(start).read(),
                self.granule(from).read(),
                self.granule(from + size - 1).read(),
            )
        };
        if target | first | last == 0 {
            return;
        }
        let mut words = [0u32; GRANULE as usize];
        let mut any = 0;
        for (byte, word) in words.iter_mut().enumerate().take(size as usize) {
            *word = self.get(from + byte as u64).0;
            any |= *word;
        }
        for (byte, &word) in words.iter().enumerate().take(size as usize) {
            // SAFETY: see the module's comment.
            unsafe { self.word(start + byte as u64).write_volatile(word) };
        }
        if any != 0 {
            // SAFETY: see the module's comment.
            unsafe { self.granule(start).write(target | SUMMARY_LABEL) };
        } else {
            self.refresh(start);
        }
    }
}

/// The end of the granule of `address`, or of the range.
#[inline(always)]
fn piece_end(address: u64, end: u64) -> u64 {
    ((address | (GRANULE - 1)) + 1).min(end)
}
