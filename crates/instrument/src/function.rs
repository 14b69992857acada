//! Instruments one function: region by region, a guard and a cold block each.
//!
//! ```text
//!   before:  BB: … a b c [end …]          after:  head: … a b c; any = …; br any, slow, BB
//!                                                  slow: hooks of a, b, c; br BB
//!                                                  BB:   labels = phi [0, head], [l, slow]; [end …]
//! ```
//!
//! The block keeps its identity as the *tail*, so phis of its successors stay right; jumps to
//! it are sent to the head.

use nearmiss_abi::shadow as words;
use nearmiss_abi::site::SiteId;
use nearmiss_sites::{Loop, SiteKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::aggregate;
use crate::checks::Failures;
use crate::context::Context;
use crate::guard::Sources;
use crate::llvm::{Block, Value};
use crate::loops;
use crate::may::MayBeLabelled;
use crate::outline::{self, Guard, Moved};
use crate::regions::{self, Grain, Region};
use crate::reports;
use crate::sensitive;
use crate::stack::StackVariables;
use crate::transfer;
use crate::zones;

/// The label of a value beside it; `None` where it is known to be 0.
pub type Label = Option<Value>;

/// A function in the course of instrumentation.
pub struct Rewriter<'a> {
    /// The module.
    pub context: &'a mut Context,
    /// The function.
    pub function: Value,
    /// Its failure blocks.
    pub failures: &'a Failures,
    /// Which values may be labelled.
    pub may: &'a MayBeLabelled,
    /// Where a variadic function keeps its argument labels.
    pub kept_arguments: Option<Value>,
    /// Base and mask of the summary, loaded at the function's entry.
    pub summary: (Value, Value),
    /// The innermost loops of its branches and switches.
    pub loops: &'a FxHashMap<Value, Loop>,
    /// Its stack variables.
    pub stack: &'a StackVariables,
    /// Where its regions end.
    pub grain: Grain,
    /// What was in memory before a store that may be through a symbolic address.
    pub old_values: FxHashMap<Value, Value>,
    old_loads: FxHashSet<Value>,
    sites: FxHashMap<Value, Value>,
    labels: FxHashMap<Value, Vec<Label>>,
    fresh: FxHashMap<Value, Vec<Label>>,
}

/// Instruments `function`.
pub fn instrument(context: &mut Context, function: Value, grain: Grain) {
    context.sites.enter_function(&function.name());
    reports::isolate(context, function);
    let failures = Failures::find(function, &mut context.sites);
    (context.flow).enter(function, &failures, &mut context.sites);
    let stack = StackVariables::find(context, function);
    let loops = loops::find(function);
    let may = MayBeLabelled::analyse(function);
    let regions = regions::plan(function, &failures, grain);
    let old_values = transfer::memory::load_old_values(context, &regions, &may);
    let is_variadic = function.global_value_type().is_variadic();
    let entry = function.blocks()[0]
        .first()
        .expect("a block has a terminator");
    context.builder.before(entry);
    let summary = context.load_summary_words();
    let kept_arguments = is_variadic.then(|| make_room_for_arguments(context));
    let (sites, labels, fresh) = Default::default();
    let mut rewriter = Rewriter {
        context,
        function,
        failures: &failures,
        may: &may,
        kept_arguments,
        summary,
        loops: &loops,
        stack: &stack,
        grain,
        old_loads: old_values.values().copied().collect(),
        old_values,
        sites,
        labels,
        fresh,
    };
    let phis = rewriter.add_label_phis();
    for region in &regions {
        rewriter.rewrite(region);
    }
    rewriter.fill_label_phis(&phis);
    transfer::control::rewrite_failures(rewriter.context, &failures);
    if grain == Grain::Fine {
        for variable in stack.made_here() {
            zones::behind_stack(context, variable);
        }
    }
}

fn make_room_for_arguments(context: &Context) -> Value {
    let word = context.builder.integer_type(32);
    let room = context
        .builder
        .alloca(word, 1 + words::MAX_ARGUMENTS as u64);
    context.builder.store(context.builder.u32(0), room);
    room
}

