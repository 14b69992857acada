//! Shared libraries without instrumentation: what they read of inputs.
//!
//! Such a library may be given the descriptor or the path of an input and read it by itself;
//! none of the models sees that. So in a process that records, the functions by which loaded
//! libraries open and read files are replaced in their global offset tables by the ones below,
//! which do the same and note how many bytes of an input were read. What lies in memory then is
//! labelled: a program that looks into the library's buffer sees input. What the library copies
//! or calculates is concrete.
//!
//! Libraries that are loaded later are looked at when the program looks up its first function there.
//! What their constructors read is not seen: where they could have found something symbolic, that is
//! noted at the call of `dlopen` (`Runtime::shows_labels`).
//!
//! Left alone are instrumented modules, which call models, and libc with its loader, whose
//! functions call each other without such a table.
//!
//! On `unsafe`: the loader's records describe loaded modules; replaced functions are called as
//! the real ones are.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use nearmiss_abi::note::NoteKind;

use crate::files::{AT_FDCWD, flags};
use crate::input::Source;
use crate::models::real;
use crate::models::{flags_of, follow, source_of, stdio_flow};
use crate::modules::ProgramHeader;
use crate::runtime::Runtime;
use crate::streams::{File, descriptor};
use crate::system;
use crate::turn;

/// What the loader says about a module: `struct dl_phdr_info`.
#[repr(C)]
struct Loaded {
    bias: u64,
    name: *const u8,
    headers: *const ProgramHeader,
    count: u16,
    /// How many modules were ever loaded.
    added: u64,
}

/// How many modules had been loaded when they were looked at last.
static WATCHED: AtomicU64 = AtomicU64::new(0);

/// Looks at all libraries that are loaded by now, if there are new ones.
pub fn watch() {
    let mut added = 0u64;
    // SAFETY: see the module's comment.
    unsafe {
        real::dl_iterate_phdr(count_modules, (&raw mut added).cast());
        if WATCHED.swap(added, Ordering::Relaxed) != added {
            real::dl_iterate_phdr(watch_one, ptr::null_mut());
        }
    }
}

unsafe extern "C" fn count_modules(loaded: *const c_void, _: usize, added: *mut c_void) -> i32 {
    // SAFETY: see the module's comment; the count is [`watch`]'s.
    unsafe { *added.cast::<u64>() = (*loaded.cast::<Loaded>()).added };
    1
}

unsafe extern "C" fn watch_one(loaded: *const c_void, _: usize, _: *mut c_void) -> i32 {
    let loaded = loaded.cast::<Loaded>();
    const LEFT_ALONE: [&[u8]; 6] = [b"libc.", b"libc-", b"ld-", b"ld.", b"libpthread", b"linux-"];
    // SAFETY: see the module's comment.
    unsafe {
        let name = match (*loaded).name.is_null() {
            true => &[][..],
            false => system::text((*loaded).name),
        };
        let start = name
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or(0, |at| at + 1);
        let base_name = name.get(start..).unwrap_or_default();
        let left_alone = LEFT_ALONE.iter().any(|start| base_name.starts_with(start));
        // The program itself has no name.
        if !base_name.is_empty() && !left_alone {
            let headers = core::slice::from_raw_parts((*loaded).headers, (*loaded).count as usize);
            watch_module((*loaded).bias, headers);
        }
    }
    0
}

/// A row of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: u64,
}

/// A relocation with an addend.
#[repr(C)]
struct Relocation {
    place: u64,
    kind: u32,
    symbol: u32,
    addend: i64,
}

