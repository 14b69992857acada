//! Sentences of sanitizers, and what is read out of them.

use super::read::place_of_frame;
use super::*;
use nearmiss_sandbox::Ended;

fn one(text: &str) -> Complaint {
    let mut found = complaints(text.as_bytes(), Ended::Exited(1));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn undefined_behaviour_is_understood() {
    let found = one(
        "src/a.c:12:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n",
    );
    assert!(found.is_about(Kind::SignedOverflow, "src/a.c", 12));
    assert!(found.is_about(Kind::SignedOverflow, "/home/me/src/a.c", 12));
    assert!(!found.is_about(Kind::SignedOverflow, "src/a.c", 13));
    assert!(!found.is_about(Kind::Shift, "src/a.c", 12));
    assert!(!found.is_about(Kind::SignedOverflow, "src/ba.c", 12));
    let cases = [
        (
            "index 12 out of bounds for type 'int[10]'",
            Kind::OutOfBoundsWrite,
        ),
        (
            "shift exponent 32 is too large for 32-bit type 'int'",
            Kind::Shift,
        ),
        ("division by zero", Kind::DivisionByZero),
        (
            "division of -2147483648 by -1 cannot be represented in type 'int'",
            Kind::SignedOverflow,
        ),
        ("load of null pointer of type 'int'", Kind::NullDereference),
        (
            "execution reached an unreachable program point",
            Kind::Abort,
        ),
    ];
    for (words, kind) in cases {
        assert!(
            one(&format!("a.c:1:1: runtime error: {words}")).is_about(kind, "a.c", 1),
            "{words}"
        );
    }
}

#[test]
fn assertions_are_understood() {
    let found = one("./prog: x.c:5: main: Assertion `n < 4 && \"a: b\"' failed.\n");
    assert!(found.is_about(Kind::Assertion, "./x.c", 5));
    assert_eq!(found.text, "Assertion `n < 4 && \"a: b\"' failed.");
}

const ASAN: &str = "\
=================================================================
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x55d bp 0x7ff sp 0x7fe
WRITE of size 4 at 0x602000000018 thread T0
    #0 0x55d2f in __asan_memcpy (/tmp/twin+0x9f)
    #1 0x55d30 in fill /home/me/src/x.c:9:12
    #2 0x55d31 in main /home/me/src/x.c:20:3

0x602000000018 is located 0 bytes after 8-byte region
allocated by thread T0 here:
    #0 0x4 in malloc (/tmp/twin+0x1)
    #1 0x5 in main /home/me/src/x.c:19:3
";

#[test]
fn address_errors_are_understood() {
    let found = one(ASAN);
    assert!(found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 9));
    assert!(found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 20));
    assert!(!found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 19));
    assert!(!found.is_about(Kind::OutOfBoundsRead, "src/x.c", 9));
    let freed = one("==1==ERROR: AddressSanitizer: attempting double-free on 0x6: \n");
    assert!(freed.is_about(Kind::DoubleFree, "any.c", 1));
}

fn asan(words: &str) -> Vec<Complaint> {
    let text = format!(
        "==1==ERROR: AddressSanitizer: {words}\n\
             READ of size 1 at 0x6 thread T0\n    \
             #0 0x1 in strcpy (/tmp/twin+0x9f)\n    \
             #1 0x2 in main /home/me/x.c:9:12\n"
    );
    complaints(text.as_bytes(), Ended::Exited(1))
}

