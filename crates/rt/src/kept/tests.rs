//! Files and pipes of a test, written and read again.

use super::*;
use crate::runtime::testing::Scratch;
use nearmiss_abi::channel::ChannelKind;
use std::os::fd::AsRawFd;

/// Two bytes, of which the second is input.
fn text(runtime: &mut Scratch, text: &[u8; 2]) -> u64 {
    let start = text.as_ptr() as u64;
    let channel = runtime.add_channel(ChannelKind::Stdin, 0, b"", b"x");
    // SAFETY: the text is there.
    unsafe { runtime.label_input(channel.unwrap(), 0, (start + 1, 1), SiteId::NONE) };
    start
}

#[test]
fn what_goes_through_a_pipe_keeps_its_labels() {
    let mut runtime = Scratch::new();
    let (from, to) = std::io::pipe().unwrap();
    runtime.keep_pair([from.as_raw_fd(), to.as_raw_fd()]);
    let bytes = *b"ax";
    let start = text(&mut runtime, &bytes);
    runtime.wrote(to.as_raw_fd(), (start, 2), None, SiteId::NONE);
    let copy = *b"ax";
    let place = copy.as_ptr() as u64;
    let source = runtime.source(from.as_raw_fd());
    assert!(source.is_some_and(|source| source.kept().is_some()));
    // SAFETY: the copy is there.
    unsafe { runtime.received(source, (place, 2), SiteId::NONE) };
    assert_eq!(runtime.load(place, 1, b'a' as u64), CONCRETE);
    assert_ne!(runtime.load(place + 1, 1, b'x' as u64), CONCRETE);
    // Another value is another byte.
    assert_eq!(runtime.load(place + 1, 1, b'y' as u64), CONCRETE);
}

#[test]
fn a_file_is_kept_by_offsets() {
    let mut runtime = Scratch::new();
    let path = std::env::temp_dir().join(std::format!("rt-kept-{}", std::process::id()));
    let file = std::fs::File::create(&path).unwrap();
    let bytes = *b"ax";
    let start = text(&mut runtime, &bytes);
    runtime.wrote(file.as_raw_fd(), (start, 2), Some(10), SiteId::NONE);
    let copy = *b"x";
    let place = copy.as_ptr() as u64;
    let source = runtime.source_at(file.as_raw_fd(), 11);
    // SAFETY: the copy is there.
    unsafe { runtime.received(source, (place, 1), SiteId::NONE) };
    assert_ne!(runtime.load(place, 1, b'x' as u64), CONCRETE);
    std::fs::remove_file(path).unwrap();
}