impl Rewriter<'_> {
    /// The site of a memory access or call, the same whenever it is asked for. Accesses of
    /// models have none: a model says itself, in its caller's name, what it reads and writes.
    pub fn site_of(&mut self, instruction: Value) -> Value {
        let make = || {
            let kind = transfer::foreign::site_kind(instruction);
            if self.context.is_model_unit && kind == SiteKind::Access {
                return self.context.site_constant(SiteId::NONE);
            }
            self.context.site(kind, instruction)
        };
        *self.sites.entry(instruction).or_insert_with(make)
    }

    /// The labels of a value where the region in work uses it.
    pub fn labels_of(&self, value: Value) -> Vec<Label> {
        let known = self.fresh.get(&value).or_else(|| self.labels.get(&value));
        known
            .cloned()
            .unwrap_or_else(|| vec![None; aggregate::label_count(value.ty()).max(1)])
    }

    /// The label of a scalar.
    pub fn label_of(&self, value: Value) -> Label {
        self.labels_of(value)[0]
    }

    /// Remembers the labels that the region in work gave to `value`.
    pub fn define(&mut self, value: Value, labels: Vec<Label>) {
        if labels.iter().any(Option::is_some) {
            self.fresh.insert(value, labels);
        }
    }

    /// One label phi for each label of each phi that may be labelled.
    fn add_label_phis(&mut self) -> Vec<Value> {
        let mut phis = Vec::new();
        for block in self.function.blocks() {
            let first = block.first().expect("a block has a terminator");
            for phi in block
                .phis()
                .into_iter()
                .filter(|phi| self.may.contains(*phi))
            {
                self.context.builder.before(first);
                let word = self.context.builder.integer_type(32);
                let count = aggregate::label_count(phi.ty());
                let labels = (0..count)
                    .map(|_| Some(self.context.builder.phi(word)))
                    .collect();
                self.labels.insert(phi, labels);
                phis.push(phi);
            }
        }
        phis
    }

    fn fill_label_phis(&mut self, phis: &[Value]) {
        let zero = self.context.builder.u32(0);
        for phi in phis {
            let label_phis = self.labels[phi].clone();
            for (value, block) in phi.incoming() {
                let labels = self.labels_of(value);
                for (label_phi, label) in label_phis.iter().zip(labels) {
                    let label_phi = label_phi.expect("label phis exist");
                    label_phi.add_incoming(label.unwrap_or(zero), block);
                }
            }
        }
    }

    fn rewrite(&mut self, region: &Region) {
        let mut sources = Sources::default();
        transfer::collect(self, region, &mut sources);
        sources.sensitive = sensitive::has_sensitive(self.context, self.failures, region);
        if sources.is_empty() {
            return transfer::calls::prepare(self, region.end);
        }
        let needed = self.needed_behind(region);
        let tail = region.end.block();
        let head = self.split_before(region.end);
        let slow = self.append_cold_block(c"nm.slow", tail);
        self.context.builder.at_end(head);
        // Every call in a function with debug information needs a location to be inlined.
        self.context.builder.locate_as(region.end);
        let guard = Guard::write(head, || sources.emit(self));
        self.context.builder.at_end(slow);
        self.context.builder.locate_as(region.end);
        if sources.sensitive {
            sensitive::emit(self.context);
        }
        transfer::emit(self, region);
        let (leaving, moved) = self.outline(region, slow, &needed, &guard);
        self.context.builder.at_end(head);
        self.context.builder.locate_as(region.end);
        if moved.with_guard {
            self.context.builder.jump(slow);
            self.leave_moved(slow, tail, moved.rest);
            self.labels.extend(leaving);
        } else {
            self.context.builder.branch_unlikely(guard.any, slow, tail);
            self.context.builder.at_end(slow);
            self.context.builder.jump(tail);
            self.merge_labels(leaving, head, slow, tail);
        }
        transfer::calls::prepare(self, region.end);
    }

    /// Goes from `slow`, whose guard is in the function it calls, to `tail`: by the hook that had to
    /// stay behind, where that has a label to look at.
    fn leave_moved(&mut self, slow: Block, tail: Block, rest: Option<Value>) {
        let builder = &self.context.builder;
        builder.at_end(slow);
        let Some(hook) = rest else {
            return builder.jump(tail);
        };
        let branch = self.append_cold_block(c"nm.branch", tail);
        builder.at_end(branch);
        builder.take(hook);
        builder.jump(tail);
        builder.at_end(slow);
        let label = builder.is_not_zero(hook.operand(0));
        builder.branch_unlikely(label, branch, tail);
    }

    /// A block that leads to `tail`. In a huge function, whose blocks are not placed by code generation, it
    /// stands before that: values used here and at the far end would be compared, one by one,
    /// with all that registers hold in between.
    fn append_cold_block(&self, name: &std::ffi::CStr, tail: Block) -> Block {
        let block = self.context.builder.append_block(self.function, name);
        if self.grain == Grain::Huge {
            block.move_before(tail);
        }
        block
    }

    /// Splits the block before `end`. What was in memory before a store is read when its time has
    /// come.
    fn split_before(&mut self, end: Value) -> Block {
        let end = self.old_values.get(&end).copied().unwrap_or(end);
        self.context.builder.split_before(end)
    }

    /// The values that a region may give labels and that are used behind it, in an order that
    /// is the same each time. Asked before instrumentation adds uses of its own.
    fn needed_behind(&self, region: &Region) -> Vec<Value> {
        let inside: FxHashSet<Value> = region.instructions.iter().copied().collect();
        // No labels are used where a failure is reported, nor to load what a store overwrites.
        let is_apart = |user: Value| {
            let failure = self.failures.get(user.block());
            let is_report = failure.is_some_and(|failure| !failure.is_own_code());
            is_report || self.old_loads.contains(&user)
        };
        let arrived = region.is_entry.then(|| self.function.parameters());
        let values = arrived.into_iter().flatten();
        values
            .chain(region.instructions.iter().copied())
            .filter(|value| !region.keeps(*value, &inside, is_apart))
            .collect()
    }

    /// Gives the hooks of a region a function of their own, where regions are large; the
    /// labels that are used behind the region, with their values, and what was moved.
    fn outline(
        &mut self,
        region: &Region,
        slow: Block,
        needed: &[Value],
        guard: &Guard,
    ) -> (Vec<(Value, Vec<Label>)>, Moved) {
        let mut fresh = std::mem::take(&mut self.fresh);
        let with_labels = |value: &Value| fresh.remove(value).map(|labels| (*value, labels));
        let mut leaving: Vec<_> = needed.iter().filter_map(with_labels).collect();
        if region.grain == Grain::Fine {
            return (leaving, Moved::default());
        }
        let labels = leaving.iter().flat_map(|(_, labels)| labels).flatten();
        let mut returned: Vec<Value> = labels.copied().collect();
        let guard = (region.grain == Grain::Huge).then_some(guard);
        let moved = outline::outline(self.context, region, slow, &mut returned, guard);
        let places = leaving.iter_mut().flat_map(|(_, labels)| labels).flatten();
        for (label, returned) in places.zip(returned) {
            *label = returned;
        }
        (leaving, moved)
    }

    /// Carries the labels made in the cold block to where they are used later.
    fn merge_labels(
        &mut self,
        leaving: Vec<(Value, Vec<Label>)>,
        head: Block,
        slow: Block,
        tail: Block,
    ) {
        let first = tail.first().expect("the tail starts with the region's end");
        self.context.builder.before(first);
        let word = self.context.builder.integer_type(32);
        let zero = self.context.builder.u32(0);
        for (value, labels) in leaving {
            let merge = |label: Label| {
                label.map(|label| {
                    let phi = self.context.builder.phi(word);
                    phi.add_incoming(zero, head);
                    phi.add_incoming(label, slow);
                    phi
                })
            };
            let merged = labels.into_iter().map(merge).collect();
            self.labels.insert(value, merged);
        }
    }
}
