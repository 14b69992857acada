//! Contents of channels as arguments, standard input and files: a run that can be made, and what
//! people are shown of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::Input;
use nearmiss_sandbox::{Replacement, Stdin};
use nearmiss_trace::Channel;

use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::store::write_atomically;

use crate::calls::fitting;
use crate::growth::ShapedInput;

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
            ChannelKind::Call => {
                let content = fitting(channels, number, content);
                named.extend(named_row(&channel.name, channel.index, &content));
            }
            ChannelKind::Pipe => named.extend(flow_rows(PIPE, channel, content)),
            ChannelKind::Socket => named.extend(flow_rows(SOCKET, channel, content)),
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

/// The same of an input of another shape, in which arguments may be put in or taken out.
pub fn write_shaped(
    recorded: &Capsule,
    channels: &[Channel],
    input: &ShapedInput,
    directory: &Path,
) -> io::Result<Capsule> {
    fs::create_dir_all(directory)?;
    let mut capsule = write(recorded, channels, &input.contents, directory)?;
    if let Some((range, words)) = &input.arguments {
        let words = words.iter().cloned();
        capsule.arguments.splice(range.clone(), words);
        capsule.write(directory)?;
    }
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

/// The rows of a pipe or socket: what it holds and, where that is longer than what was recorded, behind how many
/// bytes of that there are how many more.
fn flow_rows(name: &[u8], channel: &Channel, content: &[u8]) -> Vec<u8> {
    let mut rows = named_row(name, channel.index, content);
    let more = content.len().saturating_sub(channel.content.len());
    if more > 0 {
        let pairs = content.iter().zip(&channel.content);
        let same = pairs.take_while(|(new, old)| new == old).count();
        let place: Vec<u8> = [same, more]
            .iter()
            .flat_map(|number| (*number as u32).to_le_bytes())
            .collect();
        let name = [name, b"-grown"].concat();
        rows.extend(named_row(&name, channel.index, &place));
    }
    rows
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
