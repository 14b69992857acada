//! Functions with any number of arguments: what is captured comes before, then the real function
//! gets registers and stack as they were.
//!
//! `scanf` and its relatives are in C (`libc/capture/scanf.c`).

use core::arch::global_asm;

use nearmiss_rt_base::capture::{self, Use};
use nearmiss_rt_base::files::AT_FDCWD;

use crate::rows::{Place, When};

/// A program at a path is about to be executed.
extern "C" fn executes_path(path: *const u8) {
    capture::uses(Use::Status, AT_FDCWD, path);
    capture::executes();
}

/// A program is about to be executed that is searched by its name.
extern "C" fn executes_name(_: *const u8) {
    capture::executes();
}

macro_rules! before {
    ($($name:literal $place:ident: $first:path;)*) => { $(
        #[unsafe(export_name = concat!("__nm_place_", $name))]
        static $place: Place = Place::new(When::Captured, $name);

        global_asm!(
            concat!(".globl __nm_captures_", $name),
            concat!(".type __nm_captures_", $name, ",@function"),
            concat!("__nm_captures_", $name, ":"),
            ".cfi_startproc",
            "push rax",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            ".cfi_adjust_cfa_offset 56",
            "call {first}",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "pop rax",
            ".cfi_adjust_cfa_offset -56",
            "jmp qword ptr [rip + {place}]",
            ".cfi_endproc",
            concat!(".size __nm_captures_", $name, ", . - __nm_captures_", $name),
            first = sym $first,
            place = sym $place,
        );
    )* };
}

before! {
    "execl" EXECL: executes_path;
    "execle" EXECLE: executes_path;
    "execlp" EXECLP: executes_name;
}
