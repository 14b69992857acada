//! The inputs of a function as the plan lays them out.
//!
//! Every object is in the staging as the image of its C type. Where a pointer is in the image, the
//! first of its eight bytes says which of its targets it has, the last four how many elements the
//! first target has, if that is an input of its own.

use nearmiss_results::Role;

use crate::formula::Formula;
use crate::path::Path;
use crate::types::{Signature, TypeId};

/// Where in a pointer's image the number of elements is.
pub(crate) const COUNT_OFFSET: usize = 4;

/// A parameter, a global, or what a stub gives back.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub name: String,
    pub role: Role,
    pub of: TypeId,
    /// 1; for a stub how many calls have a result of their own.
    pub elements: u64,
    /// Where its image is in the staging.
    pub at: usize,
    pub place: Place,
}

/// Where the object itself is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The harness has it, and passes it.
    Harness,
    /// A variable that the harness can name.
    Named,
    /// A variable of another file.
    Foreign,
}

/// Memory that the harness makes for a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The pointer that it was made for.
    pub path: Path,
    pub element: TypeId,
    /// Bytes of an element.
    pub size: u64,
    /// Whether the pointer promises not to write it.
    pub constant: bool,
    pub count: Count,
    /// Most elements.
    pub most: u64,
    /// Where the images of its elements are in the staging.
    pub at: usize,
    /// What is behind a structure that ends with an array of no length.
    pub tail: Option<Tail>,
}

/// The elements of an array of no length at the end of a structure, which is alone in its block.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub path: Path,
    /// Bytes of an element.
    pub size: u64,
    pub count: Count,
    /// Most elements.
    pub most: u64,
}

/// How many elements a block has.
#[derive(Clone, Debug)]
pub(crate) enum Count {
    /// Always so many.
    Fixed(u64),
    /// As many as the leaf with this number says.
    Own(usize),
    /// As other inputs say; none if that is negative. Inputs are numbers of leaves.
    Tied(Formula<usize>),
    /// Up to the first zero; `most` without it.
    Text,
}

/// A pointer among the inputs.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub path: Path,
    pub owner: Owner,
    /// Where its image is in the staging.
    pub at: usize,
    pub targets: Vec<Target>,
    /// What it points to in the first input.
    pub first: usize,
    /// Whether the user said what it points to.
    pub is_described: bool,
}

impl Pointer {
    /// The block that was made for it.
    pub fn block(&self) -> Option<usize> {
        match self.targets.first() {
            Some(Target::Block(block)) => Some(*block),
            _ => None,
        }
    }
}

/// The object that a pointer is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Root(usize),
    Block(usize),
}

/// What a pointer may point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Block(usize),
    Stub(usize),
    Null,
}

/// A function of the harness that a function pointer points to.
#[derive(Clone, Debug)]
pub(crate) struct Stub {
    /// The pointer that it was made for.
    pub path: Path,
    pub of: TypeId,
    pub signature: Signature,
    /// The root with what it gives back, if it does.
    pub root: Option<usize>,
    /// What it writes through its parameters.
    pub writes: Vec<Write>,
    /// The function of the program that it is; else a pointer leads to it.
    pub function: Option<String>,
}

/// What a stub writes through one of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// Which parameter, from 0.
    pub parameter: usize,
    /// The root with what is written, call by call.
    pub root: usize,
    /// How many elements a call writes.
    pub count: u64,
}

impl Stub {
    /// Its name in tests: `stub_compare`, `stub_ops_read`; a function of the program has its own.
    pub fn name(&self) -> String {
        if let Some(function) = &self.function {
            return function.clone();
        }
        let path = self.path.to_string();
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let words: String = path.chars().map(word).collect();
        let words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
        format!("stub_{}", words.join("_"))
    }
}

impl Count {
    /// Leaves have new numbers.
    pub fn renumber(&mut self, now: &[usize]) {
        match self {
            Count::Own(leaf) => *leaf = now[*leaf],
            Count::Tied(formula) => formula.rename(&|leaf| now[*leaf]),
            Count::Fixed(_) | Count::Text => {}
        }
    }
}

/// A piece of the staging that has a name and is one value.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub name: String,
    pub path: Path,
    pub at: usize,
    pub size: usize,
    pub what: What,
}

/// What a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A number; for a bit-field its first bit and how many.
    Number {
        signed: bool,
        bits: Option<(u32, u32)>,
    },
    /// A floating-point number, or something else that is only bytes.
    Bytes,
    /// Which target a pointer has.
    Choice,
    /// How many elements a block has.
    Count,
}

impl Leaf {
    /// The least and the largest number that it can hold.
    pub fn bounds(&self) -> (i128, i128) {
        let (signed, width) = match self.what {
            What::Number { signed, bits } => {
                let width = bits.map_or(self.size as u32 * 8, |(_, width)| width);
                (signed, width)
            }
            _ => (false, self.size as u32 * 8),
        };
        match (signed, width) {
            (true, 128..) => (i128::MIN, i128::MAX),
            (false, 127..) => (0, i128::MAX),
            (true, _) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            (false, _) => (0, (1 << width) - 1),
        }
    }
}

/// Numbers that a leaf may have.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub leaf: usize,
    pub allowed: Allowed,
    /// The number in the first input.
    pub first: i128,
}

/// Which numbers are allowed.
#[derive(Clone, Debug)]
pub(crate) enum Allowed {
    Range(i128, i128),
    /// A character of a string, or the zero that ends it.
    ZeroOr(i128, i128),
    OneOf(Vec<i128>),
}

impl Allowed {
    /// The least and the largest.
    pub fn bounds(&self) -> (i128, i128) {
        match self {
            Allowed::Range(low, high) => (*low, *high),
            Allowed::ZeroOr(low, high) => (0.min(*low), 0.max(*high)),
            Allowed::OneOf(values) => {
                let least = values.iter().min().copied().unwrap_or(0);
                (least, values.iter().max().copied().unwrap_or(0))
            }
        }
    }

    /// The one nearest to zero.
    pub fn nearest_to_zero(&self) -> i128 {
        match self {
            Allowed::Range(low, high) => 0.clamp(*low, *high),
            Allowed::ZeroOr(..) => 0,
            Allowed::OneOf(values) if values.contains(&0) => 0,
            Allowed::OneOf(values) => values.first().copied().unwrap_or(0),
        }
    }
}
