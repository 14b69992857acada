//! glibc's streams: what they have read ahead, and their descriptors.
//!
//! libc's own functions are not asked: they would take the stream's lock, and set `errno`.
//!
//! On `unsafe`: glibc keeps the layout of `FILE` for programs that had `getc` expanded in them.

/// glibc's stream, as far as the runtime looks.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Buffer {
    pub flags: u32,
    /// The next byte to be read from the buffer.
    pub read: u64,
    /// The end of what was read from the descriptor.
    pub end: u64,
    pub base: u64,
    pub write_base: u64,
    /// The end of what is to be written to the descriptor.
    pub write: u64,
    pub others: [u64; 3],
    /// While a pushed-back byte is being read: what comes after it.
    pub saved: u64,
    pub backup: u64,
    pub saved_end: u64,
    pub chains: [u64; 2],
    pub descriptor: i32,
}
const _: () = assert!(core::mem::offset_of!(Buffer, descriptor) == 112);

/// A byte that was not read is being read: the pointers are those of another buffer.
pub const IN_BACKUP: u32 = 0x100;

/// A `FILE` of libc.
pub type File = core::ffi::c_void;

/// The stream as it is now.
///
/// # Safety
/// `file` is an open stream.
#[inline]
pub unsafe fn look(file: *mut File) -> Buffer {
    // SAFETY: as promised by the caller; see the module's comment.
    unsafe { file.cast::<Buffer>().read() }
}

/// What a stream has to give without asking its descriptor; `libc/model.h` has it too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ahead {
    /// The next byte.
    pub read: u64,
    /// The end of what its buffer holds.
    pub end: u64,
    /// The start of its buffer.
    pub base: u64,
    /// Bytes until it asks its descriptor, with those that were pushed back.
    pub available: u64,
}

/// What the stream has read ahead.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn ahead(file: *mut File) -> Ahead {
    // SAFETY: as promised by the caller.
    let buffer = unsafe { look(file) };
    let behind_backup = match buffer.flags & IN_BACKUP {
        0 => 0,
        _ => buffer.saved_end.wrapping_sub(buffer.saved),
    };
    Ahead {
        read: buffer.read,
        end: buffer.end,
        base: buffer.base,
        available: buffer
            .end
            .wrapping_sub(buffer.read)
            .wrapping_add(behind_backup),
    }
}

/// The descriptor of a stream; negative if it has none.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn descriptor(file: *mut File) -> i32 {
    /// A stream into memory, or one of functions of the program's, has no descriptor.
    const IS_FILE: u32 = 0x2000;
    // SAFETY: as promised by the caller.
    let buffer = unsafe { look(file) };
    match buffer.flags & IS_FILE {
        0 => -1,
        _ => buffer.descriptor,
    }
}

/// Takes the next byte from what the stream has read ahead, if there is one.
///
/// # Safety
/// `file` is an open stream that no other thread uses.
#[inline(always)]
pub unsafe fn take(file: *mut File) -> Option<u8> {
    let buffer = file.cast::<Buffer>();
    // SAFETY: as promised by the caller; bytes up to the end were read.
    unsafe {
        let read = (*buffer).read;
        if read >= (*buffer).end {
            return None;
        }
        (*buffer).read = read + 1;
        Some((read as *const u8).read())
    }
}
