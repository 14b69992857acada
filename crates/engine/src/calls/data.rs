//! The data of calls: which lengths it may have, and the call as C.

use std::borrow::Cow;

use nearmiss_abi::boundary::shape;
use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::BoundaryCall;
use nearmiss_trace::Channel;

/// Longest data that is shown in a call.
const MAX_SHOWN: usize = 100;

/// What a call may be given of a content: data whose length the call does not know keeps its own, the test's own
/// memory has no room for more, and what says how much there is stays.
pub fn fitting<'c>(channels: &[Channel], number: usize, content: &'c [u8]) -> Cow<'c, [u8]> {
    let mut content = of_fitting_length(channels, number, content);
    let own = &channels[number];
    for kept in shape::kept(own.index, &own.content) {
        let before = &own.content[kept.clone()];
        if content.get(kept.clone()).is_some_and(|now| now != before) {
            content.to_mut()[kept].copy_from_slice(before);
        }
    }
    content
}

fn of_fitting_length<'c>(channels: &[Channel], number: usize, content: &'c [u8]) -> Cow<'c, [u8]> {
    let own = &channels[number].content;
    let of_it = |one: &Channel| {
        one.piece
            .is_some_and(|piece| piece.channel as usize == number)
    };
    let has_length = channels.iter().any(of_it);
    let moves = channels[number].index & shape::MOVES != 0;
    let least = shape::least(channels[number].index) as usize;
    let fits = match has_length {
        true => content.len() >= least && (moves || content.len() <= own.len()),
        false => content.len() == own.len(),
    };
    if fits {
        return Cow::Borrowed(content);
    }
    let mut whole = content.to_vec();
    if !has_length || !moves {
        whole.truncate(own.len());
    }
    let until = if has_length {
        least.max(whole.len())
    } else {
        own.len()
    };
    whole.extend(&own[whole.len()..until.min(own.len()).max(whole.len())]);
    Cow::Owned(whole)
}

/// The calls of a test as C: with the test's own data, and with the contents of another input where these differ.
pub fn shown(
    calls: &[BoundaryCall],
    own: &[Channel],
    channels: &[Channel],
    contents: &[Vec<u8>],
) -> Vec<BoundaryCall> {
    let mut calls = calls.to_vec();
    for call in &mut calls {
        let old: Vec<&[u8]> = own.iter().map(|one| one.content.as_slice()).collect();
        let new: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let base = call.arguments.clone();
        call.arguments = arguments(&base, call.number, own, &old, true);
        let is_bare = |one: &Channel| one.index & shape::IS_BARE != 0 && is_of(one, call.number);
        if !channels.iter().any(is_bare) {
            call.bare = None;
        }
        // A call without data is one that the failing run does not come to.
        let failing = arguments(&base, call.number, channels, &new, true);
        if failing != call.arguments && failing != base {
            call.failing = arguments(&base, call.number, channels, &new, false);
        }
    }
    calls
}

/// The arguments of a call, with data in the places that have some. The test's own texts have a zero behind them.
fn arguments(
    base: &[String],
    number: u64,
    channels: &[Channel],
    contents: &[&[u8]],
    is_own: bool,
) -> Vec<String> {
    let mut arguments = base.to_vec();
    for (channel, content) in channels.iter().zip(contents) {
        if !is_of(channel, number) {
            continue;
        }
        let index = channel.index;
        let parameter = (index & shape::PARAMETER) as usize;
        let Some(place) = arguments.get_mut(parameter) else {
            continue;
        };
        if index & shape::IS_PLAIN != 0 {
            *place = plain(&channel.name, content, index);
            continue;
        }
        *place = data(content, index);
        if index & shape::IS_BARE != 0 && !is_own {
            *place = format!("(const char[{}]){{{place}}}", content.len());
        }
        let size = content.len() as u64 / u64::from(shape::element(index).max(1));
        let tied = (shape::tied(index) as usize).checked_sub(1);
        if let Some(place) = tied.and_then(|tied| arguments.get_mut(tied)) {
            *place = (size + u64::from(shape::more(index))).to_string();
        }
    }
    arguments
}

