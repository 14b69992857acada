//! Raw system calls, and copying bytes without libc.
//!
//! The program may not notice the runtime: libc's wrappers would set `errno`, could be
//! replaced by the program, and may not be ready before `main`. Each function here is the
//! system call of its name; errors are the kernel's numbers.
//!
//! On `unsafe`: each function passes its arguments to the kernel as they are; those that let
//! the kernel write to memory or unmap it are `unsafe` and need pointers good for the size.

use core::arch::asm;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// The file exists.
pub const EEXIST: Errno = Errno(17);
/// The system has no more descriptors.
pub const ENFILE: Errno = Errno(23);
/// The process has no more descriptors.
pub const EMFILE: Errno = Errno(24);
/// The operation is not supported by this file system.
pub const EOPNOTSUPP: Errno = Errno(95);
/// A system call was interrupted.
pub const EINTR: Errno = Errno(4);
/// An argument is not valid, or a flag not known.
pub const EINVAL: Errno = Errno(22);

const OPEN: usize = 2;
const CLOSE: usize = 3;
const FSTAT: usize = 5;
const LSEEK: usize = 8;
const MMAP: usize = 9;
const MPROTECT: usize = 10;
const MUNMAP: usize = 11;
const PREAD: usize = 17;
const PWRITE: usize = 18;
const SCHED_YIELD: usize = 24;
const MADVISE: usize = 28;
const GETPID: usize = 39;
const FCNTL: usize = 72;
const FTRUNCATE: usize = 77;
const GETCWD: usize = 79;
const READLINK: usize = 89;
const EXIT_GROUP: usize = 231;
const FALLOCATE: usize = 285;
const PRLIMIT: usize = 302;
const CLOCK_GETTIME: usize = 228;
const PROCESS_VM_READV: usize = 310;
const PROCESS_VM_WRITEV: usize = 311;
const RENAME: usize = 82;
const RENAMEAT2: usize = 316;

/// # Safety
/// As the system call `number` asks.
#[inline(always)]
pub unsafe fn call(number: usize, a: [usize; 6]) -> Result<usize, Errno> {
    let result: isize;
    // SAFETY: `syscall` changes rax, rcx and r11 only; memory effects are the caller's claim.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    if result < 0 {
        Err(Errno(-result as i32))
    } else {
        Ok(result as usize)
    }
}

/// Opens the zero-terminated `path`.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn open(path: *const u8, flags: i32, mode: u32) -> Result<i32, Errno> {
    // SAFETY: the kernel reads up to the zero.
    unsafe {
        call(
            OPEN,
            [path as usize, flags as usize, mode as usize, 0, 0, 0],
        )
        .map(|fd| fd as i32)
    }
}

/// Gives a file another name, unless there is a file of that name.
///
/// # Safety
/// Both paths end with a zero.
pub unsafe fn rename_new(old: *const u8, new: *const u8) -> Result<(), Errno> {
    const AT_FDCWD: usize = -100isize as usize;
    const NOREPLACE: usize = 1;
    let (old, new) = (old as usize, new as usize);
    // SAFETY: the kernel reads up to the zeros.
    let renamed = unsafe { call(RENAMEAT2, [AT_FDCWD, old, AT_FDCWD, new, NOREPLACE, 0]) };
    match renamed {
        // Not every file system knows the flag.
        // SAFETY: as above.
        Err(EINVAL) => unsafe { call(RENAME, [old, new, 0, 0, 0, 0]).map(|_| ()) },
        other => other.map(|_| ()),
    }
}

