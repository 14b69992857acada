//! Which pointers an address is made of.
//!
//! An address that comes out of a choice (`Ite`) or a table of pointers (`Read`) may lie in
//! several objects, and each of them is right. An address that is one pointer and an index has
//! one object: the one in which it lies in this run.

use nearmiss_abi::op::Op;
use nearmiss_abi::term::{CONCRETE, Label, Term};

use crate::list::List;
use crate::runtime::Runtime;

/// Most pointers that are looked at.
pub const MOST_POINTERS: usize = 64;
/// Below this no object lies: a null pointer, perhaps of a field or an element.
pub const NULL_PAGE: u64 = 4096;
/// Where the addresses of the kernel begin.
pub const END_OF_PROGRAMS: u64 = 1 << 47;
const MOST_STEPS: u32 = 512;
const MOST_WAITING: usize = 64;
/// Bytes of a pointer.
const POINTER: u64 = 8;

/// A pointer that an address may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What lies in the object.
    pub base: u64,
    /// The address that is made of it, as far as the offset is known.
    pub address: u64,
}

/// The pointers behind an address.
pub struct Pointers {
    found: List<Pointer, MOST_POINTERS>,
    /// Whether the address is always one of them.
    pub exact: bool,
    /// Whether these are all.
    pub complete: bool,
}

impl Pointers {
    const fn none() -> Pointers {
        Pointers {
            found: List::new(Pointer {
                base: 0,
                address: 0,
            }),
            exact: true,
            complete: true,
        }
    }

    /// The pointers.
    pub fn list(&self) -> &[Pointer] {
        self.found.as_slice()
    }

    fn add(&mut self, base: u64, offset: u64) {
        let address = base.wrapping_add(offset);
        let pointer = Pointer { base, address };
        if !self.list().contains(&pointer) && !self.found.push(pointer) {
            self.complete = false;
        }
    }
}

/// A part of the address that is still to be looked at.
#[derive(Clone, Copy)]
struct Part {
    label: Label,
    /// What is added to it.
    offset: u64,
    /// Whether it is one side of a choice: only then a constant is one pointer of several.
    chosen: bool,
}

/// Parts on their way.
type Waiting = List<Part, MOST_WAITING>;

impl Runtime {
    /// The pointers that the address `label` may be; none if it is an index into one object.
    pub fn pointers(&self, label: Label) -> Pointers {
        let first = Part {
            label,
            offset: 0,
            chosen: false,
        };
        let mut pointers = Pointers::none();
        let mut waiting = Waiting::new(first);
        waiting.push(first);
        let mut steps = 0;
        while let Some(part) = waiting.pop() {
            steps += 1;
            if steps > MOST_STEPS || !self.look_at(part, &mut pointers, &mut waiting) {
                pointers.complete = false;
                break;
            }
        }
        pointers
    }

    /// `false`: there is more than there is room for.
    fn look_at(&self, part: Part, pointers: &mut Pointers, waiting: &mut Waiting) -> bool {
        let term = *self.trace.term(part.label);
        let chosen = |label| Part {
            label,
            chosen: true,
            ..part
        };
        match Op::from_code(term.op) {
            Some(Op::Const) => {
                if part.chosen {
                    pointers.add(term.value, part.offset);
                }
                true
            }
            // The rest of a chain last, so that it is looked at with little waiting.
            Some(Op::Ite) => waiting.push(chosen(term.c)) && waiting.push(chosen(term.b)),
            Some(Op::Add) => self.look_at_sum(part, &term, pointers, waiting),
            Some(Op::Read) if term.width == 64 => {
                self.look_at_table(part, &term, pointers);
                pointers.complete
            }
            _ => {
                pointers.exact = false;
                true
            }
        }
    }

    /// Pointer and offset: what is constant says which is which.
    fn look_at_sum(
        &self,
        part: Part,
        term: &Term,
        pointers: &mut Pointers,
        waiting: &mut Waiting,
    ) -> bool {
        for (one, other) in [(term.a, term.b), (term.b, term.a)] {
            if !self.is_constant(one) {
                continue;
            }
            let constant = self.trace.term(one).value;
            if self.objects.find(constant).is_some() {
                // A pointer with a symbolic offset.
                pointers.exact = false;
                return !part.chosen || waiting.push(Part { label: one, ..part });
            }
            return waiting.push(Part {
                label: other,
                offset: part.offset.wrapping_add(constant),
                ..part
            });
        }
        pointers.exact = false;
        waiting.push(Part {
            label: term.a,
            ..part
        }) && waiting.push(Part {
            label: term.b,
            ..part
        })
    }

    /// A pointer out of a table: any that lies where the index may lead.
    fn look_at_table(&self, part: Part, term: &Term, pointers: &mut Pointers) {
        let snapshot = self.trace.snapshot(term.b);
        let table = self.trace.blob(snapshot.blob_offset, snapshot.size);
        let step = self.stride(term.a).max(POINTER);
        let mut at = self.trace.term(term.a).value % step;
        while at + POINTER <= snapshot.size && pointers.complete {
            let rest = table.get(at as usize..).unwrap_or(&[]);
            let bytes = rest.first_chunk().copied();
            let pointer = u64::from_le_bytes(bytes.unwrap_or_default());
            pointers.add(pointer, part.offset);
            at += step;
        }
    }

