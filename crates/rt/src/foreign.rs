//! What is given to functions that are neither instrumented nor modelled.
//!
//! Such a function may read all memory that its arguments lead to, also through pointers in
//! that memory (`iconv` is given the address of a pointer, `writev` a table of them). So labels
//! are looked for in the objects that can be reached, up to a few steps: they are lost.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;

use crate::models::real;
use crate::objects::Object;
use crate::runtime::Runtime;
use crate::system;
use crate::thread::Thread;

/// In place of a pointer: the function is given none.
const NOTHING: u64 = 1;
/// In place of a pointer: the function has a model, which is called otherwise.
const MISFIT: u64 = 2;
/// How many pointers after the first are followed one after the other.
const DEPTH: usize = 3;
/// How many objects are looked at for one argument.
const MOST_OBJECTS: usize = 48;
/// How many words of one object are taken for pointers.
const MOST_WORDS: usize = 64;
/// How many bytes of one object are looked at.
const MOST_BYTES: u64 = 1 << 20;

/// The objects that were reached, each with the number of steps there.
struct Reached {
    rows: [(u64, usize); MOST_OBJECTS],
    count: usize,
}

impl Reached {
    fn add(&mut self, address: u64, depth: usize) {
        let known = |row: &(u64, usize)| row.0 == address;
        if !self.rows.iter().take(self.count).any(known)
            && let Some(place) = self.rows.get_mut(self.count)
        {
            *place = (address, depth);
            self.count += 1;
        }
    }
}

impl Runtime {
    /// Memory at `pointer`, or (0) the labelled arguments, are given to a function: what it is
    /// given symbolic is lost if it is not instrumented.
    pub fn swallowed(&mut self, pointer: u64, callee: u64, site: SiteId) {
        if callee != 0 && self.is_instrumented(callee) {
            return;
        }
        self.foreign_site = site;
        if pointer == NOTHING {
            return;
        }
        if pointer == MISFIT {
            self.trace.note(NoteKind::Call, site, 1);
        } else if pointer == 0 {
            let thread = Thread::current();
            self.note_untaken(thread);
            thread.forget_callee();
        } else if self.reaches_label(pointer) || self.is_input_stream(pointer) {
            self.trace.note(NoteKind::Call, site, 1);
        }
    }

    /// Whether a function that is given this pointer can read symbolic memory.
    pub fn reaches_label(&mut self, pointer: u64) -> bool {
        let mut reached = Reached {
            rows: [(0, 0); MOST_OBJECTS],
            count: 0,
        };
        reached.add(pointer, 0);
        let mut next = 0;
        while next < reached.count {
            let (address, depth) = reached.rows[next % MOST_OBJECTS];
            next += 1;
            let Some(object) = self.find_object(address).filter(|object| object.live) else {
                if self.shadow.first_label(address, 1).is_some() {
                    return true;
                }
                continue;
            };
            let rest = object.rest(address).min(MOST_BYTES);
            if self.shadow.first_label(address, rest).is_some() {
                return true;
            }
            if depth < DEPTH {
                self.follow_pointers(address, object, depth, &mut reached);
            }
        }
        false
    }

    /// Adds what the words of an object, from `address` on, point to.
    fn follow_pointers(
        &mut self,
        address: u64,
        object: Object,
        depth: usize,
        reached: &mut Reached,
    ) {
        const WORD: u64 = size_of::<u64>() as u64;
        let start = address.next_multiple_of(WORD);
        let end = object.start + object.size;
        let count = (end.saturating_sub(start) / WORD).min(MOST_WORDS as u64) as usize;
        let mut words = [0u64; MOST_WORDS];
        // SAFETY: the array has room for as many words; memory that cannot be read is not.
        let read = count != 0
            && unsafe { system::read_own(start, words.as_mut_ptr().cast(), count * WORD as usize) };
        if !read {
            return;
        }
        for &word in words.iter().take(count) {
            // No object lies in the first pages: small numbers are no pointers.
            if word >= 4096 && self.find_object(word).is_some_and(|object| object.live) {
                reached.add(word, depth + 1);
            }
        }
    }

    /// Whether the pointer is a stream of an input, or of what the program wrote symbolic: a function without
    /// a model may read from it.
    pub fn is_input_stream(&mut self, pointer: u64) -> bool {
        // SAFETY: libc's variable.
        let standard = unsafe { real::stdin } as u64;
        self.streams.find(pointer as *mut _).is_some()
            || (pointer == standard && self.inputs.of_descriptor(0).is_some())
            || self.is_kept_stream(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::ObjectKind;
    use crate::runtime::testing::Scratch;

    #[test]
    fn labels_are_found_behind_pointers_and_in_the_middle_of_objects() {
        let mut runtime = Scratch::new();
        let text = *b"concrete x";
        let inner = text.as_ptr() as u64;
        let middle = [0u64, inner];
        let outer = [middle.as_ptr() as u64];
        for (start, size) in [
            (inner, 10),
            (middle.as_ptr() as u64, 16),
            (outer.as_ptr() as u64, 8),
        ] {
            runtime
                .objects
                .insert(Object::new(start, size, ObjectKind::Heap));
        }
        assert!(!runtime.reaches_label(outer.as_ptr() as u64));
        let channel = runtime.add_channel(nearmiss_abi::channel::ChannelKind::Stdin, 0, b"", b"x");
        // SAFETY: the text is there.
        unsafe { runtime.label_input(channel.unwrap(), 0, (inner + 9, 1), SiteId::NONE) };
        assert!(runtime.reaches_label(inner));
        assert!(runtime.reaches_label(outer.as_ptr() as u64));
    }
}
