//! A solver's answer as arguments, standard input and files: a run that can be made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::{Change, Input, Resized};
use nearmiss_sandbox::{Replacement, Stdin};
use nearmiss_solve::Model;
use nearmiss_trace::Channel;

use crate::campaign::write_atomically;
use crate::capsule::Capsule;
use crate::lengths::{Resize, resizes};
use crate::resize::{Growth, resize, resized};

/// A new input, written down.
#[derive(Clone, Debug)]
pub struct Invented {
    /// The run.
    pub capsule: Capsule,
    /// What each channel holds.
    pub input: BTreeMap<String, Input>,
    /// Where that differs from the recorded run.
    pub changes: Vec<Change>,
    /// The pieces of input that are longer or shorter.
    pub lengths: Vec<Resized>,
}

/// The longest content that is reported itself and not by a file.
const INLINE: usize = 256;

/// Writes the input with these changes into `directory`, which is made.
pub fn invent(
    recorded: &Capsule,
    channels: &[Channel],
    model: &Model,
    growth: Growth,
    directory: &Path,
) -> io::Result<Invented> {
    fs::create_dir_all(directory)?;
    let resizes = resizes(channels, model);
    let mut contents = contents(channels, model);
    let mut changes = changes(channels, &contents);
    changes.extend(change_lengths(channels, &mut contents, &resizes, growth));
    overwrite_new_bytes(channels, model, &mut contents, &mut changes);
    changes.sort_by_key(|change| position(channels, change));
    let piece = |resize: &Resize| {
        Some(resized(
            channels.get(resize.piece.channel as usize)?,
            resize,
        ))
    };
    let mut invented = Invented {
        capsule: recorded.clone(),
        input: BTreeMap::new(),
        changes,
        lengths: resizes.iter().filter_map(piece).collect(),
    };
    let mut named = Vec::new();
    for (number, (channel, content)) in channels.iter().zip(&contents).enumerate() {
        let changed = *content != channel.content;
        match channel.kind {
            ChannelKind::Argument => {
                set_argument(&mut invented.capsule.arguments, channel.index, content);
            }
            ChannelKind::Stdin if changed => set_stdin(&mut invented.capsule, directory, content)?,
            ChannelKind::File if changed => {
                let replacement = replace_file(channel, content, directory, number)?;
                invented.capsule.files.push(replacement);
            }
            ChannelKind::Environment if changed => {
                set_variable(&mut invented.capsule.environment, &channel.name, content);
            }
            ChannelKind::Named => named.extend(named_row(&channel.name, channel.index, content)),
            ChannelKind::Pipe => named.extend(named_row(PIPE, channel.index, content)),
            ChannelKind::Socket => named.extend(named_row(SOCKET, channel.index, content)),
            ChannelKind::Length => continue,
            _ => {}
        }
        if changed || !is_plenty(channel.kind) {
            let shown = show(&invented.capsule, channel, content);
            invented.input.insert(channel.label(), shown);
        }
    }
    if !named.is_empty() {
        let path = directory.join("named");
        write_atomically(&path, &named)?;
        invented.capsule.named = Some(path);
    }
    invented.capsule.write(directory)?;
    Ok(invented)
}

/// Names of rows for streams: see [`nearmiss_abi::environment::REPLAY`].
const PIPE: &[u8] = b"pipe";
const SOCKET: &[u8] = b"socket";

/// Whether there may be many channels of a kind that nobody wants to see unchanged.
fn is_plenty(kind: ChannelKind) -> bool {
    matches!(kind, ChannelKind::File | ChannelKind::Environment)
}

/// Cuts and pads pieces, from the last to the first, so that offsets stay valid; the whole of a
/// channel after its lines.
fn change_lengths(
    channels: &[Channel],
    contents: &mut [Vec<u8>],
    resizes: &[Resize],
    growth: Growth,
) -> Vec<Change> {
    let mut resizes = resizes.to_vec();
    resizes.sort_by_key(|one| (one.piece.is_line, one.piece.start));
    let mut changes = Vec::new();
    for mut one in resizes.into_iter().rev() {
        let number = one.piece.channel as usize;
        let (Some(channel), Some(content)) = (channels.get(number), contents.get_mut(number))
        else {
            continue;
        };
        if !one.piece.is_line {
            // Its lines may have changed their lengths already.
            one.piece.length = (content.len() - one.piece.start as usize) as u32;
        }
        changes.push(resize(content, &channel.label(), &one, growth));
    }
    changes
}