/// Whether a channel is data of a call.
fn is_of(channel: &Channel, call: u64) -> bool {
    channel.kind == ChannelKind::Call && number_of(channel) == Some(call)
}

/// The number of the call that a channel belongs to.
fn number_of(channel: &Channel) -> Option<u64> {
    let name = std::str::from_utf8(&channel.name).ok()?;
    name.split_once(':')?.0.parse().ok()
}

/// A number as C, or those of a structure that are inputs.
fn plain(name: &[u8], content: &[u8], index: u32) -> String {
    if shape::element(index) > 0 {
        return number(content, true);
    }
    let name = String::from_utf8_lossy(name);
    let fields = name.splitn(3, ':').nth(2).unwrap_or_default();
    let mut at = 0;
    let mut text = String::from("&{");
    for field in fields.split(',').filter(|field| !field.is_empty()) {
        let (name, place) = field.split_once('@').unwrap_or((field, ""));
        let size = place.chars().last().and_then(|it| it.to_digit(10));
        let end = at + size.unwrap_or(0) as usize;
        let Some(bytes) = content.get(at..end) else {
            break;
        };
        text += &format!(".{name} = {}, ", number(bytes, place.contains('s')));
        at = end;
    }
    text + "…}"
}

/// A number of a few bytes.
fn number(bytes: &[u8], is_signed: bool) -> String {
    let mut word = [0; 8];
    let size = bytes.len().min(8);
    word[..size].copy_from_slice(&bytes[..size]);
    let value = u64::from_le_bytes(word);
    let unused = 64 - 8 * size.max(1);
    match is_signed {
        true => ((value << unused) as i64 >> unused).to_string(),
        false => value.to_string(),
    }
}

/// Data as C: a string, or bytes.
fn data(content: &[u8], index: u32) -> String {
    if let Some(text) = wide(content, index) {
        return text;
    }
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let printable = content.iter().filter(|byte| is_text(byte)).count();
    let has_bytes = shape::element(index) == 1;
    let is_text = index & (shape::IS_STRING | shape::IS_BARE) != 0;
    if has_bytes && (is_text || 2 * printable > content.len()) {
        return literal(content);
    }
    let element = shape::element(index).clamp(1, 8) as usize;
    let values = content.chunks(element).map(|bytes| number(bytes, false));
    let values: Vec<String> = values.take(MAX_SHOWN / 4).collect();
    let ty = match element {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned",
        _ => "unsigned long",
    };
    let more = if content.len() > values.len() * element {
        ", …"
    } else {
        ""
    };
    format!("({ty}[]){{{}{more}}}", values.join(", "))
}

/// A string of wide characters, if it can be written as one.
fn wide(content: &[u8], index: u32) -> Option<String> {
    let (element, prefix) = match shape::element(index) {
        2 => (2, 'u'),
        4 => (4, 'L'),
        _ => return None,
    };
    let mut text = Vec::new();
    for bytes in content.chunks(element) {
        let is_plain = bytes[1..].iter().all(|byte| *byte == 0) && bytes[0].is_ascii();
        text.extend(is_plain.then_some(bytes[0]));
    }
    let is_whole = text.len() * element == content.len();
    (index & shape::IS_STRING != 0 && is_whole).then(|| format!("{prefix}{}", literal(&text)))
}

