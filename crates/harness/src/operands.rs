//! Numbers of the staging as expressions in C, for requirements and for the harness itself.

use crate::HarnessError;
use crate::formula::Formula;
use crate::layout::Layout;
use crate::model::{Allowed, Block, Count, Leaf, Tail, Target, What};
use crate::operand::{Operand, Operands};
use crate::path::{Path, Step};
use crate::plan::Plan;
use crate::types::Kind;

/// The array of all inputs.
pub(crate) const STAGING: &str = "nm_harness_input";
/// How the names of all that a harness defines begin.
pub const HARNESS_PREFIX: &str = "nm_harness_";

/// The expression with a leaf's value.
pub(crate) fn read(leaf: &Leaf) -> String {
    let at = leaf.at;
    let (signed, bits) = match leaf.what {
        What::Number { signed, bits } => (signed, bits),
        _ => (false, None),
    };
    let Some((first, width)) = bits else {
        let sign = if signed { 's' } else { 'u' };
        let size = leaf.size;
        return format!("(*(nm_harness_{sign}{size} *)({STAGING} + {at}))");
    };
    let byte = |place: usize| format!("(unsigned long){STAGING}[{}] << {}", at + place, place * 8);
    let bytes: Vec<String> = (0..leaf.size.min(8)).map(byte).collect();
    let whole = bytes.join(" | ");
    let up = 64 - (first + width).min(64);
    let down = 64 - width;
    let sign = if signed { "(long)" } else { "" };
    format!("({sign}(({whole}) << {up}) >> {down})")
}

/// The expression with the number of elements of a block that is no string; 64 bits, unsigned.
pub(crate) fn count(layout: &Layout, count: &Count, most: u64) -> String {
    match count {
        Count::Fixed(count) => format!("{count}ul"),
        Count::Own(leaf) => format!("(unsigned long){}", read(&layout.leaves[*leaf])),
        Count::Tied(formula) => {
            let value = formula_text(layout, formula);
            format!("nm_harness_count_of({value})")
        }
        Count::Text => format!("{most}ul"),
    }
}

/// Arithmetic is unsigned: it cannot overflow, and no check watches it.
fn formula_text(layout: &Layout, formula: &Formula<usize>) -> String {
    match formula {
        Formula::Number(number) => format!("(unsigned long){number}"),
        Formula::Input(leaf) => format!("(unsigned long)(long){}", read(&layout.leaves[*leaf])),
        Formula::Operation(sign, operands) => {
            let left = formula_text(layout, &operands.0);
            let right = formula_text(layout, &operands.1);
            format!("({left} {sign} {right})")
        }
    }
}

/// The condition that a leaf has only allowed values; none if it always has.
pub(crate) fn limit(leaf: &Leaf, allowed: &Allowed) -> Option<String> {
    let value = read(leaf);
    let range = |low: i128, high: i128| {
        let (least, most) = leaf.bounds();
        let low = (low > least).then(|| format!("({value} >= {})", literal(low, leaf)));
        let high = (high < most).then(|| format!("({value} <= {})", literal(high, leaf)));
        match (low, high) {
            (Some(low), Some(high)) => Some(format!("{low} & {high}")),
            (low, high) => low.or(high),
        }
    };
    match allowed {
        Allowed::Range(low, high) => range(*low, *high),
        Allowed::ZeroOr(low, high) => {
            range(*low, *high).map(|range| format!("({value} == 0) | ({range})"))
        }
        Allowed::OneOf(values) => {
            let each = values
                .iter()
                .map(|one| format!("({value} == {})", literal(*one, leaf)));
            Some(each.collect::<Vec<_>>().join(" | "))
        }
    }
}

/// A number that is compared with a leaf.
fn literal(value: i128, leaf: &Leaf) -> String {
    let signed = matches!(leaf.what, What::Number { signed: true, .. });
    if value == i128::from(i64::MIN) {
        return format!("(-{}ll - 1)", i64::MAX);
    }
    match (signed || leaf.size < 8, value) {
        (true, _) if i32::try_from(value).is_ok() => value.to_string(),
        (true, _) => format!("{value}ll"),
        (false, _) => format!("{value}ull"),
    }
}

impl Operands for Plan {
    fn number(&self, path: &str) -> Result<Operand, HarnessError> {
        let wanted = Path::parse(path)?;
        if let Some((number, leaf)) = self.find_number(&wanted) {
            return Ok(self.operand(number, leaf));
        }
        match self.constant(path) {
            Some(value) => Ok(Operand {
                text: format!("({value}ll)"),
                signed: true,
                bits: 64,
                values: (value, value),
            }),
            None => Err(HarnessError(format!(
                "no number among the inputs is called `{path}`"
            ))),
        }
    }

