//! Lays inputs out: every object as the image of its type, pointers in them left for later.

use std::collections::{BTreeMap, VecDeque};

use crate::HarnessError;
use crate::model::{Allowed, Block, Leaf, Limit, Owner, Pointer, Root, Stub, What};
use crate::path::{Path, Step};
use crate::rulebook::{Rulebook, Subject};
use crate::rules;
use crate::types::{Integer, Kind, Member, TypeId, Types};

/// Most bytes of all inputs of a call.
const MOST_BYTES: usize = 256 << 10;

/// Everything that was laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub roots: Vec<Root>,
    pub blocks: Vec<Block>,
    pub pointers: Vec<Pointer>,
    pub stubs: Vec<Stub>,
    pub leaves: Vec<Leaf>,
    /// By the leaf's number.
    pub limits: BTreeMap<usize, Limit>,
    /// Bytes of the staging.
    pub size: usize,
    pub notes: Vec<String>,
    /// Bounds on the inputs that were chosen for lack of a rule, each with the option that says otherwise.
    pub bounds: Vec<String>,
    /// What else no input is, although a call could pass it.
    pub conventions: Vec<String>,
}

/// Lays out one object after another.
pub(crate) struct Builder<'a> {
    pub types: &'a Types,
    pub rules: Rulebook,
    pub layout: Layout,
    /// Pointers that have no targets yet.
    pub waiting: VecDeque<Waiting>,
    /// How deep lists and trees are.
    pub depth: usize,
    /// Bytes of memory without a type, where nothing is said.
    pub untyped_bytes: Option<u32>,
    /// Most elements where nothing else is said.
    pub elements: u64,
    /// Names of enumerations that only have their constants.
    pub enumerations: Vec<String>,
    /// Names of the members that unions are made as, where others may hold more.
    pub unions: Vec<String>,
}

/// A pointer that has no targets yet.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub pointer: usize,
    /// What it points to.
    pub target: TypeId,
    pub scene: Scene,
}

/// Where in the inputs an object is.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub owner: Owner,
    /// The structures and functions on the way to it.
    pub nesting: Vec<TypeId>,
    /// The structure that it is a member of: its type and path, and the member's name.
    pub member: Option<(TypeId, Path, String)>,
    /// What attributes say of it.
    pub tags: Vec<String>,
    /// Whether it is a byte of a string, which a zero ends.
    pub text: bool,
}

impl Scene {
    /// The start of an object.
    pub fn new(owner: Owner, nesting: Vec<TypeId>, tags: Vec<String>) -> Scene {
        Scene {
            owner,
            nesting,
            member: None,
            tags,
            text: false,
        }
    }

    /// What rules are to see.
    pub fn subject<'a>(&'a self, path: &'a Path) -> Subject<'a> {
        let member = self.member.as_ref();
        Subject {
            path,
            member: member.map(|(record, _, name)| (*record, name.as_str())),
            tags: &self.tags,
        }
    }

    /// What attributes of a pointer say of its elements.
    pub fn element_tags(&self) -> Vec<String> {
        let ranges = self.tags.iter().filter(|tag| tag.starts_with("range"));
        ranges.cloned().collect()
    }

    /// Whether it is what the user named: a parameter, a global.
    pub fn is_top(&self, path: &Path) -> bool {
        path.steps.is_empty() && self.nesting.is_empty()
    }
}

