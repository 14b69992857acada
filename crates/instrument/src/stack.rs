//! The stack variables of a function: which are objects, and what starts and ends their lives.
//!
//! A variable that has a `llvm.lifetime.start` lives between its markers; one without lives from
//! the function's entry to its return. Room that is made while the function runs
//! (variable-length arrays, `alloca`) lives until the stack pointer goes back: all that lies
//! between the old and the new stack pointer ends at once.
//!
//! Only what a symbolic address can lie in needs an end: arrays, structs, and variables whose
//! address goes anywhere but into loads and stores.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::Context;
use crate::llvm::{Opcode, Value};

/// The stack variables of one function, found before instrumentation adds uses of them.
#[derive(Debug, Default)]
pub struct StackVariables {
    /// Those that live as long as the function, with their sizes.
    unmarked: Vec<(Value, u64)>,
    /// Those in which a symbolic address can lie.
    objects: FxHashSet<Value>,
    /// Where room is made while the function runs.
    dynamic: FxHashSet<Value>,
    /// For each `llvm.stackrestore`: the stack pointer before it.
    released: FxHashMap<Value, Value>,
}

impl StackVariables {
    /// Finds the variables of `function`; makes every release of stack memory remember where the
    /// stack pointer was.
    pub fn find(context: &Context, function: Value) -> StackVariables {
        let mut found = StackVariables::default();
        found.add_structs_by_value(context, function);
        for (number, block) in function.blocks().into_iter().enumerate() {
            // An `alloca` behind other code of the entry block is the program's own call.
            let mut is_head = number == 0;
            for instruction in block.instructions() {
                if instruction.opcode() == Opcode::LLVMAlloca {
                    found.add(context, instruction, is_head);
                    continue;
                }
                is_head = false;
                if is_call_of(instruction, "llvm.stackrestore") {
                    context.builder.before(instruction);
                    found
                        .released
                        .insert(instruction, context.builder.stack_pointer());
                }
            }
        }
        found
    }

    /// Structs that are passed by value in memory: variables like any other, but nobody makes them here.
    fn add_structs_by_value(&mut self, context: &Context, function: Value) {
        for (position, parameter) in function.parameters().into_iter().enumerate() {
            if let Some(ty) = function.parameter_type_attribute(position as u32, "byval") {
                self.objects.insert(parameter);
                self.unmarked
                    .push((parameter, context.module.store_size(ty)));
            }
        }
    }

    fn add(&mut self, context: &Context, alloca: Value, at_entry: bool) {
        if is_object(alloca) {
            self.objects.insert(alloca);
        }
        match alloca.operand(0).constant_integer() {
            Some(count) if at_entry => {
                let starts = |user: Value| is_call_of(user, "llvm.lifetime.start");
                if !alloca.users().into_iter().any(starts) {
                    let element = context.module.element_size(alloca.allocated_type());
                    self.unmarked.push((alloca, count * element));
                }
            }
            _ => {
                self.dynamic.insert(alloca);
            }
        }
    }

    /// The variables that live as long as the function, with their sizes.
    pub fn unmarked(&self) -> &[(Value, u64)] {
        &self.unmarked
    }

    /// Those of them that are objects.
    pub fn unmarked_objects(&self) -> impl Iterator<Item = (Value, u64)> {
        let unmarked = self.unmarked.iter().copied();
        unmarked.filter(|(variable, _)| self.is_object(*variable))
    }

    /// Whether a symbolic address can lie in `variable`.
    pub fn is_object(&self, variable: Value) -> bool {
        self.objects.contains(&variable)
    }

    /// The objects that an `alloca` of the function makes.
    pub fn made_here(&self) -> impl Iterator<Item = Value> {
        let objects = self.objects.iter().copied();
        objects.filter(|object| object.is_alloca())
    }

    /// Whether an `alloca` makes room while the function runs.
    pub fn is_dynamic(&self, alloca: Value) -> bool {
        self.dynamic.contains(&alloca)
    }

    /// Whether the function makes room while it runs.
    pub fn has_dynamic(&self) -> bool {
        !self.dynamic.is_empty()
    }

    /// The stack pointer before a `llvm.stackrestore`.
    pub fn released(&self, restore: Value) -> Option<Value> {
        self.released.get(&restore).copied()
    }
}

fn is_call_of(user: Value, base: &str) -> bool {
    user.is_instruction()
        && user.opcode() == Opcode::LLVMCall
        && user.called().name().starts_with(base)
}

fn is_object(alloca: Value) -> bool {
    let ty = alloca.allocated_type();
    let is_used_whole = |user: Value| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(1) == alloca && user.operand(0) != alloca,
        Opcode::LLVMCall => is_call_of(user, "llvm.lifetime."),
        _ => false,
    };
    ty.is_array() || ty.is_struct() || !alloca.users().into_iter().all(is_used_whole)
}
