//! Inputs for tests, and how a C file would find them: numbers of all types, an array whose count is
//! an input, a matrix, a list that may end early.

use std::collections::HashMap;

use super::types::CType;
use crate::{HarnessError, Operand, Operands};

/// A number among the inputs.
pub(super) struct Row {
    pub path: &'static str,
    pub ctext: &'static str,
    pub signed: bool,
    pub bits: u32,
    pub values: (i128, i128),
}

const fn row(
    path: &'static str,
    ctext: &'static str,
    signed: bool,
    bits: u32,
    values: (i128, i128),
) -> Row {
    Row {
        path,
        ctext,
        signed,
        bits,
        values,
    }
}

const INTS: (i128, i128) = (-(1 << 31), (1 << 31) - 1);

/// The numbers; a row's place in this table is its place in the C file's array `in`.
pub(super) const ROWS: &[Row] = &[
    row("n", "int", true, 32, (0, 4)),
    row("k", "int", true, 32, INTS),
    row("u", "unsigned", false, 32, (0, (1 << 32) - 1)),
    row("few", "unsigned", false, 32, (0, 3)),
    row("c", "signed char", true, 8, (-128, 127)),
    row("b", "unsigned char", false, 8, (0, 255)),
    row("l", "long", true, 64, (i64::MIN as i128, i64::MAX as i128)),
    row("ul", "unsigned long", false, 64, (0, u64::MAX as i128)),
    row("s.x", "short", true, 16, (-32768, 32767)),
    row("t[0]", "int", true, 32, INTS),
    row("t[1]", "int", true, 32, INTS),
    row("t[2]", "int", true, 32, INTS),
    row("t[3]", "int", true, 32, INTS),
    row("m[0][0]", "unsigned char", false, 8, (0, 255)),
    row("m[0][1]", "unsigned char", false, 8, (0, 255)),
    row("m[1][0]", "unsigned char", false, 8, (0, 255)),
    row("m[1][1]", "unsigned char", false, 8, (0, 255)),
    row("w[0]", "char", true, 8, (-128, 127)),
    row("w[1]", "char", true, 8, (-128, 127)),
    row("w[2]", "char", true, 8, (-128, 127)),
    row("p is null", "int", true, 32, (0, 1)),
    row("p->value", "int", true, 32, INTS),
    row("p->next is null", "int", true, 32, (0, 1)),
    row("p->next->value", "int", true, 32, INTS),
];

fn find(path: &str) -> Option<(usize, &'static Row)> {
    ROWS.iter().enumerate().find(|(_, row)| row.path == path)
}

fn operand(path: &str) -> Result<Operand, HarnessError> {
    let (index, row) = find(path).ok_or_else(|| HarnessError(format!("{path}: no number")))?;
    Ok(Operand {
        text: format!("({})in[{index}]", row.ctext),
        signed: row.signed,
        bits: row.bits,
        values: row.values,
    })
}

/// What the C file knows.
pub(super) struct Layout;

impl Operands for Layout {
    fn number(&self, path: &str) -> Result<Operand, HarnessError> {
        operand(path)
    }

    fn most(&self, path: &str) -> Result<u64, HarnessError> {
        match path {
            "t" => Ok(4),
            "w" => Ok(3),
            "m" | "m[0]" | "m[1]" => Ok(2),
            _ => Err(HarnessError(format!("{path} has no elements"))),
        }
    }

    fn count(&self, path: &str) -> Result<Operand, HarnessError> {
        let constant = |count: i128| Operand {
            text: count.to_string(),
            signed: true,
            bits: 32,
            values: (count, count),
        };
        match path {
            "t" => operand("n"),
            "w" => Err(HarnessError("w is a string".into())),
            _ => self.most(path).map(|most| constant(most.into())),
        }
    }

    fn is_null(&self, path: &str) -> Result<Operand, HarnessError> {
        operand(&format!("{path} is null"))
    }
}

/// Values for all rows.
#[derive(Debug)]
pub(super) struct Input(pub HashMap<&'static str, i128>);

impl Input {
    /// Small numbers mostly, and the ends of types: where mistakes are.
    pub fn random(next: &mut dyn FnMut(u64) -> u64) -> Input {
        let value = |row: &Row, next: &mut dyn FnMut(u64) -> u64| {
            let (least, greatest) = row.values;
            let wanted = match next(8) {
                0 => least,
                1 => greatest,
                2 => i128::from(next(u64::MAX)),
                _ => i128::from(next(9)) - 4,
            };
            // Into the row's values, without favour.
            (wanted - least).rem_euclid(greatest - least + 1) + least
        };
        Input(
            ROWS.iter()
                .map(|row| (row.path, value(row, next)))
                .collect(),
        )
    }

    pub fn number(&self, path: &str) -> Option<(i128, CType)> {
        if path == "w[3]" {
            // The zero behind a string that has all its bytes.
            return Some((0, CType::INT));
        }
        let (_, row) = find(path)?;
        Some((self.0[row.path], CType::promoted(row.signed, row.bits)))
    }

    pub fn count(&self, path: &str) -> Option<i128> {
        match path {
            "t" => Some(self.0["n"]),
            "w" => {
                let bytes = ["w[0]", "w[1]", "w[2]"].map(|path| self.0[path]);
                let length = bytes.iter().take_while(|byte| **byte != 0).count();
                Some(length as i128 + 1)
            }
            "m" | "m[0]" | "m[1]" => Some(2),
            _ => None,
        }
    }

    pub fn is_null(&self, path: &str) -> Option<bool> {
        self.number(&format!("{path} is null"))
            .map(|(value, _)| value != 0)
    }
}