/// A symbol.
#[repr(C)]
struct Symbol {
    name: u32,
    kind: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// # Safety
/// These are the headers of a module that is loaded with this bias.
unsafe fn watch_module(bias: u64, headers: &[ProgramHeader]) {
    const DYNAMIC: u32 = 2;
    const NULL: u64 = 0;
    const TABLE_SIZE: u64 = 2;
    const STRINGS: u64 = 5;
    const SYMBOLS: u64 = 6;
    const RELOCATIONS: u64 = 7;
    const RELOCATIONS_SIZE: u64 = 8;
    const TABLE: u64 = 23;
    let Some(dynamic) = headers.iter().find(|header| header.kind == DYNAMIC) else {
        return;
    };
    let mut at = bias.wrapping_add(dynamic.address) as *const Dynamic;
    let is_instrumented = turn::with(true, |runtime| runtime.is_in_module(at as u64));
    if is_instrumented {
        return;
    }
    let mut values = [0u64; 24];
    // SAFETY: see the module's comment: the section ends with a null.
    unsafe {
        while (*at).tag != NULL {
            if let Some(value) = values.get_mut((*at).tag as usize) {
                *value = (*at).value;
            }
            at = at.add(1);
        }
    }
    // The loader has made most addresses absolute.
    let absolute = |value: u64| match value < bias {
        true => bias.wrapping_add(value),
        false => value,
    };
    let value = |tag: u64| values.get(tag as usize).copied().unwrap_or_default();
    let [strings, symbols] = [STRINGS, SYMBOLS].map(|tag| absolute(value(tag)));
    if value(STRINGS) == 0 || value(SYMBOLS) == 0 {
        return;
    }
    for (table, size) in [(RELOCATIONS, RELOCATIONS_SIZE), (TABLE, TABLE_SIZE)] {
        let count = value(size) as usize / size_of::<Relocation>();
        if value(table) == 0 || count == 0 {
            continue;
        }
        let rows = absolute(value(table)) as *const Relocation;
        // SAFETY: see the module's comment.
        unsafe {
            for row in core::slice::from_raw_parts(rows, count) {
                replace(bias, row, strings, symbols as *const Symbol);
            }
        }
    }
}

/// Replaces the function that a relocation is about, if it is one of ours.
///
/// # Safety
/// The row, the strings and the symbols are of a module that is loaded with this bias.
unsafe fn replace(bias: u64, row: &Relocation, strings: u64, symbols: *const Symbol) {
    const GLOB_DAT: u32 = 6;
    const JUMP_SLOT: u32 = 7;
    const PAGE: u64 = 4096;
    if !matches!(row.kind, GLOB_DAT | JUMP_SLOT) {
        return;
    }
    // SAFETY: as promised by the caller.
    let name = unsafe {
        let symbol = symbols.add(row.symbol as usize);
        if (*symbol).section != 0 {
            return;
        }
        system::text((strings + (*symbol).name as u64) as *const u8)
    };
    let Some((_, function)) = REPLACED.iter().find(|(known, _)| known.as_bytes() == name) else {
        return;
    };
    let place = bias.wrapping_add(row.place);
    // SAFETY: the slot is data of the module; it may have been made read-only.
    unsafe {
        if system::protect_writable((place & !(PAGE - 1)) as *mut u8, PAGE as usize) {
            (place as *mut *const c_void).write_volatile(function.0);
        }
    }
}

/// The address of a function, in a table.
struct Function(*const c_void);

// SAFETY: the functions are there for all threads.
unsafe impl Sync for Function {}

macro_rules! replaced {
    ($($name:literal = $function:ident;)*) => {
        static REPLACED: &[(&str, Function)] = &[$(($name, Function($function as *const c_void)),)*];
    };
}

replaced! {
    "read" = read;
    "pread" = pread;
    "pread64" = pread;
    "mmap" = mmap;
    "mmap64" = mmap;
    "open" = open;
    "open64" = open;
    "openat" = openat;
    "openat64" = openat;
    "close" = close;
    "fopen" = fopen;
    "fopen64" = fopen;
    "fdopen" = fdopen;
    "fclose" = fclose;
    "fread" = fread;
    "fread_unlocked" = fread;
    "fgets" = fgets;
    "getc" = getc;
    "fgetc" = getc;
    "_IO_getc" = getc;
    "getc_unlocked" = getc;
    "getline" = getline;
    "getdelim" = getdelim;
    "__getdelim" = getdelim;
}

impl Runtime {
    /// A library has read bytes of an input into its own memory.
    fn library_read(&mut self, source: Option<Source>, (address, size): (u64, u64)) {
        let Some(source) = source.filter(|_| size > 0) else {
            return;
        };
        let site = self.foreign_site;
        // SAFETY: the real function has just written them.
        unsafe { self.received(Some(source), (address, size), site) };
        if self.shadow.first_label(address, size).is_some() {
            let count = size.min(u32::MAX as u64) as u32;
            self.trace.note(NoteKind::Library, site, count);
        }
    }

