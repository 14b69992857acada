//! A solver's answer as arguments, standard input and files: a run that can be made.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_campaign::capsule::Capsule;
use nearmiss_judge::nearness::changed_runs;
use nearmiss_results::{Change, Input, Resized};
use nearmiss_solve::Model;
use nearmiss_trace::Channel;

use crate::analyse::Flip;
use crate::growth::ShapedInput;
use crate::inputs::{show, write, write_shaped};
use crate::lengths::{Resize, resizes};
use crate::resize::{Growth, resize, resized};

/// How the input of a run differs from the one that it comes from.
#[derive(Clone, Debug)]
pub enum Alteration {
    /// These bytes and lengths are others: a solver's answer.
    Changes(Model),
    /// It has another shape.
    Shape(ShapedInput),
}

impl Alteration {
    /// What a flip wants of the input that its path was recorded on.
    pub fn of(flip: &Flip, channels: &[Channel]) -> Alteration {
        match &flip.word {
            Some(word) => Alteration::Shape(ShapedInput::replacing(word, channels)),
            None => Alteration::Changes(flip.changes.clone()),
        }
    }

    /// Writes the input into `directory`, which is made.
    pub fn write(
        &self,
        recorded: &Capsule,
        channels: &[Channel],
        directory: &Path,
    ) -> io::Result<Capsule> {
        match self {
            Alteration::Changes(model) => {
                let invented = invent(recorded, channels, model, Growth::End, directory);
                invented.map(|invented| invented.capsule)
            }
            Alteration::Shape(input) => write_shaped(recorded, channels, input, directory),
        }
    }
}

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
    /// What each channel holds, by its number.
    pub contents: Vec<Vec<u8>>,
    /// Where it was written.
    pub directory: PathBuf,
}

impl Invented {
    /// Removes what was written: it is of no use.
    pub fn forget(self) {
        // What is left behind is removed with the campaign's other leftovers.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

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
    let capsule = write(recorded, channels, &contents, directory)?;
    Ok(Invented {
        input: show(&capsule, channels, &contents, channels),
        capsule,
        directory: directory.to_path_buf(),
        changes,
        lengths: resizes.iter().filter_map(piece).collect(),
        contents,
    })
}

/// What each channel holds with these changes.
pub fn contents_of(channels: &[Channel], model: &Model, growth: Growth) -> Vec<Vec<u8>> {
    let mut contents = contents(channels, model);
    change_lengths(channels, &mut contents, &resizes(channels, model), growth);
    overwrite_new_bytes(channels, model, &mut contents, &mut []);
    contents
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
    let is_content = |(channel, _): &(&Channel, &Vec<u8>)| channel.piece.is_none();
    let pairs = channels.iter().zip(contents).filter(is_content);
    pairs
        .flat_map(|(channel, content)| changed_runs(&channel.label(), &channel.content, content))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ffi::OsString;

    use super::*;
    use nearmiss_abi::channel::{ChannelKind, ChannelSet};
    use nearmiss_expr::InputByte;
    use nearmiss_sandbox::Stdin;
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

    /// A capsule with two arguments.
    pub fn capsule() -> Capsule {
        Capsule {
            program: "/bin/prog".into(),
            stands_for: None,
            stand_ins: Vec::new(),
            arguments: vec!["prog".into(), "16".into(), "x".into()],
            environment: vec![("HOME".into(), "/root".into())].into(),
            directory: "/".into(),
            stdin: Stdin::Pipe("/old".into()),
            terminal: false,
            umask: None,
            chance: Default::default(),
            variables: String::new(),
            world: Vec::new(),
            files: Vec::new(),
            named: None,
            channels: ChannelSet::DEFAULT,
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
            invented.capsule.environment[..],
            [("HOME".into(), OsString::new())]
        );
        assert_eq!(
            fs::read(directory.path().join("named")).unwrap(),
            [
                &b"\x04\0\0\0\x03\0\0\0\x02\0\0\0pipepp"[..],
                b"\x0a\0\0\0\x03\0\0\0\x08\0\0\0pipe-grown\x01\0\0\0\x01\0\0\0",
            ]
            .concat()
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
