//! What a function may have made: the types that pointers in its result, in blocks and in globals lead to.

use nearmiss_results::Role;

use crate::path::{Path, Step};
use crate::plan::Plan;
use crate::types::{Kind, TypeId, Types};

/// Most pointers of one type that are followed.
const MOST_EDGES: usize = 256;

/// Types that lead to each other through pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    pub types: Vec<Reached>,
}

/// A type of objects.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    pub of: TypeId,
    /// Bytes of an object.
    pub size: u64,
    /// Whether pointers to it are strings.
    pub text: bool,
    /// Whether it ends with an array of no length: then there is one object.
    pub open: bool,
    /// The pointers in it.
    pub edges: Vec<Edge>,
}

/// A pointer in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub offset: u64,
    /// Which type it leads to.
    pub to: usize,
    /// Whether it is a step further into a list or tree.
    pub deeper: bool,
}

impl Reach {
    /// The number of a type, and of all that it leads to; none if it has no objects.
    pub fn add(&mut self, types: &Types, of: TypeId) -> Option<usize> {
        let bare = types.bare(of);
        let known = |reached: &Reached| types.bare(reached.of) == bare;
        if let Some(number) = self.types.iter().position(known) {
            return Some(number);
        }
        let size = types.size(of);
        if size == 0 || matches!(types.kind(of), Kind::Function(_) | Kind::Void) {
            return None;
        }
        let number = self.types.len();
        self.types.push(Reached {
            of,
            size,
            text: types.is_char(of),
            open: types.tail(of).is_some(),
            edges: Vec::new(),
        });
        let mut edges = Vec::new();
        self.pointers(types, of, 0, &mut edges);
        self.types[number].edges = edges;
        Some(number)
    }

    fn pointers(&mut self, types: &Types, of: TypeId, offset: u64, edges: &mut Vec<Edge>) {
        if edges.len() >= MOST_EDGES {
            return;
        }
        match types.kind(of) {
            Kind::Pointer(target) => {
                let deeper = types.is_recursive(*target);
                let to = self.add(types, *target);
                edges.extend(to.map(|to| Edge { offset, to, deeper }));
            }
            Kind::Array(element, count) => {
                let size = types.size(*element);
                for index in 0..count.unwrap_or(0).min(MOST_EDGES as u64) {
                    self.pointers(types, *element, offset + index * size, edges);
                }
            }
            Kind::Record(record) => {
                let members = types.chosen(record).iter();
                for member in members.filter(|member| member.bits.is_none()) {
                    self.pointers(types, member.of, offset + member.offset, edges);
                }
            }
            _ => {}
        }
    }
}

impl Plan {
    /// Finds the types that pointers lead to in all that a function can leave.
    pub(crate) fn find_reach(&mut self) {
        let result = self.function.function.signature.result;
        let blocks = self.layout.blocks.iter().filter(|block| !block.constant);
        let globals = self.layout.roots.iter();
        let globals = globals.filter(|root| root.role == Role::Global);
        let left = std::iter::once(result)
            .chain(blocks.map(|block| block.element))
            .chain(globals.map(|root| root.of));
        for of in left {
            self.reach.add(&self.types, of);
        }
    }

    /// Functions of the program that are stubs.
    pub fn stubbed(&self) -> Vec<String> {
        let stubs = self.layout.stubs.iter();
        stubs.filter_map(|stub| stub.function.clone()).collect()
    }

    /// How many objects lead to what a function made, itself not counted: the result, blocks, roots.
    pub(crate) fn sources(&self) -> usize {
        1 + self.layout.blocks.len() + self.layout.roots.len()
    }
}

impl Types {
    /// The path of the pointer at `offset` in an object that has this path.
    pub fn path_of(&self, of: TypeId, path: Path, offset: u64) -> Path {
        match self.kind(of) {
            Kind::Array(element, _) => {
                let size = self.size(*element).max(1);
                let path = path.then(Step::Index(offset / size));
                self.path_of(*element, path, offset % size)
            }
            Kind::Record(record) => {
                let members = self.chosen(record).iter();
                let holds = |member: &&crate::types::Member| {
                    let end = member.offset + self.size(member.of);
                    (member.offset..end).contains(&offset)
                };
                match members.clone().find(holds) {
                    Some(member) => {
                        let path = path.member(&member.name);
                        self.path_of(member.of, path, offset - member.offset)
                    }
                    None => path,
                }
            }
            _ => path,
        }
    }
}
