//! Functions that read from a descriptor.

/// Bytes are only looked at and come again.
pub const MSG_PEEK: i32 = 2;

/// See [`crate::called`].
#[macro_export]
macro_rules! reading_functions {
    ($take:ident) => {
        $take! {
            fn read(fd: i32, buffer: *mut u8, size: usize) -> isize { fd, buffer }
            fn __read_chk(fd: i32, buffer: *mut u8, size: usize, room: usize) -> isize { fd, buffer }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_reading {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $fd:ident, $buffer:ident })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                let got = real::$name($($argument),*);
                $crate::capture::stdin::received($fd, $buffer, got);
                $crate::chance::read_from($fd, $buffer, got);
                got
            }
        }
    )* };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! receiving_functions {
    ($take:ident) => {
        $take! {
            fn recv(fd: i32, buffer: *mut u8, size: usize, how: i32) -> isize { fd, buffer, size, how }
            fn __recv_chk(fd: i32, buffer: *mut u8, size: usize, known: usize, how: i32) -> isize { fd, buffer, size, how }
            fn recvfrom(fd: i32, buffer: *mut u8, size: usize, how: i32, address: *mut u8, room: *mut u32) -> isize { fd, buffer, size, how }
            fn __recvfrom_chk(fd: i32, buffer: *mut u8, size: usize, known: usize, how: i32, address: *mut u8, room: *mut u32) -> isize { fd, buffer, size, how }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_receiving {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $fd:ident, $buffer:ident, $size:ident, $how:ident })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                let got = real::$name($($argument),*);
                if $how & $crate::called::MSG_PEEK == 0 {
                    $crate::capture::stdin::received($fd, $buffer, got.min($size as isize));
                }
                got
            }
        }
    )* };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! vector_functions {
    ($take:ident) => {
        $take! {
            fn readv(fd: i32, vectors: *const IoVector, count: i32) -> isize { fd, vectors, count.max(0) as usize, true }
            fn recvmsg(fd: i32, message: *mut Message, how: i32) -> isize { fd, (*message).vectors, (*message).count, how & $crate::called::MSG_PEEK == 0 }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_vectors {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $fd:expr, $vectors:expr, $count:expr, $takes:expr })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                let got = real::$name($($argument),*);
                if $crate::capture::stdin::is_watched() && got > 0 && $takes {
                    $crate::capture::stdin::received_parts($fd, $vectors, $count, got);
                }
                got
            }
        }
    )* };
}
