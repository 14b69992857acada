//! What a function is given when it is entered: places that a contract may name, and how to get to them.
//!
//! A place is reached from the memory of a parameter or global by following pointers: at each of some offsets lies the
//! next one. `p->data[2]` is the memory of `p`, the pointer at 0, the pointer at the offset of `data`, and there byte
//! 2 * size.

use crate::types::{Kind, TypeId};
use crate::unit::{Function, Unit};

/// Where a way begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The parameter with this number, from 0.
    Parameter(usize),
    /// A variable of static storage.
    Global(String),
}

/// A step from a place to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of a structure, also of one that a pointer leads to.
    Member(String),
    /// An element of an array, or behind a pointer.
    Element(u64),
}

/// How a place is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Where it begins.
    pub base: Base,
    /// The offsets at which the next pointers lie.
    pub pointers: Vec<u64>,
    /// The offset of the place behind the last of them.
    pub offset: u64,
}

/// What lies at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A number.
    Integer {
        /// Whether it may be negative.
        signed: bool,
        /// Its size.
        bytes: u64,
    },
    /// A pointer to elements of a type.
    Pointer {
        /// Bytes of an element; 1 of `void`, 0 where that is not known.
        element: u64,
        /// Whether they are characters.
        is_char: bool,
    },
    /// So many elements.
    Array {
        /// How many; 0 where that is not known.
        count: u64,
        /// Bytes of one.
        element: u64,
    },
    /// A structure.
    Record,
    /// Anything else, as C writes it.
    Other(String),
}

/// A place with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How it is reached.
    pub access: Access,
    /// What is there.
    pub leaf: Leaf,
    of: TypeId,
}

/// A function as a contract knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// As C declares it.
    pub signature: String,
    /// The file that defines it, and the line; if known.
    pub place: Option<(String, u32)>,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// As C declares each of them.
    pub declared: Vec<String>,
    /// Whether other files can call it.
    pub is_external: bool,
}

impl Unit {
    /// Every function that is defined, also those of the same name in other files.
    pub fn definitions(&self) -> Vec<Definition> {
        let mut all: Vec<Definition> = Vec::new();
        for function in &self.functions {
            let new = self.definition(function);
            // A function in a header is in every unit.
            if !all.contains(&new) {
                all.push(new);
            }
        }
        all
    }

    fn definition(&self, function: &Function) -> Definition {
        let signature = &function.signature;
        let of = |it: &crate::types::Parameter| self.types.declare(it.of, &it.name);
        let head = format!("{}({})", function.name, self.types.parameters(signature));
        Definition {
            name: function.name.clone(),
            signature: self.types.declare(signature.result, &head),
            place: function.place.clone(),
            parameters: (signature.parameters.iter())
                .map(|parameter| parameter.name.clone())
                .collect(),
            declared: signature.parameters.iter().map(of).collect(),
            is_external: function.external,
        }
    }

    /// A parameter of a function, or a global.
    pub fn base(&self, of: &Definition, name: &str) -> Result<Place, String> {
        let found = (self.functions.iter()).find(|it| it.name == of.name && it.place == of.place);
        let parameters = found.map_or(&[][..], |it| &it.signature.parameters);
        let number = parameters.iter().position(|it| it.name == name);
        let (base, of) = match number {
            Some(number) => (Base::Parameter(number), parameters[number].of),
            None => {
                let global = self.globals.iter().find(|global| global.name == name);
                let global = global.ok_or_else(|| self.no_such(of, name))?;
                (Base::Global(name.to_string()), global.of)
            }
        };
        let access = Access {
            base,
            pointers: Vec::new(),
            offset: 0,
        };
        Ok(self.place(access, of))
    }

    fn no_such(&self, of: &Definition, name: &str) -> String {
        let parameters = match of.parameters.is_empty() {
            true => "it has no parameters".to_string(),
            false => format!("its parameters are {}", of.parameters.join(", ")),
        };
        let function = &of.name;
        format!("{function} has no parameter {name}, and no global is called so; {parameters}")
    }

