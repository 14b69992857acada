//! Test code goes on where an expectation of its own failed: on a changed input it means nothing, and the calls
//! behind it are those of the test.
//!
//! ```text
//!  if (cond) ok; else { __assert_fail(…); unreachable }      ─►      else { __nm_test_failed(); goto ok }
//!  if (cond) ok; else { longjmp(…); unreachable }            ─►      else { if (__nm_test_goes_on()) goto ok; longjmp(…) … }
//!  _assert_true(cond, …)                                     ─►      __nm_expect_assert_true(cond, …)
//! ```
//!
//! A jump may leave something else than an expectation: a callback that ends what the library does, a test that is not to be
//! run. So whether it is made is decided when it is come to, and only what has another way around it goes on.

use nearmiss_abi::boundary::{EXPECTATION, FAILED, FORK, GOES_ON};

use crate::llvm::{Block, Builder, Module, Opcode, Value};

/// The functions by which a test gives up.
const GIVING_UP: &[&str] = &[
    "__assert_fail",
    "__assert_perror_fail",
    "abort",
    // Check.
    "_ck_assert_failed",
];
/// Those that do with a status, which is not zero then.
const WITH_STATUS: &[&str] = &["exit", "_exit", "_Exit", "quick_exit"];

/// Those by which a framework leaves a test.
const JUMPS: &[&str] = &["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
/// Expectations of CMocka, which are functions of its library.
const EXPECTATIONS: &[&str] = &[
    "_assert_true",
    "_assert_return_code",
    "_assert_int_equal",
    "_assert_int_not_equal",
    "_assert_string_equal",
    "_assert_string_not_equal",
    "_assert_memory_equal",
    "_assert_memory_not_equal",
    "_assert_in_range",
    "_assert_not_in_range",
    "_fail",
];

/// Makes one function of the test code go on.
pub fn go_on(module: &Module, function: Value) {
    for block in function.blocks() {
        expect(module, block);
        if last_call(block, gives_up).is_some() {
            lead_around(module, block, Passed::Always);
        } else if last_call(block, |call| is_named(call, JUMPS)).is_some()
            && !lead_around(module, block, Passed::IfItGoesOn)
        {
            return_instead(module, block);
        }
    }
}

/// When what follows on a failed expectation is passed by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    Always,
    IfItGoesOn,
}

/// Where one function ends the program because an expectation of its own failed, another function is called before.
pub fn announce_giving_up(module: &Module, function: Value, announce: &str) {
    for block in function.blocks() {
        if let Some(call) = last_call(block, gives_up) {
            let builder = Builder::new(module);
            builder.before(call);
            let ty = module.function_type(module.void_type(), &[], false);
            builder.call(ty, module.declare_as(announce, ty), &[]);
        }
    }
}

/// Where one function of the test code forks, a run on calls of the child becomes the child (`libc/call_forks.c`).
pub fn fork_on_the_way(module: &Module, function: Value) {
    for block in function.blocks() {
        for call in block.instructions() {
            let forks = call.opcode() == Opcode::LLVMCall
                && call.called().is_function()
                && call.called().name() == "fork"
                && call.argument_count() == 0;
            if forks {
                call.set_called(module.declare_as(FORK, call.called_type()));
            }
        }
    }
}

/// The call at the end of a block behind which nothing comes, if it is of this kind.
fn last_call(block: Block, is_meant: impl Fn(Value) -> bool) -> Option<Value> {
    if block.terminator().opcode() != Opcode::LLVMUnreachable {
        return None;
    }
    let calls = block.instructions().into_iter().rev();
    let mut calls = calls.filter(|it| it.opcode() == Opcode::LLVMCall);
    let call = calls.find(|it| it.called().intrinsic_id() == 0)?;
    (call.called().is_function() && is_meant(call)).then_some(call)
}

fn is_named(call: Value, names: &[&str]) -> bool {
    names.contains(&call.called().name().as_str())
}

/// Whether a call ends the program because an expectation failed.
fn gives_up(call: Value) -> bool {
    let status = || {
        let arguments = call.arguments();
        arguments.first().and_then(|it| it.constant_integer())
    };
    is_named(call, GIVING_UP) || (is_named(call, WITH_STATUS) && status().is_some_and(|it| it != 0))
}

