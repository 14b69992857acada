//! Types of C as debug information describes them.

/// Which type: an index into [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId(pub usize);

/// `void`.
pub(crate) const VOID: TypeId = TypeId(0);
/// `unsigned char`, of which memory without a type is made.
pub(crate) const BYTE: TypeId = TypeId(1);

/// One type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// The name, tag or typedef; none for an anonymous one.
    pub name: Option<String>,
    /// Bytes; 0 for functions and incomplete types.
    pub size: u64,
    /// What it is.
    pub kind: Kind,
    /// Number of the object that has it. Only names of the first are known to the harness.
    pub object: usize,
}

/// What a type is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `void`, or something that is not understood.
    Void,
    /// A number, a character, a truth.
    Integer(Integer),
    /// A floating-point number.
    Float,
    /// An enumeration with its constants.
    Enumeration(Integer, Vec<(String, i128)>),
    /// A pointer.
    Pointer(TypeId),
    /// An array; no count for one of unknown length.
    Array(TypeId, Option<u64>),
    /// A structure or union.
    Record(Record),
    /// A function.
    Function(Signature),
    /// Another name.
    Typedef(TypeId),
    /// `const`, `volatile`, `_Atomic`, `restrict`.
    Qualified(&'static str, TypeId),
    /// `_Complex`, vectors: bytes.
    Opaque,
}

/// What integers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    /// Whether it has negative numbers.
    pub signed: bool,
    /// Whether it is `_Bool`.
    pub truth: bool,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Whether it is a union.
    pub union: bool,
    /// Whether its members are known.
    pub complete: bool,
    /// The members in their order.
    pub members: Vec<Member>,
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Its type.
    pub of: TypeId,
    /// Byte where it starts; for a bit-field the first byte that it touches.
    pub offset: u64,
    /// For a bit-field: its first bit, counted from the least one of the byte at `offset`, and how many.
    pub bits: Option<(u32, u32)>,
    /// What attributes of `nearmiss.h` say.
    pub tags: Vec<String>,
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// What it gives back.
    pub result: TypeId,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// Whether there may be more arguments.
    pub variadic: bool,
    /// Whether callers know the types of its parameters.
    pub prototyped: bool,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name, if it has one.
    pub name: String,
    /// Its type.
    pub of: TypeId,
    /// What attributes of `nearmiss.h` say.
    pub tags: Vec<String>,
}

/// An array of no length at the end of a structure.
#[derive(Clone, Debug)]
pub(crate) struct OpenArray<'a> {
    /// Where it starts in the structure.
    pub offset: u64,
    pub element: TypeId,
    /// The members on the way to it, with the structures that they are of.
    pub way: Vec<(TypeId, &'a Member)>,
}

/// All types that are known.
#[derive(Clone, Debug)]
pub(crate) struct Types(pub Vec<Type>);

impl Types {
    /// Only those that everybody has.
    pub fn new() -> Types {
        let byte = Integer {
            signed: false,
            truth: false,
        };
        let new = |name: &str, size, kind| Type {
            name: Some(name.to_string()),
            size,
            kind,
            object: 0,
        };
        let void = new("void", 0, Kind::Void);
        Types(vec![void, new("unsigned char", 1, Kind::Integer(byte))])
    }