    /// A part of a place.
    pub fn part(&self, place: &Place, step: &Step) -> Result<Place, String> {
        match step {
            Step::Member(name) => self.member(place, name),
            Step::Element(number) => self.element(place, *number),
        }
    }

    fn element(&self, place: &Place, number: u64) -> Result<Place, String> {
        let mut access = place.access.clone();
        let of = match *self.types.kind(place.of) {
            Kind::Pointer(of) => {
                access.pointers.push(access.offset);
                access.offset = 0;
                of
            }
            Kind::Array(of, _) => of,
            _ => return Err(format!("{} has no elements", self.types.spell(place.of))),
        };
        access.offset += number * self.types.size(of);
        Ok(self.place(access, of))
    }

    fn member(&self, place: &Place, name: &str) -> Result<Place, String> {
        let whole = match self.types.kind(place.of) {
            Kind::Pointer(_) => self.element(place, 0)?,
            _ => place.clone(),
        };
        let spelled = || self.types.spell(whole.of);
        let record = self.types.record(whole.of);
        let record = record.ok_or_else(|| format!("{} has no members", spelled()))?;
        for member in &record.members {
            let mut access = whole.access.clone();
            access.offset += member.offset;
            if member.name == name && member.bits.is_none() {
                return Ok(self.place(access, member.of));
            }
            if member.name == name {
                return Err(format!("{name} of {} is a bit-field", spelled()));
            }
            let inner = self.place(access, member.of);
            if member.name.is_empty()
                && let Ok(found) = self.member(&inner, name)
            {
                return Ok(found);
            }
        }
        let names: Vec<&str> = record.members.iter().map(|it| it.name.as_str()).collect();
        let names = names.join(", ");
        Err(format!(
            "{} has no member {name}: it has {names}",
            spelled()
        ))
    }

    /// The members of a structure that have names, those of structures in it as `inner.name`; none of unions.
    pub fn members(&self, place: &Place) -> Vec<(Vec<String>, Place)> {
        let mut found = Vec::new();
        let Some(record) = self.types.record(place.of).filter(|it| !it.union) else {
            return found;
        };
        for member in record.members.iter().filter(|it| it.bits.is_none()) {
            let mut access = place.access.clone();
            access.offset += member.offset;
            let part = self.place(access, member.of);
            let names = (!member.name.is_empty()).then(|| member.name.clone());
            if part.leaf != Leaf::Record {
                found.extend(names.map(|name| (vec![name], part)));
                continue;
            }
            for (inner, place) in self.members(&part) {
                found.push((names.iter().cloned().chain(inner).collect(), place));
            }
        }
        found
    }

    fn place(&self, access: Access, of: TypeId) -> Place {
        let types = &self.types;
        let leaf = match types.kind(of) {
            Kind::Integer(integer) | Kind::Enumeration(integer, _) if types.size(of) <= 8 => {
                Leaf::Integer {
                    signed: integer.signed,
                    bytes: types.size(of),
                }
            }
            Kind::Pointer(to) => match types.kind(*to) {
                Kind::Function(_) => Leaf::Other(types.spell(of)),
                Kind::Void => Leaf::Pointer {
                    element: 1,
                    is_char: false,
                },
                _ => Leaf::Pointer {
                    element: types.size(*to),
                    is_char: types.is_char(*to),
                },
            },
            Kind::Array(element, count) => Leaf::Array {
                count: count.unwrap_or(0),
                element: types.size(*element),
            },
            Kind::Record(_) => Leaf::Record,
            _ => Leaf::Other(types.spell(of)),
        };
        Place { access, leaf, of }
    }

    /// What an element behind a pointer or of an array is, where that is a number: whether signed, and its size.
    pub fn elements(&self, place: &Place) -> Option<(bool, u64)> {
        match self.element(place, 0).ok()?.leaf {
            Leaf::Integer { signed, bytes } => Some((signed, bytes)),
            _ => None,
        }
    }

    /// Whether a global is one that nothing writes to by its type.
    pub fn is_constant(&self, name: &str) -> bool {
        let global = self.globals.iter().find(|global| global.name == name);
        global.is_some_and(|global| self.types.is_qualified(global.of, "const"))
    }
}
