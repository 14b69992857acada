//! An input that fails, brought as near to the test's own as replays allow: no changed byte can
//! go back to its old value without losing the failure.
//!
//! The solver's answers are minimal on the path that they were asked for. This looks beyond: a
//! byte that had to change to stay on a path (or to get there, several forks ago) may not be needed
//! for the failure itself.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_trace::Channel;

/// Most attempts for one input.
const MOST_ATTEMPTS: usize = 128;

/// A byte that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Changed {
    channel: usize,
    offset: usize,
    old: u8,
}

/// Gives bytes of `contents` (of `channels`) back their value in `own` (channels of the same
/// names) as long as that `still_fails`; says whether any could.
pub fn minimise(
    own: &[Channel],
    channels: &[Channel],
    contents: &mut [Vec<u8>],
    still_fails: &mut dyn FnMut(&[Vec<u8>]) -> bool,
) -> bool {
    let mut attempts = MOST_ATTEMPTS;
    let mut is_nearer = false;
    let mut size = changed_bytes(own, channels, contents).len();
    if size == 0 || size == 1 && !has_other_length(own, channels, contents) {
        // All that is left is the test's own input, which is judged by itself.
        return false;
    }
    // Halves first, then smaller parts, at last single bytes, until none of them can go back.
    while size > 0 {
        let part = size.div_ceil(2);
        match restore_some(own, channels, contents, part, still_fails, &mut attempts) {
            true => is_nearer = true,
            false if part == 1 => break,
            false => {
                size = part;
                continue;
            }
        }
        size = changed_bytes(own, channels, contents).len().min(size);
        if attempts == 0 {
            break;
        }
    }
    is_nearer
}

/// Restores runs of `part` bytes, each if the input still fails without it.
fn restore_some(
    own: &[Channel],
    channels: &[Channel],
    contents: &mut [Vec<u8>],
    part: usize,
    still_fails: &mut dyn FnMut(&[Vec<u8>]) -> bool,
    attempts: &mut usize,
) -> bool {
    let mut any = false;
    let changed = changed_bytes(own, channels, contents);
    for run in changed.chunks(part) {
        if *attempts == 0 {
            break;
        }
        *attempts -= 1;
        let before: Vec<u8> = run
            .iter()
            .map(|one| std::mem::replace(&mut contents[one.channel][one.offset], one.old))
            .collect();
        if still_fails(contents) {
            any = true;
        } else {
            for (one, value) in run.iter().zip(before) {
                contents[one.channel][one.offset] = value;
            }
        }
    }
    any
}

fn is_content(channel: &Channel) -> bool {
    channel.kind != ChannelKind::Length
}

/// What a channel holds in the test's own input.
fn own_content<'a>(own: &'a [Channel], channel: &Channel) -> Option<&'a [u8]> {
    let is_it = |one: &&Channel| {
        (one.kind, one.index, &one.name) == (channel.kind, channel.index, &channel.name)
    };
    let found = own.iter().find(is_it).filter(|_| is_content(channel));
    found.map(|one| one.content.as_slice())
}

fn changed_bytes(own: &[Channel], channels: &[Channel], contents: &[Vec<u8>]) -> Vec<Changed> {
    let mut changed = Vec::new();
    for (number, (channel, content)) in channels.iter().zip(contents).enumerate() {
        let old = own_content(own, channel).unwrap_or_default();
        let pairs = old.iter().zip(content).enumerate();
        changed.extend(
            pairs
                .filter(|(_, (old, new))| old != new)
                .map(|(offset, (old, _))| Changed {
                    channel: number,
                    offset,
                    old: *old,
                }),
        );
    }
    changed
}

fn has_other_length(own: &[Channel], channels: &[Channel], contents: &[Vec<u8>]) -> bool {
    let pairs = channels.iter().zip(contents);
    let mut differ = pairs.filter_map(|(channel, content)| {
        let old = own_content(own, channel)?;
        Some(old.len() != content.len())
    });
    differ.any(|differs| differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(content: &[u8]) -> Vec<Channel> {
        vec![Channel {
            kind: ChannelKind::Argument,
            index: 1,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        }]
    }

    /// The nearest input to `own` that `fails`, starting from `first`; and the attempts.
    fn nearest(own: &str, first: &str, fails: impl Fn(&[u8]) -> bool) -> (String, usize) {
        let channels = argument(own.as_bytes());
        let mut contents = vec![first.as_bytes().to_vec()];
        let mut attempts = 0;
        minimise(&channels, &channels, &mut contents, &mut |contents| {
            attempts += 1;
            fails(&contents[0])
        });
        (String::from_utf8(contents.remove(0)).unwrap(), attempts)
    }

    #[test]
    fn only_what_is_needed_stays_changed() {
        let fails = |text: &[u8]| text[2] == b'X' && text[5] == b'Y';
        assert_eq!(nearest("abcdefgh", "12X45Y78", fails).0, "abXdeYgh");
    }

    #[test]
    fn no_single_byte_can_go_back() {
        // Fails for an odd number of changes at least three: greedy halves would stop early.
        let count = |text: &[u8]| text.iter().filter(|byte| **byte == b'X').count();
        let fails = |text: &[u8]| count(text) >= 3;
        let (best, _) = nearest("aaaaaaaaaaaaaaaa", "XXXXXXXXXXXXXXXX", fails);
        assert_eq!(count(best.as_bytes()), 3);
    }

    #[test]
    fn one_changed_byte_needs_no_attempt() {
        assert_eq!(nearest("ab", "aX", |_| true), ("aX".into(), 0));
        // With another length it does: the byte may be unnecessary.
        assert_eq!(nearest("ab", "aXc", |_| true), ("abc".into(), 1));
    }
}