/// Expectations that are functions of a library: what is called instead knows them.
fn expect(module: &Module, block: Block) {
    let calls = block.instructions().into_iter();
    let calls = calls.filter(|it| it.opcode() == Opcode::LLVMCall && it.called().is_function());
    for call in calls.filter(|call| is_named(*call, EXPECTATIONS)) {
        let name = format!("{EXPECTATION}{}", call.called().name());
        call.set_called(module.declare_as(&name, call.called_type()));
    }
}

/// Leads each branch to where a test ends to its other side, as if this part of the expectation held: `a && b` has two. Says
/// whether there is any.
fn lead_around(module: &Module, end: Block, passed: Passed) -> bool {
    let mut is_led = false;
    let failure = leading_to(end);
    for block in failure.iter().filter(|block| block.phis().is_empty()) {
        for jump in block.jumps() {
            let successors = jump.successors();
            let here = successors.iter().position(|it| it == block);
            let other = successors.iter().copied().find(|it| !failure.contains(it));
            // An end that both sides have is no expectation's.
            let other = other.filter(|it| it.terminator().opcode() != Opcode::LLVMUnreachable);
            let (Some(here), Some(other), Some(_)) = (here, other, jump.branch_condition()) else {
                continue;
            };
            let between = pass_by(module, *block, other, passed);
            come_from(other, jump.block(), between);
            jump.set_successor(here as u32, between);
            is_led = true;
        }
    }
    is_led
}

/// The blocks behind which nothing else can come than the end of the test.
fn leading_to(end: Block) -> Vec<Block> {
    let mut blocks = vec![end];
    let mut next = 0;
    while let Some(block) = blocks.get(next) {
        next += 1;
        for jump in block.jumps() {
            let from = jump.block();
            let is_inside = jump.successors().iter().all(|it| blocks.contains(it));
            if is_inside && !blocks.contains(&from) {
                blocks.push(from);
                // What leads here and to a block before it is looked at once more.
                next = 0;
                break;
            }
        }
    }
    blocks
}

/// A new block that leads around a failure.
fn pass_by(module: &Module, failure: Block, other: Block, passed: Passed) -> Block {
    let builder = Builder::new(module);
    let between = builder.append_block(failure.function(), c"nm.passed");
    builder.at_end(between);
    match passed {
        Passed::Always => {
            let ty = module.function_type(module.void_type(), &[], false);
            builder.call(ty, module.declare_as(FAILED, ty), &[]);
            builder.jump(other);
        }
        Passed::IfItGoesOn => builder.branch(goes_on(module, &builder), other, failure),
    }
    between
}

/// Unity's expectations are functions of their own in the test's program: these return where they would leave the test.
fn return_instead(module: &Module, block: Block) {
    let function = block.function();
    let name = function.name();
    let Some(call) = last_call(block, |_| {
        name.starts_with("Unity") && !name.contains("Ignore")
    }) else {
        return;
    };
    let builder = Builder::new(module);
    let head = builder.split_before(call);
    let onward = builder.append_block(function, c"nm.onward");
    builder.at_end(onward);
    let ty = function.global_value_type().return_type();
    match ty.is_void() {
        true => builder.return_words(&[]),
        false => builder.return_value(module.zero(ty)),
    }
    builder.at_end(head);
    builder.branch(goes_on(module, &builder), onward, block);
}

/// Whether the test goes on, as a condition.
fn goes_on(module: &Module, builder: &Builder) -> Value {
    let ty = module.function_type(builder.integer_type(1), &[], false);
    builder.call(ty, module.declare_as(GOES_ON, ty), &[])
}

/// One more block leads to another, with what its phis have from the first.
fn come_from(block: Block, first: Block, more: Block) {
    for phi in block.phis() {
        let incoming = phi.incoming().into_iter();
        if let Some((value, _)) = incoming.into_iter().find(|(_, block)| *block == first) {
            phi.add_incoming(value, more);
        }
    }
}
