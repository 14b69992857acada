//! Gates over literals of a SAT instance: every gate once, constants folded, clauses added as
//! gates are made (Tseitin's encoding).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Not;

use nearmiss_bitwuzla::sat::Sat;

/// A literal of the SAT instance; the first variable is always true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Bit(i32);

impl Bit {
    pub const TRUE: Bit = Bit(1);
    pub const FALSE: Bit = Bit(-1);

    pub fn constant(value: bool) -> Bit {
        if value { Bit::TRUE } else { Bit::FALSE }
    }

    /// The value, where it is a constant.
    pub fn known(self) -> Option<bool> {
        match self {
            Bit::TRUE => Some(true),
            Bit::FALSE => Some(false),
            _ => None,
        }
    }

    /// The number by which the SAT solver knows it.
    pub fn literal(self) -> i32 {
        self.0
    }

    fn is_negative(self) -> bool {
        self.0 < 0
    }

    fn positive(self) -> Bit {
        Bit(self.0.abs())
    }

    /// Negated if `sign` is set.
    fn negated_if(self, sign: bool) -> Bit {
        if sign { !self } else { self }
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(-self.0)
    }
}

/// A gate by its function and inputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Bit, Bit),
    Xor(Bit, Bit),
    Xor3(Bit, Bit, Bit),
    Majority(Bit, Bit, Bit),
    Mux(Bit, Bit, Bit),
}

/// Makes gates in a SAT instance.
pub(crate) struct Gates {
    pub sat: Sat,
    known: HashMap<Gate, Bit, BuildHasherDefault<MixHasher>>,
    variables: i32,
    clauses: usize,
}

impl Gates {
    pub fn new() -> Gates {
        let mut gates = Gates {
            sat: Sat::new(),
            known: HashMap::default(),
            variables: 0,
            clauses: 0,
        };
        let first = gates.fresh();
        gates.clause(&[first]);
        gates
    }

    /// How many clauses there are.
    pub fn clause_count(&self) -> usize {
        self.clauses
    }

    /// A literal that nothing is known about.
    pub fn fresh(&mut self) -> Bit {
        self.variables += 1;
        Bit(self.variables)
    }

    /// One of the bits is true.
    pub fn clause(&mut self, bits: &[Bit]) {
        self.clauses += 1;
        let mut literals = [0; 4];
        if let Some(short) = literals.get_mut(..bits.len()) {
            short
                .iter_mut()
                .zip(bits)
                .for_each(|(to, from)| *to = from.0);
            self.sat.add_clause(short);
        } else {
            let long: Vec<i32> = bits.iter().map(|bit| bit.0).collect();
            self.sat.add_clause(&long);
        }
    }

