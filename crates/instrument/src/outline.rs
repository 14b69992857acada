//! Puts the hooks of a region into a function of their own.
//!
//! Hooks take many arguments and return labels. Called where the program's own code is, they
//! cost its frames registers to save and slots to spill to, and a recursion that fits the stack in
//! the plain program does not in the instrumented one; and register allocation takes more than
//! linear time. So a cold block only calls a function that keeps all registers
//! (`preserve_most`), gives it what it needs, and takes back the labels that live on.
//!
//! ```text
//!   slow: l1 = hook(a, v); l2 = hook(l1, w); …      slow: r = call nm.slow(a, v, w)
//!                                                         l2 = low half of r; …
//! ```
//!
//! What is cheap to compute from other inputs is computed once more over there, so that it
//! need not be kept until the region's end.
//!
//! In a huge function the guard goes along, and the call is always made: that is slower to run, but
//! the program's function keeps its own blocks and hardly more. Register allocation and block
//! placement take more than linear time in the number of blocks.
//!
//! ```text
//!   head: any = …; br any, slow, tail               head: r = call nm.slow(a, v, w)
//!                                                         l2 = low half of r; …
//! ```
//!
//! Some things stay: hooks that ask in which activation they are called, and what asks for the
//! frame itself.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::Context;
use crate::llvm::{Block, Opcode, Type, Value};
use crate::regions::Region;

/// Hooks that look at the stack pointer of their caller.
const KNOW_THEIR_CALLER: [&str; 2] = ["__nm_branch", "__nm_switch"];

/// Intrinsics that mean the frame they are called in.
const OF_THE_FRAME: [&str; 2] = ["llvm.frameaddress", "llvm.stacksave"];

/// The guard of a region, as it is written.
#[derive(Debug)]
pub struct Guard {
    /// Whether hooks have anything to do.
    pub any: Value,
    instructions: Vec<Value>,
}

impl Guard {
    /// Notes what `write` adds to the end of `head`.
    pub fn write(head: Block, write: impl FnOnce() -> Value) -> Guard {
        let before = head.last();
        let any = write();
        let first = before.map_or(head.first(), |last| last.next());
        let instructions = std::iter::successors(first, |next| next.next()).collect();
        Guard { any, instructions }
    }
}

/// What was moved into a function of its own.
#[derive(Debug, Default)]
pub struct Moved {
    /// Whether the region's guard went along.
    pub with_guard: bool,
    /// The hook that stays behind.
    pub rest: Option<Value>,
}

/// Moves the work of the cold block `slow`, as far as it is written, into a function of its
/// own, with the guard if one is given. `labels` are those of its values that are used behind it; they
/// are replaced by what the function returns.
pub fn outline(
    context: &Context,
    region: &Region,
    slow: Block,
    labels: &mut [Value],
    guard: Option<&Guard>,
) -> Moved {
    let instructions = slow.instructions();
    let rest = instructions
        .iter()
        .copied()
        .find(|it| knows_its_caller(*it));
    let hooks: Vec<Value> = (instructions.iter().copied())
        .take_while(|instruction| Some(*instruction) != rest)
        .filter(|instruction| !stays(*instruction, slow))
        .collect();
    let is_call = |moved: &Value| moved.opcode() == Opcode::LLVMCall;
    // The linker may drop a function that it has twice, but not what was taken from it.
    if !hooks.iter().any(is_call) || slow.function().has_comdat() {
        return Moved::default();
    }
    // More than one hook that stays may have more to do than its label says.
    let guard = guard.filter(|_| rest.is_none() || rest == instructions.last().copied());
    let guarding = guard.map_or(&[][..], |guard| &guard.instructions);
    let moved = [guarding, &hooks].concat();
    let outputs = outputs(&moved, labels, rest);
    let inputs = Inputs::find(region, &moved);
    let function = declare(context, slow.function(), &inputs.passed, outputs.len());
    match rest {
        Some(rest) => context.builder.before(rest),
        None => context.builder.at_end(slow),
    }
    context.builder.locate_as(region.end);
    let call = context.builder.call_hook(function, &inputs.passed);
    let returned = unpack(context, call, outputs.len());
    fill(context, function, &inputs, guard, &hooks, &outputs);
    let replaced: FxHashMap<Value, Value> = outputs.into_iter().zip(returned).collect();
    for user in std::iter::successors(rest, |rest| rest.next()) {
        rename(user, &replaced);
    }
    for label in labels {
        *label = replaced.get(label).copied().unwrap_or(*label);
    }
    Moved {
        with_guard: guard.is_some(),
        rest,
    }
}

