//! The shortest formula found that says what the table says: cubes that cover all safe rows, or all others.

use nearmiss_contracts::Formula;

use crate::condition::Condition;
use crate::random::Random;
use crate::table::{Cube, Literal, Rows, Table};
use crate::tree;

/// Cubes that cover one kind of rows and none of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    pub cubes: Vec<Cube>,
    /// Whether they cover the safe rows.
    pub of_safe: bool,
}

impl Cover {
    /// How long the formula is, then how many parts it has; requirements that must all hold are easier to read.
    fn cost(&self) -> (usize, usize, bool) {
        let literals = self.cubes.iter().map(Vec::len).sum();
        let parts = if self.of_safe { self.cubes.len() } else { 0 };
        (literals, parts, self.of_safe)
    }

    /// Whether it has an assignment.
    pub fn lets_through(&self, row: &[bool]) -> bool {
        let holds = |literal: &Literal| row[literal.predicate] == literal.holds;
        let covered = self.cubes.iter().any(|cube| cube.iter().all(holds));
        covered == self.of_safe
    }

    /// How many literals it has.
    pub fn size(&self) -> usize {
        self.cubes.iter().map(Vec::len).sum()
    }

    /// As a formula: of the safe rows a disjunction, of the others a conjunction of their negations.
    pub fn formula(&self, predicates: &[Condition]) -> Formula {
        let literal = |literal: &Literal| {
            let formula = &predicates[literal.predicate].formula;
            if literal.holds {
                formula.clone()
            } else {
                formula.negated()
            }
        };
        let cube = |cube: &Cube| single(cube.iter().map(literal).collect(), Formula::All);
        let parts: Vec<Formula> = self.cubes.iter().map(cube).collect();
        if self.of_safe {
            single(parts, Formula::Any)
        } else {
            single(parts.iter().map(Formula::negated).collect(), Formula::All)
        }
    }
}

fn single(mut parts: Vec<Formula>, make: fn(Vec<Formula>) -> Formula) -> Formula {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        make(parts)
    }
}

/// How many orders of choice are tried.
const RESTARTS: usize = 24;
/// A formula that is so long after three orders of choice does not become one that can be read.
const HOPELESS: usize = 120;

/// Formulas for a table, the shortest first, each another one.
pub fn covers(table: &Table, random: &mut Random) -> Vec<Cover> {
    let learnt = tree::learn(table);
    let mut found: Vec<Cover> = Vec::new();
    for of_safe in [false, true] {
        let shortened = shorten(table, of_safe, learnt.cubes(of_safe));
        found.push(Cover {
            cubes: shortened,
            of_safe,
        });
        for restart in 0..RESTARTS {
            let cubes = greedy(table, of_safe, restart, random);
            found.push(Cover { cubes, of_safe });
            if restart >= 2 && found.iter().all(|cover| cover.size() > HOPELESS) {
                break;
            }
        }
    }
    for cover in &mut found {
        cover.cubes.iter_mut().for_each(|cube| cube.sort_unstable());
        cover.cubes.sort_unstable();
    }
    found.sort_by_key(|cover| (cover.cost(), cover.cubes.clone()));
    found.dedup();
    found
}

/// The few cubes that cover most safe rows, and no other: a formula that can be read, and lets fewer calls through.
pub fn pruned(table: &Table, random: &mut Random) -> Cover {
    const MOST_CUBES: usize = 3;
    let mut open = table.safe.clone();
    let mut cubes: Vec<Cube> = Vec::new();
    while cubes.len() < MOST_CUBES && !open.is_empty() {
        let rows: Vec<usize> = open.iter().collect();
        let tried = (0..200).map(|turn| {
            let row = *random.choose(&rows);
            let cube = expand(table, true, row, &open, 4 * turn + 3, random);
            trim(table, &table.unsafe_rows, cube)
        });
        let covers = |cube: &Cube| table.covered(&open, cube).count();
        let best = tried.max_by_key(|cube| (covers(cube), std::cmp::Reverse(cube.len())));
        let Some(best) = best else { break };
        // One that covers little says little.
        if !cubes.is_empty() && covers(&best) * 10 < table.safe.count() {
            break;
        }
        open = open.minus(&table.covered(&open, &best));
        cubes.push(best);
    }
    Cover {
        cubes,
        of_safe: true,
    }
}

