//! The inputs of one call: what they are called in a contract, and which bytes of the recording they are.

use std::collections::HashMap;

use nearmiss_contracts::{Attribute, Comparison, Formula, Term};
use nearmiss_expr::InputByte;

use crate::linear::Variable;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One number.
    Value,
    /// Numbers, one after the other, behind a pointer or in an array.
    Elements,
    /// How many elements there are behind a pointer.
    Bounds,
    /// How many there are before it.
    Before,
    /// Whether a pointer is null: 0 if it is not.
    Null,
}

/// An input of a function: the channel with its bytes has the name that [`Input::channel`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The place, as a contract names it; of elements that of the pointer or array.
    pub place: String,
    /// What it is.
    pub role: Role,
    /// Whether its numbers may be negative.
    pub signed: bool,
    /// Bytes of a number.
    pub bytes: u32,
}

impl Input {
    /// The name of its channel.
    pub fn channel(&self) -> String {
        let place = &self.place;
        match self.role {
            Role::Value => place.clone(),
            Role::Elements => format!("{place}[]"),
            Role::Bounds => format!("bounds({place})"),
            Role::Before => format!("before({place})"),
            Role::Null => format!("null({place})"),
        }
    }

    /// The least and the greatest number.
    pub fn range(&self) -> (i128, i128) {
        let bits = self.bytes * 8;
        match (self.role, self.signed) {
            (Role::Null, _) => (0, 1),
            // No object is larger than half of the address space.
            (Role::Bounds | Role::Before, _) => (0, i128::from(i32::MAX)),
            (_, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (_, false) => (0, (1 << bits) - 1),
        }
    }

    /// What a variable of it is called.
    pub fn name(&self, element: u32) -> Formula {
        match self.role {
            Role::Elements => {
                Formula::term(Attribute::Value, &format!("{}[{element}]", self.place))
            }
            Role::Bounds => Formula::term(Attribute::Bounds, &self.place),
            Role::Before => Formula::term(Attribute::Before, &self.place),
            Role::Value => Formula::term(Attribute::Value, &self.place),
            Role::Null => Formula::compare(
                Comparison::Equal,
                Formula::term(Attribute::Value, &self.place),
                Formula::Null,
            ),
        }
    }
}

/// The bytes of one recorded call.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    /// The number of the channel in terms → which input it is.
    pub channels: HashMap<u32, u32>,
    /// What was recorded: bytes of other channels count as constants.
    pub recorded: HashMap<InputByte, u8>,
}

/// What a function is given, and which bytes of terms that is.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The inputs.
    pub inputs: &'a [Input],
    /// Their bytes.
    pub bytes: &'a Bytes,
}

impl View<'_> {
    /// The byte that an input of one byte was in the call.
    pub fn recorded(&self, variable: Variable) -> Option<u8> {
        let mut channels = self.bytes.channels.iter();
        let (channel, _) = channels.find(|(_, input)| **input == variable.input)?;
        let at = InputByte {
            channel: *channel,
            offset: variable.element,
        };
        self.bytes.recorded.get(&at).copied()
    }

    /// The variable that a byte is of, and which byte of it.
    pub fn variable(&self, byte: InputByte) -> Option<(Variable, u32)> {
        let input = *self.bytes.channels.get(&byte.channel)?;
        let size = self.inputs[input as usize].bytes;
        let element = byte.offset / size;
        Some((Variable { input, element }, byte.offset % size))
    }

    /// The range of a variable.
    pub fn range(&self, variable: Variable) -> (i128, i128) {
        self.inputs[variable.input as usize].range()
    }

    /// Whether a variable may be negative.
    pub fn is_signed(&self, variable: Variable) -> bool {
        self.inputs[variable.input as usize].signed
    }

    /// Bytes of a variable.
    pub fn size(&self, variable: Variable) -> u32 {
        self.inputs[variable.input as usize].bytes
    }
}

/// The value of a term of a contract under values of the inputs: for tests and evidence.
pub fn value_of(inputs: &[Input], term: &Term, value: &dyn Fn(Variable) -> i128) -> Option<i128> {
    let variable = |role: Role, place: &str, element: u32| {
        let is_it = |input: &Input| input.role == role && input.place == place;
        let input = inputs.iter().position(is_it)? as u32;
        Some(value(Variable { input, element }))
    };
    match term.attribute {
        Attribute::Bounds => variable(Role::Bounds, &term.place, 0),
        Attribute::Before => variable(Role::Before, &term.place, 0),
        Attribute::Value => variable(Role::Value, &term.place, 0)
            .or_else(|| variable(Role::Null, &term.place, 0).map(|null| i128::from(null == 0)))
            .or_else(|| {
                let (place, element) = term.place.strip_suffix(']')?.rsplit_once('[')?;
                variable(Role::Elements, place, element.parse().ok()?)
            }),
        _ => None,
    }
}
