//! A unit as a small language: what `nearmiss-instrument --program` tells of bitcode, for those who
//! execute it without LLVM.
//!
//! Everything is integers of up to 64 bits; pointers are integers of 64 bits. What does not fit, such as
//! floating point, vectors and inline assembly, is [`Action::Unknown`]: whoever comes to it has to give up.

use serde::{Deserialize, Serialize};

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its functions that have a body.
    pub functions: Vec<Function>,
    /// Its variables; strings too.
    pub variables: Vec<Variable>,
}

/// A variable with static lifetime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Bytes.
    pub size: u64,
    /// What it starts with; `None` if nobody here knows.
    pub content: Option<Vec<u8>>,
    /// Addresses in it: where, and of what.
    pub addresses: Vec<(u64, Operand)>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// How many registers it has. The first ones are its parameters.
    pub registers: u32,
    /// Its blocks; it begins with the first.
    pub blocks: Vec<Block>,
    /// The block with which each of its loops begins.
    pub headers: Vec<u32>,
}

/// Instructions without a jump between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The loops that it lies in, the outermost first.
    pub loops: Vec<u32>,
    /// What is chosen by where one comes from: a register, and what it gets from which block.
    pub choices: Vec<(u32, Vec<(u32, Operand)>)>,
    /// What is done, and the register for what comes of it.
    pub steps: Vec<(Option<u32>, Action)>,
    /// Where it goes on.
    pub end: End,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// Of a register.
    Register(u32),
    /// A number of so many bits.
    Constant(u32, u64),
    /// The address so far behind the start of a variable.
    Variable(u32, i64),
    /// Any value of so many bits.
    Undefined(u32),
    /// Something else.
    Unknown,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// An operation of `nearmiss_abi::op`, by its number; of what it must not do: exceed what signed
    /// numbers can be.
    Binary {
        /// The operation.
        op: u8,
        /// Its operands.
        operands: [Operand; 2],
        /// Whether signed overflow is an error.
        is_checked: bool,
    },
    /// Widens or narrows an integer to so many bits.
    Resize {
        /// The integer.
        value: Operand,
        /// Bits of the result.
        width: u32,
        /// Whether it is widened by its sign.
        is_signed: bool,
    },
    /// One of two values.
    Select(Operand, Operand, Operand),
    /// An address: a base, bytes, and indices with the size of an element.
    Address(Operand, i64, Vec<(Operand, u64)>),
    /// An object of the function's own, of so many bytes.
    Local(u64),
    /// Reads an integer of so many bits.
    Load(Operand, u32),
    /// Writes the first to the address that is the second.
    Store(Operand, Operand),
    /// Calls a function by its name.
    Call(String, Vec<Operand>),
    /// Nothing that matters here.
    Nothing,
    /// Something else.
    Unknown,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Goes on there.
    Go(u32),
    /// Goes on at the first block if the condition holds, else at the second.
    Branch(Operand, u32, u32),
    /// Goes on where the number says, else at the block.
    Switch(Operand, Vec<(u64, u32)>, u32),
    /// Returns.
    Return(Option<Operand>),
    /// Nobody comes here.
    Unreachable,
    /// Something else.
    Unknown,
}

impl Program {
    /// The program as bytes.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    /// The program of these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Program, postcard::Error> {
        postcard::from_bytes(bytes)
    }
}

impl Block {
    /// The blocks that it leads to.
    pub fn successors(&self) -> Vec<u32> {
        match &self.end {
            End::Go(block) => vec![*block],
            End::Branch(_, then, otherwise) => vec![*then, *otherwise],
            End::Switch(_, cases, otherwise) => {
                let cases = cases.iter().map(|(_, block)| *block);
                cases.chain([*otherwise]).collect()
            }
            End::Return(_) | End::Unreachable | End::Unknown => Vec::new(),
        }
    }
}
