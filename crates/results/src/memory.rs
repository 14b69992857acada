//! Values of C programs as plain data: what a function was given, and what it left.

use serde::{Deserialize, Serialize};

/// The inputs of a call, or what they have become: variables, and the blocks of memory that they
/// point to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Parameters in their order, then named globals, then what stubs gave back.
    pub variables: Vec<Variable>,
    /// What pointers point to. Two pointers to one block are aliases. What a function leaves begins
    /// with the blocks that it was given, under the same numbers; behind them is what it made itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// A parameter, a global, what a stub gave back, or the function's own result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the source; for a stub the name that [`Value::Function`] has.
    pub name: String,
    /// What it is there.
    pub role: Role,
    /// Its type as C writes it where there is no name: `const struct list *`, `int [4]`. For a stub
    /// the function's own: `int (const void *, const void *)`.
    pub ctype: String,
    /// What it holds; for a stub an array of what it gives back, call by call.
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
    /// What a stub wrote through one of its parameters, call by call: an array of elements for each. The
    /// name is the stub's and `.argument2`.
    Written,
    /// What the function itself gave back.
    Result,
    /// What the program itself handed to `nearmiss_result`: bytes.
    Told,
}

/// Memory that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// How the source would call it, an expression: `t1`, `list->next`, `result->left`.
    pub name: String,
    /// The type of an element.
    pub element: String,
    /// Whether the function promises not to write it.
    pub constant: bool,
    /// Whether the function has freed it: then the content is what was there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub freed: bool,
    /// Its elements, an array of one if it is one; a string is a [`Value::Text`].
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
    /// Members with their names (empty: an anonymous structure or union); a union has the member
    /// that was chosen.
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
    /// Points to something that is none of the blocks: only in what a function leaves.
    Elsewhere,
    /// Was never written: only in memory that a function made.
    Unset,
    /// Points to a function.
    Function(String),
    /// What has no better form.
    Bytes(#[serde(with = "crate::names::hex")] Vec<u8>),
}