/// Closes a descriptor of the runtime's own.
pub fn close(fd: i32) {
    // SAFETY: no memory is involved.
    let _ = unsafe { call(CLOSE, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// Reads at `offset`, leaving the descriptor's position alone.
///
/// # Safety
/// `to` has room for `size` bytes.
pub unsafe fn pread(fd: i32, to: *mut u8, size: usize, offset: u64) -> Result<usize, Errno> {
    // SAFETY: as promised by the caller.
    unsafe {
        call(
            PREAD,
            [fd as usize, to as usize, size, offset as usize, 0, 0],
        )
    }
}

/// Writes at `offset`.
pub fn pwrite(fd: i32, from: &[u8], offset: u64) -> Result<usize, Errno> {
    let (start, size) = (from.as_ptr() as usize, from.len());
    // SAFETY: the slice is readable.
    unsafe { call(PWRITE, [fd as usize, start, size, offset as usize, 0, 0]) }
}

/// Where the descriptor stands, if it can seek.
pub fn position(fd: i32) -> Option<u64> {
    const SEEK_CUR: usize = 1;
    // SAFETY: no memory is involved.
    let position = unsafe { call(LSEEK, [fd as usize, 0, SEEK_CUR, 0, 0, 0]) };
    position.ok().map(|offset| offset as u64)
}

/// The flags with which a descriptor was opened.
pub fn open_flags(fd: i32) -> usize {
    const F_GETFL: usize = 3;
    // SAFETY: no memory is involved.
    unsafe { call(FCNTL, [fd as usize, F_GETFL, 0, 0, 0, 0]) }.unwrap_or(0)
}

/// The time now as files have it: seconds and nanoseconds.
pub fn file_time() -> (u64, u64) {
    const CLOCK_REALTIME_COARSE: usize = 5;
    let mut time = [0u64; 2];
    let place = time.as_mut_ptr() as usize;
    // SAFETY: the kernel writes two words.
    let _ = unsafe { call(CLOCK_GETTIME, [CLOCK_REALTIME_COARSE, place, 0, 0, 0, 0]) };
    (time[0], time[1])
}

/// Makes a page of the program's data writable; `false` if that cannot be.
///
/// # Safety
/// Nothing relies on its being read-only.
pub unsafe fn protect_writable(start: *mut u8, size: usize) -> bool {
    let protection = (map::PROT_READ | map::PROT_WRITE) as usize;
    // SAFETY: as promised by the caller.
    unsafe { call(MPROTECT, [start as usize, size, protection, 0, 0, 0]) }.is_ok()
}

/// Addresses at which nothing lies, and nothing will.
pub fn reserve(size: usize) -> Result<*mut u8, Errno> {
    map(size, 0, map::PRIVATE | map::ANONYMOUS | map::NORESERVE, -1)
}

/// What `fstat` says of a file, as far as the runtime asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The device it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Kind and permissions.
    pub mode: u32,
    /// Of a device: which one.
    pub special: u64,
    /// Bytes.
    pub size: u64,
    /// Time of the last change: seconds.
    pub changed_seconds: u64,
    /// Time of the last change: nanoseconds.
    pub changed_nanoseconds: u64,
}

impl Status {
    /// What tells it from every other file.
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// What kind of file it is: the type bits of its mode.
    pub fn kind(&self) -> u32 {
        self.mode >> 12
    }

    /// Whether what is written here may be read elsewhere: a named pipe, a socket, a terminal. Devices
    /// of memory (`/dev/null`) give nothing back.
    pub fn may_lead_back(&self) -> bool {
        const PIPE: u32 = 1;
        const CHARACTERS: u32 = 2;
        const SOCKET: u32 = 12;
        const MEMORY_DEVICES: u64 = 1;
        let is_device = self.kind() == CHARACTERS && self.special >> 8 & 0xfff != MEMORY_DEVICES;
        matches!(self.kind(), PIPE | SOCKET) || is_device
    }

    /// Whether it is a regular file.
    pub fn is_regular(&self) -> bool {
        self.mode & 0o170000 == 0o100000
    }
}

/// `fstat`.
pub fn status(fd: i32) -> Result<Status, Errno> {
    // The kernel's `struct stat` of x86-64 as eight-byte words.
    let mut words = [0u64; 18];
    // SAFETY: `struct stat` has 144 bytes.
    unsafe {
        call(
            FSTAT,
            [fd as usize, words.as_mut_ptr() as usize, 0, 0, 0, 0],
        )?
    };
    Ok(Status {
        device: words[0],
        inode: words[1],
        mode: words[3] as u32,
        special: words[5],
        size: words[6],
        changed_seconds: words[11],
        changed_nanoseconds: words[12],
    })
}

/// Memory protection and mapping flags of x86-64 Linux.
pub mod map {
    /// Readable.
    pub const PROT_READ: i32 = 1;
    /// Writable.
    pub const PROT_WRITE: i32 = 2;
    /// Changes go to the file.
    pub const SHARED: i32 = 1;
    /// Changes stay here.
    pub const PRIVATE: i32 = 2;
    /// No file.
    pub const ANONYMOUS: i32 = 0x20;
    /// No memory is set aside for it.
    pub const NORESERVE: i32 = 0x4000;
}

/// What `madvise` is told.
pub mod advice {
    /// Pages are wanted one by one: read nothing ahead.
    pub const RANDOM: i32 = 1;
    /// Forget the contents: pages read as zero again.
    pub const DONTNEED: i32 = 4;
    /// Not mapped in a forked child.
    pub const DONTFORK: i32 = 10;
    /// Transparent huge pages.
    pub const HUGEPAGE: i32 = 14;
    /// No transparent huge pages.
    pub const NOHUGEPAGE: i32 = 15;
    /// Not part of a core dump.
    pub const DONTDUMP: i32 = 16;
    /// Reads as zero in a forked child.
    pub const WIPEONFORK: i32 = 18;
    /// Pages are mapped for writing now, as they are.
    pub const POPULATE_WRITE: i32 = 23;
}

/// A new mapping where the kernel likes; `fd` is -1 for anonymous memory.
pub fn map(size: usize, protection: i32, flags: i32, fd: i32) -> Result<*mut u8, Errno> {
    let arguments = [
        0,
        size,
        protection as usize,
        flags as usize,
        fd as isize as usize,
        0,
    ];
    // SAFETY: without MAP_FIXED no existing memory changes.
    unsafe { call(MMAP, arguments).map(|address| address as *mut u8) }
}

/// Private zeroed memory that costs nothing until it is touched.
pub fn map_private(size: usize) -> Result<*mut u8, Errno> {
    let flags = map::PRIVATE | map::ANONYMOUS | map::NORESERVE;
    map(size, map::PROT_READ | map::PROT_WRITE, flags, -1)
}

/// Gives a mapping back.
///
/// # Safety
/// Nobody uses it any more.
pub unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: as promised by the caller.
    let _ = unsafe { call(MUNMAP, [start as usize, size, 0, 0, 0, 0]) };
}

/// `madvise`; advice that this kernel does not know is not taken.
///
/// # Safety
/// The range is the runtime's own, and its contents may become zero if the advice says so.
pub unsafe fn advise(start: *mut u8, size: usize, advice: i32) {
    // SAFETY: as promised by the caller.
    let _ = unsafe { call(MADVISE, [start as usize, size, advice as usize, 0, 0, 0]) };
}

/// Reads memory of this process; `false`, not a signal, where that cannot be read.
///
/// # Safety
/// `size` bytes at `to` are the runtime's own.
pub unsafe fn read_own(from: u64, to: *mut u8, size: usize) -> bool {
    let local = [to as usize, size];
    let remote = [from as usize, size];
    let arguments = [
        process() as usize,
        local.as_ptr() as usize,
        1,
        remote.as_ptr() as usize,
        1,
        0,
    ];
    // SAFETY: as promised by the caller.
    unsafe { call(PROCESS_VM_READV, arguments) == Ok(size) }
}

/// Whether this process may write to its own memory at an address. It keeps its byte.
pub fn is_writable(address: u64) -> bool {
    let mut byte = 0u8;
    // SAFETY: the byte is ours.
    if !unsafe { read_own(address, &mut byte, 1) } {
        return false;
    }
    let here = [&raw mut byte as usize, 1];
    let there = [address as usize, 1];
    let (here, there) = (here.as_ptr() as usize, there.as_ptr() as usize);
    // SAFETY: what is written is what is there; the kernel refuses memory that is not writable.
    let written = unsafe {
        call(
            PROCESS_VM_WRITEV,
            [process() as usize, here, 1, there, 1, 0],
        )
    };
    written == Ok(1)
}

/// Sets the size of a file.
pub fn truncate(fd: i32, size: u64) -> Result<(), Errno> {
    // SAFETY: no memory is involved.
    unsafe { call(FTRUNCATE, [fd as usize, size as usize, 0, 0, 0, 0]).map(|_| ()) }
}

/// Reserves disk space for a part of a file.
pub fn allocate(fd: i32, offset: u64, size: u64) -> Result<(), Errno> {
    // SAFETY: no memory is involved.
    unsafe {
        call(
            FALLOCATE,
            [fd as usize, 0, offset as usize, size as usize, 0, 0],
        )
        .map(|_| ())
    }
}

/// A copy of the descriptor that is at least `lowest` and is closed by `exec`.
pub fn duplicate_above(fd: i32, lowest: i32) -> Result<i32, Errno> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: no memory is involved.
    unsafe {
        call(
            FCNTL,
            [fd as usize, F_DUPFD_CLOEXEC, lowest as usize, 0, 0, 0],
        )
        .map(|fd| fd as i32)
    }
}

