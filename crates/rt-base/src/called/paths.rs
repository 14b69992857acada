//! Functions that use paths, directories, or names that they make.

use crate::capture::{self, Use};
use crate::files::AT_FDCWD;
use crate::text::Text;

/// See [`crate::called`].
#[macro_export]
macro_rules! path_functions {
    ($take:ident) => {
        $take! {
            // fcntl.h: what fortified calls without a mode become, and an old name.
            fn creat(path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Write, $crate::files::AT_FDCWD, path }
            fn creat64(path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Write, $crate::files::AT_FDCWD, path }
            fn __open_2(path: *const u8, how: i32) -> i32 { $crate::called::use_of_flags(how), $crate::files::AT_FDCWD, path }
            fn __open64_2(path: *const u8, how: i32) -> i32 { $crate::called::use_of_flags(how), $crate::files::AT_FDCWD, path }
            fn __openat_2(at: i32, path: *const u8, how: i32) -> i32 { $crate::called::use_of_flags(how), at, path }
            fn __openat64_2(at: i32, path: *const u8, how: i32) -> i32 { $crate::called::use_of_flags(how), at, path }
            // dirent.h.
            fn opendir(path: *const u8) -> *mut u8 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn scandir(path: *const u8, list: *mut u8, choose: *mut u8, order: *mut u8) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn scandir64(path: *const u8, list: *mut u8, choose: *mut u8, order: *mut u8) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn scandirat(at: i32, path: *const u8, list: *mut u8, choose: *mut u8, order: *mut u8) -> i32 { $crate::capture::Use::Content, at, path }
            fn scandirat64(at: i32, path: *const u8, list: *mut u8, choose: *mut u8, order: *mut u8) -> i32 { $crate::capture::Use::Content, at, path }
            // unistd.h.
            fn access(path: *const u8, how: i32) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn euidaccess(path: *const u8, how: i32) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn eaccess(path: *const u8, how: i32) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn faccessat(at: i32, path: *const u8, mode: i32, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            fn readlink(path: *const u8, to: *mut u8, size: usize) -> isize { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn __readlink_chk(path: *const u8, to: *mut u8, size: usize, room: usize) -> isize { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn readlinkat(at: i32, path: *const u8, to: *mut u8, size: usize) -> isize { $crate::capture::Use::Name, at, path }
            fn __readlinkat_chk(at: i32, path: *const u8, to: *mut u8, size: usize, room: usize) -> isize { $crate::capture::Use::Name, at, path }
            fn unlink(path: *const u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn unlinkat(at: i32, path: *const u8, how: i32) -> i32 { $crate::capture::Use::Name, at, path }
            fn rmdir(path: *const u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn link(old: *const u8, new: *const u8) -> i32 { $crate::capture::Use::Move, $crate::files::AT_FDCWD, old; $crate::capture::Use::Name, $crate::files::AT_FDCWD, new }
            fn linkat(at: i32, old: *const u8, to: i32, new: *const u8, how: i32) -> i32 { $crate::capture::Use::Move, at, old; $crate::capture::Use::Name, to, new }
            fn symlink(target: *const u8, path: *const u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn symlinkat(target: *const u8, at: i32, path: *const u8) -> i32 { $crate::capture::Use::Name, at, path }
            fn chdir(path: *const u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn chown(path: *const u8, user: u32, group: u32) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn lchown(path: *const u8, user: u32, group: u32) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn fchownat(at: i32, path: *const u8, user: u32, group: u32, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            fn truncate(path: *const u8, size: i64) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn truncate64(path: *const u8, size: i64) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn pathconf(path: *const u8, name: i32) -> i64 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            // stdio.h.
            fn remove(path: *const u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn rename(old: *const u8, new: *const u8) -> i32 { $crate::capture::Use::Move, $crate::files::AT_FDCWD, old; $crate::capture::Use::Name, $crate::files::AT_FDCWD, new }
            fn renameat(at: i32, old: *const u8, to: i32, new: *const u8) -> i32 { $crate::capture::Use::Move, at, old; $crate::capture::Use::Name, to, new }
            fn renameat2(at: i32, old: *const u8, to: i32, new: *const u8, how: u32) -> i32 { $crate::capture::Use::Move, at, old; $crate::capture::Use::Move, to, new }
            // sys/stat.h, sys/statfs.h, sys/statvfs.h, utime.h, sys/time.h.
            fn mkdir(path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn mkdirat(at: i32, path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Name, at, path }
            fn mkfifo(path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn mkfifoat(at: i32, path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Name, at, path }
            fn mknod(path: *const u8, mode: u32, device: u64) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn mknodat(at: i32, path: *const u8, mode: u32, device: u64) -> i32 { $crate::capture::Use::Name, at, path }
            fn chmod(path: *const u8, mode: u32) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn fchmodat(at: i32, path: *const u8, mode: u32, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            fn __xstat(version: i32, path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn __xstat64(version: i32, path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn __lxstat(version: i32, path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn __lxstat64(version: i32, path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn __fxstatat(version: i32, at: i32, path: *const u8, record: *mut u8, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            fn __fxstatat64(version: i32, at: i32, path: *const u8, record: *mut u8, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            fn statfs(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn statfs64(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn statvfs(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn statvfs64(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn utime(path: *const u8, times: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn utimes(path: *const u8, times: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn lutimes(path: *const u8, times: *mut u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn futimesat(at: i32, path: *const u8, times: *mut u8) -> i32 { $crate::capture::Use::Status, at, path }
            fn utimensat(at: i32, path: *const u8, times: *mut u8, how: i32) -> i32 { $crate::called::use_of_question(how), at, path }
            // stdlib.h, ftw.h: of a tree only its root is listed.
            fn realpath(path: *const u8, to: *mut u8) -> *mut u8 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn __realpath_chk(path: *const u8, to: *mut u8, room: usize) -> *mut u8 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn canonicalize_file_name(path: *const u8) -> *mut u8 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn ftw(path: *const u8, visit: *mut u8, depth: i32) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn ftw64(path: *const u8, visit: *mut u8, depth: i32) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn nftw(path: *const u8, visit: *mut u8, depth: i32, how: i32) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
            fn nftw64(path: *const u8, visit: *mut u8, depth: i32, how: i32) -> i32 { $crate::capture::Use::Content, $crate::files::AT_FDCWD, path }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_paths {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($use:expr, $directory:expr, $path:expr);+ })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            $($crate::capture::uses($use, $directory, $path);)+
            // SAFETY: as promised by the caller.
            unsafe { real::$name($($argument),*) }
        }
    )* };
}

/// See [`crate::called`]. A directory that is open already is listed; of a pattern the directory that
/// it starts in, of trees the roots.
#[macro_export]
macro_rules! directory_functions {
    ($take:ident) => {
        $take! {
            fn fdopendir(fd: i32) -> *mut u8 { $crate::capture::uses_open($crate::capture::Use::Content, fd) }
            fn glob(pattern: *const u8, how: i32, error: *mut u8, to: *mut u8) -> i32 { $crate::called::list_start(pattern) }
            fn glob64(pattern: *const u8, how: i32, error: *mut u8, to: *mut u8) -> i32 { $crate::called::list_start(pattern) }
            fn fts_open(paths: *const *const u8, how: i32, order: *mut u8) -> *mut u8 { $crate::called::list_roots(paths) }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_directories {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $list:expr })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                if $crate::capture::active() {
                    $list;
                }
                real::$name($($argument),*)
            }
        }
    )* };
}

/// Lists the directory of a pattern, as far as that has a name.
///
/// # Safety
/// The pattern ends with a zero.
pub unsafe fn list_start(pattern: *const u8) {
    // SAFETY: as promised by the caller.
    let pattern = unsafe { crate::system::text(pattern) };
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

/// Lists the roots of trees.
///
/// # Safety
/// `paths` is an array of texts that ends with a null.
pub unsafe fn list_roots(paths: *const *const u8) {
    let mut path = paths;
    // SAFETY: as promised by the caller.
    unsafe {
        while !path.is_null() && !(*path).is_null() {
            capture::uses(Use::Content, AT_FDCWD, *path);
            path = path.add(1);
        }
    }
}

/// See [`crate::called`]. The functions find a new name and make it: it did not exist.
#[macro_export]
macro_rules! making_functions {
    ($take:ident) => {
        $take! {
            fn mkstemp(template: *mut u8) -> i32 { template }
            fn mkstemp64(template: *mut u8) -> i32 { template }
            fn mkostemp(template: *mut u8, how: i32) -> i32 { template }
            fn mkostemp64(template: *mut u8, how: i32) -> i32 { template }
            fn mkstemps(template: *mut u8, suffix: i32) -> i32 { template }
            fn mkstemps64(template: *mut u8, suffix: i32) -> i32 { template }
            fn mkostemps(template: *mut u8, suffix: i32, how: i32) -> i32 { template }
            fn mkostemps64(template: *mut u8, suffix: i32, how: i32) -> i32 { template }
            fn mkdtemp(template: *mut u8) -> *mut u8 { template }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_making {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $made:ident })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller; the real function has filled in the name.
            unsafe {
                let result = real::$name($($argument),*);
                if $crate::called::PathResult::has_succeeded(&result) {
                    $crate::capture::made($made);
                }
                result
            }
        }
    )* };
}
