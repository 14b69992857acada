//! Paths like those of real programs: what is assumed and asked along the way.

use nearmiss_expr::{Evaluator, InputByte, Op, TermId, Terms};

/// One step along a path.
#[derive(Clone, Copy)]
pub enum Step {
    /// The path goes on.
    Assume(TermId),
    /// A query about the path so far.
    Ask(TermId),
}

/// A path with its recorded input.
pub struct Scenario {
    pub name: String,
    pub terms: Terms,
    pub input: Vec<u8>,
    pub steps: Vec<Step>,
    evaluator: Evaluator,
}

impl Scenario {
    fn new(name: String, input: &[u8]) -> Scenario {
        Scenario {
            name,
            terms: Terms::new(),
            input: input.to_vec(),
            steps: Vec::new(),
            evaluator: Evaluator::new(),
        }
    }

    /// A branch as the recorded input takes it, asked the other way first.
    fn branch(&mut self, condition: TermId) {
        let input = &self.input;
        let inputs = |byte: InputByte| input[byte.offset as usize];
        self.evaluator.reset();
        let truth = self.evaluator.holds(&self.terms, &inputs, condition);
        let taken = self.terms.holds(condition, truth);
        let other = self.terms.not(taken);
        self.steps.push(Step::Ask(other));
        self.steps.push(Step::Assume(taken));
    }

    /// A check: can it fail? If it cannot on this run, the path goes on without a failure.
    fn check(&mut self, failure: TermId) {
        self.branch(failure);
    }

    fn byte(&mut self, offset: usize) -> TermId {
        self.terms.input(InputByte {
            channel: 0,
            offset: offset as u32,
        })
    }

    /// A little-endian field of the input.
    fn field(&mut self, offset: usize, bytes: usize) -> TermId {
        let mut word = self.byte(offset);
        for more in 1..bytes {
            let above = self.byte(offset + more);
            word = self.terms.concat(above, word);
        }
        word
    }

    fn constant(&mut self, width: u32, value: u128) -> TermId {
        self.terms.constant(width, value)
    }

    fn op(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        self.terms.binary(op, a, b)
    }

    fn with(&mut self, op: Op, a: TermId, value: u128) -> TermId {
        let constant = self.constant(self.terms.width(a), value);
        self.op(op, a, constant)
    }
}

pub fn all() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for digits in [3, 6, 10, 12] {
        scenarios.push(decimal(digits));
    }
    for length in [8, 24, 100] {
        scenarios.push(adler(length));
    }
    for length in [2, 4, 8] {
        scenarios.push(crc(length));
    }
    for length in [8, 32] {
        scenarios.push(keyword(length));
    }
    scenarios.push(image());
    scenarios.push(pointers());
    scenarios.push(records());
    for size in [101, 65_521] {
        scenarios.push(hash_table(size));
    }
    scenarios.push(divisions());
    scenarios.push(long_text(600));
    scenarios
}

/// `strtol` and what becomes of the number.
fn decimal(digits: usize) -> Scenario {
    let mut s = Scenario::new(format!("decimal {digits}"), &vec![b'1'; digits]);
    let mut value = s.constant(64, 0);
    for position in 0..digits {
        let byte = s.byte(position);
        let digit = s.with(Op::Sub, byte, b'0'.into());
        let no_digit = s.with(Op::Ult, digit, 10);
        s.branch(no_digit);
        let wide = s.terms.zext(digit, 64);
        let ten = s.constant(64, 10);
        let overflow = s.op(Op::SMulOverflow, value, ten);
        s.check(overflow);
        let scaled = s.op(Op::Mul, value, ten);
        let overflow = s.op(Op::SAddOverflow, scaled, wide);
        s.check(overflow);
        value = s.op(Op::Add, scaled, wide);
    }
    let truncated = s.terms.extract(value, 0, 32);
    let back = s.terms.sext(truncated, 64);
    let lost = s.op(Op::Ne, back, value);
    s.check(lost);
    let seven = s.with(Op::URem, value, 7);
    let third = s.with(Op::Eq, seven, 3);
    s.branch(third);
    let outside = s.with(Op::Ule, value, 256);
    s.branch(outside);
    let exact = s.with(Op::Eq, value, 4242 % 10u128.pow(digits as u32));
    s.branch(exact);
    s
}