/// The largest file this process may write; more would kill it.
pub fn file_size_limit() -> u64 {
    const RLIMIT_FSIZE: usize = 1;
    let mut limits = [u64::MAX; 2];
    // SAFETY: `struct rlimit64` is two words.
    let _ = unsafe {
        call(
            PRLIMIT,
            [0, RLIMIT_FSIZE, 0, limits.as_mut_ptr() as usize, 0, 0],
        )
    };
    limits[0]
}

/// Raises the limit of the stack where it is as small as usual: frames of instrumented functions are up to four
/// times as large as plain ones, and what recurses deeply in the plain program must do so here. The kernel looks
/// at the limit when the stack grows.
pub fn raise_stack_limit() {
    const RLIMIT_STACK: usize = 3;
    const FACTOR: u64 = 4;
    /// Where an instrumented program starts another one, the limit is raised already.
    const ENOUGH: u64 = 32 << 20;
    let mut limits = [u64::MAX; 2];
    let now = limits.as_mut_ptr() as usize;
    // SAFETY: `struct rlimit64` is two words.
    let _ = unsafe { call(PRLIMIT, [0, RLIMIT_STACK, 0, now, 0, 0]) };
    let [soft, hard] = limits;
    if soft < ENOUGH {
        let raised = [(soft * FACTOR).min(ENOUGH).min(hard), hard];
        let new = raised.as_ptr() as usize;
        // SAFETY: as above.
        let _ = unsafe { call(PRLIMIT, [0, RLIMIT_STACK, new, 0, 0, 0]) };
    }
}

