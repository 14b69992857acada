//! Recognises checks: branches to a failure.
//!
//! Two shapes of failure block are known. A *report* is what clang's inserted checks branch
//! to: it calls `__ubsan_handle_*` and comes back. A *sink* never comes back: `assert` that
//! fails, `abort`, a trap. A branch with a failure block on one side is a check, not a branch
//! to explore.

use nearmiss_abi::check::Kind;
use nearmiss_abi::site::SiteId;
use rustc_hash::FxHashMap;

use crate::llvm::{Block, Opcode, Value};
use crate::reports;
use crate::sitemap::{Place, SiteMap};
use crate::ubsan;

/// A block that is only reached when something is wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The check that fails when the block is reached.
    pub site: SiteId,
    /// For a check of two conditions joined by `and` (division): the second's own site.
    pub second_site: Option<SiteId>,
    /// Where a report comes back to; `None` for a sink.
    pub back: Option<Block>,
    /// The call that reports or ends the program; a block that only leads to a sink has none.
    pub call: Option<Value>,
}

impl Failure {
    /// Whether a check that leads to this failure is passed on one way only: to `next`. A sink is
    /// another way: what comes before it must be recorded before the program ends there.
    pub fn is_on_the_way_to(&self, next: Block) -> bool {
        self.back == Some(next)
    }

    /// Whether the block is the program's own code up to its end, with work of its own before the call.
    pub fn is_own_code(&self) -> bool {
        let is_clang = |call: Value| call.called().name().starts_with("__ubsan_");
        self.back.is_none() && self.call.is_some_and(|call| !is_clang(call))
    }
}

/// Functions that end the program because something is wrong, with the kind of failure.
const SINKS: &[(&str, Kind)] = &[
    ("__assert_fail", Kind::Assertion),
    ("__assert_perror_fail", Kind::Assertion),
    ("__assert", Kind::Assertion),
    ("__assert_rtn", Kind::Assertion),
    ("abort", Kind::Abort),
    ("llvm.trap", Kind::Abort),
    ("llvm.ubsantrap", Kind::Abort),
    ("reach_error", Kind::Assertion),
    ("__VERIFIER_error", Kind::Assertion),
    ("klee_assert_fail", Kind::Assertion),
    ("klee_abort", Kind::Abort),
    ("klee_report_error", Kind::Abort),
];

/// The failure blocks of a function.
#[derive(Debug, Default)]
pub struct Failures(FxHashMap<Block, Failure>);

impl Failures {
    /// Finds the failure blocks of `function`.
    pub fn find(function: Value, sites: &mut SiteMap) -> Failures {
        let blocks = function.blocks();
        let mut failures = Failures::default();
        for block in &blocks {
            if let Some(failure) = failure(*block, sites) {
                failures.0.insert(*block, failure);
            }
        }
        // clang guards `__builtin_unreachable` by a branch on a constant, in a block of its own.
        for block in blocks {
            if let Some(sink) = failures.only_leads_to_sink(block) {
                failures.0.insert(block, Failure { call: None, ..sink });
            }
        }
        failures
    }

    /// The sink that a block without any work of its own leads to.
    fn only_leads_to_sink(&self, block: Block) -> Option<Failure> {
        let terminator = block.first()?;
        if terminator != block.terminator() || terminator.opcode() != Opcode::LLVMBr {
            return None;
        }
        let successors = terminator.successors();
        let next = match terminator.branch_condition() {
            None => successors[0],
            Some(condition) => successors[usize::from(condition.constant_integer()? == 0)],
        };
        let failure = self.get(next)?;
        (failure.back.is_none()).then(|| failure.clone())
    }

    /// The failure that `block` is, if it is one.
    pub fn get(&self, block: Block) -> Option<&Failure> {
        self.0.get(&block)
    }

    /// Every failure block.
    pub fn iter(&self) -> impl Iterator<Item = (Block, &Failure)> {
        self.0.iter().map(|(block, failure)| (*block, failure))
    }

    /// If `terminator` is a check: its condition, whether all is well when that is true, the
    /// failure, and the block where the program goes on.
    pub fn check(&self, terminator: Value) -> Option<Check<'_>> {
        let condition = terminator.branch_condition()?;
        let successors = terminator.successors();
        let (when_true, when_false) = (self.get(successors[0]), self.get(successors[1]));
        match (when_true, when_false) {
            (None, Some(failure)) => Some(Check {
                condition,
                ok_when: true,
                failure,
                next: successors[0],
            }),
            (Some(failure), None) => Some(Check {
                condition,
                ok_when: false,
                failure,
                next: successors[1],
            }),
            _ => None,
        }
    }
}

/// A branch that is a check.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// What is checked.
    pub condition: Value,
    /// The value it must have.
    pub ok_when: bool,
    /// Where it leads otherwise.
    pub failure: &'a Failure,
    /// Where it leads when all is well.
    pub next: Block,
}

fn failure(block: Block, sites: &mut SiteMap) -> Option<Failure> {
    let instructions = block.instructions();
    let terminator = *instructions.last()?;
    let calls = instructions
        .iter()
        .copied()
        .filter(|i| i.opcode() == Opcode::LLVMCall);
    for call in calls {
        let callee = call.called();
        if !callee.is_function() {
            continue;
        }
        if let Some(handler) = reports::handler(call) {
            return Some(report(call, &handler, terminator, sites));
        }
        let name = callee.name();
        // What follows in the block does not matter: clang goes on behind a trap, and with the
        // check of unreachable code behind every such call, as if it came back.
        // One that the program defines is code like any other: the failure is where that ends.
        let is_sink = |(sink, _): &&(&str, Kind)| *sink == name && call.called().is_declaration();
        if let Some((_, kind)) = SINKS.iter().find(is_sink) {
            return Some(sink(call, *kind, &name, sites));
        }
    }
    None
}

/// The failure of a report, which stands alone in its block (see [`reports::isolate`]).
fn report(call: Value, handler: &str, terminator: Value, sites: &mut SiteMap) -> Failure {
    let described = ubsan::describe(call, handler);
    let back = terminator.successors().first().copied();
    let site = sites.add_check(described.kind, &described.message, &described.place);
    let second_site = described
        .second
        .map(|(kind, message)| sites.add_check(kind, &message, &described.place));
    Failure {
        site,
        second_site,
        back,
        call: Some(call),
    }
}

fn sink(call: Value, kind: Kind, name: &str, sites: &mut SiteMap) -> Failure {
    let message = match kind {
        Kind::Assertion => asserted_expression(call).unwrap_or_else(|| format!("{name}()")),
        _ => format!("{}()", name.trim_start_matches("llvm.")),
    };
    let site = sites.add_check(kind, &message, &Place::of(call));
    Failure {
        site,
        second_site: None,
        back: None,
        call: Some(call),
    }
}

/// The text of an assertion: the first argument of `__assert_fail`.
fn asserted_expression(call: Value) -> Option<String> {
    if call.argument_count() == 0 {
        return None;
    }
    let text = call.operand(0);
    if !text.is_global_variable() {
        return None;
    }
    text.initializer()?.constant_string()
}
