//! Cuts a function into regions: straight-line code that shares one guard.
//!
//! A region starts where control flow joins or after a call, and ends before the next call,
//! before a division that may end the program or a jump out of the function, or at the next real branch. It runs on through
//! checks whose failure side reports and comes back, and through jumps to blocks that are reached
//! from nowhere else; a check whose failure side ends the program (`abort`, `assert`) ends it, or
//! the hooks at its end would never run on that side. What a region's instructions compute dominates its
//! end, so one cold block there can do the label work of the whole region.
//!
//! Hooks take the values of the whole region, which are kept until its end, so a region has a
//! maximum length: the time of register allocation grew with the square of the length of straight-line
//! code, and frames grew with it too.
//!
//! Where all paths of a function are wanted ([`Grain::Fine`]), a region ends before everything that
//! may end the program and before every change of memory: no check is lost in a crash, and no
//! hook sees memory as it was not yet.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::checks::Failures;
use crate::llvm::{Block, Opcode, Value};
use crate::{sensitive, transfer};

/// Where regions end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// Before calls and divisions: native speed.
    #[default]
    Coarse,
    /// As [`Grain::Coarse`], but after few instructions: small frames. For code that is not optimised.
    Short,
    /// As [`Grain::Coarse`], in a function so large that code generation must be spared: the guard
    /// of a region stands with its hooks, in a function of their own (see [`crate::outline`]).
    Huge,
    /// Before accesses to memory too: what happened is told in the order in which it happened.
    Fine,
}

impl Grain {
    /// After so many instructions a region ends where a statement may start.
    fn instructions(self) -> usize {
        match self {
            Grain::Coarse | Grain::Fine => 64,
            Grain::Huge => 32,
            Grain::Short => 16,
        }
    }
}

/// Straight-line code with one guard.
#[derive(Debug)]
pub struct Region {
    /// The instructions in program order: everything but phis, with the terminators of checks
    /// that the region runs through.
    pub instructions: Vec<Value>,
    /// The call, terminator or other instruction before which the region ends.
    pub end: Value,
    /// Whether it starts at the function's entry.
    pub is_entry: bool,
    /// Where regions of its function end.
    pub grain: Grain,
}

impl Region {
    /// Whether the work of its end is done in it, that of a call's arguments and of a terminator; any
    /// other instruction there belongs to the next region.
    pub fn has_end(&self) -> bool {
        transfer::is_barrier(self.end) || self.end == self.end.block().terminator()
    }

    /// Whether nothing of `value` is needed behind the region, by what is no part of
    /// any (`is_apart`) aside.
    pub fn keeps(
        &self,
        value: Value,
        inside: &FxHashSet<Value>,
        is_apart: impl Fn(Value) -> bool,
    ) -> bool {
        let ends = |user: Value| user == self.end && self.has_end();
        let users = value.users();
        users
            .into_iter()
            .all(|user| inside.contains(&user) || ends(user) || is_apart(user))
    }
}

/// The regions of `function`, each after those that its values come from. Reports of failures and
/// unreachable blocks belong to none.
pub fn plan(function: Value, failures: &Failures, grain: Grain) -> Vec<Region> {
    let order = reverse_post_order(function, failures);
    let mut planner = Planner {
        failures,
        grain,
        predecessors: predecessors(function),
        seen: FxHashSet::default(),
        regions: Vec::new(),
        open: Vec::new(),
        is_entry: true,
    };
    for block in order {
        if planner.seen.insert(block) {
            planner.walk(block);
        }
    }
    planner.regions
}

struct Planner<'a> {
    failures: &'a Failures,
    grain: Grain,
    predecessors: FxHashMap<Block, FxHashSet<Block>>,
    seen: FxHashSet<Block>,
    regions: Vec<Region>,
    open: Vec<Value>,
    is_entry: bool,
}