/// A string literal. What would change the meaning of a byte before it is octal.
fn literal(content: &[u8]) -> String {
    let mut text = String::from("\"");
    for (at, byte) in content.iter().enumerate() {
        if at >= MAX_SHOWN {
            return text + "\"…";
        }
        match byte {
            b'"' => text += "\\\"",
            b'\\' => text += "\\\\",
            b'\n' => text += "\\n",
            b'\t' => text += "\\t",
            b'\r' => text += "\\r",
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => text += &format!("\\{byte:03o}"),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_trace::Piece;

    fn channel(index: u32, name: &str, content: &[u8]) -> Channel {
        Channel {
            kind: ChannelKind::Call,
            index,
            name: name.into(),
            content: content.to_vec(),
            piece: None,
        }
    }

    fn length(of: u32, length: u32) -> Channel {
        Channel {
            kind: ChannelKind::Length,
            piece: Some(Piece {
                channel: of,
                start: 0,
                length,
                is_line: false,
            }),
            ..channel(of, "", &length.to_le_bytes())
        }
    }

    const STRING: u32 = shape::IS_STRING | 1 << 12;

    #[test]
    fn data_has_only_lengths_that_the_call_can_have() {
        let channels = [
            channel(STRING | shape::MOVES, "1:f", b"abc"),
            channel(STRING, "1:f", b"abc"),
            channel(4 << 12, "1:f", &[1, 0, 0, 0]),
            length(0, 3),
            length(1, 3),
        ];
        assert_eq!(fitting(&channels, 0, b"abcd"), b"abcd".as_slice());
        assert_eq!(fitting(&channels, 1, b"abcd"), b"abc".as_slice());
        assert_eq!(fitting(&channels, 1, b"a"), b"a".as_slice());
        assert_eq!(fitting(&channels, 2, b"a"), b"a\0\0\0".as_slice());
        let counted = [channel(1 << 12, "1:f", &[2, 7, 8])];
        assert_eq!(fitting(&counted, 0, &[9, 1, 1]), [2u8, 1, 1].as_slice());
        let relied = [
            channel(STRING | shape::MOVES | 2 << 25, "1:f", b"abc"),
            length(0, 3),
        ];
        assert_eq!(fitting(&relied, 0, b"x"), b"xb".as_slice());
        assert_eq!(fitting(&relied, 0, b"wxyz"), b"wxyz".as_slice());
    }

    #[test]
    fn numbers_are_shown_with_their_signs() {
        let call = BoundaryCall {
            number: 2,
            arguments: ["7", "…", "3"].map(str::to_string).to_vec(),
            ..BoundaryCall::default()
        };
        let own = [
            channel(shape::IS_PLAIN | 4 << 12, "2:area", &7i32.to_le_bytes()),
            channel(
                shape::IS_PLAIN | 1,
                "2:area:w@0s2,in.h@4u1,",
                &[0xff, 0xff, 0xff],
            ),
        ];
        let changed = vec![(-8i32).to_le_bytes().to_vec(), vec![1, 0, 2]];
        let shown = shown(&[call], &own, &own, &changed);
        assert_eq!(shown[0].arguments, ["7", "&{.w = -1, .in.h = 255, …}", "3"]);
        assert_eq!(shown[0].failing, ["-8", "&{.w = 1, .in.h = 2, …}", "3"]);
    }

    #[test]
    fn calls_are_shown_as_c() {
        let call = BoundaryCall {
            bare: Some(Default::default()),
            number: 7,
            function: "parse".into(),
            arguments: ["…", "3", "NULL"].map(str::to_string).to_vec(),
            ..BoundaryCall::default()
        };
        let own = [channel(STRING | 2 << 16, "7:parse", b"a\"c")];
        let shown = shown(
            std::slice::from_ref(&call),
            &own,
            &own,
            &[b"a\n\x01xy".to_vec()],
        );
        assert_eq!(shown[0].arguments, ["\"a\\\"c\"", "3", "NULL"]);
        assert_eq!(shown[0].failing, ["\"a\\n\\001xy\"", "5", "NULL"]);
        assert_eq!(data(&[1, 0, 2, 0], 2 << 12), "(unsigned short[]){1, 2}");
        let own = [channel(
            shape::IS_BARE | 1 << 12 | 2 << 16,
            "7:parse",
            b"ab",
        )];
        let shown = super::shown(&[call], &own, &own, &[b"a".to_vec()]);
        assert_eq!(shown[0].arguments, ["\"ab\"", "2", "NULL"]);
        assert_eq!(shown[0].failing, ["(const char[1]){\"a\"}", "1", "NULL"]);
        assert!(shown[0].bare.is_some());
        let wide = shape::IS_STRING | 2 << 12;
        assert_eq!(data(b"a\0b\0", wide), "u\"ab\"");
        assert_eq!(data(b"\x01\x02", wide), "(unsigned short[]){513}");
    }
}
