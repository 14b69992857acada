//! Numbers among the inputs. An index that is not known yet chooses among all places:
//! `t[n]` is `(t0 & -(n == 0)) | (t1 & -(n == 1)) | …`.

use super::arithmetic::{self, Written};
use super::truth::Truth;
use super::types::CType;
use super::values::Values;
use super::write::Writer;
use super::{Binary, Place, Step, Trouble};
use crate::Operand;

/// A way that a place may be: how it is called without any unknown index, and when it is that.
struct Way {
    path: String,
    condition: Truth,
}

/// Where a place may be, and whether it is anywhere.
struct Ways {
    ways: Vec<Way>,
    defined: Truth,
}

/// So many ways and no more.
const MOST_WAYS: usize = 4096;

/// The number at a place; for a pointer, whether it points to something.
pub(super) fn number(writer: &mut Writer, place: &Place, at: usize) -> Result<Written, Trouble> {
    let Ways { ways, defined } = ways(writer, place, at)?;
    let mut chosen: Option<Written> = None;
    for way in ways {
        let read = read(writer, &way.path, at)?;
        chosen = Some(match chosen {
            None if way.condition == Truth::TRUE => read,
            None => masked(&read, &way.condition),
            Some(others) => {
                let is_pointer = read.is_pointer;
                let read = masked(&read, &way.condition);
                let either = arithmetic::binary(Binary::BitOr, &others, &read);
                Written {
                    is_pointer,
                    ..either
                }
            }
        });
    }
    // A place that is nowhere has no value; what is chosen for it is of no interest.
    let chosen = chosen.unwrap_or_else(|| Written::constant(0, CType::INT));
    Ok(chosen.if_defined(&defined))
}

/// The number where the condition holds, else 0.
fn masked(number: &Written, condition: &Truth) -> Written {
    let condition = Written::of_truth(condition).converted(number.ctype);
    let mask = arithmetic::unary(super::Unary::Minus, &condition);
    let kept = arithmetic::binary(Binary::BitAnd, number, &mask);
    let Values { least, greatest } = number.values;
    let values = Values::new(least.min(0), greatest.max(0));
    Written {
        values,
        is_pointer: number.is_pointer,
        ..kept
    }
}

fn read(writer: &Writer, path: &str, at: usize) -> Result<Written, Trouble> {
    match writer.operands.number(path) {
        Ok(operand) => from_operand(&operand, at),
        // A pointer has no number, but it may be null.
        Err(error) => match writer.operands.is_null(path) {
            Ok(is_null) => {
                let points = from_operand(&is_null, at)?.truth().not();
                Ok(Written {
                    is_pointer: true,
                    ..Written::of_truth(&points)
                })
            }
            Err(_) => Err(Trouble::new(at, error.0)),
        },
    }
}

/// How many elements there are at a place; of a string with the zero that ends it.
pub(super) fn count(writer: &mut Writer, place: &Place, at: usize) -> Result<Written, Trouble> {
    let (path, defined) = counted(writer, place, at)?;
    Ok(count_of(writer, &path, at)?.if_defined(&defined))
}

/// How long a string is.
pub(super) fn length(writer: &mut Writer, place: &Place, at: usize) -> Result<Written, Trouble> {
    let (path, defined) = counted(writer, place, at)?;
    let count = writer.operands.count(&path);
    if let (Ok(count), true) = (&count, has_bytes(writer, &path)) {
        let length = first_zero(writer, &path, &from_operand(count, at)?, at)?;
        return Ok(length.if_defined(&defined));
    }
    if count.is_ok() {
        let message = format!("{path} is no string; write count({path}), or use --string {path}");
        return Err(Trouble::new(at, message));
    }
    Ok(length_of(writer, &path, at)?.if_defined(&defined))
}

fn has_bytes(writer: &Writer, path: &str) -> bool {
    let first = writer.operands.number(&format!("{path}[0]"));
    first.is_ok_and(|element| element.bits == 8)
}

/// Where the first zero is in an array of bytes; behind its last element if there is none.
fn first_zero(
    writer: &mut Writer,
    path: &str,
    count: &Written,
    at: usize,
) -> Result<Written, Trouble> {
    let most = writer.operands.most(path);
    let most = most.map_err(|error| Trouble::new(at, error.0))?;
    let mut bytes = Vec::new();
    for index in 0..most {
        let place = Written::constant(index.into(), CType::UNSIGNED_LONG);
        let is_there = arithmetic::binary(Binary::Less, &place, count).truth();
        let byte = read(writer, &format!("{path}[{index}]"), at)?.truth();
        bytes.push(is_there.and(&byte));
    }
    Ok(writer.lengths.of(path, &bytes))
}

