//! The table of paths that were seen.

use super::*;

#[test]
fn paths_are_remembered() {
    let mut table = Box::new(Table::none());
    let place = table.place(b"/a").unwrap();
    assert_eq!(*place & FLAGS, 0);
    *place |= FULL;
    assert_eq!(*table.place(b"/a").unwrap() & FLAGS, FULL);
    assert_eq!(*table.place(b"/b").unwrap() & FLAGS, 0);
    assert_eq!(table.count, 2);
    let mut number = 0;
    while table.place(format!("/c/{number}").as_bytes()).is_some() {
        number += 1;
    }
    assert_eq!(number + 2, MOST_PATHS / 4 * 3);
    assert_eq!(*table.place(b"/a").unwrap() & FLAGS, FULL);
}

#[test]
fn entries_are_copied_without_dots() {
    let entry = |kind: u8, name: &str| {
        let size = (19 + name.len() + 1).next_multiple_of(8);
        let mut bytes = vec![0; 16];
        bytes.extend((size as u16).to_le_bytes());
        bytes.push(kind);
        bytes.extend(name.as_bytes());
        bytes.resize(size, 0);
        bytes
    };
    let raw = [
        entry(4, "."),
        entry(4, ".."),
        entry(8, "file"),
        entry(4, "d"),
    ]
    .concat();
    let (mut list, mut used) = ([0u8; 16], 0);
    assert!(copy_entries(&raw, &mut list, &mut used));
    assert_eq!(&list[..used], b"\x08file\0\x04d\0");
    let (mut list, mut used) = ([0u8; 7], 0);
    assert!(!copy_entries(&raw, &mut list, &mut used));
    for size in 0..raw.len() {
        let (mut list, mut used) = ([0u8; 16], 0);
        copy_entries(&raw[..size], &mut list, &mut used);
    }
}

#[test]
fn below() {
    assert!(is_below(b"/a/b", b"/a") && is_below(b"/a", b"/a"));
    assert!(!is_below(b"/ab", b"/a") && !is_below(b"/", b"/a"));
}