#[test]
fn every_sentence_of_address_sanitizer() {
    use Kind::*;
    let cases = [
        (
            "heap-buffer-overflow on address 0x6 at pc 0x5",
            OutOfBoundsRead,
        ),
        ("stack-buffer-overflow on address 0x6", OutOfBoundsRead),
        ("stack-buffer-underflow on address 0x6", OutOfBoundsRead),
        (
            "dynamic-stack-buffer-overflow on address 0x6",
            OutOfBoundsRead,
        ),
        ("global-buffer-overflow on address 0x6", OutOfBoundsRead),
        ("heap-use-after-free on address 0x6", UseAfterFree),
        ("stack-use-after-scope on address 0x6", UseAfterFree),
        ("stack-use-after-return on address 0x6", UseAfterFree),
        ("attempting double-free on 0x6 in thread T0:", DoubleFree),
        (
            "attempting free on address which was not malloc()-ed: 0x6 in thread T0",
            InvalidFree,
        ),
        (
            "alloc-dealloc-mismatch (malloc vs operator delete) on 0x6",
            InvalidFree,
        ),
        (
            "SEGV on unknown address 0x000000000010 (pc 0x5 bp 0x0)",
            NullDereference,
        ),
        (
            "SEGV on unknown address 0x7f0000000010 (pc 0x5 bp 0x0)",
            OutOfBoundsRead,
        ),
        ("SEGV on unknown address (pc 0x5 bp 0x0)", OutOfBoundsRead),
    ];
    for (words, kind) in cases {
        let found = asan(words);
        for predicted in [
            OutOfBoundsRead,
            OutOfBoundsWrite,
            NullDereference,
            UseAfterFree,
        ] {
            assert_eq!(found[0].as_kind(predicted), Some(kind), "{words}");
        }
        assert_eq!(found[0].as_kind(Shift), None, "{words}");
        assert!(found[0].names("x.c", 9), "{words}");
        assert_eq!(found[0].places[0].function, "main");
    }
    let negative = asan("negative-size-param: (size=-1)");
    assert_eq!(
        negative[0].as_kind(OutOfBoundsWrite),
        Some(OutOfBoundsWrite)
    );
    assert_eq!(negative[0].as_kind(OutOfBoundsRead), Some(OutOfBoundsRead));
    let overlap = asan("memcpy-param-overlap: memory ranges [0x6,0x7) and [0x6, 0x8) overlap");
    assert_eq!(overlap[0].as_kind(OutOfBoundsWrite), Some(OutOfBoundsWrite));
    assert_eq!(
        asan("stack-overflow on address 0x7ff (pc 0x5)")[0].kinds,
        [Crash]
    );
    for refused in [
        "allocation-size-too-big: requested allocation size 0x1",
        "requested allocation size 0x1 exceeds maximum supported size",
        "calloc-overflow: calloc parameters overflow",
        "out-of-memory: allocator is trying to allocate 0x1 bytes",
    ] {
        assert_eq!(asan(refused), [], "{refused}");
    }
}

#[test]
fn predicted_kinds_and_seen_ones() {
    let index = one("a.c:1:1: runtime error: index 12 out of bounds for type 'int[10]'");
    assert_eq!(
        index.as_kind(Kind::OutOfBoundsWrite),
        Some(Kind::OutOfBoundsWrite)
    );
    let null = one("a.c:1:1: runtime error: load of null pointer of type 'int'");
    assert_eq!(
        null.as_kind(Kind::OutOfBoundsRead),
        Some(Kind::NullDereference)
    );
    assert_eq!(null.as_kind(Kind::SignedOverflow), None);
    assert_eq!(one(ASAN).text, "AddressSanitizer: heap-buffer-overflow");
}

#[test]
fn deaths_are_understood() {
    let found = complaints(b"", Ended::Signal(6));
    assert!(found[0].is_about(Kind::Assertion, "x.c", 1));
    assert!(complaints(b"all is well\n", Ended::Exited(0)).is_empty());
    assert!(complaints(b"", Ended::Signal(9)).is_empty());
}

#[test]
fn garbage_is_no_complaint() {
    for line in [
        ": runtime error: ",
        "x: runtime error: y",
        ": Assertion `' failed.",
        "#0  in ",
    ] {
        complaints(line.as_bytes(), Ended::Exited(0));
    }
    assert_eq!(place_of_frame("#0 0x1 in f a.c:x"), None);
}

