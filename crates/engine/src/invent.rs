//! A solver's answer as arguments, standard input and files: a run that can be made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::{Change, Input};
use nearmiss_sandbox::{Replacement, Stdin};
use nearmiss_solve::Model;
use nearmiss_trace::Channel;

use crate::campaign::write_atomically;
use crate::capsule::Capsule;

/// A new input, written down.
#[derive(Clone, Debug)]
pub struct Invented {
    /// The run.
    pub capsule: Capsule,
    /// What each channel holds.
    pub input: BTreeMap<String, Input>,
    /// Where that differs from the recorded run.
    pub changes: Vec<Change>,
}

/// The longest content that is reported itself and not by a file.
const INLINE: usize = 256;

/// Writes the input with these changes into `directory`, which is made.
pub fn invent(
    recorded: &Capsule,
    channels: &[Channel],
    model: &Model,
    directory: &Path,
) -> io::Result<Invented> {
    fs::create_dir_all(directory)?;
    let contents = contents(channels, model);
    let mut invented = Invented {
        capsule: recorded.clone(),
        input: BTreeMap::new(),
        changes: changes(channels, &contents),
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
            ChannelKind::Named => named.extend(named_row(channel, content)),
            _ => {}
        }
        if changed || channel.kind != ChannelKind::File {
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

/// What each channel holds with the changes.
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
    for (channel, content) in channels.iter().zip(contents) {
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
        whole.extend(&on_disk[content.len()..]);
    }
    let replacement = directory.join(format!("file-{number}"));
    write_atomically(&replacement, &whole)?;
    Ok(Replacement {
        path,
        content: replacement,
    })
}

/// A row of the file that `NEARMISS_REPLAY` names: see [`nearmiss_abi::environment`].
fn named_row(channel: &Channel, content: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    for number in [
        channel.name.len() as u32,
        channel.index,
        content.len() as u32,
    ] {
        row.extend(number.to_le_bytes());
    }
    row.extend(&channel.name);
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

    fn channel(kind: ChannelKind, index: u32, name: &str, content: &[u8]) -> Channel {
        Channel {
            kind,
            index,
            name: name.into(),
            content: content.to_vec(),
        }
    }

    #[test]
    fn every_kind_of_channel() {
        let directory = tempfile::tempdir().unwrap();
        let large = directory.path().join("large");
        fs::write(&large, "abcdefgh").unwrap();
        let capsule = Capsule {
            program: "/bin/prog".into(),
            arguments: vec!["prog".into(), "16".into(), "x".into()],
            environment: Vec::new(),
            directory: "/".into(),
            stdin: Stdin::Pipe("/old".into()),
            terminal: false,
            files: Vec::new(),
            named: None,
            channels: "aifn".into(),
        };
        let channels = [
            channel(ChannelKind::Argument, 1, "", b"16"),
            channel(ChannelKind::Stdin, 0, "", b"hello"),
            channel(ChannelKind::File, 0, large.to_str().unwrap(), b"abcd"),
            channel(ChannelKind::Named, 2, "n", &[1, 2]),
        ];
        let model: Model = [
            (0, 1, b'8'),
            (1, 1, b'a'),
            (1, 2, b'b'),
            (2, 0, b'X'),
            (3, 1, 9),
        ]
        .map(|(channel, offset, value)| (InputByte { channel, offset }, value))
        .into_iter()
        .collect();
        let new = directory.path().join("new");
        let invented = invent(&capsule, &channels, &model, &new).unwrap();
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
