//! The calling environment of a function: which variables it has, and which values are consistent.
//!
//! ```text
//!  char *strncat(char *dest, const char *src, size_t n)
//!      dest (NULL or not)  bounds(dest)  strlen(dest)   src …  bounds(src)  strlen(src)   n
//! ```

use std::collections::HashMap;

use nearmiss_contracts::{Attribute, Formula, Term};
use nearmiss_harness::{Declared, Pointee, Prototype, Shape};

use crate::InferError;
use crate::condition::Condition;

/// Where a value lies when the function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A parameter.
    Parameter(usize),
    /// A member of the first element of a block, at this byte.
    Member(usize, u64),
}

/// Memory that a pointer leads to.
#[derive(Clone, Debug)]
pub struct Block {
    /// The pointer, as C names it.
    pub place: String,
    /// Where the pointer lies.
    pub home: Home,
    /// What it leads to.
    pub of: Pointee,
    /// Earlier blocks that the pointer may lead to instead.
    pub aliases: Vec<usize>,
    /// Its variables: where it points, how much is there.
    pub address: usize,
    pub bounds: usize,
    /// How much is before, if that is asked for.
    pub before: Option<usize>,
    /// Where the first of some byte is: of 0 the length of a string.
    pub finds: Vec<(u8, usize)>,
    /// The least and the greatest element.
    pub range: Option<(usize, usize)>,
}

/// A number that is chosen.
#[derive(Clone, Debug)]
pub struct NumberPlace {
    /// As C names it.
    pub place: String,
    /// Where it lies.
    pub home: Home,
    /// Its size.
    pub bytes: u64,
    /// Whether it has negative numbers.
    pub signed: bool,
    /// The constants of its enumeration.
    pub constants: Vec<i64>,
    /// Its variable.
    pub variable: usize,
}

impl NumberPlace {
    /// The least and the greatest number that its type has, as far as formulas have them.
    pub fn limits(&self) -> (i64, i64) {
        match (self.bytes, self.signed) {
            (1, true) => (i8::MIN.into(), i8::MAX.into()),
            (1, false) => (0, u8::MAX.into()),
            (2, true) => (i16::MIN.into(), i16::MAX.into()),
            (2, false) => (0, u16::MAX.into()),
            (4, true) => (i32::MIN.into(), i32::MAX.into()),
            (4, false) => (0, u32::MAX.into()),
            (_, true) => (i64::MIN, i64::MAX),
            (_, false) => (0, i64::MAX),
        }
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// What it is.
    pub term: Term,
    /// Its least and greatest value, both counted.
    pub range: (i64, i64),
    /// Values outside of the range that count too.
    pub others: Vec<i64>,
    /// Whether it is compared by order: addresses are not.
    pub is_number: bool,
}

/// What more than the usual is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Ranges of numbers and bounds: `n`, `bounds(p)`.
    pub ranges: Vec<(String, i64, i64)>,
    /// Bytes whose first place in a block is a variable: `path` and `/`.
    pub sentinels: Vec<(String, u8)>,
    /// Whether what lies before a pointer is a variable.
    pub before: bool,
    /// Whether the least and the greatest element of arrays of numbers are variables.
    pub elements: bool,
    /// Whether pointers that are not `restrict` may lead to the same block.
    pub aliases: bool,
    /// Whether functions are called that need what only their library can make.
    pub opaque: bool,
    /// Numbers that the user compares with.
    pub magic: Vec<i64>,
}

/// All variables of a function's call.
#[derive(Clone, Debug)]
pub struct Environment {
    pub blocks: Vec<Block>,
    pub numbers: Vec<NumberPlace>,
    pub quantities: Vec<Quantity>,
    /// Bytes that the code compares with: contents often have them.
    pub dictionary: Vec<u8>,
    /// Pointers to types that only the library knows, and these types: NULL in every call.
    pub opaque: Vec<(String, String)>,
    /// What holds for every call that can be made.
    pub consistency: Vec<Condition>,
    known: HashMap<Term, usize>,
}

/// Most elements of a block.
pub const MAX_BOUNDS: i64 = 12;
/// Most bytes of a block.
pub const MAX_BYTES: u64 = 1 << 14;
/// Most members of a structure that are variables.
const MAX_MEMBERS: usize = 12;
/// Numbers are from here to there, if nothing else is said.
const NUMBERS: (i64, i64) = (-3, 15);
/// Larger ones, in steps that find thresholds.
const LARGER: [i64; 6] = [24, 40, 64, 127, 256, 1000];

impl Environment {
    /// The variables of a prototype.
    pub fn new(prototype: &Prototype, wishes: &Wishes) -> Result<Environment, InferError> {
        let mut environment = Environment {
            blocks: Vec::new(),
            numbers: Vec::new(),
            quantities: Vec::new(),
            dictionary: Vec::new(),
            opaque: Vec::new(),
            consistency: Vec::new(),
            known: HashMap::new(),
        };
        if prototype.variadic {
            return Err(InferError::Unsupported(
                "it takes any number of arguments: infer a wrapper with fixed ones".into(),
            ));
        }
        for (index, parameter) in prototype.parameters.iter().enumerate() {
            let place = parameter.name.clone();
            environment.add(parameter, place, Home::Parameter(index), wishes)?;
        }
        for (place, byte) in &wishes.sentinels {
            if environment
                .find(&term(Attribute::Find(*byte), place))
                .is_none()
            {
                let why = format!("--sentinel {place}: no pointer to bytes has this name");
                return Err(InferError::Unsupported(why));
            }
        }
        environment.set_ranges(wishes)?;
        environment.settle()?;
        Ok(environment)
    }

