//! Test code goes on where an expectation of its own failed: on a changed input it means nothing, and the calls
//! behind it are those of the test.
//!
//! ```text
//!  if (cond) ok; else { __assert_fail(…); unreachable }      ─►      else { __nm_test_failed(); goto ok }
//! ```

use nearmiss_abi::boundary::{FAILED, FORK};

use crate::llvm::{Block, Builder, Module, Opcode, Value};

/// The functions by which a test gives up.
const GIVING_UP: &[&str] = &["__assert_fail", "__assert_perror_fail", "abort"];
/// Those that do with a status, which is not zero then.
const WITH_STATUS: &[&str] = &["exit", "_exit", "_Exit", "quick_exit"];

/// Makes one function of the test code go on.
pub fn go_on(module: &Module, function: Value) {
    for block in function.blocks() {
        if let Some(call) = giving_up(block)
            && let Some((branch, other)) = way_around(block)
        {
            pass_by(module, block, call, branch, other);
        }
    }
}

/// Where one function ends the program because an expectation of its own failed, another function is called before.
pub fn announce_giving_up(module: &Module, function: Value, announce: &str) {
    for block in function.blocks() {
        if let Some(call) = giving_up(block) {
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

/// The call that ends the program at the end of a block.
fn giving_up(block: Block) -> Option<Value> {
    if block.terminator().opcode() != Opcode::LLVMUnreachable {
        return None;
    }
    let calls = block.instructions().into_iter().rev();
    let mut calls = calls.filter(|it| it.opcode() == Opcode::LLVMCall);
    let call = calls.find(|it| it.called().intrinsic_id() == 0)?;
    let callee = call.called();
    if !callee.is_function() {
        return None;
    }
    let name = callee.name();
    let status = || {
        call.arguments()
            .first()
            .and_then(|it| it.constant_integer())
    };
    let gives_up = GIVING_UP.contains(&name.as_str())
        || (WITH_STATUS.contains(&name.as_str()) && status().is_some_and(|it| it != 0));
    gives_up.then_some(call)
}

/// The branch that leads to a block and nowhere else but to the block that is given with it.
fn way_around(block: Block) -> Option<(Value, Block)> {
    let jumps = block.jumps();
    let [jump] = jumps.as_slice() else {
        return None;
    };
    jump.branch_condition()?;
    let mut others = jump.successors().into_iter().filter(|it| *it != block);
    Some((*jump, others.next()?))
}

fn pass_by(module: &Module, block: Block, call: Value, branch: Value, other: Block) {
    let builder = Builder::new(module);
    builder.before(call);
    let ty = module.function_type(module.void_type(), &[], false);
    builder.call(ty, module.declare_as(FAILED, ty), &[]);
    call.erase();
    let end = block.terminator();
    builder.before(end);
    builder.jump(other);
    end.erase();
    let from = branch.block();
    for phi in other.phis() {
        let incoming = phi.incoming().into_iter();
        if let Some((value, _)) = incoming.into_iter().find(|(_, block)| *block == from) {
            phi.add_incoming(value, block);
        }
    }
}
