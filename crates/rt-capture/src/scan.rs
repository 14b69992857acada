//! What the functions in C (`libc/capture`) ask: `libc/capture/capture.h` declares these functions.

use nearmiss_rt_base::capture::stdin::{self, Given};
use nearmiss_rt_base::streams::{Ahead, File, ahead};

/// Whether bytes of standard input are captured.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_capture_is_watched() -> i32 {
    stdin::is_watched().into()
}

/// A stream is about to be read, in a way that is not known. Whether what comes is to be captured.
///
/// # Safety
/// `file` is an open stream, and `known` has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_capture_before(file: *mut File, known: *mut Ahead) -> i32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match stdin::before(file) {
            Some(before) => {
                known.write(before);
                1
            }
            None => 0,
        }
    }
}

/// The stream was read.
///
/// # Safety
/// `file` is an open stream, and `known` is of [`__nm_capture_before`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_capture_after(file: *mut File, known: *const Ahead) {
    // SAFETY: as promised by the caller.
    unsafe { stdin::after(file, Some(known.read()), Given::Something) };
}

/// Bytes that a stream can give without asking its descriptor.
///
/// # Safety
/// `file` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_capture_available(file: *mut File) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { ahead(file).available }
}
