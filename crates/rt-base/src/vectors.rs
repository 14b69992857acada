//! Buffers in pieces, as system calls take them.

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoVector {
    /// Where the piece starts.
    pub start: *mut u8,
    /// Its bytes.
    pub size: usize,
}

/// `struct msghdr`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Message {
    pub name: *mut u8,
    pub name_size: u32,
    pub vectors: *mut IoVector,
    pub count: usize,
    pub control: *mut u8,
    pub control_size: usize,
    pub flags: i32,
}
