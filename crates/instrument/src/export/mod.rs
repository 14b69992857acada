//! A unit as a `nearmiss_sites::program`: for those who execute it without LLVM.

mod constant;

use std::path::Path;

use nearmiss_sites::program::{Action, Block, End, Function, Operand, Program};
use rustc_hash::FxHashMap;

use crate::llvm::{self, Module, Opcode, Value};
use crate::loops;
use crate::transfer::arithmetic::{comparison, operation};

/// Variables into registers; nothing that uses what C leaves undefined.
const PASSES: &str = "function(mem2reg)";

/// Reads bitcode and writes what it says.
pub fn write(input: &Path, output: &Path) -> Result<(), String> {
    let module = Module::read(input)?;
    module.run_passes(PASSES)?;
    let variables = module.variables();
    let unit = Unit {
        numbers: variables.iter().copied().zip(0..).collect(),
        module,
    };
    let bodies = unit.module.functions().into_iter();
    let bodies = bodies.filter(|function| !function.is_declaration());
    let program = Program {
        functions: bodies.map(|function| unit.function(function)).collect(),
        variables: variables.iter().map(|&it| unit.variable(it)).collect(),
    };
    let bytes = program.encode().map_err(|error| error.to_string())?;
    std::fs::write(output, bytes).map_err(|error| format!("{}: {error}", output.display()))
}

/// What is told.
struct Unit {
    module: Module,
    /// The numbers of its variables.
    numbers: FxHashMap<Value, u32>,
}

/// The numbers of a function's parameters and instructions, and of its blocks.
#[derive(Default)]
struct Names {
    registers: FxHashMap<Value, u32>,
    blocks: FxHashMap<llvm::Block, u32>,
}

impl Unit {
    fn function(&self, function: Value) -> Function {
        let blocks = function.blocks();
        let instructions = blocks.iter().flat_map(|block| block.instructions());
        let names = Names {
            registers: (function.parameters().into_iter())
                .chain(instructions)
                .zip(0..)
                .collect(),
            blocks: blocks.iter().copied().zip(0..).collect(),
        };
        let successors = |block: &llvm::Block| {
            let successors = block.terminator().successors();
            let numbers = successors.iter().map(|block| names.blocks[block] as usize);
            numbers.collect()
        };
        let successors: Vec<Vec<usize>> = blocks.iter().map(successors).collect();
        let (nests, headers) = loops::nests(&successors);
        Function {
            name: function.name(),
            registers: names.registers.len() as u32,
            blocks: (blocks.iter().zip(nests))
                .map(|(&block, loops)| self.block(&names, block, loops))
                .collect(),
            headers,
        }
    }

    fn block(&self, names: &Names, block: llvm::Block, loops: Vec<u32>) -> Block {
        let phis = block.phis();
        let end = block.terminator();
        let choice = |phi: &Value| {
            let incoming = phi.incoming().into_iter();
            let incoming = incoming.map(|(value, from)| {
                let from = names.blocks[&from];
                (from, self.operand(names, value))
            });
            (names.registers[phi], incoming.collect())
        };
        let steps = block.instructions().into_iter().skip(phis.len());
        let step = |instruction: Value| {
            let register = names.registers[&instruction];
            let has_result = instruction.ty().scalar_width().is_some();
            let action = self.action(names, instruction);
            (has_result.then_some(register), action)
        };
        Block {
            loops,
            choices: phis.iter().map(choice).collect(),
            steps: steps.take_while(|&step| step != end).map(step).collect(),
            end: self.end(names, end),
        }
    }

    fn operand(&self, names: &Names, value: Value) -> Operand {
        match names.registers.get(&value) {
            Some(&register) if is_narrow(value) => Operand::Register(register),
            Some(_) => Operand::Unknown,
            None => self.constant(value),
        }
    }

    fn end(&self, names: &Names, end: Value) -> End {
        let successors: Vec<u32> = (end.successors().iter())
            .map(|block| names.blocks[block])
            .collect();
        match (end.opcode(), &successors[..]) {
            (Opcode::LLVMBr, &[only]) => End::Go(only),
            (Opcode::LLVMBr, &[then, otherwise]) => {
                let condition = end.operand(0);
                End::Branch(self.operand(names, condition), then, otherwise)
            }
            (Opcode::LLVMSwitch, &[otherwise, ref cases @ ..]) => {
                let cases = cases.iter().zip(1..).map(|(&block, case)| {
                    let value = end.operand(2 * case).constant_integer()?;
                    Some((value, block))
                });
                match cases.collect() {
                    Some(cases) => {
                        End::Switch(self.operand(names, end.operand(0)), cases, otherwise)
                    }
                    None => End::Unknown,
                }
            }
            (Opcode::LLVMRet, _) => {
                let value = (end.operand_count() > 0).then(|| self.operand(names, end.operand(0)));
                End::Return(value)
            }
            (Opcode::LLVMUnreachable, _) => End::Unreachable,
            _ => End::Unknown,
        }
    }

