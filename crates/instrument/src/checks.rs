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
    /// The call that reports or ends the program.
    pub call: Value,
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
        let found = blocks
            .into_iter()
            .filter_map(|block| Some((block, failure(block, sites)?)));
        Failures(found.collect())
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
        let name = callee.name();
        if name.starts_with("__ubsan_handle_") {
            return report(call, &name, terminator, sites);
        }
        // clang goes on behind a trap as if it came back.
        let ends_here = terminator.opcode() == Opcode::LLVMUnreachable || name == "llvm.trap";
        if !ends_here {
            continue;
        }
        if let Some((_, kind)) = SINKS.iter().find(|(sink, _)| *sink == name) {
            return Some(sink(call, *kind, &name, sites));
        }
    }
    None
}

fn report(call: Value, handler: &str, terminator: Value, sites: &mut SiteMap) -> Option<Failure> {
    let described = ubsan::describe(call, handler)?;
    let back = match terminator.opcode() {
        Opcode::LLVMUnreachable => None,
        Opcode::LLVMBr if terminator.branch_condition().is_none() => {
            Some(terminator.successors()[0])
        }
        _ => return None,
    };
    let site = sites.add_check(described.kind, &described.message, &described.place);
    let second_site = described
        .second
        .map(|(kind, message)| sites.add_check(kind, &message, &described.place));
    Some(Failure {
        site,
        second_site,
        back,
        call,
    })
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
        call,
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
