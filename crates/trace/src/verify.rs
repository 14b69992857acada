//! Each term evaluated once under the recorded input, in one pass over the table.
//!
//! This is written against the recorded terms, not against `expr`: a mistake of the runtime
//! and a mistake of the simplifier cannot hide each other.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::op::{self, MAX_WIDTH, Op, ResultWidth};
use nearmiss_abi::term::Term;

use crate::channel::{Channel, recorded};
use crate::raw::RawTrace;

/// What is known about the terms of a trace.
pub(crate) struct Verified {
    /// The value of each term that is usable, by label.
    pub values: Vec<u128>,
    /// Whether each of them is consistent: its value, and that of all it is made of, is the
    /// recorded one.
    pub consistent: Vec<bool>,
    /// How many terms did not have the recorded value although their operands had.
    pub inconsistent: u64,
}

impl Verified {
    /// Labels from here on are unusable.
    pub fn usable(&self) -> usize {
        self.values.len()
    }
}

/// Evaluates all terms up to the first that makes no sense.
pub(crate) fn verify(raw: &RawTrace, channels: &[Channel]) -> Verified {
    let mut verified = Verified {
        values: Vec::with_capacity(raw.terms.len()),
        consistent: Vec::with_capacity(raw.terms.len()),
        inconsistent: 0,
    };
    for (label, term) in raw.terms.iter().enumerate() {
        if label == 0 {
            verified.values.push(0);
            verified.consistent.push(false);
            continue;
        }
        let Some(op) = well_formed(raw, label, term) else {
            break;
        };
        let value = evaluate(raw, channels, &verified.values, op, term);
        let operands = &[term.a, term.b, term.c][..op.arity()];
        let sound = operands
            .iter()
            .all(|operand| verified.consistent[*operand as usize]);
        let matches = value.is_some_and(|value| value as u64 == term.value);
        verified.inconsistent += (sound && !matches) as u64;
        verified.consistent.push(sound && matches);
        verified.values.push(value.unwrap_or(0));
    }
    verified
}

/// The operation of a term that makes sense: operands are smaller labels, widths fit.
fn well_formed(raw: &RawTrace, label: usize, term: &Term) -> Option<Op> {
    let op = Op::from_code(term.op)?;
    let width = term.width as u32;
    let operand_width = |field: u32| -> Option<u32> {
        let known = field != 0 && (field as usize) < label;
        known.then(|| raw.terms[field as usize].width as u32)
    };
    let mut widths = [0; 3];
    for (slot, field) in [term.a, term.b, term.c]
        .into_iter()
        .enumerate()
        .take(op.arity())
    {
        widths[slot] = operand_width(field)?;
    }
    let [a, b, c] = widths;
    let same = op.arity() < 2 || a == b;
    let fits = match op.result_width() {
        ResultWidth::Operand => same && width == a,
        ResultWidth::Bit => same && width == 1,
        ResultWidth::Stated => match op {
            Op::Const => true,
            Op::Input => width == 8,
            Op::Concat => width == a + b,
            Op::Extract => term.b.checked_add(width).is_some_and(|end| end <= a),
            Op::ZExt | Op::SExt => width >= a,
            Op::Ite => a == 1 && width == b && width == c,
            Op::Read => a == 64 && width.is_multiple_of(8) && snapshot(raw, term.b).is_some(),
            _ => false,
        },
    };
    (fits && (1..=MAX_WIDTH).contains(&width)).then_some(op)
}

/// The bytes of a snapshot.
pub(crate) fn snapshot(raw: &RawTrace, number: u32) -> Option<&[u8]> {
    let row = raw.snapshots.get(number as usize)?;
    raw.blob(row.blob_offset, row.size)
}

/// The value of a well-formed term; `None` for an input byte that no channel has.
fn evaluate(
    raw: &RawTrace,
    channels: &[Channel],
    values: &[u128],
    op: Op,
    term: &Term,
) -> Option<u128> {
    let value = |field: u32| values[field as usize];
    let operand_width = |field: u32| raw.terms[field as usize].width as u32;
    let width = term.width as u32;
    Some(match op {
        Op::Const => op::truncate(term.constant_value(), width),
        Op::Input => input(channels, term)? as u128,
        Op::Concat => value(term.a) << operand_width(term.b) | value(term.b),
        Op::Extract => op::truncate(value(term.a) >> term.b, width),
        Op::ZExt => value(term.a),
        Op::SExt => op::truncate(
            op::signed(value(term.a), operand_width(term.a)) as u128,
            width,
        ),
        Op::Ite => value(if value(term.a) == 1 { term.b } else { term.c }),
        Op::Read => read(snapshot(raw, term.b)?, value(term.a), width),
        _ => {
            let second = if op.arity() == 2 { value(term.b) } else { 0 };
            op::evaluate(op, operand_width(term.a), value(term.a), second)?
        }
    })
}

/// An input byte. Behind the recorded end of a channel nothing was recorded, and whatever is
/// made of such a byte chooses another value as long as the channel is no longer: the runtime's
/// word is as good as any.
fn input(channels: &[Channel], term: &Term) -> Option<u8> {
    let channel = channels.get(term.a as usize)?;
    let may_be_longer = || channel.kind != ChannelKind::Length && has_length(channels, term.a);
    recorded(channels, term.a, term.b).or_else(|| may_be_longer().then_some(term.value as u8))
}

fn has_length(channels: &[Channel], number: u32) -> bool {
    let of_it = |channel: &Channel| channel.piece.is_some_and(|piece| piece.channel == number);
    channels.iter().any(of_it)
}

/// A little-endian read; bytes outside are zero.
fn read(bytes: &[u8], index: u128, width: u32) -> u128 {
    (0..width as u128 / 8).fold(0, |value, k| {
        let at = usize::try_from(index + k).unwrap_or(usize::MAX);
        value | (bytes.get(at).copied().unwrap_or(0) as u128) << (8 * k)
    })
}
