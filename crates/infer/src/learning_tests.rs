//! Learning from tables that a known formula made: what comes out says the same, and is as short.

use nearmiss_contracts::{Formula, parse};

use crate::assign::{self, Reach, assignment};
use crate::compare::{Relation, compare};
use crate::environment::{Environment, Wishes};
use crate::predicates::predicates;
use crate::random::Random;
use crate::separate::{Mixed, separate};
use crate::shorten::covers;
use crate::table::Table;
use crate::testing::{integer, pointer, prototype};
use crate::valuations;
use std::time::{Duration, Instant};

fn environment() -> Environment {
    let parameters = [pointer("p", true), pointer("q", true), integer("n")];
    Environment::new(&prototype(&parameters), &Wishes::default()).unwrap()
}

/// The formula that is learnt where this one says what is safe.
fn learn(environment: &Environment, truth: &Formula, most: usize) -> (Formula, bool) {
    let truth = environment.condition(truth).unwrap();
    let predicates = predicates(environment, &[], &[]).unwrap();
    let mut random = Random::new(11);
    let reach = Reach {
        assignments: most,
        valuations: 4,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let none = std::iter::empty();
    let feasible = assign::find(environment, &predicates, none, &reach, &mut random);
    let rows: Vec<(&[bool], bool)> = (feasible.rows.iter())
        .map(|(row, valuations)| (row.as_slice(), valuations.iter().all(|v| truth.holds(v))))
        .collect();
    let table = Table::new(predicates.len(), &rows);
    let cover = &covers(&table, &mut random)[0];
    (cover.formula(&predicates), feasible.complete)
}

#[test]
fn formulas_come_back_from_their_tables() {
    let environment = environment();
    for text in [
        "bounds(p) > strlen(p)",
        "n <= bounds(p) && n <= bounds(q)",
        "(n <= bounds(p) || strlen(q) < bounds(q)) && q != NULL",
        "(strlen(p) < bounds(p) && strlen(p) < bounds(q)) || (strlen(q) < bounds(p) && strlen(q) < bounds(q))",
        "n == 0 || bounds(p) >= n",
    ] {
        let truth = parse(text).unwrap();
        let (learnt, complete) = learn(&environment, &truth, 20_000);
        assert!(complete);
        assert_eq!(
            compare(&environment, &learnt, &truth).unwrap(),
            Relation::Exact,
            "{learnt}"
        );
        assert!(learnt.size() <= truth.size(), "{learnt}");
    }
}

#[test]
fn few_samples_are_not_called_complete() {
    let environment = environment();
    let truth = parse("bounds(p) > strlen(p)").unwrap();
    let (_, complete) = learn(&environment, &truth, 60);
    assert!(!complete);
}

#[test]
fn comparisons_are_decided_for_all_sizes() {
    let environment = environment();
    let of = |left: &str, right: &str| {
        compare(&environment, &parse(left).unwrap(), &parse(right).unwrap()).unwrap()
    };
    assert_eq!(of("n < 500", "n < 501"), Relation::Safe);
    assert_eq!(
        of("bounds(p) >= 1", "p != NULL && bounds(p) != 0"),
        Relation::Exact
    );
    assert_eq!(of("p != NULL", "bounds(p) >= 1"), Relation::Permissive);
    assert_eq!(of("n > 0", "bounds(p) > 0"), Relation::Neither);
}

#[test]
fn sums_and_products_are_found_in_tests() {
    let parameters = [pointer("p", false), integer("n"), integer("m")];
    let environment = Environment::new(&prototype(&parameters), &Wishes::default()).unwrap();
    for text in [
        "n + m < bounds(p)",
        "n * m <= bounds(p)",
        "n <= 7",
        "2 * n <= bounds(p)",
    ] {
        let truth = environment.condition(&parse(text).unwrap()).unwrap();
        let mut random = Random::new(3);
        let mut mixed = Mixed::default();
        for _ in 0..3000 {
            let values = valuations::random(&environment, &mut random);
            let side = if truth.holds(&values) {
                &mut mixed.safe
            } else {
                &mut mixed.failing
            };
            side.push(values);
        }
        let found = separate(&environment, &[mixed], false).expect(text).formula;
        let relation = compare(&environment, &found, &truth.formula).unwrap();
        assert_eq!(relation, Relation::Exact, "{found}");
    }
}

#[test]
fn assignments_are_those_of_their_valuations() {
    let environment = environment();
    let predicates = predicates(&environment, &[], &[]).unwrap();
    let mut random = Random::new(9);
    let reach = Reach {
        assignments: 20_000,
        valuations: 6,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let none = std::iter::empty();
    let feasible = assign::find(&environment, &predicates, none, &reach, &mut random);
    assert!(feasible.complete);
    for (row, valuations) in &feasible.rows {
        for values in valuations {
            assert!(
                valuations::is_consistent(&environment, values),
                "{values:?}"
            );
            assert_eq!(assignment(&predicates, values), *row);
        }
    }
    // Whatever is chosen at random has an assignment that is known.
    for _ in 0..5000 {
        let values = valuations::random(&environment, &mut random);
        assert!(
            feasible
                .rows
                .contains_key(&assignment(&predicates, &values))
        );
    }
}