    /// The type with this number.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.0[id.0]
    }

    /// What is meant: without typedefs and qualifiers.
    pub fn bare(&self, id: TypeId) -> TypeId {
        match self.get(id).kind {
            Kind::Typedef(of) | Kind::Qualified(_, of) => self.bare(of),
            _ => id,
        }
    }

    /// What kind of type is meant.
    pub fn kind(&self, id: TypeId) -> &Kind {
        &self.get(self.bare(id)).kind
    }

    /// Without the qualifiers that the type itself has.
    pub fn unqualified(&self, id: TypeId) -> TypeId {
        match self.get(id).kind {
            Kind::Qualified(_, of) => self.unqualified(of),
            _ => id,
        }
    }

    /// Bytes of an object of this type.
    pub fn size(&self, id: TypeId) -> u64 {
        let bare = self.get(self.bare(id));
        match bare.kind {
            Kind::Array(element, count) => self.size(element) * count.unwrap_or(0),
            _ => bare.size,
        }
    }

    /// Whether the type, or the elements of an array of it, have this qualifier.
    pub fn is_qualified(&self, id: TypeId, word: &str) -> bool {
        match &self.get(id).kind {
            Kind::Qualified(has, of) => *has == word || self.is_qualified(*of, word),
            Kind::Typedef(of) | Kind::Array(of, _) => self.is_qualified(*of, word),
            _ => false,
        }
    }

    /// Whether it is plain `char`, whose pointers are strings.
    pub fn is_char(&self, id: TypeId) -> bool {
        let bare = self.get(self.bare(id));
        matches!(bare.kind, Kind::Integer(_)) && bare.name.as_deref() == Some("char")
    }

    /// Whether it is a number or a pointer.
    pub fn is_scalar(&self, id: TypeId) -> bool {
        matches!(
            self.kind(id),
            Kind::Integer(_) | Kind::Enumeration(..) | Kind::Float | Kind::Pointer(_)
        )
    }

    /// The members of a structure or union.
    pub fn record(&self, id: TypeId) -> Option<&Record> {
        match self.kind(id) {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The members that an input chooses: all of a structure, the first of the largest of a union. What has
    /// few values gives way to what may have any, but pointers do not: addresses are no numbers.
    pub fn chosen<'a>(&self, record: &'a Record) -> &'a [Member] {
        if !record.union {
            return &record.members;
        }
        let size = |member: &Member| self.size(member.of);
        let largest = record.members.iter().map(size).max().unwrap_or(0);
        let mut numbers =
            (0..record.members.len()).filter(|it| size(&record.members[*it]) == largest);
        let Some(first) = numbers.next() else {
            return &[];
        };
        let is_free = |member: &usize| self.is_free(record.members[*member].of);
        let chosen = match self.has_pointer(record.members[first].of) {
            true => first,
            false => std::iter::once(first)
                .chain(numbers)
                .find(is_free)
                .unwrap_or(first),
        };
        &record.members[chosen..=chosen]
    }

    /// Whether all of its bytes are inputs that may have any value.
    pub fn is_free(&self, id: TypeId) -> bool {
        match self.kind(id) {
            Kind::Integer(integer) => !integer.truth,
            Kind::Array(element, count) => count.is_some() && self.is_free(*element),
            Kind::Record(record) => {
                let members = self.chosen(record);
                let bytes: u64 = members.iter().map(|member| self.size(member.of)).sum();
                let is_free = |member: &Member| member.bits.is_none() && self.is_free(member.of);
                bytes == self.size(id) && members.iter().all(is_free)
            }
            _ => false,
        }
    }

    fn has_pointer(&self, id: TypeId) -> bool {
        match self.kind(id) {
            Kind::Pointer(_) => true,
            Kind::Array(element, _) => self.has_pointer(*element),
            Kind::Record(record) => record.members.iter().any(|it| self.has_pointer(it.of)),
            _ => false,
        }
    }

    /// Whether objects of these types may share memory, as C sees it: they are alike, one is part of the other, or
    /// one is made of characters.
    pub fn may_overlap(&self, one: TypeId, other: TypeId) -> bool {
        self.may_hold(one, other) || self.may_hold(other, one)
    }

    fn may_hold(&self, outer: TypeId, inner: TypeId) -> bool {
        let (outer, inner) = (self.bare(outer), self.bare(inner));
        let is_number =
            |id: TypeId| matches!(self.kind(id), Kind::Integer(_) | Kind::Enumeration(..));
        let is_alike = is_number(outer) && is_number(inner) && self.size(outer) == self.size(inner);
        let is_pair = matches!(
            (self.kind(outer), self.kind(inner)),
            (Kind::Pointer(_), Kind::Pointer(_))
        );
        let is_character = is_number(inner) && self.size(inner) == 1;
        outer == inner
            || is_alike
            || is_pair
            || is_character
            || match self.kind(outer) {
                Kind::Array(element, _) => self.may_hold(*element, inner),
                Kind::Record(record) => record.members.iter().any(|it| self.may_hold(it.of, inner)),
                _ => false,
            }
    }

    /// The array of no length that a structure ends with.
    pub fn tail(&self, id: TypeId) -> Option<OpenArray<'_>> {
        let record = self.record(id).filter(|record| !record.union)?;
        let last = record.members.last()?;
        match *self.kind(last.of) {
            Kind::Array(element, None | Some(0)) => Some(OpenArray {
                offset: last.offset,
                element,
                way: vec![(id, last)],
            }),
            _ => {
                let mut inner = self.tail(last.of)?;
                inner.way.insert(0, (id, last));
                inner.offset += last.offset;
                Some(inner)
            }
        }
    }

    /// Whether objects of this structure can lead to others of it.
    pub fn is_recursive(&self, id: TypeId) -> bool {
        self.leads_to(id, id)
    }

    /// Whether members of a structure lead to objects of another one.
    pub fn leads_to(&self, from: TypeId, goal: TypeId) -> bool {
        self.reaches(self.bare(from), self.bare(goal), &mut Vec::new())
    }

    fn reaches(&self, from: TypeId, goal: TypeId, seen: &mut Vec<TypeId>) -> bool {
        let Some(record) = self.record(from) else {
            return false;
        };
        let mut next = record.members.iter().map(|member| self.target(member.of));
        next.any(|target| {
            if target == goal {
                return true;
            }
            if seen.contains(&target) {
                return false;
            }
            seen.push(target);
            self.reaches(target, goal, seen)
        })
    }

    /// What a member leads to: through pointers and arrays.
    fn target(&self, id: TypeId) -> TypeId {
        match *self.kind(id) {
            Kind::Pointer(of) | Kind::Array(of, _) => self.target(of),
            _ => self.bare(id),
        }
    }

    /// The names by which rules may call a structure: its tag and the typedefs on the way to it.
    pub fn names(&self, id: TypeId) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = id;
        loop {
            let here = self.get(at);
            match here.kind {
                Kind::Typedef(of) => {
                    names.extend(here.name.as_deref());
                    at = of;
                }
                Kind::Qualified(_, of) => at = of,
                _ => {
                    names.extend(here.name.as_deref());
                    return names;
                }
            }
        }
    }
}