/// Bytes behind the recorded end that a model decides, where the content became so long.
fn overwrite_new_bytes(
    channels: &[Channel],
    model: &Model,
    contents: &mut [Vec<u8>],
    changes: &mut [Change],
) {
    for (byte, value) in model.iter() {
        let number = byte.channel as usize;
        let Some((channel, content)) = channels.get(number).zip(contents.get_mut(number)) else {
            continue;
        };
        let offset = byte.offset as usize;
        if offset < channel.content.len() || offset >= content.len() {
            continue;
        }
        content[offset] = value;
        let label = channel.label();
        let here = |change: &&mut Change| {
            let start = change.offset as usize;
            change.channel == label && (start..start + change.to.len()).contains(&offset)
        };
        if let Some(change) = changes.iter_mut().find(here) {
            change.to[offset - change.offset as usize] = value;
        }
    }
}

/// Where a change stands in the order of channels and offsets.
fn position(channels: &[Channel], change: &Change) -> (Option<usize>, u64) {
    let is_here = |channel: &Channel| channel.label() == change.channel;
    (channels.iter().position(is_here), change.offset)
}

/// What each channel holds with the changes, in its recorded length.
fn contents(channels: &[Channel], model: &Model) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = channels.iter().map(|one| one.content.clone()).collect();
    for (byte, value) in model.iter() {
        let content = contents.get_mut(byte.channel as usize);
        if let Some(place) = content.and_then(|content| content.get_mut(byte.offset as usize)) {
            *place = value;
        }
    }
    contents
}