    /// More values of a number count; false if none of them is new.
    pub fn allow(&mut self, variable: usize, values: &[i64]) -> Result<bool, InferError> {
        let quantity = &mut self.quantities[variable];
        let known = quantity.others.len();
        let (low, high) = quantity.range;
        let is_new = |value: &&i64| !(low..=high).contains(*value);
        quantity.others.extend(values.iter().filter(is_new));
        quantity.others.sort_unstable();
        quantity.others.dedup();
        let has_more = quantity.others.len() > known;
        self.settle()?;
        Ok(has_more)
    }

    /// Makes the conditions of consistency, of all values that count now.
    fn settle(&mut self) -> Result<(), InferError> {
        let rules = self.rules();
        let conditions: Result<Vec<Condition>, InferError> =
            rules.iter().map(|rule| self.condition(rule)).collect();
        self.consistency = conditions?;
        Ok(())
    }

    /// The variable of a term.
    pub fn find(&self, term: &Term) -> Option<usize> {
        self.known.get(term).copied()
    }

    /// A formula over these variables.
    pub fn condition(&self, formula: &Formula) -> Result<Condition, InferError> {
        Condition::new(formula, &|term| self.find(term)).map_err(|term| {
            let known: Vec<String> = self.quantities.iter().map(|q| q.term.to_string()).collect();
            InferError::UnknownTerm(term.to_string(), known.join(", "))
        })
    }

    fn add(
        &mut self,
        declared: &Declared,
        place: String,
        home: Home,
        wishes: &Wishes,
    ) -> Result<(), InferError> {
        match &declared.shape {
            Shape::Integer {
                signed,
                bytes,
                constants,
            } => {
                let quantity = number(&place, *signed, *bytes, constants, &wishes.magic);
                let variable = self.quantity(quantity);
                self.numbers.push(NumberPlace {
                    place,
                    home,
                    bytes: *bytes,
                    signed: *signed,
                    constants: constants.clone(),
                    variable,
                });
            }
            Shape::Pointer(of) if of.size > 0 => self.add_block(of, place, home, wishes)?,
            // What a function pointer leads to gives back small numbers; a floating-point number is 0.
            Shape::Function(..) | Shape::Float(_) => {}
            Shape::Pointer(of) if matches!(home, Home::Member(..)) => {
                self.opaque.push((place, of.spelled.clone()));
            }
            // Pointers in an array lead to what cannot be chosen, either.
            Shape::Other if matches!(home, Home::Member(..)) && is_array_of_pointers(declared) => {
                self.opaque.push((place, declared.spelled.clone()));
            }
            // Members that cannot be chosen are zero.
            _ if matches!(home, Home::Member(..)) => {}
            _ => {
                let of = &declared.spelled;
                let why = format!("values of {place}, a {of}, cannot be chosen");
                return Err(match declared.shape {
                    Shape::Pointer(_) => InferError::Opaque(why),
                    _ => InferError::Unsupported(why),
                });
            }
        }
        Ok(())
    }

    fn add_block(
        &mut self,
        of: &Pointee,
        place: String,
        home: Home,
        wishes: &Wishes,
    ) -> Result<(), InferError> {
        let most = most_elements(of, &place)?;
        let index = self.blocks.len();
        let aliases = self.possible_aliases(of, wishes);
        let address = self.quantity(Quantity {
            term: term(Attribute::Value, &place),
            range: (0, index as i64 + 1),
            others: Vec::new(),
            is_number: false,
        });
        let bounds = self.count(Attribute::Bounds, &place, (0, most));
        let before = wishes
            .before
            .then(|| self.count(Attribute::Before, &place, (0, most / 2)));
        let finds = sought(of, &place, wishes)
            .into_iter()
            .map(|byte| (byte, self.count(Attribute::Find(byte), &place, (0, most))))
            .collect();
        let range =
            (wishes.elements && of.signed.is_some() && !of.is_char && !is_wide(of)).then(|| {
                let within = (if of.signed == Some(true) { -2 } else { 0 }, most);
                let least = self.count(Attribute::Least, &place, within);
                (least, self.count(Attribute::Greatest, &place, within))
            });
        self.blocks.push(Block {
            place: place.clone(),
            home,
            of: of.clone(),
            aliases,
            address,
            bounds,
            before,
            finds,
            range,
        });
        self.add_members(of, &place, index, wishes)
    }

