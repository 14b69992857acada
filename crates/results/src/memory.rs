//! Values of C programs as plain data: what a function was given, and what it left.

use serde::{Deserialize, Serialize};

/// The inputs of a call, or what they have become: variables, and the blocks of memory that they
/// point to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Parameters in their order, then named globals, then what stubs gave back.
    pub variables: Vec<Variable>,
    /// What pointers point to. Two pointers to one block are aliases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// A parameter, a global, what a stub gave back, or the function's own result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// What it is there.
    pub role: Role,
    /// Its type as C writes it where there is no name: `const struct list *`, `int [4]`.
    pub ctype: String,
    /// What it holds.
    pub value: Value,
}

/// What a variable is to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A parameter.
    Parameter,
    /// A variable of static storage.
    Global,
    /// What a stubbed function gave back, call by call.
    Stub,
    /// What the function itself gave back.
    Result,
}

/// Memory that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// How the source would call it: `t1`, `list->next`.
    pub name: String,
    /// The type of an element.
    pub element: String,
    /// Whether the function promises not to write it.
    pub constant: bool,
    /// Its elements; a string is a [`Value::Text`].
    pub content: Value,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A number, a character, a truth.
    Integer {
        /// The number.
        value: i128,
        /// Its name, if it is of an enumeration that has one for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A floating-point number: `bits` of IEEE, of so many bytes.
    Float {
        /// 4 or 8.
        size: u8,
        /// The bits.
        bits: u64,
    },
    /// Members with their names; a union has the member that was chosen.
    Structure(Vec<(String, Value)>),
    /// Elements.
    Array(Vec<Value>),
    /// A string without the zero that ends it.
    Text(#[serde(with = "crate::names::hex")] Vec<u8>),
    /// No pointer.
    Null,
    /// Points to element `index` of a block.
    Pointer {
        /// Number of the block in [`Memory::blocks`].
        block: usize,
        /// Which of its elements.
        index: u64,
    },
    /// Points to a function.
    Function(String),
    /// What has no better form.
    Bytes(#[serde(with = "crate::names::hex")] Vec<u8>),
}