/// Runs of neighbouring bytes that differ.
fn changes(channels: &[Channel], contents: &[Vec<u8>]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let is_content = |(channel, _): &(&Channel, &Vec<u8>)| channel.piece.is_none();
    for (channel, content) in channels.iter().zip(contents).filter(is_content) {
        let mut last = None;
        let pairs = channel.content.iter().zip(content).enumerate();
        for (offset, (from, to)) in pairs.filter(|(_, (from, to))| from != to) {
            if last.is_none_or(|last: usize| last + 1 != offset) {
                changes.push(Change {
                    channel: channel.label(),
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
    }
    changes
}

fn set_argument(arguments: &mut [OsString], index: u32, content: &[u8]) {
    if let Some(argument) = arguments.get_mut(index as usize) {
        *argument = OsString::from_vec(content.to_vec());
    }
}

fn set_variable(environment: &mut Vec<(OsString, OsString)>, name: &[u8], content: &[u8]) {
    let value = OsString::from_vec(content.to_vec());
    match environment
        .iter_mut()
        .find(|(known, _)| known.as_bytes() == name)
    {
        Some((_, known)) => *known = value,
        None => environment.push((OsString::from_vec(name.to_vec()), value)),
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

fn show(capsule: &Capsule, channel: &Channel, content: &[u8]) -> Input {
    let file = match channel.kind {
        ChannelKind::Stdin => match &capsule.stdin {
            Stdin::File(path) | Stdin::Pipe(path) => Some(path.clone()),
            Stdin::Null => None,
        },
        ChannelKind::File => capsule.files.last().map(|file| file.content.clone()),
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
    use nearmiss_expr::InputByte;
    use nearmiss_trace::Piece;

    fn channel(kind: ChannelKind, index: u32, name: &str, content: &[u8]) -> Channel {
        Channel {
            kind,
            index,
            name: name.into(),
            content: content.to_vec(),
            piece: None,
        }
    }

    fn length(channel: u32, start: u32, length: u32, is_line: bool) -> Channel {
        Channel {
            kind: ChannelKind::Length,
            index: channel,
            name: Vec::new(),
            content: length.to_le_bytes().to_vec(),
            piece: Some(Piece {
                channel,
                start,
                length,
                is_line,
            }),
        }
    }

    fn capsule() -> Capsule {
        Capsule {
            program: "/bin/prog".into(),
            arguments: vec!["prog".into(), "16".into(), "x".into()],
            environment: vec![("HOME".into(), "/root".into())],
            directory: "/".into(),
            stdin: Stdin::Pipe("/old".into()),
            terminal: false,
            umask: None,
            world: Vec::new(),
            files: Vec::new(),
            named: None,
            channels: "aifn".into(),
            options: Default::default(),
        }
    }

    fn model<const N: usize>(bytes: [(u32, u32, u8); N]) -> Model {
        bytes
            .map(|(channel, offset, value)| (InputByte { channel, offset }, value))
            .into_iter()
            .collect()
    }

    #[test]
    fn lengths_change_too() {
        let directory = tempfile::tempdir().unwrap();
        let channels = [
            channel(ChannelKind::Argument, 1, "", b"16"),
            channel(ChannelKind::Stdin, 0, "", b"ab\ncd\n"),
            channel(ChannelKind::Environment, 0, "HOME", b"/root"),
            channel(ChannelKind::Pipe, 3, "", b"p"),
            length(0, 0, 2, false),
            length(1, 0, 2, true),
            length(1, 3, 2, true),
            length(2, 0, 5, false),
            length(3, 0, 1, false),
        ];
        let model = model([
            (0, 0, b'7'),
            (0, 3, b'x'),
            (1, 4, b'D'),
            (4, 0, 5),
            (5, 0, 4),
            (6, 0, 1),
            (7, 0, 0),
            (8, 0, 2),
        ]);
        let invent =
            |growth| invent(&capsule(), &channels, &model, growth, directory.path()).unwrap();
        let invented = invent(Growth::End);
        assert_eq!(invented.capsule.arguments, ["prog", "767x7", "x"]);
        assert_eq!(
            fs::read(directory.path().join("stdin")).unwrap(),
            b"abab\nc\n"
        );
        assert_eq!(
            invented.capsule.environment,
            [("HOME".into(), OsString::new())]
        );
        assert_eq!(
            fs::read(directory.path().join("named")).unwrap(),
            b"\x04\0\0\0\x03\0\0\0\x02\0\0\0pipepp"
        );
        let argument: Vec<_> = invented.changes[..2]
            .iter()
            .map(|change| (change.offset, &change.from[..], &change.to[..]))
            .collect();
        assert_eq!(argument, [(0, &b"1"[..], &b"7"[..]), (2, b"", b"7x7")]);
        assert_eq!(invented.lengths.len(), 5);
        assert_eq!((invented.lengths[2].offset, invented.lengths[2].to), (3, 1));
        assert_eq!(
            invent(Growth::Inside).capsule.arguments[1],
            "777x6",
            "grows before its last byte"
        );
    }

    #[test]
    fn every_kind_of_channel() {
        let directory = tempfile::tempdir().unwrap();
        let large = directory.path().join("large");
        fs::write(&large, "abcdefgh").unwrap();
        let channels = [
            channel(ChannelKind::Argument, 1, "", b"16"),
            channel(ChannelKind::Stdin, 0, "", b"hello"),
            channel(ChannelKind::File, 0, large.to_str().unwrap(), b"abcd"),
            channel(ChannelKind::Named, 2, "n", &[1, 2]),
        ];
        let model = model([
            (0, 1, b'8'),
            (1, 1, b'a'),
            (1, 2, b'b'),
            (2, 0, b'X'),
            (3, 1, 9),
        ]);
        let new = directory.path().join("new");
        let invented = invent(&capsule(), &channels, &model, Growth::End, &new).unwrap();
        assert_eq!(invented.capsule.arguments, ["prog", "18", "x"]);
        assert_eq!(invented.capsule.stdin, Stdin::Pipe(new.join("stdin")));
        assert_eq!(fs::read(new.join("stdin")).unwrap(), b"hablo");
        assert_eq!(fs::read(new.join("file-2")).unwrap(), b"Xbcdefgh");
        assert_eq!(
            fs::read(new.join("named")).unwrap(),
            b"\x01\0\0\0\x02\0\0\0\x02\0\0\0n\x01\x09"
        );
        let places: Vec<(&str, u64, &[u8])> = invented
            .changes
            .iter()
            .map(|change| (change.channel.as_str(), change.offset, change.to.as_slice()))
            .collect();
        let file = channels[2].label();
        let expected: [(&str, u64, &[u8]); 4] = [
            ("argv[1]", 1, b"8"),
            ("stdin", 1, b"ab"),
            (&file, 0, b"X"),
            ("name:n[2]", 1, &[9]),
        ];
        assert_eq!(places, expected);
        assert_eq!(invented.input["stdin"], Input::bytes(b"hablo"));
        assert_eq!(
            Capsule::read(&new).unwrap().arguments,
            invented.capsule.arguments
        );
    }
}
