//! Strings of symbolic length, without a program around them.

use super::*;
use crate::runtime::testing::Scratch;

const AT: u64 = 0x5555_0000_2000;

/// An argument "hello" at [`AT`], with its open end; its length.
fn argument(runtime: &mut Scratch, text: &[u8]) -> Label {
    let channel = runtime
        .add_channel(ChannelKind::Argument, 1, b"argv[1]", text)
        .unwrap();
    for (offset, &byte) in text.iter().enumerate() {
        let label = runtime.input_byte(channel, offset as u32, byte);
        runtime
            .shadow
            .set(AT + offset as u64, ShadowWord::new(label, 0));
    }
    let length = runtime
        .add_length(channel, 0, text.len() as u64, PIECE_WHOLE)
        .unwrap();
    runtime.end_string(AT + text.len() as u64, length);
    length
}

#[test]
fn a_length_is_a_channel_and_a_term() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    assert_eq!(runtime.width(length), 32);
    assert_eq!(runtime.value(length), 5);
    assert!(runtime.is_length(length));
    let row = runtime.trace.channel(1);
    assert_eq!(row.kind, ChannelKind::Length as u8);
    assert_eq!((row.index, row.start, row.piece), (0, 0, PIECE_WHOLE));
    assert_eq!(runtime.trace.blob(row.content_offset, 4), [5, 0, 0, 0]);
    assert_eq!(runtime.inputs.channel(0).whole, length);
}

#[test]
fn only_terms_of_lengths_alone_are_lengths() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    let more = runtime.operate(Op::Mul, 32, [length, 0], [5, 3]);
    assert!(runtime.is_length(more));
    let byte = runtime.load(AT, 1, b'h' as u64);
    assert!(!runtime.is_length(byte));
    let byte = runtime.zero_extend(byte, 32);
    let mixed = runtime.operate(Op::Add, 32, [length, byte], [5, b'h' as u64]);
    assert!(!runtime.is_length(mixed));
    let end = runtime.load(AT + 5, 1, 0);
    assert!(!runtime.is_length(end));
}

#[test]
fn a_length_is_below_what_is_no_length() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    let wide = runtime.zero_extend(length, 64);
    let below =
        |runtime: &mut Scratch, limit| runtime.operate(Op::Ult, 64, [wide, CONCRETE], [5, limit]);
    assert_eq!(below(&mut runtime, u64::MAX), CONCRETE);
    assert_eq!(below(&mut runtime, 1 << 32), CONCRETE);
    assert_ne!(below(&mut runtime, u32::MAX as u64), CONCRETE);
}

#[test]
fn without_the_option_lengths_are_fixed() {
    let mut runtime = Scratch::with_options(b"length=0");
    let channel = runtime
        .add_channel(ChannelKind::Argument, 1, b"argv[1]", b"x")
        .unwrap();
    assert_eq!(runtime.add_length(channel, 0, 1, PIECE_WHOLE), None);
    assert_eq!(runtime.inputs.count(), 1);
}

#[test]
fn the_end_travels_with_a_copy() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    assert_eq!(runtime.open_end_at(AT + 5), Some(length));
    assert_eq!(runtime.open_end_at(AT + 4), None);
    runtime.shadow.copy(AT + 100, AT, 6);
    assert_eq!(runtime.open_end_at(AT + 105), Some(length));
    let wide = runtime.zero_extend(length, 64);
    let found = runtime.open_length((AT + 100, 0), 5, SiteId::NONE);
    assert_eq!(found, Some(wide));
}

#[test]
fn a_string_behind_a_prefix_is_longer_by_it() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    let wide = runtime.zero_extend(length, 64);
    let found = runtime.open_length((AT - 3, 0), 8, SiteId::NONE).unwrap();
    assert_eq!(found, runtime.plus(wide, 3));
    assert_eq!(runtime.value(found), 8);
    // And one that starts inside is shorter.
    let found = runtime.open_length((AT + 2, 0), 3, SiteId::NONE).unwrap();
    assert_eq!(runtime.value(found), 3);
}

#[test]
fn the_rest_behind_a_distance_from_the_end_is_not_symbolic() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello.txt");
    let wide = runtime.zero_extend(length, 64);
    // p = s + strlen(s) - 4
    let pointer = runtime.plus(wide, (AT - 4) as u128);
    assert_eq!(runtime.value(pointer) as u64, AT + 5);
    assert_eq!(
        runtime.open_length((AT + 5, pointer), 4, SiteId::NONE),
        None
    );
}

#[test]
fn a_zero_stored_at_a_length_is_a_new_end() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello.txt");
    let wide = runtime.zero_extend(length, 64);
    // s[strlen(s) - 4] = 0, with a size_t.
    let address = runtime.plus(wide, (AT - 4) as u128);
    runtime.open_end_stored(AT + 5, address);
    let found = runtime.open_length((AT, 0), 5, SiteId::NONE).unwrap();
    assert_eq!(found, runtime.plus(wide, 4u128.wrapping_neg()));
    // s[(int)strlen(s) - 1] = 0.
    let less = runtime.plus(length, 1u128.wrapping_neg());
    let index = runtime.sign_extend(less, 64);
    let address = runtime.plus(index, AT as u128);
    runtime.open_end_stored(AT + 8, address);
    let found = runtime.open_length((AT, 0), 8, SiteId::NONE).unwrap();
    assert_eq!(runtime.value(found), 8);
    // Not an address that depends on lengths only.
    let byte = runtime.load(AT, 1, b'h' as u64);
    let byte = runtime.zero_extend(byte, 64);
    let address = runtime.plus(byte, AT as u128);
    runtime.open_end_stored(AT + b'h' as u64, address);
    assert_eq!(runtime.open_end_at(AT + b'h' as u64), None);
}

#[test]
fn a_line_read_again_has_the_same_length() {
    let mut runtime = Scratch::new();
    let file = runtime
        .add_channel(ChannelKind::File, 0, b"/f", b"one\ntwo\n")
        .unwrap();
    let one = runtime.line_length(file, 0, 3).unwrap();
    let two = runtime.line_length(file, 4, 3).unwrap();
    assert_ne!(one, two);
    assert_eq!(runtime.line_length(file, 0, 3), Some(one));
    assert_eq!(runtime.line_length(file, 0, 2), None, "another line");
    for line in 2..MOST_LINES {
        assert!(runtime.line_length(file, 100 * line as u64, 3).is_some());
    }
    assert_eq!(runtime.line_length(file, 99, 3), None);
}

#[test]
fn sizes_that_are_lengths_are_not_fixed() {
    let mut runtime = Scratch::new();
    let length = argument(&mut runtime, b"hello");
    runtime.fix(length, NoteKind::Size, SiteId::NONE);
    assert!(runtime.fixed.iter().all(|&label| label == CONCRETE));
    runtime.fix(length, NoteKind::Call, SiteId::NONE);
    assert!(runtime.fixed.contains(&length));
}
