//! Makes types of the entries of debug information.

use std::collections::HashMap;

use crate::dwarf::Entry;
use crate::types::{
    Integer, Kind, Member, Parameter, Record, Signature, Type, TypeId, Types, VOID,
};

/// Makes types of entries.
pub(crate) struct TypeReader<'a> {
    entries: &'a [Entry],
    types: &'a mut Types,
    known: HashMap<usize, TypeId>,
    object: usize,
}

impl<'a> TypeReader<'a> {
    /// Reads from the entries of the object with this number.
    pub fn new(entries: &'a [Entry], types: &'a mut Types, object: usize) -> TypeReader<'a> {
        TypeReader {
            entries,
            types,
            known: HashMap::new(),
            object,
        }
    }

    /// The type that an entry refers to.
    pub fn of(&mut self, entry: &Entry) -> TypeId {
        entry.of.map_or(VOID, |place| self.read(place))
    }

    fn read(&mut self, place: usize) -> TypeId {
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let entries = self.entries;
        let entry = &entries[place];
        // Structures lead to themselves: the number is given before the content is known.
        let id = TypeId(self.types.0.len());
        self.known.insert(place, id);
        self.types.0.push(Type {
            name: entry.name.clone(),
            size: entry.size.unwrap_or(0),
            kind: Kind::Void,
            object: self.object,
        });
        let kind = self.kind(entry);
        let size = self.size(entry, &kind);
        let new = &mut self.types.0[id.0];
        new.kind = kind;
        new.size = size;
        id
    }

    fn size(&self, entry: &Entry, kind: &Kind) -> u64 {
        match kind {
            Kind::Pointer(_) => entry.size.unwrap_or(8),
            Kind::Array(of, count) => self.types.size(*of) * count.unwrap_or(0),
            _ => entry.size.unwrap_or(0),
        }
    }

    fn kind(&mut self, entry: &Entry) -> Kind {
        match gimli::DwTag(entry.tag) {
            gimli::DW_TAG_base_type => base(entry),
            gimli::DW_TAG_enumeration_type => self.enumeration(entry),
            gimli::DW_TAG_pointer_type => Kind::Pointer(self.of(entry)),
            gimli::DW_TAG_array_type => self.array(entry),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_union_type => self.record(entry),
            gimli::DW_TAG_subroutine_type => Kind::Function(self.signature(entry)),
            gimli::DW_TAG_typedef => Kind::Typedef(self.of(entry)),
            gimli::DW_TAG_const_type => Kind::Qualified("const", self.of(entry)),
            gimli::DW_TAG_volatile_type => Kind::Qualified("volatile", self.of(entry)),
            gimli::DW_TAG_restrict_type => Kind::Qualified("restrict", self.of(entry)),
            gimli::DW_TAG_atomic_type => Kind::Qualified("_Atomic", self.of(entry)),
            _ => Kind::Void,
        }
    }

    /// An array of several dimensions is an array of arrays.
    fn array(&mut self, entry: &Entry) -> Kind {
        let entries = self.entries;
        let element = self.of(entry);
        let children = entry.children.iter().map(|child| &entries[*child]);
        let ranges = children.filter(|child| child.tag == gimli::DW_TAG_subrange_type.0);
        let mut counts: Vec<Option<u64>> = ranges.map(|range| range.count).collect();
        let first = (!counts.is_empty()).then(|| counts.remove(0)).flatten();
        let inner = counts.iter().rev().fold(element, |of, count| {
            self.types.0.push(Type {
                name: None,
                size: self.types.size(of) * count.unwrap_or(0),
                kind: Kind::Array(of, *count),
                object: self.object,
            });
            TypeId(self.types.0.len() - 1)
        });
        Kind::Array(inner, first)
    }

    fn enumeration(&mut self, entry: &Entry) -> Kind {
        let entries = self.entries;
        let children = entry.children.iter().map(|child| &entries[*child]);
        let constants: Vec<(String, i128)> = children
            .filter_map(|child| Some((child.name.clone()?, child.number?)))
            .collect();
        let of = self.of(entry);
        let underlying = match self.types.kind(of) {
            Kind::Integer(integer) => integer.signed,
            _ => constants.iter().any(|(_, value)| *value < 0),
        };
        let integer = Integer {
            signed: underlying,
            truth: false,
        };
        Kind::Enumeration(integer, constants)
    }

    fn record(&mut self, entry: &Entry) -> Kind {
        let entries = self.entries;
        let children = entry.children.iter().map(|child| &entries[*child]);
        let members = children.filter(|child| child.tag == gimli::DW_TAG_member.0);
        let members = members.map(|member| self.member(member)).collect();
        Kind::Record(Record {
            union: entry.tag == gimli::DW_TAG_union_type.0,
            complete: !entry.declaration,
            members,
        })
    }

    fn member(&mut self, entry: &Entry) -> Member {
        let of = self.of(entry);
        let unit = entry.size.unwrap_or_else(|| self.types.size(of)) * 8;
        let first = match (entry.bit_offset, entry.old_bit_offset) {
            (Some(first), _) => first,
            (None, Some(from_top)) => {
                (entry.offset * 8 + unit).saturating_sub(from_top + entry.bit_size.unwrap_or(0))
            }
            (None, None) => entry.offset * 8,
        };
        let bits = entry.bit_size.map(|size| ((first % 8) as u32, size as u32));
        Member {
            name: entry.name.clone().unwrap_or_default(),
            of,
            offset: first / 8,
            bits,
            tags: self.tags(entry),
        }
    }

    pub fn signature(&mut self, entry: &Entry) -> Signature {
        let entries = self.entries;
        let children: Vec<&Entry> = entry.children.iter().map(|c| &entries[*c]).collect();
        let has = |tag: gimli::DwTag| children.iter().any(|child| child.tag == tag.0);
        let variadic = has(gimli::DW_TAG_unspecified_parameters);
        let is_parameter = |child: &&&Entry| child.tag == gimli::DW_TAG_formal_parameter.0;
        let parameters = children.iter().filter(is_parameter);
        let parameters: Vec<Parameter> = parameters.map(|child| self.parameter(child)).collect();
        Signature {
            result: self.of(entry),
            // Without a prototype `int f()` says "unspecified" too, but takes no more than it names.
            variadic: variadic && entry.prototyped,
            parameters,
            prototyped: entry.prototyped,
        }
    }

    fn parameter(&mut self, entry: &Entry) -> Parameter {
        Parameter {
            name: entry.name.clone().unwrap_or_default(),
            of: self.of(entry),
            tags: self.tags(entry),
        }
    }

    /// What attributes of `nearmiss.h` say of a parameter, member or variable.
    pub fn tags(&self, entry: &Entry) -> Vec<String> {
        let children = entry.children.iter().map(|child| &self.entries[*child]);
        let texts = children.filter_map(|child| child.text.as_deref());
        let ours = texts.filter_map(|text| text.strip_prefix("nearmiss:"));
        ours.map(str::to_string).collect()
    }
}

fn base(entry: &Entry) -> Kind {
    let integer = |signed, truth| Kind::Integer(Integer { signed, truth });
    match gimli::DwAte(entry.encoding as u8) {
        gimli::DW_ATE_boolean => integer(false, true),
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => integer(true, false),
        gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => {
            integer(false, false)
        }
        gimli::DW_ATE_float => Kind::Float,
        _ => Kind::Opaque,
    }
}
