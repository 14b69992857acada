//! Terms for people: S-expressions down to a depth.
//!
//! `input0[3]` is byte 3 of channel 0, `0x2a:32` a constant of 32 bits, `read2` a read of
//! snapshot 2, `(extract 15..8 x)` has the highest and the lowest bit taken.

use std::fmt::Write;

use crate::node::{Node, TermId};
use crate::terms::Terms;

/// A text longer than this ends early: shared terms are written each time they occur.
const MAX_LENGTH: usize = 64 << 10;
/// Deeper than this no text is of use to anyone, and the stack is finite.
const MAX_DEPTH: usize = 256;

/// A term as an S-expression; what lies deeper than `depth` operations is `…`.
pub fn expression(terms: &Terms, id: TermId, depth: usize) -> String {
    let mut text = String::new();
    write_term(terms, id, depth.min(MAX_DEPTH), &mut text);
    text
}

fn write_term(terms: &Terms, id: TermId, depth: usize, text: &mut String) {
    let is_leaf = terms.operands(id).len() == 0;
    if !is_leaf && (depth == 0 || text.len() > MAX_LENGTH) {
        text.push('…');
        return;
    }
    let head = match terms.node(id) {
        Node::Const { width, value } => format!("{value:#x}:{width}"),
        Node::Input(byte) => format!("input{}[{}]", byte.channel, byte.offset),
        Node::Extract { low, width, .. } => format!("extract {}..{low}", low + width - 1),
        Node::ZExt { width, .. } => format!("zext {width}"),
        Node::SExt { width, .. } => format!("sext {width}"),
        Node::Read {
            snapshot, width, ..
        } => format!("read{} {width}", snapshot.0),
        _ => terms.op(id).name().to_string(),
    };
    if is_leaf {
        text.push_str(&head);
        return;
    }
    let _ = write!(text, "({head}");
    for operand in terms.operands(id) {
        text.push(' ');
        write_term(terms, operand, depth - 1, text);
    }
    text.push(')');
}

#[cfg(test)]
mod tests {
    use nearmiss_abi::op::Op;

    use super::*;
    use crate::node::InputByte;

    #[test]
    fn shapes() {
        let mut terms = Terms::new();
        let input = |terms: &mut Terms, offset| terms.input(InputByte { channel: 0, offset });
        let (x, y) = (input(&mut terms, 0), input(&mut terms, 1));
        let word = terms.concat(y, x);
        let wide = terms.sext(word, 64);
        let snapshot = terms.snapshot(vec![1, 2, 3]);
        let read = terms.read(wide, snapshot, 8);
        let ten = terms.constant(8, 10);
        let less = terms.binary(Op::Ult, read, ten);
        let part = terms.extract(word, 4, 8);
        let cases = [
            (
                less,
                9,
                "(ult (read0 8 (sext 64 (concat input0[1] input0[0]))) 0xa:8)",
            ),
            (less, 2, "(ult (read0 8 …) 0xa:8)"),
            (
                part,
                9,
                "(concat (extract 3..0 input0[1]) (extract 7..4 input0[0]))",
            ),
        ];
        for (id, depth, expected) in cases {
            assert_eq!(expression(&terms, id, depth), expected);
        }
    }
}