/// An Adler-32 checksum that has to match a field.
fn adler(length: usize) -> Scenario {
    let input: Vec<u8> = (0..length + 4).map(|i| (i * 37) as u8).collect();
    let mut s = Scenario::new(format!("adler {length}"), &input);
    let (mut a, mut b) = (s.constant(32, 1), s.constant(32, 0));
    for position in 0..length {
        let byte = s.byte(position);
        let wide = s.terms.zext(byte, 32);
        a = s.op(Op::Add, a, wide);
        b = s.op(Op::Add, b, a);
        if position % 16 == 15 {
            a = s.with(Op::URem, a, 65_521);
            b = s.with(Op::URem, b, 65_521);
        }
    }
    a = s.with(Op::URem, a, 65_521);
    b = s.with(Op::URem, b, 65_521);
    let high = s.with(Op::Shl, b, 16);
    let sum = s.op(Op::Or, high, a);
    let stored = s.field(length, 4);
    let matches = s.op(Op::Eq, sum, stored);
    s.branch(matches);
    let constant = s.with(Op::Eq, sum, 0x0062_0062);
    s.branch(constant);
    let large = s.with(Op::Ult, a, 100);
    s.branch(large);
    s
}

/// A CRC-32 by its table of 256 entries.
fn crc(length: usize) -> Scenario {
    let input: Vec<u8> = (0..length).map(|i| b'a' + i as u8).collect();
    let mut s = Scenario::new(format!("crc {length}"), &input);
    let table: Vec<u8> = (0u32..256)
        .flat_map(|i| crc_entry(i).to_le_bytes())
        .collect();
    let snapshot = s.terms.snapshot(table);
    let mut crc = s.constant(32, 0xffff_ffff);
    for position in 0..length {
        let byte = s.byte(position);
        let low = s.terms.extract(crc, 0, 8);
        let index = s.op(Op::Xor, low, byte);
        let wide = s.terms.zext(index, 64);
        let offset = s.with(Op::Mul, wide, 4);
        let entry = s.terms.read(offset, snapshot, 32);
        let rest = s.with(Op::LShr, crc, 8);
        crc = s.op(Op::Xor, rest, entry);
    }
    let wanted = s.with(Op::Eq, crc, 0xdead_beef);
    s.branch(wanted);
    let nibble = s.with(Op::And, crc, 0xf0f);
    let some = s.with(Op::Eq, nibble, 0x30c);
    s.branch(some);
    s
}

fn crc_entry(index: u32) -> u32 {
    (0..8).fold(index, |value, _| {
        if value & 1 == 1 {
            value >> 1 ^ 0xedb8_8320
        } else {
            value >> 1
        }
    })
}

/// Upper-cases by a table and compares with a keyword, byte by byte.
fn keyword(length: usize) -> Scenario {
    let input: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
    let mut s = Scenario::new(format!("keyword {length}"), &input);
    let table: Vec<u8> = (0u8..=255).map(|byte| byte.to_ascii_uppercase()).collect();
    let snapshot = s.terms.snapshot(table);
    for position in 0..length {
        let byte = s.byte(position);
        let index = s.terms.zext(byte, 64);
        let upper = s.terms.read(index, snapshot, 8);
        let equal = s.with(Op::Eq, upper, b'A' as u128 + position as u128 % 26);
        s.branch(equal);
    }
    s
}

/// The header of an image: width, height, depth; sizes that overflow; a row's bounds.
fn image() -> Scenario {
    let mut s = Scenario::new("image".into(), &[64, 0, 0, 0, 48, 0, 0, 0, 24, 0, 3, 1]);
    let (width, height) = (s.field(0, 4), s.field(4, 4));
    let depth = s.field(8, 2);
    let depth = s.terms.zext(depth, 32);
    let known = s.with(Op::Ule, depth, 32);
    s.branch(known);
    let some = s.with(Op::Ne, width, 0);
    s.branch(some);
    let pixels_overflow = s.op(Op::UMulOverflow, width, height);
    s.check(pixels_overflow);
    let signed_overflow = s.op(Op::SMulOverflow, width, height);
    s.check(signed_overflow);
    let pixels = s.op(Op::Mul, width, height);
    let bits_overflow = s.op(Op::UMulOverflow, pixels, depth);
    s.check(bits_overflow);
    let bits = s.op(Op::Mul, pixels, depth);
    let bytes = s.with(Op::LShr, bits, 3);
    let padded = s.with(Op::Add, bytes, 64);
    let wrapped = s.op(Op::Ult, padded, bytes);
    s.check(wrapped);
    let stride = s.op(Op::Mul, width, depth);
    let rows = s.op(Op::UDiv, bits, stride);
    let odd = s.op(Op::Ne, rows, height);
    s.check(odd);
    let prime = s.with(Op::Eq, pixels, 1_000_003 * 3);
    s.branch(prime);
    s
}