impl Planner<'_> {
    /// Follows straight-line code from `block`.
    fn walk(&mut self, mut block: Block) {
        loop {
            for instruction in block.instructions() {
                if self.ends_region(instruction) {
                    self.close(instruction);
                }
                let is_phi = instruction.opcode() == Opcode::LLVMPHI;
                if !is_phi && instruction != block.terminator() {
                    self.open.push(instruction);
                }
            }
            let terminator = block.terminator();
            match self.continuation(block, terminator) {
                Some(next) => {
                    self.open.push(terminator);
                    self.seen.insert(next);
                    block = next;
                }
                None => return self.close(terminator),
            }
        }
    }

    fn ends_region(&self, instruction: Value) -> bool {
        transfer::is_barrier(instruction)
            || transfer::may_divide_by_zero(instruction)
            || transfer::leaves_by_jump(instruction)
            || self.is_long_enough(instruction)
            || self.grain == Grain::Fine && sensitive::touches_memory(instruction)
    }

    /// Whether the open region has become so long that another starts here. The start of a statement
    /// is the best place, where few labels are needed later: most read memory first. Not before a
    /// variable: the first region is where the lives of all of them start.
    fn is_long_enough(&self, instruction: Value) -> bool {
        let times = match instruction.opcode() {
            Opcode::LLVMAlloca => return false,
            Opcode::LLVMLoad => 1,
            _ => 2,
        };
        self.open.len() >= times * self.grain.instructions()
    }

    fn close(&mut self, end: Value) {
        let instructions = std::mem::take(&mut self.open);
        let is_entry = std::mem::take(&mut self.is_entry);
        self.regions.push(Region {
            instructions,
            end,
            is_entry,
            grain: self.grain,
        });
    }

    /// Where straight-line code goes on after `block`.
    fn continuation(&self, block: Block, terminator: Value) -> Option<Block> {
        let next = if let Some(check) = self.failures.check(terminator) {
            let straight = check.failure.is_on_the_way_to(check.next);
            straight.then_some(check.next)?
        } else if terminator.opcode() == Opcode::LLVMBr && terminator.branch_condition().is_none() {
            terminator.successors()[0]
        } else {
            return None;
        };
        let comes_from_here = |from: &Block| {
            *from == block
                || self
                    .failures
                    .get(*from)
                    .is_some_and(|failure| self.reports_for(failure.back, *from, block))
        };
        let has_phi = next
            .first()
            .is_some_and(|first| first.opcode() == Opcode::LLVMPHI);
        let alone = self.predecessors[&next].iter().all(comes_from_here);
        (!has_phi && alone && !self.seen.contains(&next)).then_some(next)
    }

    /// Whether the report block `report` comes back (to `back`) from a check in `block` only.
    fn reports_for(&self, back: Option<Block>, report: Block, block: Block) -> bool {
        back.is_some() && self.predecessors[&report].iter().all(|from| *from == block)
    }
}

fn predecessors(function: Value) -> FxHashMap<Block, FxHashSet<Block>> {
    let mut predecessors: FxHashMap<Block, FxHashSet<Block>> = FxHashMap::default();
    for block in function.blocks() {
        predecessors.entry(block).or_default();
        for successor in block.terminator().successors() {
            predecessors.entry(successor).or_default().insert(block);
        }
    }
    predecessors
}

fn reverse_post_order(function: Value, failures: &Failures) -> Vec<Block> {
    let Some(&entry) = function.blocks().first() else {
        return Vec::new();
    };
    let mut order = Vec::new();
    let mut seen = FxHashSet::from_iter([entry]);
    let mut stack = vec![(entry, entry.terminator().successors())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(next) => {
                // A report block only leads back; a sink may do a lot before its end.
                let next = match failures.get(next) {
                    Some(failure) if !failure.is_own_code() => failure.back,
                    _ => Some(next),
                };
                if let Some(next) = next.filter(|next| seen.insert(*next)) {
                    stack.push((next, next.terminator().successors()));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
