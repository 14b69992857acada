//! The inputs of one call as what formulas are about: reading and writing the terms of a requirement.

use std::cell::Cell;
use std::collections::BTreeMap;

use nearmiss_contracts::{Attribute, Formula, Term};

use crate::inputs::{Input, Role};

/// What one call was given: the content of each input.
pub type Given = BTreeMap<u32, Vec<u8>>;

/// How far a string is looked at or made longer.
const MOST_CHARACTERS: i128 = 4096;

/// The inputs of a function, to read and write calls with.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The inputs.
    pub inputs: &'a [Input],
}

impl Values<'_> {
    /// Whether a call keeps to a formula; `None` if its inputs do not tell.
    pub fn holds(&self, formula: &Formula, given: &Given) -> Option<bool> {
        match formula {
            Formula::Any(parts) => self.one_is(true, parts, given),
            Formula::All(parts) => self.one_is(false, parts, given).map(|it| !it),
            Formula::Not(inner) => self.holds(inner, given).map(|it| !it),
            other => self.number(other, given).map(|it| it != 0),
        }
    }

    /// Whether one of several formulas is `wanted`: the first that is decides, whatever the inputs tell of the others.
    fn one_is(&self, wanted: bool, formulas: &[Formula], given: &Given) -> Option<bool> {
        let mut is_known = true;
        for formula in formulas {
            match self.holds(formula, given) {
                Some(holds) if holds == wanted => return Some(true),
                Some(_) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }

    /// The value of a formula; `None` if the inputs do not tell.
    pub fn number(&self, formula: &Formula, given: &Given) -> Option<i128> {
        let is_known = Cell::new(true);
        let number = formula.evaluate(&|term| {
            self.value(term, given).unwrap_or_else(|| {
                is_known.set(false);
                0
            })
        });
        is_known.get().then_some(number)
    }

    fn input(&self, role: Role, place: &str) -> Option<(u32, &Input)> {
        let is_it = |input: &&Input| input.role == role && input.place == place;
        let number = self.inputs.iter().position(|it| is_it(&it))?;
        Some((number as u32, &self.inputs[number]))
    }

    fn is_null(&self, place: &str, given: &Given) -> bool {
        let null = self.input(Role::Null, place);
        null.is_some_and(|(number, _)| given.get(&number).is_some_and(|it| it == &[1]))
    }

    /// Whether a pointer on the way to a place is null.
    fn is_gone(&self, place: &str, given: &Given) -> bool {
        let mut pointers = self.inputs.iter().filter(|it| it.role == Role::Null);
        pointers.any(|pointer| {
            let rest = place.strip_prefix(pointer.place.as_str());
            let is_behind = rest.is_some_and(|it| it.starts_with("->") || it.starts_with('['));
            is_behind && self.is_null(&pointer.place, given)
        })
    }

    fn bounds(&self, place: &str, given: &Given) -> Option<i128> {
        self.count(Role::Bounds, place, given)
    }

    /// How many elements there are behind a pointer, or before it.
    fn count(&self, role: Role, place: &str, given: &Given) -> Option<i128> {
        if self.is_null(place, given) {
            return Some(0);
        }
        let (number, _) = self.input(role, place)?;
        given.get(&number).map(|bytes| read(bytes, false))
    }

    /// The input and the element of it that a place is, as `p[2]`.
    fn element(&self, place: &str) -> Option<(u32, usize, &Input)> {
        let (array, index) = place.strip_suffix(']')?.rsplit_once('[')?;
        let (number, input) = self.input(Role::Elements, array)?;
        Some((number, index.parse().ok()?, input))
    }

    /// The value of a term; `None` if the inputs do not tell.
    pub fn value(&self, term: &Term, given: &Given) -> Option<i128> {
        let place = term.place.as_str();
        if self.is_gone(place, given) {
            return Some(0);
        }
        match term.attribute {
            Attribute::Bounds => self.bounds(place, given),
            Attribute::Before => self.count(Role::Before, place, given),
            Attribute::Find(byte) => {
                if self.is_null(place, given) {
                    return Some(0);
                }
                let (number, _) = self.input(Role::Elements, place)?;
                let bounds = self.bounds(place, given);
                let bytes = given.get(&number)?;
                let most = bounds.map_or(bytes.len(), |it| bytes.len().min(it as usize));
                let found = bytes[..most].iter().position(|it| *it == byte);
                // Only the first characters are inputs.
                let all = bounds.filter(|it| *it == most as i128);
                found.map(|it| it as i128).or(all)
            }
            Attribute::Value => {
                if let Some((number, _)) = self.input(Role::Null, place) {
                    return given.get(&number).map(|it| i128::from(it != &[1]));
                }
                if let Some((number, input)) = self.input(Role::Value, place) {
                    return given.get(&number).map(|it| read(it, input.signed));
                }
                let (number, index, input) = self.element(place)?;
                let size = input.bytes as usize;
                let (array, _) = place.rsplit_once('[')?;
                if self
                    .bounds(array, given)
                    .is_some_and(|it| it <= index as i128)
                {
                    return Some(0);
                }
                let bytes = given.get(&number)?.get(index * size..(index + 1) * size)?;
                Some(read(bytes, input.signed))
            }
            _ => None,
        }
    }

    /// Gives a term another value; `false` if it cannot have it.
    pub fn set(&self, given: &mut Given, term: &Term, value: i128) -> bool {
        let place = term.place.as_str();
        if self.is_gone(place, given) {
            return false;
        }
        match term.attribute {
            Attribute::Bounds => self.set_bounds(given, place, value),
            Attribute::Before => self.set_count(Role::Before, given, place, value),
            Attribute::Find(0) => self.set_length(given, place, value),
            Attribute::Value => {
                if let Some((number, _)) = self.input(Role::Null, place) {
                    return self.set_null(given, (number, place), value);
                }
                if let Some((number, input)) = self.input(Role::Value, place) {
                    let (low, high) = input.range();
                    let is_there = given.contains_key(&number) && (low..=high).contains(&value);
                    if is_there {
                        given.insert(number, bytes_of(value, input.bytes));
                    }
                    return is_there;
                }
                self.set_element(given, place, value)
            }
            _ => false,
        }
    }

    /// A pointer becomes null. One that is null leads nowhere: what would be there is not known.
    fn set_null(&self, given: &mut Given, (number, place): (u32, &str), value: i128) -> bool {
        let is_set = value == 0 && given.get(&number).is_some_and(|it| it == &[0]);
        // A pointer into what others point into, too, is left alone.
        let has_bounds = self.input(Role::Bounds, place).is_some();
        if is_set && has_bounds {
            given.insert(number, vec![1]);
        }
        is_set && has_bounds
    }

    fn set_count(&self, role: Role, given: &mut Given, place: &str, value: i128) -> bool {
        let Some((number, _)) = self.input(role, place) else {
            return false;
        };
        let is_possible = (0..=1 << 20).contains(&value) && given.contains_key(&number);
        if !is_possible || self.is_null(place, given) {
            return false;
        }
        given.insert(number, bytes_of(value, 4));
        true
    }

    fn set_bounds(&self, given: &mut Given, place: &str, value: i128) -> bool {
        if !self.set_count(Role::Bounds, given, place, value) {
            return false;
        }
        if let Some((elements, input)) = self.input(Role::Elements, place)
            && let Some(bytes) = given.get_mut(&elements)
        {
            let size = (value as usize).saturating_mul(input.bytes as usize);
            // What is larger ends with zeros (`libc/hoist.c`).
            let most = crate::plan::MOST_ELEMENTS as usize * input.bytes as usize;
            bytes.resize(size.min(most), 0);
        }
        true
    }

    fn set_element(&self, given: &mut Given, place: &str, value: i128) -> bool {
        let Some((number, index, input)) = self.element(place) else {
            return false;
        };
        let size = input.bytes as usize;
        let (low, high) = input.range();
        let bytes = given.get_mut(&number);
        let slot = bytes.and_then(|it| it.get_mut(index * size..(index + 1) * size));
        match slot.filter(|_| (low..=high).contains(&value)) {
            Some(slot) => {
                slot.copy_from_slice(&bytes_of(value, input.bytes));
                true
            }
            None => false,
        }
    }

    /// A string becomes so long, within its bounds: at most as long as these, when it has no end.
    fn set_length(&self, given: &mut Given, place: &str, value: i128) -> bool {
        let bounds = self.bounds(place, given);
        let Some((number, input)) = self.input(Role::Elements, place) else {
            return false;
        };
        let Some(bytes) = given.get_mut(&number).filter(|_| input.bytes == 1) else {
            return false;
        };
        let most = bounds
            .unwrap_or(bytes.len() as i128)
            .min(bytes.len() as i128);
        if !(0..=most.min(MOST_CHARACTERS)).contains(&value) {
            return false;
        }
        let length = value as usize;
        let filler = bytes.iter().find(|it| it.is_ascii_alphanumeric());
        let filler = filler.copied().unwrap_or(b'a');
        for byte in &mut bytes[..length] {
            if *byte == 0 {
                *byte = filler;
            }
        }
        if let Some(end) = bytes.get_mut(length) {
            *end = 0;
        }
        true
    }
}

/// The number in some bytes.
pub fn read(bytes: &[u8], signed: bool) -> i128 {
    let value = (bytes.iter().rev()).fold(0i128, |value, byte| value << 8 | i128::from(*byte));
    let bits = 8 * bytes.len() as u32;
    match signed && bits > 0 && value >> (bits - 1) != 0 {
        true => value - (1 << bits),
        false => value,
    }
}

/// A number of so many bytes.
pub fn bytes_of(value: i128, size: u32) -> Vec<u8> {
    value.to_le_bytes()[..size as usize].to_vec()
}