    /// A library has read from a stream.
    fn library_read_stream(&mut self, file: *mut File, source: Option<Source>, size: u64) {
        if let Some(source) = source.filter(|source| source.kept().is_none() && size > 0) {
            let count = size.min(u32::MAX as u64) as u32;
            self.trace.note(NoteKind::Library, self.foreign_site, count);
            if let Some(stream) = self.streams.find(file) {
                stream.advance_to(source.offset + size);
            }
        }
    }
}

unsafe extern "C" fn read(fd: i32, buffer: *mut u8, size: usize) -> isize {
    let source = turn::with(None, |runtime| runtime.source(fd));
    // SAFETY: see the module's comment.
    let got = unsafe { real::read(fd, buffer, size) };
    turn::with((), |runtime| {
        runtime.library_read(source, (buffer as u64, got.max(0) as u64));
    });
    got
}

unsafe extern "C" fn pread(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize {
    // SAFETY: see the module's comment.
    let got = unsafe { real::pread(fd, buffer, size, offset) };
    turn::with((), |runtime| {
        let source = runtime.source_at(fd, offset);
        runtime.library_read(source, (buffer as u64, got.max(0) as u64));
    });
    got
}

unsafe extern "C" fn mmap(
    at: *mut u8,
    size: usize,
    protection: i32,
    how: i32,
    fd: i32,
    offset: i64,
) -> *mut u8 {
    // SAFETY: see the module's comment.
    let start = unsafe { real::mmap(at, size, protection, how, fd, offset) };
    if start as isize != -1 && protection & system::map::PROT_READ != 0 && fd >= 0 {
        turn::with((), |runtime| {
            let file_size = system::status(fd).map_or(0, |status| status.size);
            let held = file_size.saturating_sub(offset as u64).min(size as u64);
            let source = runtime.source_at(fd, offset);
            runtime.library_read(source, (start as u64, held));
        });
    }
    start
}

/// A library opened a file.
///
/// # Safety
/// `path` ends with a zero, if the file was opened.
unsafe fn opened(fd: i32, directory: i32, path: *const u8, how: i32) -> i32 {
    if fd >= 0 {
        // SAFETY: as promised by the caller.
        turn::with((), |runtime| unsafe {
            runtime.opened(fd, directory, path, how);
        });
    }
    fd
}

unsafe extern "C" fn open(path: *const u8, how: i32, mode: u32) -> i32 {
    // SAFETY: see the module's comment.
    unsafe { opened(real::open(path, how, mode), AT_FDCWD, path, how) }
}

unsafe extern "C" fn openat(directory: i32, path: *const u8, how: i32, mode: u32) -> i32 {
    // SAFETY: see the module's comment.
    unsafe {
        opened(
            real::openat(directory, path, how, mode),
            directory,
            path,
            how,
        )
    }
}

unsafe extern "C" fn close(fd: i32) -> i32 {
    turn::with((), |runtime| runtime.inputs.set_descriptor(fd, None));
    // SAFETY: see the module's comment.
    unsafe { real::close(fd) }
}

unsafe extern "C" fn fopen(path: *const u8, mode: *const u8) -> *mut File {
    // SAFETY: see the module's comment.
    unsafe {
        let file = real::fopen(path, mode);
        if !file.is_null() {
            let fd = descriptor(file);
            opened(fd, AT_FDCWD, path, flags_of(mode) & !flags::CREAT);
            turn::with((), |runtime| follow(runtime, file, fd));
        }
        file
    }
}

unsafe extern "C" fn fdopen(fd: i32, mode: *const u8) -> *mut File {
    // SAFETY: see the module's comment.
    unsafe {
        let file = stdio_flow::fdopen(fd, mode);
        if !file.is_null() {
            turn::with((), |runtime| follow(runtime, file, fd));
        }
        file
    }
}

unsafe extern "C" fn fclose(file: *mut File) -> i32 {
    turn::with((), |runtime| {
        if !file.is_null() {
            runtime.streams.remove(file);
            // SAFETY: the library closes an open stream.
            let fd = unsafe { descriptor(file) };
            runtime.inputs.set_descriptor(fd, None);
        }
    });
    // SAFETY: see the module's comment.
    unsafe { real::fclose(file) }
}

/// Functions that read from a stream: how many bytes they read.
macro_rules! stream_functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty: $file:ident, |$returned:ident| $size:expr;)*) => { $(
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let source = turn::with(None, |runtime| source_of(runtime, $file));
            // SAFETY: see the module's comment.
            unsafe {
                let $returned = real::$name($($argument),*);
                let size = $size;
                turn::with((), |runtime| runtime.library_read_stream($file, source, size));
                $returned
            }
        }
    )* };
}

stream_functions! {
    fn fread(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize: file, |items| (items * size) as u64;
    fn fgets(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8: file, |line| if line.is_null() { 0 } else { system::length(line) as u64 };
    fn getc(file: *mut File) -> i32: file, |byte| (byte >= 0) as u64;
    fn getline(line: *mut *mut u8, room: *mut usize, file: *mut File) -> isize: file, |got| got.max(0) as u64;
    fn getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize: file, |got| got.max(0) as u64;
}
