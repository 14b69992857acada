//! Functions that have a model only to be captured: those that use paths, and those that read
//! from streams behind the back of the others. Labels go nowhere here: whoever gives these
//! functions symbolic data is told so as for any function without a model.

use super::called::{use_of_flags, use_of_question};
use crate::capture::stdin::{self, Given};
use crate::capture::{self, Use};
use crate::files::AT_FDCWD;
use crate::streams::File;
use crate::system;
use crate::text::Text;

/// Defines such a model: what is captured before, then the real function.
macro_rules! captures {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty:
        $($use:expr, $directory:expr, $path:expr);+;)*) => { $(
        #[doc = concat!("Captures, then does `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            unsafe extern "C" {
                fn $name($($argument: $type),*) -> $result;
            }
            $(capture::uses($use, $directory, $path);)+
            // SAFETY: as promised by the caller.
            unsafe { $name($($argument),*) }
        }
    )* };
}

type Pointer = *mut u8;

captures! {
    // fcntl.h: what fortified calls without a mode become, and an old name.
    fn creat(path: *const u8, mode: u32) -> i32: Use::Write, AT_FDCWD, path;
    fn creat64(path: *const u8, mode: u32) -> i32: Use::Write, AT_FDCWD, path;
    fn __open_2(path: *const u8, how: i32) -> i32: use_of_flags(how), AT_FDCWD, path;
    fn __open64_2(path: *const u8, how: i32) -> i32: use_of_flags(how), AT_FDCWD, path;
    fn __openat_2(at: i32, path: *const u8, how: i32) -> i32: use_of_flags(how), at, path;
    fn __openat64_2(at: i32, path: *const u8, how: i32) -> i32: use_of_flags(how), at, path;
    // dirent.h.
    fn opendir(path: *const u8) -> Pointer: Use::Content, AT_FDCWD, path;
    fn scandir(path: *const u8, list: Pointer, choose: Pointer, order: Pointer) -> i32: Use::Content, AT_FDCWD, path;
    fn scandir64(path: *const u8, list: Pointer, choose: Pointer, order: Pointer) -> i32: Use::Content, AT_FDCWD, path;
    fn scandirat(at: i32, path: *const u8, list: Pointer, choose: Pointer, order: Pointer) -> i32: Use::Content, at, path;
    fn scandirat64(at: i32, path: *const u8, list: Pointer, choose: Pointer, order: Pointer) -> i32: Use::Content, at, path;
    // unistd.h.
    fn access(path: *const u8, how: i32) -> i32: Use::Status, AT_FDCWD, path;
    fn euidaccess(path: *const u8, how: i32) -> i32: Use::Status, AT_FDCWD, path;
    fn eaccess(path: *const u8, how: i32) -> i32: Use::Status, AT_FDCWD, path;
    fn faccessat(at: i32, path: *const u8, mode: i32, how: i32) -> i32: use_of_question(how), at, path;
    fn readlink(path: *const u8, to: Pointer, size: usize) -> isize: Use::Name, AT_FDCWD, path;
    fn __readlink_chk(path: *const u8, to: Pointer, size: usize, room: usize) -> isize: Use::Name, AT_FDCWD, path;
    fn readlinkat(at: i32, path: *const u8, to: Pointer, size: usize) -> isize: Use::Name, at, path;
    fn __readlinkat_chk(at: i32, path: *const u8, to: Pointer, size: usize, room: usize) -> isize: Use::Name, at, path;
    fn unlink(path: *const u8) -> i32: Use::Name, AT_FDCWD, path;
    fn unlinkat(at: i32, path: *const u8, how: i32) -> i32: Use::Name, at, path;
    fn rmdir(path: *const u8) -> i32: Use::Name, AT_FDCWD, path;
    fn link(old: *const u8, new: *const u8) -> i32: Use::Move, AT_FDCWD, old; Use::Name, AT_FDCWD, new;
    fn linkat(at: i32, old: *const u8, to: i32, new: *const u8, how: i32) -> i32: Use::Move, at, old; Use::Name, to, new;
    fn symlink(target: *const u8, path: *const u8) -> i32: Use::Name, AT_FDCWD, path;
    fn symlinkat(target: *const u8, at: i32, path: *const u8) -> i32: Use::Name, at, path;
    fn chdir(path: *const u8) -> i32: Use::Status, AT_FDCWD, path;
    fn chown(path: *const u8, user: u32, group: u32) -> i32: Use::Status, AT_FDCWD, path;
    fn lchown(path: *const u8, user: u32, group: u32) -> i32: Use::Name, AT_FDCWD, path;
    fn fchownat(at: i32, path: *const u8, user: u32, group: u32, how: i32) -> i32: use_of_question(how), at, path;
    fn truncate(path: *const u8, size: i64) -> i32: Use::Content, AT_FDCWD, path;
    fn truncate64(path: *const u8, size: i64) -> i32: Use::Content, AT_FDCWD, path;
    fn pathconf(path: *const u8, name: i32) -> i64: Use::Status, AT_FDCWD, path;
    // stdio.h.
    fn remove(path: *const u8) -> i32: Use::Name, AT_FDCWD, path;
    fn rename(old: *const u8, new: *const u8) -> i32: Use::Move, AT_FDCWD, old; Use::Name, AT_FDCWD, new;
    fn renameat(at: i32, old: *const u8, to: i32, new: *const u8) -> i32: Use::Move, at, old; Use::Name, to, new;
    fn renameat2(at: i32, old: *const u8, to: i32, new: *const u8, how: u32) -> i32: Use::Move, at, old; Use::Move, to, new;
    // sys/stat.h, sys/statfs.h, sys/statvfs.h, utime.h, sys/time.h.
    fn mkdir(path: *const u8, mode: u32) -> i32: Use::Name, AT_FDCWD, path;
    fn mkdirat(at: i32, path: *const u8, mode: u32) -> i32: Use::Name, at, path;
    fn mkfifo(path: *const u8, mode: u32) -> i32: Use::Name, AT_FDCWD, path;
    fn mkfifoat(at: i32, path: *const u8, mode: u32) -> i32: Use::Name, at, path;
    fn mknod(path: *const u8, mode: u32, device: u64) -> i32: Use::Name, AT_FDCWD, path;
    fn mknodat(at: i32, path: *const u8, mode: u32, device: u64) -> i32: Use::Name, at, path;
    fn chmod(path: *const u8, mode: u32) -> i32: Use::Status, AT_FDCWD, path;
    fn fchmodat(at: i32, path: *const u8, mode: u32, how: i32) -> i32: use_of_question(how), at, path;
    fn __xstat(version: i32, path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn __xstat64(version: i32, path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn __lxstat(version: i32, path: *const u8, record: Pointer) -> i32: Use::Name, AT_FDCWD, path;
    fn __lxstat64(version: i32, path: *const u8, record: Pointer) -> i32: Use::Name, AT_FDCWD, path;
    fn __fxstatat(version: i32, at: i32, path: *const u8, record: Pointer, how: i32) -> i32: use_of_question(how), at, path;
    fn __fxstatat64(version: i32, at: i32, path: *const u8, record: Pointer, how: i32) -> i32: use_of_question(how), at, path;
    fn statfs(path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn statfs64(path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn statvfs(path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn statvfs64(path: *const u8, record: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn utime(path: *const u8, times: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn utimes(path: *const u8, times: Pointer) -> i32: Use::Status, AT_FDCWD, path;
    fn lutimes(path: *const u8, times: Pointer) -> i32: Use::Name, AT_FDCWD, path;
    fn futimesat(at: i32, path: *const u8, times: Pointer) -> i32: Use::Status, at, path;
    fn utimensat(at: i32, path: *const u8, times: Pointer, how: i32) -> i32: use_of_question(how), at, path;
    // stdlib.h, ftw.h: of a tree only its root is listed.
    fn realpath(path: *const u8, to: Pointer) -> Pointer: Use::Status, AT_FDCWD, path;
    fn __realpath_chk(path: *const u8, to: Pointer, room: usize) -> Pointer: Use::Status, AT_FDCWD, path;
    fn canonicalize_file_name(path: *const u8) -> Pointer: Use::Status, AT_FDCWD, path;
    fn ftw(path: *const u8, visit: Pointer, depth: i32) -> i32: Use::Content, AT_FDCWD, path;
    fn ftw64(path: *const u8, visit: Pointer, depth: i32) -> i32: Use::Content, AT_FDCWD, path;
    fn nftw(path: *const u8, visit: Pointer, depth: i32, how: i32) -> i32: Use::Content, AT_FDCWD, path;
    fn nftw64(path: *const u8, visit: Pointer, depth: i32, how: i32) -> i32: Use::Content, AT_FDCWD, path;
}

/// The model of `fdopendir`: a directory that is open already is listed.
///
/// # Safety
/// As for the real function.
#[unsafe(export_name = "__nm_model_fdopendir")]
pub unsafe extern "C" fn fdopendir(fd: i32) -> Pointer {
    unsafe extern "C" {
        fn fdopendir(fd: i32) -> Pointer;
    }
    capture::uses_open(Use::Content, fd);
    // SAFETY: as promised by the caller.
    unsafe { fdopendir(fd) }
}

/// Functions that expand a pattern: the directory that it starts in is listed.
macro_rules! expands {
    ($($name:ident)*) => { $(
        #[doc = concat!("Captures, then does `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name(pattern: *const u8, how: i32, error: Pointer, to: Pointer) -> i32 {
            unsafe extern "C" {
                fn $name(pattern: *const u8, how: i32, error: Pointer, to: Pointer) -> i32;
            }
            // SAFETY: as promised by the caller.
            unsafe {
                if capture::active() {
                    list_start(system::text(pattern));
                }
                $name(pattern, how, error, to)
            }
        }
    )* };
}

expands! { glob glob64 }

/// The directory of a pattern, as far as that has a name.
fn list_start(pattern: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\');
    let plain = pattern.iter().position(is_special);
    let plain = pattern.get(..plain.unwrap_or(pattern.len())).unwrap_or(&[]);
    let slash = plain.iter().rposition(|&byte| byte == b'/');
    let start = slash.and_then(|slash| plain.get(..slash + 1));
    let mut directory = Text::<4096>::EMPTY;
    if directory.push(start.unwrap_or(b".")) {
        capture::uses(Use::Content, AT_FDCWD, directory.as_ptr());
    }
}

/// The model of `fts_open`: of each tree the root is listed.
///
/// # Safety
/// As for the real function.
#[unsafe(export_name = "__nm_model_fts_open")]
pub unsafe extern "C" fn fts_open(paths: *const *const u8, how: i32, order: Pointer) -> Pointer {
    unsafe extern "C" {
        fn fts_open(paths: *const *const u8, how: i32, order: Pointer) -> Pointer;
    }
    // SAFETY: as promised by the caller.
    unsafe {
        let mut path = paths;
        while capture::active() && !path.is_null() && !(*path).is_null() {
            capture::uses(Use::Content, AT_FDCWD, *path);
            path = path.add(1);
        }
        fts_open(paths, how, order)
    }
}

/// Functions that find a new name and make it: it did not exist.
macro_rules! makes {
    ($(fn $name:ident(template $(, $argument:ident: $type:ty)*) -> $result:ty: |$made:ident| $is_made:expr;)*) => { $(
        #[doc = concat!("Does `", stringify!($name), "`, then captures that the name is new.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name(template: Pointer $(, $argument: $type)*) -> $result {
            unsafe extern "C" {
                fn $name(template: Pointer $(, $argument: $type)*) -> $result;
            }
            // SAFETY: as promised by the caller.
            let $made = unsafe { $name(template $(, $argument)*) };
            if $is_made {
                // SAFETY: the real function has just filled it in.
                unsafe { capture::made(template) };
            }
            $made
        }
    )* };
}

makes! {
    fn mkstemp(template) -> i32: |fd| fd >= 0;
    fn mkstemp64(template) -> i32: |fd| fd >= 0;
    fn mkostemp(template, how: i32) -> i32: |fd| fd >= 0;
    fn mkostemp64(template, how: i32) -> i32: |fd| fd >= 0;
    fn mkstemps(template, suffix: i32) -> i32: |fd| fd >= 0;
    fn mkstemps64(template, suffix: i32) -> i32: |fd| fd >= 0;
    fn mkostemps(template, suffix: i32, how: i32) -> i32: |fd| fd >= 0;
    fn mkostemps64(template, suffix: i32, how: i32) -> i32: |fd| fd >= 0;
    fn mkdtemp(template) -> Pointer: |name| !name.is_null();
}

/// What glibc's macros call when a stream's buffer is empty.
macro_rules! refills {
    ($($name:ident: |$byte:ident| $given:expr;)*) => { $(
        #[doc = concat!("Does `", stringify!($name), "`, and captures what came.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name(file: *mut File) -> i32 {
            unsafe extern "C" {
                fn $name(file: *mut File) -> i32;
            }
            // SAFETY: as promised by the caller.
            unsafe {
                let before = stdin::before(file);
                let $byte = $name(file);
                stdin::after(file, before, $given);
                $byte
            }
        }
    )* };
}

refills! {
    __uflow: |byte| Given::Byte(byte);
    __underflow: |byte| Given::Something;
}
