/* One wrapped function, NAME, in an object file of its own (crates/rt-capture/src/rows.rs).
 *
 * The program jumps through its row: to the real function, or, once the process is captured, to the
 * one that captures. A constructor adds the row to the list.
 *
 * In a static link lld takes no object file for a wrapped function that libc defines weakly. It gets all
 * of them (--whole-archive), whose real functions are there only if the program has them (WEAK).
 */
#define JOIN(a, b) a##b
#define NAMED(prefix, name) JOIN(prefix, name)
#define WRAP NAMED(__wrap_, NAME)
#define ROW NAMED(__nm_row_, NAME)
#define ADD NAMED(__nm_add_, NAME)

    .text
    .globl WRAP
    .hidden WRAP
    .type WRAP, @function
    .balign 16
WRAP:
    .cfi_startproc
    jmp *ROW(%rip)
    .cfi_endproc
    .size WRAP, . - WRAP

    .type ADD, @function
ADD:
    .cfi_startproc
    lea ROW(%rip), %rdi
    jmp __nm_capture_add
    .cfi_endproc
    .size ADD, . - ADD

    .section .init_array.00000, "aw", @init_array
    .balign 8
    .quad ADD

    .data
    .balign 8
    .type ROW, @object
ROW:
    .quad NAMED(__real_, NAME)
    .quad NAMED(__nm_captures_, NAME)
    .quad NAMED(__nm_place_, NAME)
    .quad 0
    .quad NAMED(__interceptor_, NAME)
    .quad NAMED(__interceptor_trampoline_, NAME)
    .size ROW, . - ROW

    .weak NAMED(__interceptor_, NAME)
    .hidden NAMED(__interceptor_, NAME)
    .weak NAMED(__interceptor_trampoline_, NAME)
    .hidden NAMED(__interceptor_trampoline_, NAME)

#ifdef WEAK
    .weak NAMED(__real_, NAME)
#endif
    .hidden __nm_capture_add
    .hidden NAMED(__nm_captures_, NAME)
    .hidden NAMED(__nm_place_, NAME)
    .section .note.GNU-stack, "", @progbits
