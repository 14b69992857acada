//! Contents of channels with other lengths: pieces cut, or padded in the style of the test's
//! own bytes.

use nearmiss_results::{Change, Resized};
use nearmiss_trace::{Channel, padding};

use crate::lengths::Resize;

/// Where a piece grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// At its end.
    End,
    /// Before its suffix (`.txt`), or its last byte.
    Inside,
}

/// Changes the length of a piece in its channel's content; says what was put in or taken out,
/// in offsets of `content` as it comes in.
pub fn resize(content: &mut Vec<u8>, label: &str, resize: &Resize, growth: Growth) -> Change {
    let size = content.len();
    let start = (resize.piece.start as usize).min(size);
    let end = (resize.piece.end() as usize).min(size);
    let length = end - start;
    let to = resize.to as usize;
    let mut change = Change {
        channel: label.to_string(),
        offset: (start + to) as u64,
        from: Vec::new(),
        to: Vec::new(),
    };
    if to < length {
        change.from = content.drain(start + to..end).collect();
    } else {
        let piece = &content[start..end];
        let at = match growth {
            Growth::End => length,
            Growth::Inside => before_suffix(piece),
        };
        let style = &piece[..at];
        change.offset = (start + at) as u64;
        change.to = (0..to - length)
            .map(|number| padding(style, number))
            .collect();
        content.splice(start + at..start + at, change.to.iter().copied());
    }
    change
}

/// Where the suffix of a text starts, or its last byte.
fn before_suffix(piece: &[u8]) -> usize {
    let dot = piece.iter().rposition(|byte| *byte == b'.');
    let dot = dot.filter(|dot| *dot > 0);
    dot.unwrap_or(piece.len().saturating_sub(1))
}

/// A change of length as it is reported.
pub fn resized(channel: &Channel, resize: &Resize) -> Resized {
    Resized {
        channel: channel.label(),
        offset: u64::from(resize.piece.start),
        line: resize.piece.is_line,
        from: u64::from(resize.piece.length),
        to: u64::from(resize.to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_trace::Piece;

    fn resize_to(text: &str, start: u32, length: u32, to: u32, growth: Growth) -> (String, Change) {
        let mut content = text.as_bytes().to_vec();
        let piece = Piece {
            channel: 0,
            start,
            length,
            is_line: true,
        };
        let change = resize(&mut content, "stdin", &Resize { piece, to }, growth);
        (String::from_utf8(content).unwrap(), change)
    }

    #[test]
    fn pieces_grow_in_their_own_style() {
        let (text, change) = resize_to("ab\ncd\n", 0, 2, 5, Growth::End);
        assert_eq!(text, "ababa\ncd\n");
        assert_eq!((change.offset, &change.to[..]), (2, &b"aba"[..]));
        assert!(change.from.is_empty());
        let (text, _) = resize_to("x.txt", 0, 5, 8, Growth::Inside);
        assert_eq!(text, "xxxx.txt");
        let (text, _) = resize_to("-7", 0, 2, 4, Growth::Inside);
        assert_eq!(text, "-AA7");
        let (text, _) = resize_to("", 0, 0, 3, Growth::Inside);
        assert_eq!(text, "AAA");
    }

    #[test]
    fn pieces_shrink_at_their_end() {
        let (text, change) = resize_to("abc\ncd\n", 0, 3, 1, Growth::End);
        assert_eq!(text, "a\ncd\n");
        assert_eq!((change.offset, &change.from[..]), (1, &b"bc"[..]));
        assert!(change.to.is_empty());
        let (text, _) = resize_to("ab", 7, 3, 0, Growth::End);
        assert_eq!(text, "ab", "a piece that is not there");
    }
}
