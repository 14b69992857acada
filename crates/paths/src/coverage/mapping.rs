//! clang's coverage mapping: which counters count which piece of source.
//!
//! The format is LLVM's (`docs/CoverageMappingFormat.rst`, version 7, written as 6). One record a
//! function: the files it is made of, expressions over counters, and for each file its regions.

use std::fmt;

/// What counts a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Nothing does: it cannot be executed, or the branch is decided when it is compiled.
    #[default]
    Zero,
    /// A counter.
    Counter(usize),
    /// The difference that an expression is.
    Difference(usize),
    /// The sum that an expression is.
    Sum(usize),
}

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Code, a gap between code, or what was skipped.
    Code,
    /// The place where a macro is expanded, or a file included: its regions are those of this file.
    Expansion(usize),
    /// A condition: how often it was true, how often false.
    Branch(Count, Count),
    /// A condition that is part of a decision, and where it is there.
    Condition(Count, Count, Role),
    /// A decision of several conditions: the end of its bits in the function's bitmap, and how many
    /// conditions there are.
    Decision(usize, usize),
}

/// A condition's part in its decision: its number there, and those of the conditions that are looked at
/// next, if any are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// From 0.
    pub number: usize,
    /// After it was false, after it was true.
    pub next: [Option<usize>; 2],
}

/// A piece of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// What it is.
    pub kind: Kind,
    /// Which of the function's files it is in.
    pub file: usize,
    /// Where it starts: line and column, from 1.
    pub start: (u32, u32),
    /// Where it ends.
    pub end: (u32, u32),
}

/// The record of one function.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// The files of the unit that it is made of; the first has the function itself.
    pub files: Vec<usize>,
    /// Operands of expressions.
    expressions: Vec<(Count, Count)>,
    /// Its regions.
    pub regions: Vec<Region>,
}

/// The record is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clang's coverage mapping is of an unknown form")
    }
}

/// Low bits of a number that say what counts.
const TAG_BITS: u64 = 2;
/// The bit of a region without a counter that makes it an expansion.
const EXPANSION: u64 = 1 << TAG_BITS;
/// The bit of a last column that makes its region a gap.
const GAP: u64 = 1 << 31;

impl Mapping {
    /// Reads a record.
    pub fn read(bytes: &[u8]) -> Result<Mapping, Malformed> {
        let mut input = Input(bytes);
        let mut mapping = Mapping::default();
        for _ in 0..input.number()? {
            mapping.files.push(input.number()? as usize);
        }
        for _ in 0..input.number()? {
            let pair = (input.count()?, input.count()?);
            mapping.expressions.push(pair);
        }
        for file in 0..mapping.files.len() {
            let mut line = 0;
            for _ in 0..input.number()? {
                let region = input.region(file, &mut line)?;
                mapping.regions.push(region);
            }
        }
        Ok(mapping)
    }

    /// Evaluates counts where counters have these values.
    pub fn evaluator<'a>(&'a self, counters: &'a dyn Fn(usize) -> u64) -> Evaluator<'a> {
        Evaluator {
            mapping: self,
            counters,
            known: vec![None; self.expressions.len()],
        }
    }

    /// Where a region is in the function's own text: where its macro is expanded.
    pub fn place(&self, region: &Region) -> (u32, u32) {
        self.within(region, 0).unwrap_or(*region).start
    }

    /// What a region is part of in another file: itself, or the expansion that leads to it.
    pub fn within(&self, region: &Region, file: usize) -> Option<Region> {
        let mut region = *region;
        for _ in 0..=self.files.len() {
            if region.file == file {
                return Some(region);
            }
            let outer = |other: &&Region| other.kind == Kind::Expansion(region.file);
            region = *self.regions.iter().find(outer)?;
        }
        None
    }
}

/// Counts for some values of the counters; every expression is evaluated once.
pub struct Evaluator<'a> {
    mapping: &'a Mapping,
    counters: &'a dyn Fn(usize) -> u64,
    known: Vec<Option<i64>>,
}