fn sides(table: &Table, of_safe: bool) -> (&Rows, &Rows) {
    if of_safe {
        (&table.safe, &table.unsafe_rows)
    } else {
        (&table.unsafe_rows, &table.safe)
    }
}

/// One cube after the other, each for a row that is not covered yet.
fn greedy(table: &Table, of_safe: bool, restart: usize, random: &mut Random) -> Vec<Cube> {
    let (targets, _) = sides(table, of_safe);
    let mut open = targets.clone();
    let mut cubes = Vec::new();
    while !open.is_empty() {
        let rows: Vec<usize> = open.iter().collect();
        let row = if restart == 0 {
            rows[0]
        } else {
            *random.choose(&rows)
        };
        let cube = expand(table, of_safe, row, &open, restart, random);
        open = open.minus(&table.covered(&open, &cube));
        cubes.push(cube);
    }
    shorten(table, of_safe, cubes)
}

/// A cube around a row that leaves out all rows of the other kind and has as many open ones as can be.
fn expand(
    table: &Table,
    of_safe: bool,
    row: usize,
    open: &Rows,
    restart: usize,
    random: &mut Random,
) -> Cube {
    let (_, opposites) = sides(table, of_safe);
    let mut left = opposites.clone();
    let mut kept = open.clone();
    let mut cube: Cube = Vec::new();
    // What weighs more differs from start to start.
    let weight = [1.0, 2.0, 0.5, 4.0][restart % 4];
    while !left.is_empty() {
        let (total, all) = (left.count() as f64, kept.count().max(1) as f64);
        let score = |predicate: usize| {
            let literal = table.literal(row, predicate);
            let stay = table.count_among(&left, literal) as f64;
            let covered = table.count_among(&kept, literal) as f64;
            (stay < total).then(|| (literal, (total - stay) / total + weight * covered / all))
        };
        let noise = restart > 0;
        let scored = (0..table.predicates).filter_map(score);
        let scored = scored.map(|(literal, score)| {
            let chance = if noise {
                (random.number() % 1000) as f64 / 8000.0
            } else {
                0.0
            };
            (literal, score + chance)
        });
        let Some((best, _)) = scored.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        left = table.among(&left, best);
        kept = table.among(&kept, best);
        cube.push(best);
    }
    cube
}

/// Leaves out literals and cubes that are not needed.
fn shorten(table: &Table, of_safe: bool, cubes: Vec<Cube>) -> Vec<Cube> {
    let (targets, opposites) = sides(table, of_safe);
    let mut cubes: Vec<Cube> = cubes
        .into_iter()
        .map(|cube| trim(table, opposites, cube))
        .collect();
    // Large ones first: small ones are needed less often.
    cubes.sort_by_key(|cube| std::cmp::Reverse(table.covered(targets, cube).count()));
    let mut position = cubes.len();
    while position > 0 {
        position -= 1;
        let others = cubes
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != position);
        let none = Rows::none(table.len());
        let covered = others.fold(none, |rows, (_, cube)| {
            rows.or(&table.covered(targets, cube))
        });
        if targets.minus(&covered).is_empty() {
            cubes.remove(position);
        }
    }
    cubes
}

fn trim(table: &Table, opposites: &Rows, mut cube: Cube) -> Cube {
    let mut position = 0;
    while position < cube.len() {
        let mut rest = cube.clone();
        rest.remove(position);
        if table.covered(opposites, &rest).is_empty() {
            cube = rest;
        } else {
            position += 1;
        }
    }
    cube
}
