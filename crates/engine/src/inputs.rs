//! Contents of channels as arguments, standard input and files: a run that can be made, and what
//! people are shown of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::{Change, Input, Resized};
use nearmiss_sandbox::{Replacement, Stdin};
use nearmiss_trace::Channel;

use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::store::write_atomically;

/// The longest content that is reported itself and not by a file.
const INLINE: usize = 256;

/// The run of `recorded` in which each channel holds `contents`. What is no argument is written
/// into `directory`, and so is the capsule.
pub fn write(
    recorded: &Capsule,
    channels: &[Channel],
    contents: &[Vec<u8>],
    directory: &Path,
) -> io::Result<Capsule> {
    let mut capsule = recorded.clone();
    let mut named = Vec::new();
    for (number, (channel, content)) in channels.iter().zip(contents).enumerate() {
        let changed = *content != channel.content;
        match channel.kind {
            ChannelKind::Argument => set_argument(&mut capsule.arguments, channel.index, content),
            ChannelKind::Stdin if changed => set_stdin(&mut capsule, directory, content)?,
            ChannelKind::File if changed => {
                let replacement = replace_file(channel, content, directory, number)?;
                capsule.files.retain(|file| file.path != replacement.path);
                capsule.files.push(replacement);
            }
            ChannelKind::Environment if changed => {
                let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
                capsule.environment.set(word(&channel.name), word(content));
            }
            ChannelKind::Named => named.extend(named_row(&channel.name, channel.index, content)),
            ChannelKind::Pipe => named.extend(named_row(PIPE, channel.index, content)),
            ChannelKind::Socket => named.extend(named_row(SOCKET, channel.index, content)),
            _ => {}
        }
    }
    if !named.is_empty() {
        let path = directory.join("named");
        write_atomically(&path, &named)?;
        capsule.named = Some(path);
    }
    capsule.write(directory)?;
    Ok(capsule)
}

/// What is shown of each channel: of those that may be many only what differs from what `old`
/// ones of the same names hold.
pub fn show(
    capsule: &Capsule,
    channels: &[Channel],
    contents: &[Vec<u8>],
    old: &[Channel],
) -> BTreeMap<String, Input> {
    let pairs = channels.iter().zip(contents);
    let is_same = |channel: &Channel, content: &Vec<u8>| {
        let same_name = |one: &&Channel| one.label() == channel.label();
        let before = old.iter().find(same_name).unwrap_or(channel);
        before.content == *content
    };
    let is_shown = |(channel, content): &(&Channel, &Vec<u8>)| {
        channel.kind != ChannelKind::Length
            && !(is_plenty(channel.kind) && is_same(channel, content))
    };
    pairs
        .filter(is_shown)
        .map(|(channel, content)| (channel.label(), show_one(capsule, channel, content)))
        .collect()
}

/// Where contents differ from what other channels of the same names hold: changed bytes, and
/// channels that became longer or shorter.
pub fn differences(
    old: &[Channel],
    channels: &[Channel],
    contents: &[Vec<u8>],
) -> (Vec<Change>, Vec<Resized>) {
    let (mut changes, mut lengths) = (Vec::new(), Vec::new());
    for (channel, content) in channels.iter().zip(contents) {
        let label = channel.label();
        let before = old.iter().find(|one| one.label() == label);
        let Some(before) = before.filter(|one| one.kind != ChannelKind::Length) else {
            continue;
        };
        let from = &before.content;
        if from.len() == content.len() {
            changes.extend(changed_runs(&label, from, content));
        } else {
            changes.push(replaced_middle(&label, from, content));
            lengths.push(Resized {
                channel: label,
                offset: 0,
                line: false,
                from: from.len() as u64,
                to: content.len() as u64,
            });
        }
    }
    (changes, lengths)
}

/// Runs of neighbouring bytes that differ between two contents of one length.
pub fn changed_runs(label: &str, from: &[u8], to: &[u8]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut last = None;
    let pairs = from.iter().zip(to).enumerate();
    for (offset, (from, to)) in pairs.filter(|(_, (from, to))| from != to) {
        if last.is_none_or(|last: usize| last + 1 != offset) {
            changes.push(Change {
                channel: label.to_string(),
                offset: offset as u64,
                from: Vec::new(),
                to: Vec::new(),
            });
        }
        let change = changes.last_mut().expect("one was just made");
        change.from.push(*from);
        change.to.push(*to);
        last = Some(offset);
    }
    changes
}