    fn add_members(
        &mut self,
        of: &Pointee,
        place: &str,
        index: usize,
        wishes: &Wishes,
    ) -> Result<(), InferError> {
        let chosen =
            |member: &&Declared| matches!(member.shape, Shape::Integer { .. } | Shape::Pointer(_));
        let count = of.members.iter().filter(chosen).count();
        if count > MAX_MEMBERS {
            let why =
                format!("{place} leads to a structure of {count} members, more than {MAX_MEMBERS}");
            return Err(InferError::Opaque(why));
        }
        for member in &of.members {
            let name = format!("{place}->{}", member.name);
            self.add(member, name, Home::Member(index, member.offset), wishes)?;
        }
        Ok(())
    }

    /// Earlier blocks that a pointer may lead to as well.
    fn possible_aliases(&self, of: &Pointee, wishes: &Wishes) -> Vec<usize> {
        let may = |block: &Block| {
            wishes.aliases
                && block.of.members.is_empty()
                && of.members.is_empty()
                && block.of.size == of.size
                && !of.is_restrict
                && !block.of.is_restrict
                && block.of.is_char == of.is_char
        };
        (0..self.blocks.len())
            .filter(|index| may(&self.blocks[*index]))
            .collect()
    }

    /// A variable that counts elements or has the value of one.
    fn count(&mut self, attribute: Attribute, place: &str, range: (i64, i64)) -> usize {
        self.quantity(Quantity {
            term: term(attribute, place),
            range,
            others: Vec::new(),
            is_number: true,
        })
    }

    fn quantity(&mut self, quantity: Quantity) -> usize {
        let index = self.quantities.len();
        self.known.insert(quantity.term.clone(), index);
        self.quantities.push(quantity);
        index
    }

    fn set_ranges(&mut self, wishes: &Wishes) -> Result<(), InferError> {
        for (name, low, high) in &wishes.ranges {
            let named = |quantity: &&mut Quantity| quantity.term.to_string() == *name;
            let found = self.quantities.iter_mut().find(named);
            let quantity = found.filter(|quantity| quantity.is_number).ok_or_else(|| {
                InferError::Unsupported(format!("--range {name}: there is no such number"))
            })?;
            let is_count = !matches!(quantity.term.attribute, Attribute::Value);
            let most = if is_count { quantity.range.1 } else { *high };
            quantity.range = (*low, (*high).min(most));
            quantity.others.clear();
        }
        Ok(())
    }

    /// The variables of a block but for its address.
    pub fn attributes(&self, block: &Block) -> Vec<usize> {
        let mut all = vec![block.bounds];
        all.extend(block.before);
        all.extend(block.finds.iter().map(|(_, find)| *find));
        all.extend(
            block
                .range
                .iter()
                .flat_map(|(least, greatest)| [*least, *greatest]),
        );
        all
    }
}

fn is_array_of_pointers(declared: &Declared) -> bool {
    declared.spelled.contains('[') && declared.spelled.contains('*')
}

/// How many elements a block may have. Structures come one by one: terms are about the first element only.
fn most_elements(of: &Pointee, place: &str) -> Result<i64, InferError> {
    let most = MAX_BOUNDS.min((MAX_BYTES / of.size) as i64);
    if most < 1 {
        let why = format!("an element of {place} has {} bytes, too many", of.size);
        return Err(InferError::Unsupported(why));
    }
    Ok(if of.members.is_empty() { most } else { 2 })
}

/// The bytes whose first place is a variable: the end of a string, and what was asked for.
fn sought(of: &Pointee, place: &str, wishes: &Wishes) -> Vec<u8> {
    let is_text = of.is_char || is_wide(of);
    let mut bytes: Vec<u8> = if is_text { vec![0] } else { Vec::new() };
    let wanted = wishes
        .sentinels
        .iter()
        .filter(|(wanted, _)| wanted == place);
    bytes.extend(wanted.filter(|_| of.size == 1).map(|(_, byte)| *byte));
    bytes
}

/// Whether elements are characters of more than a byte: C knows them by the name of their type only.
pub fn is_wide(of: &Pointee) -> bool {
    of.spelled == "wchar_t"
}

/// A term.
pub fn term(attribute: Attribute, place: &str) -> Term {
    Term {
        attribute,
        place: place.to_string(),
    }
}

fn number(place: &str, signed: bool, bytes: u64, constants: &[i64], magic: &[i64]) -> Quantity {
    let most = match (bytes, signed) {
        (1, true) => 127,
        (1, false) => 255,
        _ => 1000,
    };
    let (range, mut others) = if constants.is_empty() {
        let low = if signed { NUMBERS.0 } else { 0 };
        (
            (low, NUMBERS.1),
            LARGER
                .iter()
                .copied()
                .filter(|value| *value <= most)
                .collect(),
        )
    } else {
        // Values that are no constant come too: one beside the last.
        let last = constants.iter().copied().max().unwrap_or(0);
        let beside = if constants == [0, 1] { last } else { last + 1 };
        (
            (constants[0], constants[0]),
            [constants, &[beside]].concat(),
        )
    };
    others.extend(magic.iter().copied().filter(|value| signed || *value >= 0));
    others.retain(|value| *value < range.0 || *value > range.1);
    others.sort_unstable();
    others.dedup();
    Quantity {
        term: term(Attribute::Value, place),
        range,
        others,
        is_number: true,
    }
}
