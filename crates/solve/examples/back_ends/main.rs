//! Which back end, and which order, is best: queries of concolic kind, put to each. Prints a
//! table. `cargo run --release -p nearmiss-solve --example back_ends [seconds a query]`

mod scenarios;

use std::time::Duration;

use nearmiss_expr::InputByte;
use nearmiss_solve::{Answer, Backend, Layer, Limits, Stack, Statistics};
use scenarios::{Scenario, Step};

/// What one back end has done with all scenarios.
#[derive(Default)]
struct Row {
    times: Vec<f64>,
    solved: usize,
    slowest: String,
    statistics: Statistics,
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let limits = Limits::time(Duration::from_secs(seconds.unwrap_or(5)));
    println!("| back end | solved | of | s in all | median ms | p95 ms | slowest |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (name, stack) in [
        ("bit-blaster", Stack::bare(Backend::BitBlaster)),
        ("Bitwuzla", Stack::bare(Backend::Bitwuzla)),
        ("bit-blaster, then Bitwuzla", Stack::bare(Backend::Escalate)),
        ("the same behind all layers", Stack::default()),
    ] {
        let mut row = Row::default();
        for scenario in &mut scenarios::all() {
            run(scenario, &stack, &limits, false, &mut row);
        }
        print_row(name, &mut row);
    }
    let mut row = Row::default();
    for scenario in &mut scenarios::all() {
        run(scenario, &Stack::default(), &limits, true, &mut row);
    }
    print_row("nearest answers, all layers", &mut row);
    print_layers(&row.statistics);
}

fn run(scenario: &mut Scenario, stack: &Stack, limits: &Limits, nearest: bool, row: &mut Row) {
    let input = &scenario.input;
    let recorded = |byte: InputByte| input[byte.offset as usize];
    let mut session = stack.session(&recorded);
    let worst = row.times.iter().copied().fold(0.0, f64::max);
    for (number, step) in scenario.steps.iter().enumerate() {
        let goal = match *step {
            Step::Assume(condition) => {
                session.assume(&scenario.terms, condition);
                continue;
            }
            Step::Ask(goal) => goal,
        };
        let start = processor_time();
        let reply = if nearest {
            session.query_nearest(&mut scenario.terms, goal, limits)
        } else {
            session.query(&mut scenario.terms, goal, limits)
        };
        let time = processor_time() - start;
        if time > row.times.iter().copied().fold(worst, f64::max) {
            row.slowest = format!("{}, step {number}", scenario.name);
        }
        row.times.push(time);
        row.solved += usize::from(!matches!(reply.answer, Answer::Unknown(_)));
    }
    row.statistics.merge(session.statistics());
}

fn print_row(name: &str, row: &mut Row) {
    row.times.sort_by(f64::total_cmp);
    let at = |share: f64| row.times[((row.times.len() - 1) as f64 * share) as usize] * 1e3;
    println!(
        "| {name} | {} | {} | {:.1} | {:.2} | {:.1} | {} ({:.0} ms) |",
        row.solved,
        row.times.len(),
        row.times.iter().sum::<f64>(),
        at(0.5),
        at(0.95),
        row.slowest,
        at(1.0),
    );
}

fn print_layers(statistics: &Statistics) {
    println!("\n| layer | sat | unsat | unknown | median µs | p95 µs |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for layer in Layer::ALL {
        let done = statistics.layer(layer);
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            layer.name(),
            done.sat,
            done.unsat,
            done.unknown,
            done.times.median().as_micros(),
            done.times.p95().as_micros(),
        );
    }
}

/// The seconds this thread was on a processor; other work on the machine does not count.
fn processor_time() -> f64 {
    const THREAD_PROCESSOR_TIME: i32 = 3;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: on 64-bit Linux a `timespec` is two such numbers.
    unsafe { clock_gettime(THREAD_PROCESSOR_TIME, &mut time) };
    time[0] as f64 + time[1] as f64 / 1e9
}
