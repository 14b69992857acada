//! A test on each side of each part of a formula, and tests as text.

use nearmiss_contracts::Formula;
use nearmiss_results::PreconditionEvidence;

use crate::InferError;
use crate::condition::Condition;
use crate::environment::{Environment, Home};
use crate::inputs::{Given, TestCase};
use crate::study::Points;
use crate::valuations::Valuation;

/// The parts of a formula: requirements that must all hold, or ways of which one must.
fn parts(formula: &Formula) -> (Vec<Formula>, bool) {
    match formula {
        Formula::All(parts) => (parts.clone(), true),
        Formula::Any(parts) => (parts.clone(), false),
        other => (vec![other.clone()], true),
    }
}

/// For each part: a call that is safe, and one that fails, as near to it as the tests have it.
pub fn evidence(
    environment: &Environment,
    formula: &Formula,
    points: &Points,
) -> Result<Vec<PreconditionEvidence>, InferError> {
    let (parts, must_all_hold) = parts(formula);
    let conditions: Result<Vec<Condition>, InferError> = parts
        .iter()
        .map(|part| environment.condition(part))
        .collect();
    let conditions = conditions?;
    // On which side of a part a test is, where all other parts let it decide.
    let side = |values: &Valuation, part: usize| {
        let mut others = conditions
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != part);
        let decides = others.all(|(_, other)| other.holds(values) == must_all_hold);
        decides.then(|| conditions[part].holds(values))
    };
    let mut rows = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let on = |wanted: bool, fails: bool| -> Vec<&Valuation> {
            let all = points
                .iter()
                .filter(|(_, point)| point.failure.is_some() == fails);
            all.map(|(values, _)| values)
                .filter(|values| side(values, index) == Some(wanted))
                .collect()
        };
        let (safe, failing) = (on(true, false), on(false, true));
        let (passes, fails) = nearest(&safe, &failing);
        let text = |values: &Valuation, fails: bool| {
            let point = &points[values];
            let test = point
                .failure
                .as_ref()
                .map(|(test, _)| test)
                .filter(|_| fails);
            describe(environment, test.unwrap_or(&point.sample))
        };
        let how = fails.and_then(|values| points[values].failure.as_ref());
        rows.push(PreconditionEvidence {
            clause: part.to_string(),
            passes: passes.map(|values| text(values, false)),
            fails: fails.map(|values| text(values, true)),
            how: how.map(|(_, failure)| failure.words(environment)),
        });
    }
    Ok(rows)
}

/// The two that differ least; of equally near ones the smallest.
fn nearest<'a>(
    safe: &[&'a Valuation],
    failing: &[&'a Valuation],
) -> (Option<&'a Valuation>, Option<&'a Valuation>) {
    /// Of each side so many are looked at.
    const MOST: usize = 300;
    let size = |values: &Valuation| values.iter().map(|value| value.abs()).sum::<i64>();
    let sorted = |side: &[&'a Valuation]| {
        let mut side = side.to_vec();
        side.sort_by_key(|values| size(values));
        side.truncate(MOST);
        side
    };
    let (safe, failing) = (sorted(safe), sorted(failing));
    let mut best: Option<(i64, &'a Valuation, &'a Valuation)> = None;
    for left in &safe {
        for right in &failing {
            let apart = left
                .iter()
                .zip(right.iter())
                .map(|(a, b)| (a - b).abs())
                .sum::<i64>();
            // Where nothing lies is not far from where something does.
            let distance = apart * 8 + size(left).min(400) / 8;
            if best.is_none_or(|(least, ..)| distance < least) {
                best = Some((distance, left, right));
            }
        }
    }
    match best {
        Some((_, left, right)) => (Some(left), Some(right)),
        None => (safe.first().copied(), failing.first().copied()),
    }
}

/// A test as text: `dest={'a','\0',…} src=NULL n=3`.
pub fn describe(environment: &Environment, test: &TestCase) -> String {
    let mut words: Vec<(usize, String)> = Vec::new();
    let order = |home: Home| match home {
        Home::Parameter(index) => index,
        Home::Member(..) => usize::MAX,
    };
    for (number, value) in environment.numbers.iter().zip(&test.numbers) {
        words.push((order(number.home), format!("{}={value}", number.place)));
    }
    for (block, (given, before, content)) in environment.blocks.iter().zip(&test.blocks) {
        let what = match given {
            Given::Null => "NULL".to_string(),
            Given::Same(other) => environment.blocks[*other].place.clone(),
            Given::Own => bytes(
                block.of.size as usize,
                block.of.is_char || block.of.is_void,
                &content[*before..],
            ),
        };
        let before = match before {
            0 => String::new(),
            bytes => format!(" ({bytes} bytes before)"),
        };
        words.push((order(block.home), format!("{}={what}{before}", block.place)));
    }
    words.sort_by_key(|(order, _)| *order);
    let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

/// A block: as a string with its size, or as numbers.
fn bytes(size: usize, is_text: bool, content: &[u8]) -> String {
    if is_text {
        let mut text = String::new();
        for byte in content {
            text += &match byte {
                0 => "\\0".to_string(),
                b'"' | b'\\' => format!("\\{}", *byte as char),
                0x20..=0x7e => (*byte as char).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
        }
        return format!("[{}]\"{text}\"", content.len());
    }
    let count = content.len() / size.max(1);
    let number = |element: &[u8]| {
        let mut wide = [if element.last().is_some_and(|b| b >> 7 == 1) {
            0xff
        } else {
            0
        }; 8];
        wide[..element.len()].copy_from_slice(element);
        i64::from_le_bytes(wide).to_string()
    };
    match size {
        1 | 2 | 4 | 8 => {
            let numbers: Vec<String> = content.chunks(size).map(number).collect();
            format!("[{count}]{{{}}}", numbers.join(","))
        }
        _ => format!("[{count}]"),
    }
}
