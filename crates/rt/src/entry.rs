//! The symbols that instrumented code sees, in assembly.
//!
//! Stable Rust can define neither functions of the `preserve_most` convention nor native
//! thread-local variables of a given name, nor call its own function through the symbol that
//! another copy of the runtime may have replaced. All of that stands here, in one piece, so
//! that whoever needs one of these symbols gets the constructor along with it.
//!
//! Each program and each shared library has a copy of the runtime. The hooks, the models and
//! `__nm_register` are visible, so the dynamic linker picks one copy, which then serves all;
//! `__nm_summary` is hidden, so each has its own words, registered with the one.

use core::arch::global_asm;

use crate::hooks;
use nearmiss_abi::shadow::THREAD_SIZE;

/// Bytes of the thread's words and, behind them, of the runtime's own: see [`crate::thread`].
const THREAD_BYTES: usize = THREAD_SIZE + crate::thread::OWN_SIZE;

macro_rules! push {
    ($($register:literal)*) => {
        concat!($(
            "push ", $register, "\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset ", $register, ", 0\n",
        )*)
    };
}

macro_rules! pop {
    ($($register:literal)*) => {
        concat!($(
            "pop ", $register, "\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore ", $register, "\n",
        )*)
    };
}

/// An entry point: saves what `preserve_most` promises and the C convention does not.
macro_rules! trampoline {
    ($name:ident, $save:expr, $restore:expr) => {
        global_asm!(
            ".text",
            ".p2align 4",
            concat!(".globl __nm_", stringify!($name)),
            concat!(".type __nm_", stringify!($name), ", @function"),
            concat!("__nm_", stringify!($name), ":"),
            ".cfi_startproc",
            $save,
            "call {implementation}",
            $restore,
            "ret",
            ".cfi_endproc",
            concat!(".size __nm_", stringify!($name), ", . - __nm_", stringify!($name)),
            implementation = sym hooks::$name,
        );
    };
    // These are told where the frame of their caller ends, behind their own arguments.
    (branch returning) => {
        trampoline!(branch with "rcx");
    };
    (switch returning) => {
        trampoline!(switch with "rdx");
    };
    ($name:ident with $register:literal) => {
        trampoline!(
            $name,
            concat!(
                push!("rcx" "rdx" "rsi" "rdi" "r8" "r9" "r10" "rax" "rax"),
                "lea ", $register, ", [rsp + 80]\n"
            ),
            pop!("rax" "rax" "r10" "r9" "r8" "rdi" "rsi" "rdx" "rcx")
        );
    };
    // Seven words and the return address: the stack is aligned.
    ($name:ident returning u32) => {
        trampoline!(
            $name,
            push!("rcx" "rdx" "rsi" "rdi" "r8" "r9" "r10"),
            pop!("r10" "r9" "r8" "rdi" "rsi" "rdx" "rcx")
        );
    };
    // Without a result `rax` is kept too, and once more to align the stack.
    ($name:ident returning) => {
        trampoline!(
            $name,
            push!("rcx" "rdx" "rsi" "rdi" "r8" "r9" "r10" "rax" "rax"),
            pop!("rax" "rax" "r10" "r9" "r8" "rdi" "rsi" "rdx" "rcx")
        );
    };
}

macro_rules! trampolines {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $word:tt),*) $(-> $result:tt)?;)*) => {
        $(trampoline!($name returning $($result)?);)*
    };
}

nearmiss_abi::for_each_hook!(trampolines);

