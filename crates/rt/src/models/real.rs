//! The functions of libc that models call.
#![allow(missing_docs)]

use core::ffi::c_void;

use super::stdio_flow::Functions;
use crate::streams::File;

pub use crate::vectors::{IoVector, Message};

unsafe extern "C" {
    pub fn __errno_location() -> *mut i32;
    pub fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*const c_void, usize, *mut c_void) -> i32,
        data: *mut c_void,
    ) -> i32;
    pub fn on_exit(handler: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;

    // fcntl.h
    pub fn open(path: *const u8, flags: i32, ...) -> i32;
    pub fn open64(path: *const u8, flags: i32, ...) -> i32;
    pub fn openat(directory: i32, path: *const u8, flags: i32, ...) -> i32;
    pub fn openat64(directory: i32, path: *const u8, flags: i32, ...) -> i32;

    pub fn fcntl(fd: i32, command: i32, ...) -> i32;
    pub fn fcntl64(fd: i32, command: i32, ...) -> i32;

    // sys/socket.h
    pub fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    pub fn socketpair(domain: i32, kind: i32, protocol: i32, pair: *mut i32) -> i32;
    pub fn accept(fd: i32, address: *mut u8, size: *mut u32) -> i32;
    pub fn accept4(fd: i32, address: *mut u8, size: *mut u32, flags: i32) -> i32;
    pub fn recv(fd: i32, buffer: *mut u8, size: usize, flags: i32) -> isize;
    pub fn recvfrom(
        fd: i32,
        buffer: *mut u8,
        size: usize,
        flags: i32,
        address: *mut u8,
        room: *mut u32,
    ) -> isize;
    pub fn __recv_chk(fd: i32, buffer: *mut u8, size: usize, room: usize, flags: i32) -> isize;
    pub fn __recvfrom_chk(
        fd: i32,
        buffer: *mut u8,
        size: usize,
        known: usize,
        flags: i32,
        address: *mut u8,
        room: *mut u32,
    ) -> isize;
    pub fn send(fd: i32, start: *const u8, size: usize, flags: i32) -> isize;
    pub fn sendto(
        fd: i32,
        start: *const u8,
        size: usize,
        flags: i32,
        address: *const u8,
        room: u32,
    ) -> isize;
    pub fn sendmsg(fd: i32, message: *const Message, flags: i32) -> isize;
    pub fn recvmsg(fd: i32, message: *mut Message, flags: i32) -> isize;

    // unistd.h, sys/uio.h
    pub fn pwrite(fd: i32, start: *const u8, size: usize, offset: i64) -> isize;
    pub fn pwrite64(fd: i32, start: *const u8, size: usize, offset: i64) -> isize;
    pub fn write(fd: i32, bytes: *const u8, size: usize) -> isize;
    pub fn writev(fd: i32, vectors: *const IoVector, count: i32) -> isize;
    pub fn dup3(from: i32, to: i32, flags: i32) -> i32;
    pub fn pipe(ends: *mut i32) -> i32;
    pub fn pipe2(ends: *mut i32, flags: i32) -> i32;
    pub fn _exit(status: i32);
    pub fn _Exit(status: i32);
    pub fn quick_exit(status: i32);
    pub fn execve(path: *const u8, arguments: *const *mut u8, environment: *const *mut u8) -> i32;
    pub fn execv(path: *const u8, arguments: *const *mut u8) -> i32;
    pub fn execvp(name: *const u8, arguments: *const *mut u8) -> i32;
    pub fn execvpe(name: *const u8, arguments: *const *mut u8, environment: *const *mut u8) -> i32;
    pub fn fexecve(fd: i32, arguments: *const *mut u8, environment: *const *mut u8) -> i32;
    pub fn close(fd: i32) -> i32;
    pub fn dup(fd: i32) -> i32;
    pub fn dup2(from: i32, to: i32) -> i32;
    pub fn read(fd: i32, buffer: *mut u8, size: usize) -> isize;
    pub fn pread(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize;
    pub fn pread64(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize;
    pub fn __pread_chk(fd: i32, buffer: *mut u8, size: usize, offset: i64, room: usize) -> isize;
    pub fn __pread64_chk(fd: i32, buffer: *mut u8, size: usize, offset: i64, room: usize) -> isize;
    pub fn lseek(fd: i32, offset: i64, whence: i32) -> i64;
    pub fn lseek64(fd: i32, offset: i64, whence: i32) -> i64;
    pub fn readv(fd: i32, vectors: *const IoVector, count: i32) -> isize;
    pub fn __read_chk(fd: i32, buffer: *mut u8, size: usize, room: usize) -> isize;
    pub fn fork() -> i32;

    // sys/stat.h
    pub fn stat(path: *const u8, record: *mut u8) -> i32;
    pub fn stat64(path: *const u8, record: *mut u8) -> i32;
    pub fn lstat(path: *const u8, record: *mut u8) -> i32;
    pub fn lstat64(path: *const u8, record: *mut u8) -> i32;
    pub fn fstat(fd: i32, record: *mut u8) -> i32;
    pub fn fstat64(fd: i32, record: *mut u8) -> i32;
    pub fn fstatat(directory: i32, path: *const u8, record: *mut u8, flags: i32) -> i32;
    pub fn fstatat64(directory: i32, path: *const u8, record: *mut u8, flags: i32) -> i32;
    pub fn statx(directory: i32, path: *const u8, flags: i32, mask: u32, record: *mut u8) -> i32;

    // sys/mman.h
    pub fn mmap(
        at: *mut u8,
        size: usize,
        protection: i32,
        flags: i32,
        fd: i32,
        offset: i64,
    ) -> *mut u8;
    pub fn mmap64(
        at: *mut u8,
        size: usize,
        protection: i32,
        flags: i32,
        fd: i32,
        offset: i64,
    ) -> *mut u8;
    pub fn munmap(start: *mut u8, size: usize) -> i32;

    // stdio.h
    pub static stdin: *mut File;
    /// The first of all open streams.
    pub static _IO_list_all: *mut File;
    pub static stdout: *mut File;
    pub fn fopen(path: *const u8, mode: *const u8) -> *mut File;
    pub fn fopen64(path: *const u8, mode: *const u8) -> *mut File;
    pub fn freopen(path: *const u8, mode: *const u8, file: *mut File) -> *mut File;
    pub fn freopen64(path: *const u8, mode: *const u8, file: *mut File) -> *mut File;
    pub fn fdopen(fd: i32, mode: *const u8) -> *mut File;
    pub fn fopencookie(cookie: *mut u8, mode: *const u8, functions: Functions) -> *mut File;
    pub fn fclose(file: *mut File) -> i32;
    pub fn fread(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize;
    pub fn fread_unlocked(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize;
    pub fn __fread_chk(
        buffer: *mut u8,
        room: usize,
        size: usize,
        count: usize,
        file: *mut File,
    ) -> usize;
    pub fn __fread_unlocked_chk(
        buffer: *mut u8,
        room: usize,
        size: usize,
        count: usize,
        file: *mut File,
    ) -> usize;
    pub fn fgets(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8;
    pub fn fgets_unlocked(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8;
    pub fn __fgets_chk(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8;
    pub fn __fgets_unlocked_chk(
        buffer: *mut u8,
        room: usize,
        size: i32,
        file: *mut File,
    ) -> *mut u8;
    pub fn getc(file: *mut File) -> i32;
    pub fn fgetc(file: *mut File) -> i32;
    pub fn _IO_getc(file: *mut File) -> i32;
    pub fn getc_unlocked(file: *mut File) -> i32;
    pub fn fgetc_unlocked(file: *mut File) -> i32;
    pub fn getchar() -> i32;
    pub fn getchar_unlocked() -> i32;
    pub fn fputc(byte: i32, file: *mut File) -> i32;
    pub fn putc(byte: i32, file: *mut File) -> i32;
    pub fn _IO_putc(byte: i32, file: *mut File) -> i32;
    pub fn fputc_unlocked(byte: i32, file: *mut File) -> i32;
    pub fn putc_unlocked(byte: i32, file: *mut File) -> i32;
    pub fn putchar(byte: i32) -> i32;
    pub fn putchar_unlocked(byte: i32) -> i32;
    pub fn ungetc(byte: i32, file: *mut File) -> i32;
    pub fn getline(line: *mut *mut u8, room: *mut usize, file: *mut File) -> isize;
    pub fn getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize;
    pub fn __getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize;
    pub fn fseek(file: *mut File, offset: i64, whence: i32) -> i32;
    pub fn fseeko(file: *mut File, offset: i64, whence: i32) -> i32;
    pub fn fseeko64(file: *mut File, offset: i64, whence: i32) -> i32;
    pub fn ftell(file: *mut File) -> i64;
    pub fn ftello(file: *mut File) -> i64;
    pub fn ftello64(file: *mut File) -> i64;
    pub fn rewind(file: *mut File);
    pub fn fsetpos(file: *mut File, position: *const c_void) -> i32;
    pub fn fsetpos64(file: *mut File, position: *const c_void) -> i32;
    pub fn setbuf(file: *mut File, buffer: *mut u8);
    pub fn setbuffer(file: *mut File, buffer: *mut u8, size: usize);
    pub fn setvbuf(file: *mut File, buffer: *mut u8, mode: i32, size: usize) -> i32;

    // setjmp.h
    pub fn longjmp(place: *mut u8, value: i32);
    pub fn _longjmp(place: *mut u8, value: i32);
    pub fn siglongjmp(place: *mut u8, value: i32);
    pub fn __longjmp_chk(place: *mut u8, value: i32);

    // stdlib.h
    pub fn malloc(size: usize) -> *mut u8;
    pub fn calloc(count: usize, size: usize) -> *mut u8;
    pub fn realloc(memory: *mut u8, size: usize) -> *mut u8;
    pub fn free(memory: *mut u8);
    pub fn reallocarray(memory: *mut u8, count: usize, size: usize) -> *mut u8;
    pub fn aligned_alloc(alignment: usize, size: usize) -> *mut u8;
    pub fn memalign(alignment: usize, size: usize) -> *mut u8;
    pub fn valloc(size: usize) -> *mut u8;
    pub fn posix_memalign(to: *mut *mut u8, alignment: usize, size: usize) -> i32;
    pub fn malloc_usable_size(memory: *mut u8) -> usize;

    // string.h
    pub fn memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    pub fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    pub fn memset(to: *mut u8, byte: i32, size: usize) -> *mut u8;
    pub fn mempcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
    pub fn bcopy(from: *const u8, to: *mut u8, size: usize);
    pub fn bzero(to: *mut u8, size: usize);
    pub fn explicit_bzero(to: *mut u8, size: usize);
    pub fn __explicit_bzero_chk(to: *mut u8, size: usize, room: usize);
    pub fn __mempcpy_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
    pub fn __memcpy_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
    pub fn __memmove_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
    pub fn __memset_chk(to: *mut u8, byte: i32, size: usize, room: usize) -> *mut u8;
}