/// What lies between the common beginning and the common end of two contents.
fn replaced_middle(label: &str, from: &[u8], to: &[u8]) -> Change {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = from.iter().zip(to).take_while(same).count();
    let (left, right) = (&from[start..], &to[start..]);
    let (left_end, right_end) = (left.iter().rev(), right.iter().rev());
    let end = left_end.zip(right_end).take_while(same).count();
    Change {
        channel: label.to_string(),
        offset: start as u64,
        from: left[..left.len() - end].to_vec(),
        to: right[..right.len() - end].to_vec(),
    }
}

/// Names of rows for streams: see [`nearmiss_abi::environment::REPLAY`].
const PIPE: &[u8] = b"pipe";
const SOCKET: &[u8] = b"socket";

/// Whether there may be many channels of a kind that nobody wants to see unchanged.
fn is_plenty(kind: ChannelKind) -> bool {
    matches!(kind, ChannelKind::File | ChannelKind::Environment)
}

fn set_argument(arguments: &mut [OsString], index: u32, content: &[u8]) {
    if let Some(argument) = arguments.get_mut(index as usize) {
        *argument = OsString::from_vec(content.to_vec());
    }
}

fn set_stdin(capsule: &mut Capsule, directory: &Path, content: &[u8]) -> io::Result<()> {
    let path = directory.join("stdin");
    write_atomically(&path, content)?;
    capsule.stdin = match &capsule.stdin {
        Stdin::Pipe(_) => Stdin::Pipe(path),
        _ => Stdin::File(path),
    };
    Ok(())
}

/// A trace has only the first part of a very large file; the rest is taken from the disk.
fn replace_file(
    channel: &Channel,
    content: &[u8],
    directory: &Path,
    number: usize,
) -> io::Result<Replacement> {
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(&channel.name));
    let mut whole = content.to_vec();
    if let Ok(on_disk) = fs::read(&path)
        && on_disk.starts_with(&channel.content)
    {
        whole.extend(&on_disk[channel.content.len()..]);
    }
    let replacement = directory.join(format!("file-{number}"));
    write_atomically(&replacement, &whole)?;
    Ok(Replacement {
        path,
        content: replacement,
    })
}

/// A row of the file that `NEARMISS_REPLAY` names: see [`nearmiss_abi::environment`].
fn named_row(name: &[u8], index: u32, content: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    for number in [name.len() as u32, index, content.len() as u32] {
        row.extend(number.to_le_bytes());
    }
    row.extend(name);
    row.extend(content);
    row
}

fn show_one(capsule: &Capsule, channel: &Channel, content: &[u8]) -> Input {
    let file = match channel.kind {
        ChannelKind::Stdin => match &capsule.stdin {
            Stdin::File(path) | Stdin::Pipe(path) => Some(path.clone()),
            Stdin::Null => None,
        },
        ChannelKind::File => {
            let is_it = |file: &&Replacement| file.path.as_os_str().as_bytes() == channel.name;
            capsule
                .files
                .iter()
                .find(is_it)
                .map(|file| file.content.clone())
        }
        _ => None,
    };
    match file {
        Some(file) if content.len() > INLINE => Input::File(file),
        _ => Input::bytes(content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_equal_and_of_other_lengths() {
        let channel = |index, content: &[u8]| Channel {
            kind: ChannelKind::Argument,
            index,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        };
        let old = [
            channel(1, b"abcdef"),
            channel(2, b"key=1"),
            channel(3, b"x"),
        ];
        let new = [b"aBcdEF".to_vec(), b"key=221".to_vec(), b"x".to_vec()];
        let (changes, lengths) = differences(&old, &old, &new);
        let shown: Vec<(&str, u64, &[u8], &[u8])> = changes
            .iter()
            .map(|one| (one.channel.as_str(), one.offset, &one.from[..], &one.to[..]))
            .collect();
        let expected: [(&str, u64, &[u8], &[u8]); 3] = [
            ("argv[1]", 1, b"b", b"B"),
            ("argv[1]", 4, b"ef", b"EF"),
            ("argv[2]", 4, b"", b"22"),
        ];
        assert_eq!(shown, expected);
        assert_eq!((lengths.len(), lengths[0].from, lengths[0].to), (1, 5, 7));
    }
}