#[test]
fn an_assertion_and_its_abort_are_one() {
    let text = "p: x.c:5: main: Assertion `n < 4' failed.\nAddressSanitizer:DEADLYSIGNAL\n\
        ==2==ERROR: AddressSanitizer: ABRT on unknown address 0x000000000002 (pc 0x7f bp 0x2 sp 0x7f T0)\n    \
        #0 0x7f in pthread_kill (/lib/libc.so.6+0x8a)\n    #1 0x7e in abort (/lib/libc.so.6+0x2)\n    \
        #2 0x55 in check /src/x.c:5:9\n    #3 0x56 in main /src/x.c:20:3\n";
    let found = one(text);
    assert_eq!(found.kinds[0], Kind::Assertion);
    assert_eq!(found.places[0].column, 9);
    let functions: Vec<&str> = found
        .stack
        .iter()
        .map(|frame| frame.function.as_str())
        .collect();
    assert_eq!(functions, ["check", "main"]);
}

#[test]
fn two_sanitizers_on_one_access_are_one() {
    let text = |line: u32| {
        format!(
            "x.c:5:9: runtime error: index 8 out of bounds for type 'int[8]'\n    \
             #0 0x51 in f /src/x.c:5:9\n    #1 0x52 in main /src/x.c:20:3\n\n\
             ==2==ERROR: AddressSanitizer: global-buffer-overflow on address 0x5 at pc 0x5 bp 0x7 sp 0x7\n\
             WRITE of size 4 at 0x5 thread T0\n    #0 0x53 in f /src/x.c:{line}:13\n    \
             #1 0x52 in main /src/x.c:20:3\n\n\
             0x5 is located 0 bytes after global variable 't' defined in '/src/x.c:2' (0x4) of size 32\n"
        )
    };
    let found = one(&text(5));
    assert_eq!(
        (found.kinds[0], found.places[0].column),
        (Kind::OutOfBoundsWrite, 9)
    );
    assert_eq!((found.object.as_str(), found.stack.len()), ("t", 2));
    let two = complaints(text(6).as_bytes(), Ended::Exited(1));
    assert_eq!(two.len(), 2);
}

#[test]
fn a_signal_that_was_sent_is_no_bad_pointer() {
    let segv = |frames: &str| {
        one(&format!(
            "==2==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000002 (pc 0x7f T0)\n{frames}    \
             #2 0x55 in main /src/x.c:5:9\n"
        ))
    };
    let sent = segv(
        "    #0 0x7f in pthread_kill@@GLIBC_2.34 (/lib/libc.so.6+0x8a)\n    #1 0x7e in raise (/lib/libc.so.6+0x2)\n",
    );
    assert_eq!(sent.kinds, [Kind::Crash]);
    let null = segv(
        "    #0 0x7f in strlen (/lib/libc.so.6+0x8a)\n    #1 0x7e in fputs (/lib/libc.so.6+0x2)\n",
    );
    assert_eq!(null.kinds[0], Kind::NullDereference);
}

#[test]
fn memory_that_was_never_written_has_an_origin() {
    let report = |created: &str, origin: &str| {
        format!(
            "==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n    \
             #0 0x5 in __interceptor_strcmp (/tmp/twin+0x9f)\n    #1 0x55 in look /src/x.c:9:12\n    \
             #2 0x56 in main /src/x.c:20:3\n\n  Uninitialized value was stored to memory at\n    \
             #0 0x57 in main /src/x.c:15:3\n\n  Uninitialized value was created by {created}\n    \
             {origin}\n\nSUMMARY: MemorySanitizer: use-of-uninitialized-value /src/x.c:9:12 in look\n"
        )
    };
    let stack = report(
        "an allocation of '' in the stack frame",
        "#0 0x58 in main /src/x.c:12:5",
    );
    let found = one(&stack);
    assert_eq!(found.kinds, [Kind::UninitialisedRead]);
    assert_eq!((found.places[0].line, found.stack.len()), (9, 2));
    assert_eq!(found.object, "a variable of main");
    assert_eq!(
        found.text,
        "depends on what was never written to: a variable of main (x.c:12)"
    );
    let heap = report(
        "a heap allocation",
        "#0 0x58 in malloc (/tmp/twin+0x1)\n    #1 0x59 in main /src/x.c:13:5",
    );
    assert_eq!(one(&heap).object, "/src/x.c:13");
    // What a library that was loaded has written is not known.
    let unsure = format!("==nearmiss: a library was loaded\n{heap}");
    assert_eq!(complaints(unsure.as_bytes(), Ended::Exited(1)), []);
}
