//! Branches, switches and checks.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_sites::{Loop, SiteKind};
use rustc_hash::FxHashMap;

use super::arithmetic::Operand;
use super::memory::fix;
use super::{foreign, lose_operands};
use crate::checks::{Check, Failure, Failures};
use crate::context::Context;
use crate::function::{Label, Rewriter};
use crate::llvm::{Block, Opcode, Predicate, Value};
use crate::loops;
use crate::reports;

/// The terminator at a region's end.
pub fn emit_end(rewriter: &mut Rewriter<'_>, end: Value) {
    match end.opcode() {
        Opcode::LLVMBr if rewriter.failures.check(end).is_some() => {
            check(rewriter, end);
        }
        Opcode::LLVMBr => branch(rewriter, end),
        Opcode::LLVMSwitch => switch(rewriter, end),
        Opcode::LLVMIndirectBr => {
            let target = rewriter.label_of(end.operand(0));
            fix(rewriter, end, target, NoteKind::Jump);
        }
        // Assembly that branches by itself.
        Opcode::LLVMCallBr => {
            foreign::emit_assembly(rewriter, end);
            lose_operands(rewriter, end, NoteKind::Assembly);
        }
        _ => {}
    }
}

fn branch(rewriter: &mut Rewriter<'_>, end: Value) {
    if let Some(condition) = end.branch_condition() {
        let in_loop = rewriter.loops.get(&end).cloned();
        decide(rewriter, end, condition, in_loop.as_ref());
    }
}

/// What the first operand of an instruction says, as a decision of the path, where that is wanted: of a
/// selection, or of a number made of `a && b`. What a harness of ours chooses is no way of the function.
pub fn decide_choice(rewriter: &mut Rewriter<'_>, choice: Value) -> bool {
    let is_ours = |name: String| name.starts_with("nm_harness_");
    if !rewriter.context.choices_are_branches || is_ours(choice.block().function().name()) {
        return false;
    }
    decide(rewriter, choice, choice.operand(0), None);
    true
}

fn decide(rewriter: &mut Rewriter<'_>, at: Value, condition: Value, in_loop: Option<&Loop>) {
    let Some(label) = rewriter.label_of(condition) else {
        return;
    };
    let site = (rewriter.context).site_in_loop(SiteKind::Branch, at, in_loop);
    let truth = rewriter.context.builder.unsigned(condition, 32);
    rewriter.context.hook("branch", &[label, truth, site]);
}

fn switch(rewriter: &mut Rewriter<'_>, end: Value) {
    let Some(label) = rewriter.label_of(end.operand(0)) else {
        return;
    };
    let kind = switch_kind(end);
    match kind {
        Some(kind) => {
            let in_loop = rewriter.loops.get(&end);
            let site = rewriter.context.site_in_loop(kind, end, in_loop);
            rewriter.context.hook("switch", &[label, site]);
        }
        None => fix(rewriter, end, Some(label), NoteKind::Operation),
    }
}

/// The cases of a switch of at most 64 bits, with their targets numbered.
fn switch_kind(end: Value) -> Option<SiteKind> {
    let successors = end.successors();
    let numbers: FxHashMap<Block, u32> = loops::ways(end).into_iter().zip(0..).collect();
    let targets: Vec<u32> = successors.iter().map(|block| numbers[block]).collect();
    // Operands: condition, default target, then value and target by turns.
    let cases = (1..successors.len())
        .map(|case| {
            Some((
                end.operand(2 * case as u32).constant_integer()?,
                targets[case],
            ))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(SiteKind::Switch {
        cases,
        default: targets[0],
    })
}

/// A branch to a failure.
pub fn check(rewriter: &mut Rewriter<'_>, terminator: Value) -> Vec<Label> {
    let Some(check) = rewriter.failures.check(terminator) else {
        return vec![None];
    };
    for (condition, site) in conditions(&check) {
        let operand = rewriter.with_label(condition);
        emit_check(rewriter, operand, check.ok_when, site);
    }
    vec![None]
}

fn emit_check(rewriter: &mut Rewriter<'_>, condition: Operand, ok_when: bool, site: SiteId) {
    let Some(mut label) = condition.label else {
        return;
    };
    let builder = &rewriter.context.builder;
    let mut truth = condition.value;
    if !ok_when {
        let zero = builder.integer(1, 0);
        label = rewriter
            .apply(Op::Eq, condition, Operand::concrete(zero))
            .unwrap_or(label);
        truth = builder.compare(Predicate::LLVMIntEQ, truth, zero);
    }
    let truth = builder.unsigned(truth, 32);
    let site = rewriter.context.site_constant(site);
    rewriter.context.hook("check", &[label, truth, site]);
}

/// The conditions of a check, each with its site.
fn conditions(check: &Check<'_>) -> Vec<(Value, SiteId)> {
    let (condition, failure) = (check.condition, check.failure);
    match (failure.second_site, both_conditions(condition)) {
        (None, _) => vec![(condition, failure.site)],
        (Some(second), Some([not_zero, fits])) => vec![(not_zero, failure.site), (fits, second)],
        (Some(_), None) if is_not_zero(condition) => vec![(condition, failure.site)],
        (Some(second), None) => vec![(condition, second)],
    }
}

/// A division is checked twice: the divisor is not zero, and the quotient fits. clang joins
/// the two by `and`, unless one is known to hold.
fn both_conditions(condition: Value) -> Option<[Value; 2]> {
    let is_and = condition.is_instruction() && condition.opcode() == Opcode::LLVMAnd;
    is_and.then(|| [condition.operand(0), condition.operand(1)])
}

fn is_not_zero(condition: Value) -> bool {
    condition.is_instruction()
        && condition.opcode() == Opcode::LLVMICmp
        && condition.operand(1).constant_integer() == Some(0)
}

/// Makes every failure block say which check failed; reports no longer call clang's handler.
pub fn rewrite_failures(context: &mut Context, failures: &Failures) {
    for (block, failure) in failures.iter() {
        let Some(call) = failure.call else { continue };
        context.builder.before(call);
        let site = failed_site(context, block, failure);
        context.hook("check_failed", &[site]);
        if reports::handler(call).is_some() {
            call.erase();
        }
    }
}

/// The site of the condition that failed.
fn failed_site(context: &Context, report: Block, failure: &Failure) -> Value {
    let first = context.site_constant(failure.site);
    let Some(second) = failure.second_site else {
        return first;
    };
    let second = context.site_constant(second);
    // The report of a division is reached from its check only.
    let check = report.jumps().into_iter().next();
    let Some(condition) = check.and_then(Value::branch_condition) else {
        return first;
    };
    match both_conditions(condition) {
        Some([not_zero, _]) => context.builder.select(not_zero, second, first),
        None if is_not_zero(condition) => first,
        None => second,
    }
}