fn is_call_of(instruction: Value, names: &[&str]) -> bool {
    if instruction.opcode() != Opcode::LLVMCall || !instruction.called().is_function() {
        return false;
    }
    let name = instruction.called().name();
    names.iter().any(|prefix| name.starts_with(prefix))
}

fn knows_its_caller(instruction: Value) -> bool {
    is_call_of(instruction, &KNOW_THEIR_CALLER)
}

/// Whether an instruction of the cold block must stay in the program's function. A part of a
/// struct is taken there, so that no struct is passed.
fn stays(instruction: Value, slow: Block) -> bool {
    let takes_part = || {
        let whole = instruction.operand(0);
        let is_here = whole.is_instruction() && whole.block() == slow;
        is_local(whole) && !is_here
    };
    instruction.opcode() == Opcode::LLVMExtractValue && takes_part()
        || is_call_of(instruction, &OF_THE_FRAME)
}

/// Whether a value belongs to a function.
fn is_local(value: Value) -> bool {
    value.is_instruction() || value.is_argument()
}

/// The values made by `moved` that are used elsewhere: as labels, or by what stays behind.
fn outputs(moved: &[Value], labels: &[Value], rest: Option<Value>) -> Vec<Value> {
    let inside: FxHashSet<Value> = moved.iter().copied().collect();
    let rest = std::iter::successors(rest, |rest| rest.next());
    let used = rest.flat_map(|user| user.operands().collect::<Vec<_>>());
    let mut seen = FxHashSet::default();
    (labels.iter().copied().chain(used))
        .filter(|value| inside.contains(value) && seen.insert(*value))
        .collect()
}

/// What the moved instructions use of the program's function.
#[derive(Debug, Default)]
struct Inputs {
    /// What is passed.
    passed: Vec<Value>,
    /// What is computed from it once more.
    computed: FxHashSet<Value>,
}

impl Inputs {
    fn find(region: &Region, moved: &[Value]) -> Inputs {
        let inside: FxHashSet<Value> = moved.iter().copied().collect();
        let local: FxHashSet<Value> = region.instructions.iter().copied().collect();
        let mut inputs = Inputs::default();
        let mut known = FxHashSet::default();
        let used = moved.iter().flat_map(|user| user.operands());
        for value in used.filter(|value| is_local(*value) && !inside.contains(value)) {
            if known.insert(value) {
                inputs.passed.push(value);
            }
        }
        inputs.compute_what_is_cheap(&mut known, &local);
        inputs
    }

    /// Finds inputs that can be computed from others and at most one value more, and passes
    /// that instead. Only values of the region itself: the work of one region must not grow with
    /// the length of the function.
    fn compute_what_is_cheap(&mut self, known: &mut FxHashSet<Value>, local: &FxHashSet<Value>) {
        let mut work = std::mem::take(&mut self.passed);
        work.reverse();
        while let Some(value) = work.pop() {
            let missing = (local.contains(&value) && is_cheap(value))
                .then(|| missing(value, known))
                .filter(|missing| missing.len() <= 1);
            match missing {
                Some(missing) => {
                    self.computed.insert(value);
                    known.extend(missing.iter().copied());
                    work.extend(missing);
                }
                None => self.passed.push(value),
            }
        }
    }
}

/// What a cheap instruction needs beyond what is known.
fn missing(value: Value, known: &FxHashSet<Value>) -> Vec<Value> {
    let mut missing: Vec<Value> = sources(value)
        .into_iter()
        .filter(|source| is_local(*source) && !known.contains(source))
        .collect();
    missing.dedup();
    missing
}

/// What a cheap instruction is computed from: a part of a checked sum, of the summands.
fn sources(value: Value) -> Vec<Value> {
    match overflowing(value) {
        Some(call) => call.arguments(),
        None => value.operands().collect(),
    }
}

/// The call whose result and overflow `value` is a part of.
fn overflowing(value: Value) -> Option<Value> {
    let call = (value.opcode() == Opcode::LLVMExtractValue).then(|| value.operand(0))?;
    let is_checked = call.is_instruction()
        && call.opcode() == Opcode::LLVMCall
        && call.called().is_function()
        && call.called().name().contains(".with.overflow.");
    is_checked.then_some(call)
}

