//! A function's prototype as plain data: for callers that choose arguments by themselves.

use crate::types::{Kind, TypeId, Types};
use crate::unit::Unit;

/// What a function takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// Its name.
    pub function: String,
    /// As C declares it.
    pub declaration: String,
    /// Its parameters, in their order.
    pub parameters: Vec<Declared>,
    /// Whether there may be more arguments.
    pub variadic: bool,
}

/// A parameter, or a member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name; of a member with those of the structures around it: `at.x`.
    pub name: String,
    /// Its type, as C writes it.
    pub spelled: String,
    /// What it is.
    pub shape: Shape,
    /// Of a member: the byte at which it starts.
    pub offset: u64,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Integer {
        /// Whether it has negative numbers.
        signed: bool,
        /// Its size.
        bytes: u64,
        /// The constants of an enumeration; 0 and 1 of a truth value.
        constants: Vec<i64>,
    },
    /// A pointer to data.
    Pointer(Pointee),
    /// A pointer to functions: what these are given, and what they give back (nothing: `Other`).
    Function(Vec<Shape>, Box<Shape>),
    /// A floating-point number of so many bytes.
    Float(u64),
    /// Anything else: structures by value, complex numbers, bit-fields.
    Other,
}

/// What a pointer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The type of an element, as C writes it.
    pub spelled: String,
    /// Bytes of an element; 1 for `void`, 0 for a type that is not known.
    pub size: u64,
    /// Whether it is plain `char`.
    pub is_char: bool,
    /// Whether it is `void`.
    pub is_void: bool,
    /// Whether the function may write there.
    pub is_const: bool,
    /// Whether the pointer is declared `restrict`: no other pointer leads there.
    pub is_restrict: bool,
    /// What an element is, if it is a number.
    pub signed: Option<bool>,
    /// The members of a structure, those of structures in it beside them.
    pub members: Vec<Declared>,
}

impl Unit {
    /// The prototype of a function.
    pub fn prototype(&self, name: &str) -> Option<Prototype> {
        let function = self.function(name)?;
        let signature = &function.signature;
        let types = &self.types;
        let declaration = format!("{name}({})", types.parameters(signature));
        let declared = |(index, parameter): (usize, &crate::types::Parameter)| Declared {
            name: match parameter.name.as_str() {
                "" => format!("argument{}", index + 1),
                name => name.to_string(),
            },
            spelled: types.spell(parameter.of),
            shape: shape(types, parameter.of, 2),
            offset: 0,
        };
        Some(Prototype {
            function: name.to_string(),
            declaration: types.declare(signature.result, &declaration),
            parameters: signature
                .parameters
                .iter()
                .enumerate()
                .map(declared)
                .collect(),
            variadic: signature.variadic,
        })
    }
}

fn shape(types: &Types, id: TypeId, depth: usize) -> Shape {
    match types.kind(id) {
        Kind::Integer(integer) => Shape::Integer {
            signed: integer.signed,
            bytes: types.size(id),
            constants: if integer.truth {
                vec![0, 1]
            } else {
                Vec::new()
            },
        },
        Kind::Enumeration(integer, constants) => Shape::Integer {
            signed: integer.signed,
            bytes: types.size(id),
            constants: (constants.iter())
                .filter_map(|(_, value)| i64::try_from(*value).ok())
                .collect(),
        },
        Kind::Float => Shape::Float(types.size(id)),
        Kind::Pointer(of) if matches!(types.kind(*of), Kind::Function(_)) => {
            function(types, *of, depth)
        }
        Kind::Pointer(of) if depth > 0 => Shape::Pointer(pointee(
            types,
            *of,
            types.is_qualified(id, "restrict"),
            depth,
        )),
        _ => Shape::Other,
    }
}

/// What functions of a type are given and give back; pointers lead to elements without members.
fn function(types: &Types, id: TypeId, depth: usize) -> Shape {
    let Kind::Function(signature) = types.kind(id) else {
        return Shape::Other;
    };
    let one = |of: TypeId| shape(types, of, depth.min(1));
    let parameters = signature.parameters.iter();
    Shape::Function(
        parameters.map(|parameter| one(parameter.of)).collect(),
        Box::new(one(signature.result)),
    )
}

fn pointee(types: &Types, of: TypeId, is_restrict: bool, depth: usize) -> Pointee {
    let bare = types.bare(of);
    let is_void = matches!(types.kind(of), Kind::Void);
    let mut members = Vec::new();
    if depth > 1 {
        add_members(types, bare, "", 0, depth - 1, &mut members);
    }
    Pointee {
        spelled: types.spell(types.unqualified(of)),
        size: if is_void { 1 } else { types.size(of) },
        is_char: types.is_char(of),
        is_void,
        is_const: types.is_qualified(of, "const"),
        is_restrict,
        signed: match types.kind(of) {
            Kind::Integer(integer) => Some(integer.signed),
            _ => None,
        },
        members,
    }
}

fn add_members(
    types: &Types,
    record: TypeId,
    prefix: &str,
    base: u64,
    depth: usize,
    members: &mut Vec<Declared>,
) {
    let Some(found) = types.record(record).filter(|record| !record.union) else {
        return;
    };
    for member in &found.members {
        let name = format!("{prefix}{}", member.name);
        let offset = base + member.offset;
        if types.record(member.of).is_some() {
            let inner = if member.name.is_empty() {
                prefix.to_string()
            } else {
                format!("{name}.")
            };
            add_members(types, member.of, &inner, offset, depth, members);
            continue;
        }
        members.push(Declared {
            spelled: types.spell(member.of),
            shape: match member.bits {
                Some(_) => Shape::Other,
                None => shape(types, member.of, depth),
            },
            name,
            offset,
        });
    }
}