global_asm!(
    // What an object of this ABI refers to (`abi::hook::ABI_SYMBOL`).
    ".section .rodata.__nm_abi, \"a\", @progbits",
    ".globl __nm_abi_5",
    ".type __nm_abi_5, @object",
    ".size __nm_abi_5, 8",
    ".p2align 3",
    "__nm_abi_5: .quad 1",
    // The words of this program or shared library, good before any constructor has run.
    ".section .data.__nm_summary, \"aw\", @progbits",
    ".hidden __nm_summary",
    ".globl __nm_summary",
    ".type __nm_summary, @object",
    ".size __nm_summary, {summary_size}",
    ".p2align 4",
    "__nm_summary: .quad nearmiss_zero_block",
    ".zero {summary_size} - 8",
    ".section .bss.nearmiss_zero_block, \"aw\", @nobits",
    ".p2align 6",
    ".type nearmiss_zero_block, @object",
    ".size nearmiss_zero_block, {zero_block}",
    "nearmiss_zero_block: .zero {zero_block}",
    // What this program or library is made of: `modules::Module`.
    ".weak __start_nearmiss_globals",
    ".hidden __start_nearmiss_globals",
    ".weak __stop_nearmiss_globals",
    ".hidden __stop_nearmiss_globals",
    ".weak __start_nearmiss_pointers",
    ".hidden __start_nearmiss_pointers",
    ".weak __stop_nearmiss_pointers",
    ".hidden __stop_nearmiss_pointers",
    ".weak __ehdr_start",
    ".hidden __ehdr_start",
    ".section .data.rel.ro.nearmiss_module, \"aw\", @progbits",
    ".type nearmiss_module, @object",
    ".size nearmiss_module, 48",
    ".p2align 3",
    "nearmiss_module: .quad __nm_summary",
    ".quad __start_nearmiss_globals",
    ".quad __stop_nearmiss_globals",
    ".quad __ehdr_start",
    ".quad __start_nearmiss_pointers",
    ".quad __stop_nearmiss_pointers",
    // The thread's words.
    ".section .tbss.__nm_thread, \"awT\", @nobits",
    ".globl __nm_thread",
    ".type __nm_thread, @tls_object",
    ".size __nm_thread, {thread_bytes}",
    ".p2align 3",
    "__nm_thread: .zero {thread_bytes}",
    ".text",
    zero_block = const nearmiss_abi::shadow::ZERO_BLOCK,
    summary_size = const nearmiss_abi::shadow::SUMMARY_SIZE,
    thread_bytes = const THREAD_BYTES,
);

// `__nm_register`, `__nm_serve` and `__nm_unregister` are called through the dynamic linker, so that all
// copies reach the one that serves. Constructors get argc, argv and envp in rdi, rsi, rdx.
global_asm!(
    ".text",
    ".type nearmiss_constructor, @function",
    "nearmiss_constructor:",
    ".cfi_startproc",
    "lea rcx, [rip + nearmiss_module]",
    "jmp __nm_register@PLT",
    ".cfi_endproc",
    ".size nearmiss_constructor, . - nearmiss_constructor",
    ".type nearmiss_last_constructor, @function",
    "nearmiss_last_constructor:",
    ".cfi_startproc",
    "lea rdi, [rip + __nm_summary]",
    "jmp __nm_serve@PLT",
    ".cfi_endproc",
    ".size nearmiss_last_constructor, . - nearmiss_last_constructor",
    ".type nearmiss_destructor, @function",
    "nearmiss_destructor:",
    ".cfi_startproc",
    "lea rdi, [rip + __nm_summary]",
    "jmp __nm_unregister@PLT",
    ".cfi_endproc",
    ".size nearmiss_destructor, . - nearmiss_destructor",
    ".section .init_array.00000, \"aw\", @init_array",
    ".p2align 3",
    ".quad nearmiss_constructor",
    // Without a number: behind all that have one, and behind those of the program's own files,
    // which are linked before the runtime.
    ".section .init_array, \"aw\", @init_array",
    ".p2align 3",
    ".quad nearmiss_last_constructor",
    ".section .fini_array.00000, \"aw\", @fini_array",
    ".p2align 3",
    ".quad nearmiss_destructor",
    ".text",
);

// The precompiled `core` refers to a personality that only an unwinder would call.
#[cfg(not(test))]
global_asm!(
    ".text",
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality, @function",
    "rust_eh_personality: ud2",
    ".size rust_eh_personality, . - rust_eh_personality",
);
