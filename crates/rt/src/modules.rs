//! The instrumented programs and libraries of the process, as each registers itself: where its
//! variables and its code lie.

use core::ptr;

use nearmiss_abi::shadow::{GlobalRow, PointerRow, RED_ZONE, SUMMARY_MASK, SummaryWords, ZONED};

use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;
use crate::turn::is_alone;

/// Programs and shared libraries that can be registered at a time.
pub const MOST_MODULES: usize = 512;

/// What a copy of the runtime says about its program or library: `nearmiss_module` in
/// [`crate::entry`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Module {
    /// Its summary words.
    pub words: *mut SummaryWords,
    /// Its table of variables; null if it has none.
    pub globals: *const GlobalRow,
    /// The table's end.
    pub globals_end: *const GlobalRow,
    /// Its ELF header; null if that is not loaded.
    pub header: *const ElfHeader,
    /// Its table of functions and their models; null if it has none.
    pub pointers: *const PointerRow,
    /// The table's end.
    pub pointers_end: *const PointerRow,
}

/// A module, and the base that its words had before.
#[derive(Clone, Copy)]
pub struct Registered {
    module: Module,
    first_base: *const u8,
    /// Whether its variables are in the table of objects.
    known: bool,
}

impl Registered {
    /// No module.
    pub const FREE: Registered = Registered {
        module: Module {
            words: ptr::null_mut(),
            globals: ptr::null(),
            globals_end: ptr::null(),
            header: ptr::null(),
            pointers: ptr::null(),
            pointers_end: ptr::null(),
        },
        first_base: ptr::null(),
        known: false,
    };

    /// The summary words, if there is a module.
    pub fn words(&self) -> Option<*mut SummaryWords> {
        (!self.module.words.is_null()).then_some(self.module.words)
    }
}

impl Module {
    /// The rows of its variables.
    ///
    /// # Safety
    /// The module is loaded.
    unsafe fn rows<'a>(&self) -> &'a [GlobalRow] {
        // SAFETY: as promised by the caller.
        unsafe { between(self.globals, self.globals_end) }
    }

    /// The rows of functions that have a model.
    ///
    /// # Safety
    /// The module is loaded.
    pub unsafe fn pointers<'a>(&self) -> &'a [PointerRow] {
        // SAFETY: as promised by the caller.
        unsafe { between(self.pointers, self.pointers_end) }
    }
}

/// The rows of a table that the linker has put together.
///
/// # Safety
/// Both are symbols that the linker defines around one table, or null.
unsafe fn between<'a, Row>(start: *const Row, end: *const Row) -> &'a [Row] {
    if start.is_null() || end <= start {
        return &[];
    }
    // SAFETY: as promised by the caller.
    unsafe { core::slice::from_raw_parts(start, end.offset_from(start) as usize) }
}

impl Runtime {
    /// Instrumented code of this program or library looks at the summary from now on.
    pub fn register(&mut self, module: Module) {
        let mut places = self.registered.iter_mut().enumerate();
        let Some((number, place)) = places.find(|(_, place)| place.words().is_none()) else {
            return;
        };
        let words = module.words;
        // SAFETY: `words` is the variable of the library that registers. The new base is good
        // with the old mask, 0, but the mask not with the old base.
        unsafe {
            *place = Registered {
                module,
                first_base: (*words).base,
                known: false,
            };
            (&raw mut (*words).base).write_volatile(self.shadow.summary_base());
            (&raw mut (*words).mask).write_volatile(SUMMARY_MASK);
            (&raw mut (*words).calm).write_volatile(1);
        }
        self.new_globals = true;
        self.used_places = self.used_places.max(number + 1);
    }

    /// Whether the program or a library did something sensitive since this was last asked.
    pub fn take_sensitive(&mut self) -> bool {
        let mut sensitive = false;
        for place in self.registered.iter().take(self.used_places) {
            let Some(words) = place.words() else { continue };
            // SAFETY: registered words live until they are unregistered.
            unsafe {
                let calm = &raw mut (*words).calm;
                sensitive |= calm.read_volatile() == 0;
                calm.write_volatile(1);
            }
        }
        sensitive
    }

    /// The library is about to go away.
    pub fn unregister(&mut self, words: *mut SummaryWords) {
        for place in &mut self.registered {
            if place.words() != Some(words) {
                continue;
            }
            // SAFETY: the words are still there. Code of the library that runs on in
            // another thread may have read the mask already: then the base must stay.
            unsafe {
                (&raw mut (*words).mask).write_volatile(0);
                (&raw mut (*words).calm).write_volatile(0);
                if is_alone() {
                    (&raw mut (*words).base).write_volatile(place.first_base);
                }
            }
            if place.known {
                // SAFETY: the library is still loaded.
                for row in unsafe { place.module.rows() } {
                    let end = row.start.saturating_add(row.size & !ZONED);
                    self.objects.remove_overlapping(row.start, end);
                }
            }
            *place = Registered::FREE;
        }
    }