    /// The gate's output: an old one, or a new one whose meaning `define` adds as clauses.
    fn gate(&mut self, gate: Gate, define: impl FnOnce(&mut Gates, Bit)) -> Bit {
        if let Some(&output) = self.known.get(&gate) {
            return output;
        }
        let output = self.fresh();
        define(self, output);
        self.known.insert(gate, output);
        output
    }

    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == !b || a == Bit::FALSE || b == Bit::FALSE {
            return Bit::FALSE;
        }
        if a == b || b == Bit::TRUE {
            return a;
        }
        if a == Bit::TRUE {
            return b;
        }
        self.gate(Gate::And(a, b), |gates, output| {
            gates.clause(&[!output, a]);
            gates.clause(&[!output, b]);
            gates.clause(&[output, !a, !b]);
        })
    }

    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let sign = a.is_negative() ^ b.is_negative();
        let (a, b) = (a.positive(), b.positive());
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Bit::constant(sign);
        }
        if a == Bit::TRUE {
            return b.negated_if(!sign);
        }
        let output = self.gate(Gate::Xor(a, b), |gates, output| {
            gates.clause(&[!output, a, b]);
            gates.clause(&[!output, !a, !b]);
            gates.clause(&[output, !a, b]);
            gates.clause(&[output, a, !b]);
        });
        output.negated_if(sign)
    }

    pub fn equal(&mut self, a: Bit, b: Bit) -> Bit {
        !self.xor(a, b)
    }

    /// The sum bit of a full adder.
    pub fn xor3(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let sign = a.is_negative() ^ b.is_negative() ^ c.is_negative();
        let mut inputs = [a.positive(), b.positive(), c.positive()];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        if a == b {
            return c.negated_if(sign);
        }
        if b == c {
            return a.negated_if(sign);
        }
        if a == Bit::TRUE {
            return self.xor(b, c).negated_if(!sign);
        }
        let output = self.gate(Gate::Xor3(a, b, c), |gates, output| {
            for (x, y, z) in [(a, b, c), (a, !b, !c), (!a, b, !c), (!a, !b, c)] {
                gates.clause(&[!output, x, y, z]);
                gates.clause(&[output, !x, !y, !z]);
            }
        });
        output.negated_if(sign)
    }

    /// The carry bit of a full adder.
    pub fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable_by_key(|bit| (bit.positive(), *bit));
        let [a, b, c] = inputs;
        if a == b {
            return a;
        }
        if a == !b {
            return c;
        }
        if b == c {
            return b;
        }
        if b == !c {
            return a;
        }
        match a {
            Bit::TRUE => return self.or(b, c),
            Bit::FALSE => return self.and(b, c),
            _ => {}
        }
        // The function is its own dual: make the first input positive.
        let sign = a.is_negative();
        let (a, b, c) = (a.negated_if(sign), b.negated_if(sign), c.negated_if(sign));
        let output = self.gate(Gate::Majority(a, b, c), |gates, output| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                gates.clause(&[!output, x, y]);
                gates.clause(&[output, !x, !y]);
            }
        });
        output.negated_if(sign)
    }

    /// `then` if `condition`, else `otherwise`.
    pub fn mux(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if condition.is_negative() {
            return self.mux_positive(!condition, otherwise, then);
        }
        self.mux_positive(condition, then, otherwise)
    }

    fn mux_positive(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if condition == Bit::TRUE || then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.equal(condition, then);
        }
        if then == Bit::TRUE || then == condition {
            return self.or(condition, otherwise);
        }
        if then == Bit::FALSE || then == !condition {
            return self.and(!condition, otherwise);
        }
        if otherwise == Bit::TRUE || otherwise == !condition {
            return self.or(!condition, then);
        }
        if otherwise == Bit::FALSE || otherwise == condition {
            return self.and(condition, then);
        }
        let sign = then.is_negative();
        let (then, otherwise) = (then.negated_if(sign), otherwise.negated_if(sign));
        let output = self.gate(Gate::Mux(condition, then, otherwise), |gates, output| {
            gates.clause(&[!condition, !then, output]);
            gates.clause(&[!condition, then, !output]);
            gates.clause(&[condition, !otherwise, output]);
            gates.clause(&[condition, otherwise, !output]);
            // Implied, but they let equal arms decide the output without the condition.
            gates.clause(&[!then, !otherwise, output]);
            gates.clause(&[then, otherwise, !output]);
        });
        output.negated_if(sign)
    }

    /// Whether all bits are true: one gate, however many there are.
    pub fn all(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        let mut inputs: Vec<Bit> = bits.into_iter().filter(|&bit| bit != Bit::TRUE).collect();
        inputs.sort_unstable();
        inputs.dedup();
        match inputs[..] {
            [] => return Bit::TRUE,
            [only] => return only,
            [a, b] => return self.and(a, b),
            _ if inputs.contains(&Bit::FALSE) => return Bit::FALSE,
            _ => {}
        }
        let output = self.fresh();
        for &input in &inputs {
            self.clause(&[!output, input]);
        }
        let mut long: Vec<Bit> = inputs.iter().map(|&input| !input).collect();
        long.push(output);
        self.clause(&long);
        output
    }

    /// Whether one of the bits is true.
    pub fn any(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        !self.all(bits.into_iter().map(|bit| !bit))
    }
}

/// A hasher for gates: a handful of small numbers, millions of times.
#[derive(Default)]
struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_i32(&mut self, value: i32) {
        self.write_u64(value as u32 as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
