//! How many terms a second are made: `cargo run --release --example build_rate`.

use std::time::Instant;

use nearmiss_expr::{Evaluator, InputByte, Op, Ranges, Supports, Terms};

const ROUNDS: u32 = 1_000_000;

fn main() {
    let mut terms = Terms::new();
    let start = Instant::now();
    let mut calls = 0u64;
    let mut state = terms.constant(32, 0xffff_ffff);
    let eight = terms.constant(32, 8);
    for round in 0..ROUNDS {
        // What a checksum over a file makes: extend, mix, shift, compare.
        let byte = terms.input(InputByte {
            channel: 0,
            offset: round & 0xffff,
        });
        let wide = terms.zext(byte, 32);
        let mixed = terms.binary(Op::Xor, state, wide);
        let shifted = terms.binary(Op::Shl, mixed, eight);
        state = terms.binary(Op::Add, shifted, mixed);
        let limit = terms.constant(32, round as u128);
        terms.binary(Op::Ult, state, limit);
        calls += 7;
    }
    report("made", calls, start);
    println!("{} terms kept", terms.len());

    let start = Instant::now();
    let inputs = |byte: InputByte| byte.offset as u8;
    let value = Evaluator::new().evaluate(&terms, &inputs, state);
    report("evaluated", terms.len() as u64, start);

    let start = Instant::now();
    let range = Ranges::new().range(&terms, state);
    report("bounded", terms.len() as u64, start);

    let start = Instant::now();
    let mut supports = Supports::new();
    let set = supports.of(&terms, state);
    report("supported", terms.len() as u64, start);
    println!(
        "{value:#x} in {:#x}..={:#x}, {} inputs",
        range.low,
        range.high,
        supports.bytes(set).len()
    );
    for (name, count) in terms.rule_counts().filter(|(_, count)| *count > 0) {
        println!("{count:10} {name}");
    }
}

fn report(what: &str, count: u64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {:.2} million a second",
        count as f64 / seconds / 1e6
    );
}