    /// Enters the variables of all modules into the table of objects, if that was not done:
    /// not at the start of the process, because most runs never ask.
    pub fn know_globals(&mut self) {
        if !self.new_globals {
            return;
        }
        self.new_globals = false;
        for place in &mut self.registered {
            if place.words().is_none() || place.known {
                continue;
            }
            place.known = true;
            // SAFETY: registered modules are loaded.
            for row in unsafe { place.module.rows() } {
                // The linker makes one string of two where one is the end of the other.
                let size = row.size & !ZONED;
                let last = row.start.saturating_add(size.max(1) - 1);
                let known = self.objects.find(row.start);
                if known.is_none() || known != self.objects.find(last) {
                    let zone = if row.size == size { 0 } else { RED_ZONE };
                    let object = Object::new(row.start, size, ObjectKind::Global);
                    self.objects.insert(object.zoned(zone));
                }
            }
        }
    }

    /// Whether code that is given nothing can find symbolic data: in variables of static storage, or in the
    /// environment.
    pub fn shows_labels(&mut self) -> bool {
        self.know_globals();
        let is_symbolic = |place: &Registered| {
            // SAFETY: registered modules are loaded.
            let rows = place.words().map(|_| unsafe { place.module.rows() });
            let mut rows = rows.into_iter().flatten();
            rows.any(|row| {
                let size = row.size & !ZONED;
                self.shadow.first_label(row.start, size).is_some()
            })
        };
        self.registered.iter().any(is_symbolic) || self.environment_is_symbolic
    }

    /// Whether the code at this address is part of an instrumented program or library.
    pub fn is_instrumented(&self, code: u64) -> bool {
        // SAFETY: the program is about to call it.
        self.is_in_module(code) && unsafe { !is_jump_to_library(code) }
    }

    /// Whether the address lies in an instrumented program or library.
    pub fn is_in_module(&self, address: u64) -> bool {
        let inside = |place: &Registered| {
            let header = place.module.header;
            // SAFETY: registered modules are loaded.
            !header.is_null() && unsafe { contains(header, address) }
        };
        self.registered.iter().take(self.used_places).any(inside)
    }
}

/// The ELF header of a loaded module, as far as it is needed.
#[repr(C)]
pub struct ElfHeader {
    identification: [u8; 16],
    kind: u16,
    machine: u16,
    version: u32,
    entry: u64,
    program_headers: u64,
    section_headers: u64,
    flags: u32,
    size: u16,
    program_header_size: u16,
    program_header_count: u16,
}

/// A program header.
#[repr(C)]
pub struct ProgramHeader {
    /// What it describes.
    pub kind: u32,
    flags: u32,
    offset: u64,
    /// Where that lies, without the bias.
    pub address: u64,
    physical: u64,
    file_size: u64,
    memory_size: u64,
    alignment: u64,
}

impl ProgramHeader {
    /// Whether this is a part that is loaded, `bias` bytes behind where the file has it, and
    /// contains the address.
    pub fn loads(&self, bias: u64, address: u64) -> bool {
        let part = bias.wrapping_add(self.address);
        self.kind == LOAD && address.wrapping_sub(part) < self.memory_size
    }
}

/// The kind of a header whose part is loaded.
const LOAD: u32 = 1;

/// Whether a module's loaded parts contain the address.
///
/// # Safety
/// `header` is the ELF header of a loaded module; its program headers follow it.
unsafe fn contains(header: *const ElfHeader, address: u64) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let start = header as u64;
        let headers = (start + (*header).program_headers) as *const ProgramHeader;
        let count = (*header).program_header_count as usize;
        let rows = core::slice::from_raw_parts(headers, count);
        let loaded = || rows.iter().filter(|row| row.kind == LOAD);
        let Some(first) = loaded().map(|row| row.address).min() else {
            return false;
        };
        let bias = start.wrapping_sub(first);
        rows.iter().any(|row| row.loads(bias, address))
    }
}

/// Whether the code is an entry of the procedure linkage table: a function of a library, as a
/// program that is not position-independent sees it.
///
/// # Safety
/// `code` is the start of a function.
unsafe fn is_jump_to_library(code: u64) -> bool {
    const END_BRANCH: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const INDIRECT_JUMP: [u8; 2] = [0xff, 0x25];
    const BOUND_PREFIX: u8 = 0xf2;
    // SAFETY: each byte is read only after those before it were no end of a function.
    unsafe {
        let mut at = code as *const u8;
        if (0..4).all(|index| at.add(index).read() == END_BRANCH[index]) {
            at = at.add(4);
        }
        if at.read() == BOUND_PREFIX {
            at = at.add(1);
        }
        at.read() == INDIRECT_JUMP[0] && at.add(1).read() == INDIRECT_JUMP[1]
    }
}