impl Evaluator<'_> {
    /// How often.
    pub fn value(&mut self, count: Count) -> u64 {
        // A run that ended in the middle may have counted a part before the whole.
        self.signed(count).max(0) as u64
    }

    fn signed(&mut self, count: Count) -> i64 {
        match count {
            Count::Zero => 0,
            Count::Counter(index) => (self.counters)(index) as i64,
            Count::Sum(index) => self.expression(index, i64::wrapping_add),
            Count::Difference(index) => self.expression(index, i64::wrapping_sub),
        }
    }

    fn expression(&mut self, index: usize, operation: fn(i64, i64) -> i64) -> i64 {
        let Some((left, right)) = self.mapping.expressions.get(index).copied() else {
            return 0;
        };
        if let Some(known) = self.known[index] {
            return known;
        }
        // An expression that is part of itself does not get far.
        self.known[index] = Some(0);
        let value = operation(self.signed(left), self.signed(right));
        self.known[index] = Some(value);
        value
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    /// A number of any size, seven bits a byte.
    fn number(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(Malformed)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn count(&mut self) -> Result<Count, Malformed> {
        Ok(count(self.number()?))
    }

    fn condition(&mut self) -> Result<Option<usize>, Malformed> {
        Ok((self.number()? as usize).checked_sub(1))
    }

    fn region(&mut self, file: usize, line: &mut u64) -> Result<Region, Malformed> {
        let head = self.number()?;
        let kind = match (count(head), head & EXPANSION != 0) {
            (Count::Zero, true) => Kind::Expansion((head >> (TAG_BITS + 1)) as usize),
            (Count::Zero, false) => self.special(head >> (TAG_BITS + 1))?,
            _ => Kind::Code,
        };
        *line += self.number()?;
        let column = self.number()?;
        let last_line = *line + self.number()?;
        let last_column = self.number()? & !GAP;
        Ok(Region {
            kind,
            file,
            start: (*line as u32, column as u32),
            end: (last_line as u32, last_column as u32),
        })
    }

    /// A region that has more than one counter, or none; the numbers are LLVM's.
    fn special(&mut self, kind: u64) -> Result<Kind, Malformed> {
        match kind {
            0 | 2 => Ok(Kind::Code),
            4 => Ok(Kind::Branch(self.count()?, self.count()?)),
            5 => Ok(Kind::Decision(
                self.number()? as usize,
                self.number()? as usize,
            )),
            6 => {
                let (yes, no) = (self.count()?, self.count()?);
                // Numbers from 1; 0 is the end.
                let number = self.condition()?.ok_or(Malformed)?;
                let (after_true, after_false) = (self.condition()?, self.condition()?);
                let role = Role {
                    number,
                    next: [after_false, after_true],
                };
                Ok(Kind::Condition(yes, no, role))
            }
            _ => Err(Malformed),
        }
    }
}

fn count(number: u64) -> Count {
    let index = (number >> TAG_BITS) as usize;
    match number & ((1 << TAG_BITS) - 1) {
        0 => Count::Zero,
        1 => Count::Counter(index),
        2 => Count::Difference(index),
        _ => Count::Sum(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `static int helper(int a) { return a ? 2 : 1; }` on line 2, as clang 19 writes it.
    const HELPER: &[u8] = &[
        0x01, 0x02, 0x01, 0x01, 0x05, 0x06, 0x01, 0x02, 0x1a, 0x00, 0x2f, 0x01, 0x00, 0x23, 0x00,
        0x24, 0x20, 0x05, 0x02, 0x00, 0x23, 0x00, 0x24, 0x05, 0x00, 0x26, 0x00, 0xa7, 0x80, 0x80,
        0x80, 0x08, 0x05, 0x00, 0x27, 0x00, 0x28, 0x02, 0x00, 0x2b, 0x00, 0x2c,
    ];

    #[test]
    fn a_function_with_one_condition() {
        let mapping = Mapping::read(HELPER).unwrap();
        assert_eq!(
            (mapping.files.as_slice(), mapping.regions.len()),
            (&[2][..], 6)
        );
        assert_eq!(mapping.regions[0].start, (2, 26));
        assert_eq!(mapping.regions[0].end, (2, 47));
        let Kind::Branch(yes, no) = mapping.regions[2].kind else {
            panic!("{:?}", mapping.regions[2]);
        };
        // Called five times, two of them with another number than 0.
        let counters = |index: usize| [5, 2][index];
        let mut counts = mapping.evaluator(&counters);
        assert_eq!((counts.value(yes), counts.value(no)), (2, 3));
        assert_eq!(mapping.place(&mapping.regions[2]), (2, 35));
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for size in 0..HELPER.len() {
            assert_eq!(
                Mapping::read(&HELPER[..size]).err(),
                Some(Malformed),
                "{size}"
            );
        }
    }
}