    /// By multiples of what an address or index may change; 0 if it does not change.
    ///
    /// Constants say nothing here: where the multiples start is known from this run's value.
    pub fn stride(&self, label: Label) -> u64 {
        const DEPTH: u32 = 12;
        self.stride_within(label, DEPTH)
    }

    fn stride_within(&self, label: Label, depth: u32) -> u64 {
        let term = *self.trace.term(label);
        if label == CONCRETE || depth == 0 {
            return 1;
        }
        let stride = |label| self.stride_within(label, depth - 1);
        let value = |label| self.trace.term(label).value;
        match Op::from_code(term.op) {
            Some(Op::Const) => 0,
            Some(Op::Add | Op::Sub) => common(stride(term.a), stride(term.b)),
            Some(Op::Ite) => {
                let apart = value(term.b).abs_diff(value(term.c));
                common(apart, common(stride(term.b), stride(term.c)))
            }
            Some(Op::Mul) if self.is_constant(term.b) => {
                self.scaled(term.a, stride(term.a), value(term.b))
            }
            Some(Op::Mul) if self.is_constant(term.a) => {
                self.scaled(term.b, stride(term.b), value(term.a))
            }
            Some(Op::Shl) if self.is_constant(term.b) && value(term.b) < 64 => {
                self.scaled(term.a, stride(term.a), 1 << value(term.b))
            }
            Some(Op::And) if self.is_constant(term.b) => power_of_two(value(term.b)),
            Some(Op::And) if self.is_constant(term.a) => power_of_two(value(term.a)),
            Some(Op::ZExt | Op::SExt) => power_of_two(stride(term.a)),
            _ => 1,
        }
    }

    /// The stride of a product. One that may wrap around keeps only its power of two.
    fn scaled(&self, label: Label, stride: u64, factor: u64) -> u64 {
        let term = self.trace.term(label);
        let extended = matches!(Op::from_code(term.op), Some(Op::ZExt | Op::SExt));
        let narrow = extended && self.width(term.a) <= 32 && factor < 1 << 31;
        match stride.checked_mul(factor) {
            Some(product) if narrow => product,
            _ => power_of_two(stride).saturating_mul(power_of_two(factor)),
        }
    }
}

/// The greatest power of two that divides the number.
const fn power_of_two(number: u64) -> u64 {
    number & number.wrapping_neg()
}

/// The greatest common divisor; 0 divides nothing and is divided by all.
const fn common(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{Object, ObjectKind};
    use crate::runtime::testing::Scratch;

    fn addresses(pointers: &Pointers) -> Vec<u64> {
        let list = pointers.list().iter();
        list.map(|pointer| pointer.address).collect()
    }

    fn input(runtime: &mut Scratch, offset: u32, value: u8) -> Label {
        let byte = runtime.intern(Term::new(Op::Input, 8, 0, offset, 0), value as u128);
        runtime.zero_extend(byte, 64)
    }

    #[test]
    fn strides_of_indices() {
        let mut runtime = Scratch::new();
        let i = input(&mut runtime, 0, 3);
        let j = input(&mut runtime, 1, 2);
        let scaled = runtime.operate(Op::Mul, 64, [i, 0], [3, 24]);
        assert_eq!(runtime.stride(scaled), 24);
        let shifted = runtime.operate(Op::Shl, 64, [j, 0], [2, 3]);
        assert_eq!(runtime.stride(shifted), 8);
        let based = runtime.operate(Op::Add, 64, [scaled, 0], [72, 0x10004]);
        assert_eq!(runtime.stride(based), 24);
        let sum = runtime.operate(Op::Add, 64, [based, shifted], [72 + 0x10004, 16]);
        assert_eq!(runtime.stride(sum), 8);
        let masked = runtime.operate(Op::And, 64, [i, 0], [3, 0xf0]);
        assert_eq!(runtime.stride(masked), 16);
        // A product of a whole word may wrap around.
        let wide = runtime.operate(Op::Mul, 64, [sum, 0], [72 + 0x10004 + 16, 24]);
        assert_eq!(runtime.stride(wide), 64);
    }

    #[test]
    fn choices_are_several_pointers_and_indices_are_one() {
        let mut runtime = Scratch::new();
        runtime
            .objects
            .insert(Object::new(0x10000, 100, ObjectKind::Heap));
        let i = input(&mut runtime, 0, 3);
        let indexed = runtime.operate(Op::Add, 64, [i, 0], [3, 0x10000]);
        assert!(runtime.pointers(indexed).list().is_empty());

        let small = runtime.operate(Op::Ult, 64, [i, 0], [3, 4]);
        let values = [0x10000, 0];
        let chosen = runtime.choose(64, (small, true), [0, 0], values);
        let field = runtime.operate(Op::Add, 64, [chosen, 0], [0x10000, 8]);
        let pointers = runtime.pointers(field);
        assert_eq!(addresses(&pointers), [0x10008, 8]);
        assert!(pointers.exact && pointers.complete);

        let both = runtime.operate(Op::Add, 64, [field, i], [0x10008, 3]);
        let pointers = runtime.pointers(both);
        assert_eq!(addresses(&pointers), [0x10008, 8]);
        assert!(!pointers.exact && pointers.complete);
    }
}
