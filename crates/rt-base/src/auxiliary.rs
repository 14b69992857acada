//! The auxiliary vector: what the kernel tells each program that it starts.

use nearmiss_abi::capture::IMAGE_SIZE;

unsafe extern "C" {
    fn getauxval(kind: u64) -> u64;
}

/// Entries of the vector.
pub mod kind {
    /// Address of the program's headers.
    pub const HEADERS: u64 = 3;
    /// Address at which the program starts, in front of its own code.
    pub const ENTRY: u64 = 9;
    /// The effective user.
    pub const USER: u64 = 12;
    /// Whether the program has more rights than its caller.
    pub const SECURE: u64 = 23;
    /// Address of sixteen random bytes.
    pub const RANDOM: u64 = 25;
}

/// An entry; 0: there is none.
pub fn value(kind: u64) -> u64 {
    // SAFETY: reads the auxiliary vector.
    unsafe { getauxval(kind) }
}

/// Whether the program has more rights than its caller: it must not write where that says.
pub fn is_privileged() -> bool {
    value(kind::SECURE) != 0
}

/// Identity of the process image: random bytes of the kernel's that change with each `execve` and
/// are the same in forked children.
pub fn image() -> [u8; IMAGE_SIZE] {
    let start = value(kind::RANDOM) as *const [u8; IMAGE_SIZE];
    match start.is_null() {
        true => [0; IMAGE_SIZE],
        // SAFETY: the kernel put sixteen bytes there, on the stack.
        false => unsafe { start.read() },
    }
}

/// Address of the ELF header of the program or library that this code was linked into; 0: it is
/// not loaded.
pub fn own_header() -> u64 {
    let own: u64;
    // SAFETY: the linker defines the symbol as the ELF header, if that is loaded.
    unsafe {
        core::arch::asm!(
            ".weak __ehdr_start",
            ".hidden __ehdr_start",
            "mov {own}, qword ptr [rip + __ehdr_start@GOTPCREL]",
            own = out(reg) own,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    own
}

/// Whether this is the ELF header of the program itself: its program headers follow.
pub fn is_of_program(header: u64) -> bool {
    header != 0 && value(kind::HEADERS).wrapping_sub(header) < 4096
}

/// Whether this code is part of the program itself: a library could be gone before the exit
/// handlers run.
pub fn is_in_program() -> bool {
    is_of_program(own_header())
}

/// One of the program headers of this program or library.
#[repr(C)]
#[derive(Clone, Copy)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    file_size: u64,
    size: u64,
    alignment: u64,
}

/// A part of the program that is loaded.
const LOADED: u32 = 1;
/// The name of the loader.
const INTERPRETER: u32 = 3;

/// The program headers of this program or library.
fn own_segments() -> &'static [Segment] {
    let header = own_header();
    if header == 0 {
        return &[];
    }
    // SAFETY: the ELF header is loaded, and where it says the program headers are.
    unsafe {
        let start = header + ((header + 32) as *const u64).read();
        let count = ((header + 56) as *const u16).read();
        core::slice::from_raw_parts(start as *const Segment, count.into())
    }
}

/// Whether an address lies in this program or library.
pub fn is_own(address: u64) -> bool {
    let loaded = || own_segments().iter().filter(|one| one.kind == LOADED);
    let first = loaded().find(|one| one.offset == 0);
    let base = own_header().wrapping_sub(first.map_or(0, |one| one.address));
    let within = |one: &Segment| address.wrapping_sub(base.wrapping_add(one.address)) < one.size;
    first.is_some() && loaded().any(within)
}

/// Whether this code is part of a program that was linked statically.
pub fn is_static() -> bool {
    is_in_program() && !own_segments().iter().any(|one| one.kind == INTERPRETER)
}