    fn action(&self, names: &Names, instruction: Value) -> Action {
        let opcode = instruction.opcode();
        let operand = |index: u32| self.operand(names, instruction.operand(index));
        let width = instruction.ty().scalar_width().unwrap_or(0);
        if let Some(op) = operation(opcode).filter(|_| is_narrow(instruction)) {
            return Action::Binary {
                op: op as u8,
                operands: [operand(0), operand(1)],
                is_checked: instruction.must_not_overflow(),
            };
        }
        match opcode {
            Opcode::LLVMICmp => {
                let (op, is_swapped) = comparison(instruction.predicate());
                let (a, b) = (operand(0), operand(1));
                Action::Binary {
                    op: op as u8,
                    operands: if is_swapped { [b, a] } else { [a, b] },
                    is_checked: false,
                }
            }
            Opcode::LLVMZExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMSExt
            | Opcode::LLVMFreeze
                if is_narrow(instruction) =>
            {
                Action::Resize {
                    value: operand(0),
                    width,
                    is_signed: opcode == Opcode::LLVMSExt,
                }
            }
            Opcode::LLVMSelect if is_narrow(instruction) => {
                Action::Select(operand(0), operand(1), operand(2))
            }
            Opcode::LLVMGetElementPtr => {
                self.address(instruction, |value| self.operand(names, value))
            }
            Opcode::LLVMAlloca => match instruction.operand(0).constant_integer() {
                Some(count) => {
                    Action::Local(count * self.module.element_size(instruction.allocated_type()))
                }
                None => Action::Unknown,
            },
            Opcode::LLVMLoad if is_narrow(instruction) => Action::Load(operand(0), width),
            Opcode::LLVMStore if is_narrow(instruction.operand(0)) => {
                Action::Store(operand(0), operand(1))
            }
            Opcode::LLVMCall => self.call(names, instruction),
            _ => Action::Unknown,
        }
    }

    fn call(&self, names: &Names, call: Value) -> Action {
        let called = call.called();
        let has_place = (0..call.argument_count())
            .any(|argument| call.parameter_type_attribute(argument, "byval").is_some());
        if !called.is_function() || has_place {
            return Action::Unknown;
        }
        let name = called.name();
        if is_nothing(&name) {
            return Action::Nothing;
        }
        let arguments = call.arguments().into_iter();
        let arguments = arguments.map(|argument| self.operand(names, argument));
        Action::Call(name, arguments.collect())
    }

    /// A `getelementptr`, as an instruction or a constant.
    fn address(&self, pointer: Value, operand: impl Fn(Value) -> Operand) -> Action {
        let mut ty = pointer.element_source_type();
        let (mut offset, mut indices) = (0i64, Vec::new());
        for position in 1..pointer.operand_count() {
            let index = pointer.operand(position);
            let constant = index.constant_integer().map(|number| number as i64);
            if position > 1 && ty.is_struct() {
                let Some(field) = constant else {
                    return Action::Unknown;
                };
                offset += self.module.field_offset(ty, field as u32) as i64;
                ty = ty.fields()[field as usize];
                continue;
            }
            if position > 1 {
                if !ty.is_array() {
                    return Action::Unknown;
                }
                ty = ty.element();
            }
            let size = self.module.element_size(ty);
            match (constant, index.ty().scalar_width()) {
                (Some(number), Some(width)) => {
                    let unused = 64 - width.min(64);
                    offset += (number << unused >> unused).wrapping_mul(size as i64);
                }
                _ => indices.push((operand(index), size)),
            }
        }
        Action::Address(operand(pointer.operand(0)), offset, indices)
    }
}

/// Whether a value is an integer of up to 64 bits or a pointer.
fn is_narrow(value: Value) -> bool {
    value.ty().scalar_width().is_some_and(|width| width <= 64)
}

/// Whether a call says something to the compiler only.
fn is_nothing(name: &str) -> bool {
    const WORDS: [&str; 4] = [
        "llvm.dbg.",
        "llvm.lifetime.",
        "llvm.assume",
        "llvm.experimental.noalias.scope.decl",
    ];
    WORDS.iter().any(|word| name.starts_with(word))
}
