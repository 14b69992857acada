//! Which memory is one object: an ordered table, asked only when an address or a size is
//! symbolic.
//!
//! A treap by start address in private memory of the runtime's own. Whatever a new object
//! overlaps is gone from the table, so entries that nobody took back heal by themselves. An
//! object that was freed stays, as freed, until its memory is used again.
//!
//! Nearly all that happens to the table is that variables of functions begin and end, at
//! addresses where others did a moment before. So the node that was last found to start at an address is
//! remembered by the low bits of the address, and an object that takes the place of one other takes its node,
//! which is no change of the tree.
//!
//! On `unsafe`: `nodes` is a private mapping of [`MOST`] nodes, with [`RECENT`] links behind them;
//! links are indices below `used`.

use core::ptr;

use nearmiss_abi::shadow::RED_ZONE;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::system::{self, advice};

/// What an object is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ObjectKind {
    /// From `malloc` or one of its relatives.
    Heap,
    /// A variable of a function.
    Stack,
    /// A variable of static storage.
    Global,
    /// A string of the command line or the environment.
    Argument,
    /// A region from `mmap`.
    Mapping,
}

/// An object of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Where it starts.
    pub start: u64,
    /// Bytes in this run.
    pub size: u64,
    /// Bytes of memory that are really there, with what the object would hold if it were larger
    /// (a block that a harness makes) and the red zone, if there is one. Else the size.
    pub extent: u64,
    /// The 64-bit term of its size, if that depends on input.
    pub size_label: Label,
    /// What it is.
    pub kind: ObjectKind,
    /// Whether its life has not ended.
    pub live: bool,
    /// Whether it was made inside of a call at the boundary of the code under test.
    pub is_inner: bool,
}

impl Object {
    /// A live object of known size.
    pub const fn new(start: u64, size: u64, kind: ObjectKind) -> Object {
        Object {
            start,
            size,
            extent: size,
            size_label: CONCRETE,
            kind,
            live: true,
            is_inner: false,
        }
    }

    /// The same with a red zone behind it.
    pub const fn zoned(self, zone: u64) -> Object {
        Object {
            extent: self.size.saturating_add(zone),
            ..self
        }
    }

    /// Bytes from an address in it or in its red zone to its end.
    pub fn rest(&self, address: u64) -> u64 {
        (self.start + self.size).saturating_sub(address)
    }

    /// Bytes that it has in the run in which it is largest.
    pub fn capacity(&self) -> u64 {
        self.extent.saturating_sub(RED_ZONE).max(self.size)
    }

    /// The first address behind it; an empty object counts as one byte, so that it is found.
    fn end(&self) -> u64 {
        self.start.saturating_add(self.extent.max(1))
    }
}

#[derive(Clone, Copy)]
struct Node {
    object: Object,
    left: Link,
    right: Link,
}

/// The index of a node; [`NONE`] is none.
type Link = u32;
const NONE: Link = 0;

/// Most objects, with the unused node 0.
const MOST: u32 = 16 << 20;
const NODES_SIZE: usize = MOST as usize * size_of::<Node>();

/// How many nodes are remembered by their starts: one for each 4 bytes of 16 KiB of stack.
const RECENT: usize = 4096;
const TABLE_SIZE: usize = NODES_SIZE + RECENT * size_of::<Link>();

/// The table.
pub struct Objects {
    nodes: *mut Node,
    root: Link,
    /// Nodes that were ever used.
    used: u32,
    /// Nodes that are free again, linked by `left`.
    free: Link,
}

impl Objects {
    /// No table yet.
    pub const fn none() -> Objects {
        Objects {
            nodes: ptr::null_mut(),
            root: NONE,
            used: 0,
            free: NONE,
        }
    }

    /// An empty table; `None` if there is no address space for it.
    pub fn create() -> Option<Objects> {
        let nodes = system::map_private(TABLE_SIZE).ok()?;
        // SAFETY: nothing is there yet.
        unsafe { system::advise(nodes, TABLE_SIZE, advice::DONTDUMP) };
        Some(Objects {
            nodes: nodes.cast(),
            used: 1,
            ..Objects::none()
        })
    }

    /// Gives the mapping back; nobody may use it afterwards.
    pub fn destroy(&mut self) {
        // SAFETY: as the caller promises.
        unsafe { system::unmap(self.nodes.cast(), TABLE_SIZE) };
        *self = Objects::none();
    }

    #[inline(always)]
    fn node(&self, link: Link) -> &Node {
        debug_assert!(link != NONE && link < self.used);
        // SAFETY: see the module's comment.
        unsafe { &*self.nodes.add(link as usize) }
    }