/// Whether an instruction is computed again sooner than its result kept.
fn is_cheap(value: Value) -> bool {
    use Opcode::*;
    if value.ty().scalar_width().is_none() {
        return false;
    }
    match value.opcode() {
        LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr
        | LLVMAShr | LLVMICmp | LLVMSelect | LLVMZExt | LLVMSExt | LLVMTrunc | LLVMPtrToInt
        | LLVMIntToPtr | LLVMGetElementPtr => {
            value.operands().all(|of| of.ty().scalar_width().is_some())
        }
        LLVMExtractValue => overflowing(value).is_some(),
        _ => false,
    }
}

/// Declares the function: up to two labels in each word of what it returns.
fn declare(context: &Context, host: Value, passed: &[Value], outputs: usize) -> Value {
    let parameters: Vec<Type> = passed.iter().map(|value| value.ty()).collect();
    let word = context.builder.integer_type(64);
    let result = match outputs.div_ceil(2) {
        0 => context.module.void_type(),
        1 => word,
        words => context.builder.struct_type(&vec![word; words]),
    };
    let function = context
        .module
        .declare_function("nm.slow", result, &parameters, false);
    context.module.make_cold(function, host);
    function
}

/// Takes the labels from what a call returned.
fn unpack(context: &Context, call: Value, count: usize) -> Vec<Value> {
    let builder = &context.builder;
    let unpack = |index: usize| {
        let word = match count {
            0..=2 => call,
            _ => builder.extract_field(call, index as u32 / 2),
        };
        let half = match index % 2 {
            0 => word,
            _ => builder.binary(Opcode::LLVMLShr, word, builder.u64(32)),
        };
        builder.unsigned(half, 32)
    };
    (0..count).map(unpack).collect()
}

/// Writes the function's body: nothing is done, and no label made, where the guard says so.
fn fill(
    context: &Context,
    function: Value,
    inputs: &Inputs,
    guard: Option<&Guard>,
    hooks: &[Value],
    outputs: &[Value],
) {
    let builder = &context.builder;
    builder.at_end(builder.append_block(function, c""));
    let parameters = function.parameters();
    let mut names: FxHashMap<Value, Value> =
        (inputs.passed.iter().copied()).zip(parameters).collect();
    if let Some(guard) = guard {
        adopt(context, inputs, &guard.instructions, &mut names);
        let work = builder.append_block(function, c"");
        let done = builder.append_block(function, c"");
        builder.branch_unlikely(guard.any, work, done);
        builder.at_end(done);
        builder.return_words(&vec![builder.u64(0); outputs.len().div_ceil(2)]);
        builder.at_end(work);
    }
    adopt(context, inputs, hooks, &mut names);
    let words: Vec<Value> = outputs.chunks(2).map(|pair| pack(context, pair)).collect();
    builder.return_words(&words);
}

/// Moves instructions to here, after what they need.
fn adopt(context: &Context, inputs: &Inputs, moved: &[Value], names: &mut FxHashMap<Value, Value>) {
    for &instruction in moved {
        let computed = |operand: &Value| inputs.computed.contains(operand);
        for value in instruction.operands().filter(computed) {
            compute(context, value, names);
        }
        context.builder.adopt(instruction);
        rename(instruction, names);
    }
}

/// One or two labels as a word.
fn pack(context: &Context, pair: &[Value]) -> Value {
    let builder = &context.builder;
    let low = builder.unsigned(pair[0], 64);
    let high = pair.get(1).map(|label| {
        let label = builder.unsigned(*label, 64);
        builder.binary(Opcode::LLVMShl, label, builder.u64(32))
    });
    high.map_or(low, |high| builder.or(low, high))
}

/// Computes `value`, and before it what it needs, from what the function knows.
fn compute(context: &Context, value: Value, names: &mut FxHashMap<Value, Value>) {
    if names.contains_key(&value) || !is_local(value) {
        return;
    }
    for source in sources(value) {
        compute(context, source, names);
    }
    for original in overflowing(value).into_iter().chain([value]) {
        if !names.contains_key(&original) {
            let copy = original.copy();
            rename(copy, names);
            context.builder.insert(copy);
            names.insert(original, copy);
        }
    }
}

/// Makes an instruction use the new names of its operands.
fn rename(instruction: Value, names: &FxHashMap<Value, Value>) {
    for (index, operand) in instruction.operands().enumerate() {
        if let Some(name) = names.get(&operand) {
            instruction.set_operand(index as u32, *name);
        }
    }
}