    fn most(&self, path: &str) -> Result<u64, HarnessError> {
        let wanted = Path::parse(path)?;
        if let Some(block) = self.find_block(&wanted) {
            return Ok(block.most);
        }
        self.array_length(&wanted)
            .ok_or_else(|| HarnessError(format!("no array among the inputs is called `{path}`")))
    }

    fn count(&self, path: &str) -> Result<Operand, HarnessError> {
        let wanted = Path::parse(path)?;
        let (text, values) = match self.find_block(&wanted) {
            Some(Block {
                count: Count::Text, ..
            }) => {
                return Err(HarnessError(format!(
                    "`{path}` is a string: its zero says how long it is"
                )));
            }
            Some(block) => (
                count(&self.layout, &block.count, block.most),
                (0, i128::from(block.most)),
            ),
            None if let Some(tail) = self.find_tail(&wanted) => (
                count(&self.layout, &tail.count, tail.most),
                (0, i128::from(tail.most)),
            ),
            None => {
                let length = self.most(path)?;
                (
                    format!("{length}ul"),
                    (i128::from(length), i128::from(length)),
                )
            }
        };
        Ok(Operand {
            text,
            signed: false,
            bits: 64,
            values,
        })
    }

    fn is_null(&self, path: &str) -> Result<Operand, HarnessError> {
        let wanted = Path::parse(path)?;
        let pointers = &self.layout.pointers;
        let pointer = pointers
            .iter()
            .find(|pointer| wanted.matches(&pointer.path));
        let pointer = pointer.ok_or_else(|| {
            HarnessError(format!("no pointer among the inputs is called `{path}`"))
        })?;
        let null = pointer
            .targets
            .iter()
            .position(|target| *target == Target::Null);
        let (text, values) = match (null, pointer.targets.len()) {
            (None, _) => ("0".to_string(), (0, 0)),
            (Some(_), 1) => ("1".to_string(), (1, 1)),
            (Some(choice), _) => (format!("({STAGING}[{}] == {choice})", pointer.at), (0, 1)),
        };
        Ok(Operand {
            text,
            signed: true,
            bits: 32,
            values,
        })
    }
}

impl Plan {
    fn find_number(&self, wanted: &Path) -> Option<(usize, &Leaf)> {
        let is_it =
            |leaf: &Leaf| matches!(leaf.what, What::Number { .. }) && wanted.matches(&leaf.path);
        self.layout
            .leaves
            .iter()
            .enumerate()
            .find(|(_, leaf)| is_it(leaf))
    }

    fn operand(&self, number: usize, leaf: &Leaf) -> Operand {
        let (signed, bits) = match leaf.what {
            What::Number { signed, bits } => (signed, bits),
            _ => (false, None),
        };
        let limit = self.layout.limits.get(&number);
        Operand {
            text: read(leaf),
            signed,
            bits: bits.map_or(leaf.size as u32 * 8, |(_, width)| width),
            values: limit.map_or(leaf.bounds(), |limit| limit.allowed.bounds()),
        }
    }

    /// The value of a constant of an enumeration.
    fn constant(&self, name: &str) -> Option<i128> {
        self.types.0.iter().find_map(|of| match &of.kind {
            Kind::Enumeration(_, constants) => {
                let found = constants.iter().find(|(constant, _)| constant == name);
                found.map(|(_, value)| *value)
            }
            _ => None,
        })
    }

    fn find_block(&self, wanted: &Path) -> Option<&Block> {
        self.layout
            .blocks
            .iter()
            .find(|block| wanted.matches(&block.path))
    }

    fn find_tail(&self, wanted: &Path) -> Option<&Tail> {
        let tails = self
            .layout
            .blocks
            .iter()
            .filter_map(|block| block.tail.as_ref());
        tails.into_iter().find(|tail| wanted.matches(&tail.path))
    }

    /// The length of an array that is part of an object.
    fn array_length(&self, wanted: &Path) -> Option<u64> {
        let length = wanted.steps.len();
        let elements = self.layout.leaves.iter().filter_map(|leaf| {
            let (start, rest) = leaf.path.steps.split_at_checked(length)?;
            let start = Path {
                root: leaf.path.root.clone(),
                steps: start.to_vec(),
            };
            match rest.first() {
                Some(Step::Index(index)) if wanted.matches(&start) => Some(index + 1),
                _ => None,
            }
        });
        elements.max()
    }
}
