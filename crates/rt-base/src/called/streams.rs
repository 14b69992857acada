//! Functions that read from a stream.

use crate::capture::stdin::Given;

/// What `getline` gave.
///
/// # Safety
/// As after a call of it.
pub unsafe fn own_line(line: *mut *mut u8, got: isize) -> Given {
    if got <= 0 || line.is_null() {
        return Given::Bytes(core::ptr::null(), 0);
    }
    // SAFETY: as promised by the caller.
    Given::Bytes(unsafe { line.read() }, got as usize)
}

/// See [`crate::called`].
#[macro_export]
macro_rules! stream_functions {
    ($take:ident) => {
        $take! {
            fn fgets(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8 { file, |line| $crate::capture::stdin::Given::Line(line) }
            fn fgets_unlocked(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8 { file, |line| $crate::capture::stdin::Given::Line(line) }
            fn __fgets_chk(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8 { file, |line| $crate::capture::stdin::Given::Line(line) }
            fn __fgets_unlocked_chk(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8 { file, |line| $crate::capture::stdin::Given::Line(line) }
            fn getline(line: *mut *mut u8, room: *mut usize, file: *mut File) -> isize { file, |got| $crate::called::own_line(line, got) }
            fn getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize { file, |got| $crate::called::own_line(line, got) }
            fn __getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize { file, |got| $crate::called::own_line(line, got) }
        }
    };
}

/// See [`crate::called`]. The functions are what glibc's macros call when a stream's buffer is empty.
#[macro_export]
macro_rules! refill_functions {
    ($take:ident) => {
        $take! {
            fn __uflow(file: *mut File) -> i32 { file, |byte| $crate::capture::stdin::Given::Byte(byte) }
            fn __underflow(file: *mut File) -> i32 { file, |byte| $crate::capture::stdin::Given::Something }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_streams {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $file:expr, |$returned:ident| $given:expr })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                if !$crate::capture::stdin::is_watched() {
                    return real::$name($($argument),*);
                }
                let file: *mut File = $file;
                let before = $crate::capture::stdin::before(file);
                let $returned = real::$name($($argument),*);
                $crate::capture::stdin::after(file, before, $given);
                $returned
            }
        }
    )* };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! byte_functions {
    ($take:ident) => {
        $take! {
            fn getchar() -> i32 { real::stdin }
            fn getchar_unlocked() -> i32 { real::stdin }
            fn getc(file: *mut File) -> i32 { file }
            fn fgetc(file: *mut File) -> i32 { file }
            fn _IO_getc(file: *mut File) -> i32 { file }
            fn getc_unlocked(file: *mut File) -> i32 { file }
            fn fgetc_unlocked(file: *mut File) -> i32 { file }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_bytes {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $file:expr })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            #[inline(never)]
            unsafe fn slowly($($argument: $type),*) -> $result {
                // SAFETY: as promised by the caller.
                unsafe {
                    let file: *mut File = $file;
                    let before = $crate::capture::stdin::before(file);
                    let byte = real::$name($($argument),*);
                    let given = $crate::capture::stdin::Given::Byte(byte);
                    $crate::capture::stdin::after(file, before, given);
                    $crate::chance::byte_from_stream(file, byte)
                }
            }
            // SAFETY: as promised by the caller.
            unsafe {
                match $crate::capture::stdin::take_waiting($file) {
                    Some(byte) => byte.into(),
                    None => slowly($($argument),*),
                }
            }
        }
    )* };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! item_functions {
    ($take:ident) => {
        $take! {
            fn fread(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize { buffer () size count file }
            fn fread_unlocked(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize { buffer () size count file }
            fn __fread_chk(buffer: *mut u8, room: usize, size: usize, count: usize, file: *mut File) -> usize { buffer (room) size count file }
            fn __fread_unlocked_chk(buffer: *mut u8, room: usize, size: usize, count: usize, file: *mut File) -> usize { buffer (room) size count file }
        }
    };
}

/// See [`crate::called`]. `fread` says how many whole items came; asked for bytes it says how many of
/// those, and is otherwise the same.
#[macro_export]
macro_rules! define_items {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $buffer:ident ($($room:ident)?) $size:ident $count:ident $file:ident })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                let bytes = $size.wrapping_mul($count);
                if !$crate::capture::stdin::is_watched() || bytes == 0 {
                    let items = real::$name($($argument),*);
                    $crate::chance::read_from_stream($file, $buffer, items.wrapping_mul($size));
                    return items;
                }
                let before = $crate::capture::stdin::before($file);
                let got = real::$name($buffer, $($room,)? 1, bytes, $file);
                let given = $crate::capture::stdin::Given::Bytes($buffer, got);
                $crate::capture::stdin::after($file, before, given);
                $crate::chance::read_from_stream($file, $buffer, got);
                if got == bytes { $count } else { got.checked_div($size).unwrap_or(0) }
            }
        }
    )* };
}