/// The current directory with its final zero: how many bytes it has.
pub fn current_directory(buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes into the slice only.
    unsafe {
        call(
            GETCWD,
            [buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0, 0],
        )
    }
}

/// The target of a symbolic link, without a final zero.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn read_link(path: *const u8, buffer: &mut [u8]) -> Result<usize, Errno> {
    let (start, size) = (buffer.as_mut_ptr() as usize, buffer.len());
    // SAFETY: the kernel reads up to the zero and writes into the slice only.
    unsafe { call(READLINK, [path as usize, start, size, 0, 0, 0]) }
}

/// The number of this process.
pub fn process() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { call(GETPID, [0; 6]).unwrap_or(0) as u32 }
}

/// Lets another thread run.
pub fn yield_processor() {
    // SAFETY: no memory is involved.
    let _ = unsafe { call(SCHED_YIELD, [0; 6]) };
}

/// Ends the process at once.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: no memory is involved.
        let _ = unsafe { call(EXIT_GROUP, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Copies bytes that do not overlap, without libc's `memcpy`, which the program may replace
/// by an instrumented one.
///
/// # Safety
/// As for `memcpy`.
#[inline]
pub unsafe fn copy_bytes(to: *mut u8, from: *const u8, size: usize) {
    // SAFETY: as promised by the caller; the direction flag is clear by convention.
    unsafe {
        asm!(
            "rep movsb",
            inout("rdi") to => _, inout("rsi") from => _, inout("rcx") size => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Bytes up to the zero.
///
/// # Safety
/// `text` ends with a zero.
pub unsafe fn length(text: *const u8) -> usize {
    // SAFETY: as promised by the caller.
    unsafe { length_within(text, usize::MAX) }
}

/// Bytes up to the zero, or `most`.
///
/// # Safety
/// `text` ends with a zero or has `most` bytes.
pub unsafe fn length_within(text: *const u8, most: usize) -> usize {
    let mut size = 0;
    // SAFETY: the bytes up to the zero are readable. Volatile, so that the loop does not
    // become a call of libc's `strlen`.
    while size < most && unsafe { text.add(size).read_volatile() } != 0 {
        size += 1;
    }
    size
}

/// The text as a slice without its zero.
///
/// # Safety
/// `text` ends with a zero and outlives the slice.
pub unsafe fn text<'a>(text: *const u8) -> &'a [u8] {
    // SAFETY: as promised by the caller.
    unsafe { core::slice::from_raw_parts(text, length(text)) }
}
