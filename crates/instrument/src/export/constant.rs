//! Constants and the content of variables.

use nearmiss_sites::program::{Action, Operand, Variable};

use super::Unit;
use crate::llvm::{Opcode, Type, Value};

/// Larger variables are not told.
const LARGEST_VARIABLE: u64 = 1 << 20;

impl Unit {
    /// A value that is no register.
    pub(super) fn constant(&self, value: Value) -> Operand {
        if let Some(&number) = self.numbers.get(&value) {
            return Operand::Variable(number, 0);
        }
        let Some(width) = value.ty().scalar_width().filter(|&width| width <= 64) else {
            return Operand::Unknown;
        };
        if let Some(number) = value.constant_integer() {
            return Operand::Constant(width, number);
        }
        if value.is_null() {
            return Operand::Constant(width, 0);
        }
        if value.is_undefined() {
            return Operand::Undefined(width);
        }
        match value.constant_opcode() {
            Some(Opcode::LLVMGetElementPtr) => {
                match self.address(value, |value| self.constant(value)) {
                    Action::Address(Operand::Variable(number, before), offset, indices)
                        if indices.is_empty() =>
                    {
                        Operand::Variable(number, before + offset)
                    }
                    _ => Operand::Unknown,
                }
            }
            Some(Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr) if width == 64 => {
                self.constant(value.operand(0))
            }
            _ => Operand::Unknown,
        }
    }

    /// A variable and what it starts with.
    pub(super) fn variable(&self, variable: Value) -> Variable {
        let ty = variable.global_value_type();
        let size = match variable.is_declaration() {
            true => 0,
            false => self.module.element_size(ty),
        };
        let mut told = Variable {
            size,
            content: None,
            addresses: Vec::new(),
        };
        let is_own = !variable.is_thread_local() && size <= LARGEST_VARIABLE;
        let Some(initial) = variable.initializer().filter(|_| is_own) else {
            return told;
        };
        let mut content = vec![0; size as usize];
        if self.fill(&mut content, &mut told.addresses, 0, (initial, ty)) {
            told.content = Some(content);
        }
        told
    }

    /// Writes a constant to its place; `false` if it cannot be said.
    fn fill(
        &self,
        content: &mut [u8],
        addresses: &mut Vec<(u64, Operand)>,
        at: u64,
        (value, ty): (Value, Type),
    ) -> bool {
        if value.is_null() || value.is_undefined() {
            return true;
        }
        if ty.is_array() {
            let size = self.module.element_size(ty.element());
            return (0..ty.array_length()).all(|index| {
                let element = (value.aggregate_element(index as u32), ty.element());
                self.fill(content, addresses, at + index * size, element)
            });
        }
        if ty.is_struct() {
            return ty.fields().into_iter().zip(0..).all(|(field, index)| {
                let place = at + self.module.field_offset(ty, index);
                let element = (value.aggregate_element(index), field);
                self.fill(content, addresses, place, element)
            });
        }
        match self.constant(value) {
            Operand::Constant(width, number) => {
                let bytes = width.div_ceil(8) as usize;
                content[at as usize..][..bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
            }
            // A function's address, say: whoever reads it has to give up.
            operand => addresses.push((at, operand)),
        }
        true
    }
}