impl Builder<'_> {
    /// Finds a place for `bytes` in the staging, aligned to eight.
    pub fn reserve(&mut self, bytes: u64, path: &Path) -> Result<usize, HarnessError> {
        let at = self.layout.size;
        let end = usize::try_from(bytes)
            .ok()
            .and_then(|bytes| at.checked_add(bytes));
        match end {
            Some(end) if end <= MOST_BYTES => {
                self.layout.size = end.next_multiple_of(8);
                Ok(at)
            }
            _ => Err(HarnessError(format!(
                "the inputs would be more than {MOST_BYTES} bytes with `{path}`, which has up to {bytes}: \
                 `--size {path}=N`, `--depth N` or a smaller `--range` of what counts it would help"
            ))),
        }
    }

    /// Tells something, once.
    pub fn note(&mut self, note: String) {
        if !self.layout.notes.contains(&note) {
            self.layout.notes.push(note);
        }
    }

    /// Tells of a bound on the inputs, once.
    pub fn bound(&mut self, bound: String) {
        if !self.layout.bounds.contains(&bound) {
            self.layout.bounds.push(bound);
        }
    }

    /// Lays out an object of a type at a place of the staging.
    pub fn place(
        &mut self,
        of: TypeId,
        path: &Path,
        at: usize,
        scene: &Scene,
    ) -> Result<(), HarnessError> {
        let types = self.types;
        match types.kind(of) {
            Kind::Integer(integer) => {
                let size = types.size(of) as usize;
                self.number(path, at, size, (*integer, None), &[], scene)
            }
            Kind::Enumeration(integer, constants) => {
                let size = types.size(of) as usize;
                self.number(path, at, size, (*integer, None), constants, scene)
            }
            Kind::Float | Kind::Opaque => {
                let size = types.size(of) as usize;
                self.leaf(path, at, size, What::Bytes);
                let name = path.to_string();
                let name = name.split('[').next().unwrap_or_default();
                self.note(format!("`{name}` is no integer: it is 0 in every test"));
                Ok(())
            }
            Kind::Pointer(target) => {
                self.pointer(*target, path, at, scene);
                Ok(())
            }
            Kind::Array(element, count) => {
                let size = types.size(*element) as usize;
                (0..count.unwrap_or(0)).try_for_each(|index| {
                    let path = path.then(Step::Index(index));
                    self.place(*element, &path, at + index as usize * size, scene)
                })
            }
            Kind::Record(record) => {
                let members = types.chosen(record).iter();
                if record.union {
                    self.chosen_of_union(members.as_slice(), path);
                }
                members
                    .cloned()
                    .try_for_each(|member| self.member(of, &member, path, at, scene))
            }
            Kind::Void | Kind::Function(_) | Kind::Typedef(_) | Kind::Qualified(..) => Ok(()),
        }
    }

    /// Other members are not inputs unless their bytes are.
    fn chosen_of_union(&mut self, members: &[Member], path: &Path) {
        for member in members.iter().filter(|it| !self.types.is_free(it.of)) {
            let name = path.member(&member.name).general().to_string();
            if !self.unions.contains(&name) {
                self.unions.push(name);
            }
        }
    }

    fn member(
        &mut self,
        record: TypeId,
        member: &Member,
        path: &Path,
        at: usize,
        scene: &Scene,
    ) -> Result<(), HarnessError> {
        let inner = Scene {
            member: Some((record, path.clone(), member.name.clone())),
            tags: member.tags.clone(),
            ..scene.clone()
        };
        let path = path.member(&member.name);
        let at = at + member.offset as usize;
        let Some((first, width)) = member.bits else {
            return self.place(member.of, &path, at, &inner);
        };
        let size = (first + width).div_ceil(8) as usize;
        let (integer, constants) = match self.types.kind(member.of) {
            Kind::Integer(integer) => (*integer, &[][..]),
            Kind::Enumeration(integer, constants) => (*integer, constants.as_slice()),
            _ => return Ok(()),
        };
        let integer = (integer, Some((first, width)));
        self.number(&path, at, size, integer, constants, &inner)
    }

    /// A number, with the values that it may have.
    fn number(
        &mut self,
        path: &Path,
        at: usize,
        size: usize,
        (integer, bits): (Integer, Option<(u32, u32)>),
        constants: &[(String, i128)],
        scene: &Scene,
    ) -> Result<(), HarnessError> {
        let signed = integer.signed;
        let leaf = self.leaf(path, at, size, What::Number { signed, bits });
        let (least, most) = self.layout.leaves[leaf].bounds();
        let range = self.rules.range(scene.subject(path), self.types);
        let allowed = match range {
            Some(text) => {
                let (low, high) = rules::range(&text)
                    .map_err(|error| HarnessError(format!("range of `{path}`: {}", error.0)))?;
                if low > most || high < least {
                    return Err(HarnessError(format!(
                        "`--range {path}={text}`: `{path}` is from {least} to {most}"
                    )));
                }
                let (low, high) = (low.max(least), high.min(most));
                if scene.text {
                    Allowed::ZeroOr(low, high)
                } else {
                    Allowed::Range(low, high)
                }
            }
            None if integer.truth => Allowed::Range(0, 1),
            None if !constants.is_empty() => {
                let name = path.general().to_string();
                if !self.enumerations.contains(&name) {
                    self.enumerations.push(name);
                }
                one_of(constants)
            }
            None => return Ok(()),
        };
        let first = allowed.nearest_to_zero();
        let limit = Limit {
            leaf,
            allowed,
            first,
        };
        self.layout.limits.insert(leaf, limit);
        Ok(())
    }

    fn pointer(&mut self, target: TypeId, path: &Path, at: usize, scene: &Scene) {
        let pointer = self.layout.pointers.len();
        self.layout.pointers.push(Pointer {
            path: path.clone(),
            owner: scene.owner,
            at,
            targets: Vec::new(),
            first: 0,
            is_described: false,
        });
        self.waiting.push_back(Waiting {
            pointer,
            target,
            scene: scene.clone(),
        });
    }

    /// Gives a piece of the staging its name.
    pub fn leaf(&mut self, path: &Path, at: usize, size: usize, what: What) -> usize {
        let name = match what {
            What::Choice => format!("{path}.choice"),
            What::Count => format!("{path}.count"),
            _ => path.to_string(),
        };
        self.layout.leaves.push(Leaf {
            name,
            path: path.clone(),
            at,
            size,
            what,
        });
        self.layout.leaves.len() - 1
    }
}

/// The constants of an enumeration; a range if there are no gaps.
fn one_of(constants: &[(String, i128)]) -> Allowed {
    let mut values: Vec<i128> = constants.iter().map(|(_, value)| *value).collect();
    values.sort_unstable();
    values.dedup();
    let (low, high) = (values[0], values[values.len() - 1]);
    if high - low + 1 == values.len() as i128 {
        Allowed::Range(low, high)
    } else {
        Allowed::OneOf(values)
    }
}