    #[inline(always)]
    fn node_mut(&mut self, link: Link) -> &mut Node {
        debug_assert!(link != NONE && link < self.used);
        // SAFETY: see the module's comment.
        unsafe { &mut *self.nodes.add(link as usize) }
    }

    /// Where the node of an object that starts at `start` is remembered. Of a node that is remembered the
    /// start may have changed; one that is in no tree has the start 0.
    #[inline(always)]
    fn recent(&mut self, start: u64) -> &mut Link {
        let index = (start >> 2) as usize % RECENT;
        // SAFETY: see the module's comment.
        unsafe { &mut *self.nodes.byte_add(NODES_SIZE).cast::<Link>().add(index) }
    }

    /// The object that starts at `start`, if it is remembered.
    #[inline(always)]
    fn remembered(&mut self, start: u64) -> Option<&mut Object> {
        let link = *self.recent(start);
        let object = (link != NONE).then(|| &mut self.node_mut(link).object);
        object.filter(|object| object.start == start)
    }

    /// The object with the greatest start that is at most `address`.
    #[inline]
    fn floor(&self, address: u64) -> Link {
        let mut best = NONE;
        let mut at = self.root;
        while at != NONE {
            let node = self.node(at);
            if node.object.start <= address {
                best = at;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        best
    }

    /// The live object that starts last before `address` or there, whether or not it reaches so far.
    pub fn find_before(&self, address: u64) -> Option<Object> {
        let link = self.floor(address);
        let object = (link != NONE).then(|| self.node(link).object);
        object.filter(|object| object.live)
    }

    /// The object that contains `address`, whether it lives or was freed.
    pub fn find(&self, address: u64) -> Option<Object> {
        let link = self.floor(address);
        if link == NONE {
            return None;
        }
        let object = self.node(link).object;
        (address < object.end()).then_some(object)
    }

    /// As [`Objects::find`], for addresses that are asked for again and again: the node is remembered.
    #[inline]
    pub fn find_again(&mut self, address: u64) -> Option<Object> {
        if self.nodes.is_null() {
            return None;
        }
        let link = *self.recent(address);
        if link != NONE {
            let object = self.node(link).object;
            if object.start != 0 && (object.start..object.end()).contains(&address) {
                return Some(object);
            }
        }
        let link = self.floor(address);
        if link == NONE {
            return None;
        }
        let object = self.node(link).object;
        if address >= object.end() {
            return None;
        }
        *self.recent(address) = link;
        Some(object)
    }

    /// The live object that contains `address`.
    pub fn find_live(&self, address: u64) -> Option<Object> {
        self.find(address).filter(|object| object.live)
    }

    /// The object that ends just before `address`, if it lives.
    pub fn find_ending(&self, address: u64) -> Option<Object> {
        let before = self.find_live(address.checked_sub(1)?)?;
        (before.start + before.size == address).then_some(before)
    }

    /// A new object; what it overlaps is no object any more.
    pub fn insert(&mut self, object: Object) {
        if self.nodes.is_null() || object.start == 0 {
            return;
        }
        // The usual case of a stack variable: it was here before.
        if let Some(old) = self.remembered(object.start)
            && (old.size, old.extent) == (object.size, object.extent)
        {
            *old = object;
            return;
        }
        let taken = self.take_place(&object);
        let link = if taken == NONE {
            self.add(object)
        } else {
            taken
        };
        *self.recent(object.start) = link;
    }

    /// Removes what `object` overlaps, and puts it in the place of the first of those; the node, if
    /// there was one.
    fn take_place(&mut self, object: &Object) -> Link {
        let mut last = self.floor(object.end() - 1);
        while last != NONE && self.node(last).object.end() > object.start {
            let start = self.node(last).object.start;
            let before = match start > object.start {
                true => self.floor(start - 1),
                // No two objects overlap, so that what is before ends before this one.
                false => NONE,
            };
            if before == NONE || self.node(before).object.end() <= object.start {
                self.node_mut(last).object = *object;
                return last;
            }
            self.remove(start);
            last = before;
        }
        NONE
    }

    /// The life of the object that starts at `start` ends; says what it was.
    pub fn end(&mut self, start: u64) -> Option<Object> {
        let link = self.floor(start);
        if link == NONE {
            return None;
        }
        let node = self.node_mut(link);
        if node.object.start != start || !node.object.live {
            return None;
        }
        let object = node.object;
        node.object.live = false;
        node.object.size_label = CONCRETE;
        Some(object)
    }

    /// The lives of all objects that start in the range end: from the last one down, since
    /// nearly always it is the only one. Whether one of them was of symbolic size.
    pub fn end_within(&mut self, start: u64, end: u64) -> bool {
        if self.nodes.is_null() {
            return false;
        }
        if let Some(object) = self.remembered(start)
            && (start + 1..=object.end()).contains(&end)
        {
            let is_sized = object.size_label != CONCRETE;
            object.live = false;
            object.size_label = CONCRETE;
            return is_sized;
        }
        let mut any_sized = false;
        let mut before = end;
        while before > start {
            let link = self.floor(before - 1);
            if link == NONE || self.node(link).object.start < start {
                break;
            }
            let object = &mut self.node_mut(link).object;
            any_sized |= object.size_label != CONCRETE;
            object.live = false;
            object.size_label = CONCRETE;
            before = object.start;
        }
        any_sized
    }

    /// Nothing in the range is an object any more.
    pub fn remove_overlapping(&mut self, start: u64, end: u64) {
        while let Some(last) = end.checked_sub(1) {
            let link = self.floor(last);
            if link == NONE || self.node(link).object.end() <= start {
                return;
            }
            let key = self.node(link).object.start;
            self.remove(key);
        }
    }

    /// The random number that keeps the tree balanced: a node's index, well mixed.
    #[inline(always)]
    fn priority(link: Link) -> u32 {
        let mixed = link.wrapping_mul(0x9e37_79b1);
        (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b)
    }

    fn take_node(&mut self) -> Option<Link> {
        if self.free != NONE {
            let link = self.free;
            self.free = self.node(link).left;
            return Some(link);
        }
        if self.used == MOST {
            return None;
        }
        self.used += 1;
        Some(self.used - 1)
    }

    /// Adds an object whose start is new, as which node; none if the table is full, which leaves its
    /// memory unknown.
    fn add(&mut self, object: Object) -> Link {
        let Some(link) = self.take_node() else {
            return NONE;
        };
        let priority = Objects::priority(link);
        // Down to the first node of lower priority: the new one takes its place.
        let mut parent = NONE;
        let mut at = self.root;
        while at != NONE && Objects::priority(at) >= priority {
            parent = at;
            at = self.child(at, object.start);
        }
        let (left, right) = self.split(at, object.start);
        *self.node_mut(link) = Node {
            object,
            left,
            right,
        };
        self.replace_child(parent, object.start, link);
        link
    }

    /// The child of `link` on the side of `key`.
    fn child(&self, link: Link, key: u64) -> Link {
        let node = self.node(link);
        if key < node.object.start {
            node.left
        } else {
            node.right
        }
    }

    /// Makes `child` the child of `parent` on the side of `key`; of none: the root.
    fn replace_child(&mut self, parent: Link, key: u64, child: Link) {
        if parent == NONE {
            self.root = child;
            return;
        }
        let node = self.node_mut(parent);
        if key < node.object.start {
            node.left = child;
        } else {
            node.right = child;
        }
    }

    /// Splits a tree into the nodes before `key` and those after.
    fn split(&mut self, tree: Link, key: u64) -> (Link, Link) {
        if tree == NONE {
            return (NONE, NONE);
        }
        if self.node(tree).object.start < key {
            let (left, right) = self.split(self.node(tree).right, key);
            self.node_mut(tree).right = left;
            (tree, right)
        } else {
            let (left, right) = self.split(self.node(tree).left, key);
            self.node_mut(tree).left = right;
            (left, tree)
        }
    }

    /// One tree of two, all of `left` before all of `right`.
    fn merge(&mut self, left: Link, right: Link) -> Link {
        if left == NONE || right == NONE {
            return left | right;
        }
        if Objects::priority(left) >= Objects::priority(right) {
            let merged = self.merge(self.node(left).right, right);
            self.node_mut(left).right = merged;
            left
        } else {
            let merged = self.merge(left, self.node(right).left);
            self.node_mut(right).left = merged;
            right
        }
    }

    fn remove(&mut self, key: u64) {
        let mut parent = NONE;
        let mut at = self.root;
        while at != NONE && self.node(at).object.start != key {
            parent = at;
            at = self.child(at, key);
        }
        if at == NONE {
            return;
        }
        let Node { left, right, .. } = *self.node(at);
        let merged = self.merge(left, right);
        self.replace_child(parent, key, merged);
        let free = self.free;
        let node = self.node_mut(at);
        node.object.start = 0;
        node.left = free;
        self.free = at;
    }
}

#[cfg(test)]
mod tests;