fn counted(writer: &mut Writer, place: &Place, at: usize) -> Result<(String, Truth), Trouble> {
    let mut found = ways(writer, place, at)?;
    found.need_pointers(writer);
    match found.ways.as_slice() {
        [way] if way.condition == Truth::TRUE => Ok((way.path.clone(), found.defined)),
        _ => Err(Trouble::new(at, "this needs an index that is a number")),
    }
}

fn count_of(writer: &mut Writer, path: &str, at: usize) -> Result<Written, Trouble> {
    match writer.operands.count(path) {
        Ok(count) => from_operand(&count, at),
        // Strings have no count of their own.
        Err(_) => {
            let one = Written::constant(1, CType::UNSIGNED_LONG);
            let length = length_of(writer, path, at)?;
            Ok(arithmetic::binary(Binary::Add, &length, &one))
        }
    }
}

fn length_of(writer: &mut Writer, path: &str, at: usize) -> Result<Written, Trouble> {
    let most = writer.operands.most(path);
    let most = most.map_err(|error| Trouble::new(at, error.0))?;
    let bytes = (0..most).map(|index| read(writer, &format!("{path}[{index}]"), at));
    let bytes: Vec<Truth> = bytes
        .map(|byte| byte.map(|byte| byte.truth()))
        .collect::<Result<_, _>>()?;
    Ok(writer.lengths.of(path, &bytes))
}

fn from_operand(operand: &Operand, at: usize) -> Result<Written, Trouble> {
    if operand.bits > 64 {
        return Err(Trouble::new(
            at,
            "numbers of more than 64 bits cannot be used here",
        ));
    }
    let ctype = CType::promoted(operand.signed, operand.bits);
    let (least, greatest) = operand.values;
    let text = format!("({})", operand.text);
    Ok(Written::new(text, ctype, Values::new(least, greatest)))
}

fn ways(writer: &mut Writer, place: &Place, at: usize) -> Result<Ways, Trouble> {
    let mut found = Ways {
        ways: vec![Way {
            path: place.name.clone(),
            condition: Truth::TRUE,
        }],
        defined: Truth::TRUE,
    };
    for step in &place.steps {
        match step {
            Step::Member(name) => found.lead_to(&format!(".{name}")),
            Step::Arrow(name) => {
                found.need_pointers(writer);
                found.lead_to(&format!("->{name}"));
            }
            Step::Target => {
                found.need_pointers(writer);
                found.choose(writer, &Written::constant(0, CType::INT), at)?;
            }
            Step::Index(index) => {
                let is_constant = writer.is_constant(index);
                let written = writer.expression(index)?;
                found.need_pointers(writer);
                found.choose(writer, &written, at)?;
                if found.defined == Truth::FALSE && is_constant {
                    let name = &place.name;
                    let message = format!("{name} never has an element with this index");
                    return Err(Trouble::new(index.at, message));
                }
            }
        }
    }
    Ok(found)
}

impl Ways {
    fn lead_to(&mut self, step: &str) {
        for way in &mut self.ways {
            way.path += step;
        }
    }

    /// What a pointer leads to is there only if it is not null.
    fn need_pointers(&mut self, writer: &Writer) {
        for way in &self.ways {
            // An array is no pointer, and always there.
            let is_null = writer.operands.is_null(&way.path);
            let is_null = is_null.and_then(|operand| {
                from_operand(&operand, 0).map_err(|trouble| crate::HarnessError(trouble.message))
            });
            if let Ok(is_null) = is_null {
                let points = is_null.truth().not();
                self.defined = self.defined.and(&way.condition.not().or(&points));
            }
        }
    }

    /// One of the elements that each way leads to.
    fn choose(&mut self, writer: &mut Writer, index: &Written, at: usize) -> Result<(), Trouble> {
        self.defined = self.defined.and(&index.defined);
        let mut chosen = Vec::new();
        for way in &self.ways {
            let failed = |error: crate::HarnessError| Trouble::new(at, error.0);
            let most = i128::from(writer.operands.most(&way.path).map_err(failed)?);
            let count = count_of(writer, &way.path, at)?;
            let zero = Written::constant(0, index.ctype);
            let there = arithmetic::binary(Binary::AtLeast, index, &zero).truth();
            let there = there.and(&arithmetic::binary(Binary::Less, index, &count).truth());
            self.defined = self.defined.and(&way.condition.not().or(&there));
            let first = index.values.least.max(0);
            let last = index.values.greatest.min(most - 1);
            for number in first..=last {
                let constant = Written::constant(number, index.ctype);
                let here = arithmetic::binary(Binary::Equal, index, &constant).truth();
                chosen.push(Way {
                    path: format!("{}[{number}]", way.path),
                    condition: way.condition.and(&here),
                });
            }
            if chosen.len() > MOST_WAYS {
                return Err(Trouble::new(at, "this may be one of too many elements"));
            }
        }
        self.ways = chosen;
        Ok(())
    }
}