/// 64-bit pointers: a base, an index, a size, the end of an object.
fn pointers() -> Scenario {
    let mut s = Scenario::new("pointers".into(), &[3, 0, 0, 0, 5, 0, 2, 0, 1, 0, 0, 0]);
    let base = s.constant(64, 0x7f12_3456_7000);
    let end = s.constant(64, 0x7f12_3456_7000 + 4096);
    for (offset, size) in [(0, 16), (4, 24), (8, 72)] {
        let index = s.field(offset, if offset == 4 { 2 } else { 4 });
        let index = s.terms.sext(index, 64);
        let small = s.with(Op::Slt, index, 4096 / size);
        s.branch(small);
        let distance = s.with(Op::Mul, index, size);
        let address = s.op(Op::Add, base, distance);
        let below = s.op(Op::Ult, address, base);
        s.check(below);
        let last = s.with(Op::Add, address, 8);
        let above = s.op(Op::Ult, end, last);
        s.check(above);
        let misaligned = s.with(Op::And, address, 63);
        let misaligned = s.with(Op::Eq, misaligned, 48);
        s.branch(misaligned);
    }
    s
}

/// Records with a length each; offsets add up.
fn records() -> Scenario {
    let mut input = vec![4u8; 64];
    input[20] = 9;
    let mut s = Scenario::new("records".into(), &input);
    let mut offset = s.constant(32, 0);
    for record in 0..12 {
        let length = s.field(record * 4, 2);
        let length = s.terms.zext(length, 32);
        let empty = s.with(Op::Eq, length, 0);
        s.branch(empty);
        let next = s.op(Op::Add, offset, length);
        let beyond = s.with(Op::Ult, next, 64_000);
        s.branch(beyond);
        let kind = s.byte(record * 4 + 2);
        let known = s.with(Op::Eq, kind, 4);
        s.branch(known);
        offset = next;
    }
    let exact = s.with(Op::Eq, offset, 63_999);
    s.branch(exact);
    s
}

/// A string's hash, reduced by a modulus, selects a bucket.
fn hash_table(size: u128) -> Scenario {
    let mut s = Scenario::new(format!("hash {size}"), b"hello world!");
    let mut hash = s.constant(32, 5381);
    for position in 0..12 {
        let byte = s.byte(position);
        let printable = s.with(Op::Ult, byte, 127);
        s.branch(printable);
        let wide = s.terms.zext(byte, 32);
        let scaled = s.with(Op::Mul, hash, 33);
        hash = s.op(Op::Add, scaled, wide);
    }
    let bucket = s.with(Op::URem, hash, size);
    let collides = s.with(Op::Eq, bucket, 42);
    s.branch(collides);
    let full = s.with(Op::Eq, hash, 0x1234_5678);
    s.branch(full);
    s
}

/// Divisors and shifts that come from the input.
fn divisions() -> Scenario {
    let mut s = Scenario::new("divisions".into(), &[100, 0, 0, 0, 7, 0, 0, 0, 3, 9]);
    let (a, b) = (s.field(0, 4), s.field(4, 4));
    let zero = s.with(Op::Eq, b, 0);
    s.check(zero);
    let quotient = s.op(Op::SDiv, a, b);
    let remainder = s.op(Op::SRem, a, b);
    let large = s.with(Op::Eq, quotient, 12_345);
    s.branch(large);
    let seven = s.with(Op::Eq, remainder, 3);
    s.branch(seven);
    let ratio = s.op(Op::UDiv, a, b);
    let more = s.op(Op::Ult, a, ratio);
    s.check(more);
    let shift = s.byte(8);
    let wide = s.terms.zext(shift, 32);
    let far = s.with(Op::Ule, wide, 31);
    s.branch(far);
    let shifted = s.op(Op::Shl, a, wide);
    let back = s.op(Op::LShr, shifted, wide);
    let lost = s.op(Op::Ne, back, a);
    s.branch(lost);
    s
}

/// A long text: two branches a byte, and sums that tie ever more of it together.
fn long_text(length: usize) -> Scenario {
    let input: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
    let mut s = Scenario::new(format!("text {length}"), &input);
    let mut sum = s.constant(16, 0);
    for position in 0..length {
        let byte = s.byte(position);
        let is_newline = s.with(Op::Eq, byte, b'\n'.into());
        s.branch(is_newline);
        let is_letter = s.with(Op::Ult, byte, b'{'.into());
        s.branch(is_letter);
        let wide = s.terms.zext(byte, 16);
        sum = s.op(Op::Add, sum, wide);
        if position % 100 == 99 {
            let odd = s.terms.extract(sum, 0, 1);
            s.branch(odd);
            let wanted = s.with(Op::Eq, sum, 0x1234);
            s.branch(wanted);
        }
    }
    s
}
