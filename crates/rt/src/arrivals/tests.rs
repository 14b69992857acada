//! Tests of reads that are under way.

use super::*;
use crate::runtime::testing::Scratch;
use nearmiss_abi::channel::{ChannelKind, PIECE_WHOLE};

/// A file of ten bytes with a symbolic length, and that length.
fn file(runtime: &mut Scratch) -> Label {
    let channel = runtime.add_channel(ChannelKind::File, 0, b"/f", b"0123456789");
    runtime
        .add_length(channel.unwrap(), 0, 10, PIECE_WHOLE)
        .unwrap()
}

fn at(offset: u64) -> Option<Source> {
    Some(Source {
        channel: 0,
        offset,
        seekable: true,
    })
}

fn asks(size: Word) -> Span {
    Span {
        address: Word::concrete(0x1000),
        size,
        write: true,
        site: SiteId::NONE,
    }
}

/// A read of `size` bytes that brings `got`: the label of its count.
fn read(runtime: &mut Scratch, offset: u64, size: u64, got: u64) -> Label {
    let reading = runtime.reading(at(offset), &asks(Word::concrete(size)));
    runtime.count_read(&reading, got)
}

#[test]
fn counts_of_reads_are_what_is_left() {
    let mut runtime = Scratch::new();
    file(&mut runtime);
    for (offset, got) in [(0, 4), (8, 2), (10, 0)] {
        let count = read(&mut runtime, offset, 4, got);
        assert_eq!(runtime.value(count), got as u128);
        assert!(runtime.is_length(count));
    }
    assert_eq!(
        read(&mut runtime, 0, 4, 3),
        CONCRETE,
        "fewer than there are"
    );
    assert_eq!(read(&mut runtime, 11, 4, 0), CONCRETE, "outside");
}

#[test]
fn a_read_of_all_there_is_brings_all_there_is() {
    let mut runtime = Scratch::new();
    let length = file(&mut runtime);
    let whole = runtime.wide_length(length);
    let reading = runtime.reading(at(0), &asks(whole));
    assert_eq!(runtime.count_of(&reading, 10), whole.label);
}

#[test]
fn items_are_whole_ones() {
    let mut runtime = Scratch::new();
    file(&mut runtime);
    let bytes = read(&mut runtime, 0, 400, 10);
    let items = runtime.count_items(bytes, 4);
    assert_eq!(runtime.value(items), 2);
    assert_eq!(runtime.count_items(bytes, 1), bytes);
}

#[test]
fn many_reads_fix_the_length() {
    let mut runtime = Scratch::new();
    let length = file(&mut runtime);
    for _ in 0..MAX_COUNTS {
        assert_ne!(read(&mut runtime, 0, 4, 4), CONCRETE);
    }
    assert_eq!(read(&mut runtime, 0, 4, 4), CONCRETE);
    assert!(runtime.fixed.contains(&length));
    assert_eq!(read(&mut runtime, 0, 4, 4), CONCRETE);
}

#[test]
fn what_is_left_behind_a_place_counted_from_the_end_is_no_question() {
    let mut runtime = Scratch::new();
    let length = file(&mut runtime);
    runtime.sought_from_end(0, -4, 6, SiteId::NONE);
    let told = runtime.told_position(at(6).unwrap());
    let whole = runtime.wide_length(length);
    assert_eq!(runtime.sum(told.label).base, whole.label);
    let left = runtime.left(at(6), SiteId::NONE).unwrap();
    assert_eq!((left.label, left.value), (CONCRETE, 4));
    // Behind what was read there, too; and no longer elsewhere.
    assert_eq!(read(&mut runtime, 6, 3, 3), CONCRETE);
    assert_ne!(runtime.told_position(at(9).unwrap()).label, CONCRETE);
    assert_eq!(runtime.told_position(at(6).unwrap()).label, CONCRETE);
    runtime.sought_elsewhere(0);
    assert_eq!(runtime.told_position(at(9).unwrap()).label, CONCRETE);
}
