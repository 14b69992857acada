//! A decision tree over predicates, by information gain (ID3).

use crate::table::{Cube, Literal, Rows, Table};

/// A decision tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// All rows that come here are safe, or most of them are.
    Leaf { safe: bool },
    /// A predicate decides.
    Fork {
        predicate: usize,
        holds: Box<Tree>,
        fails: Box<Tree>,
    },
}

/// Learns a tree that says of every row of the table what it is.
pub fn learn(table: &Table) -> Tree {
    grow(table, &table.all())
}

fn grow(table: &Table, rows: &Rows) -> Tree {
    let safe = rows.common(&table.safe);
    let others = rows.common(&table.unsafe_rows);
    if safe == 0 || others == 0 {
        return Tree::Leaf { safe: others == 0 };
    }
    let gain = |predicate: usize| {
        let literal = Literal {
            predicate,
            holds: true,
        };
        let here = table.among(rows, literal);
        let (p, n) = (here.common(&table.safe), here.common(&table.unsafe_rows));
        let (q, m) = (safe - p, others - n);
        let total = (safe + others) as f64;
        let weighted = |p: usize, n: usize| (p + n) as f64 / total * entropy(p, n);
        entropy(safe, others) - weighted(p, n) - weighted(q, m)
    };
    let best = (0..table.predicates).map(|predicate| (predicate, gain(predicate)));
    let best = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let Some((predicate, gain)) = best.filter(|(_, gain)| *gain > 1e-12) else {
        return split_anyway(table, rows, safe >= others);
    };
    let _ = gain;
    fork(table, rows, predicate)
}

/// Where no predicate gains anything alone, the first that divides the rows may with others.
fn split_anyway(table: &Table, rows: &Rows, most_are_safe: bool) -> Tree {
    let total = rows.count();
    let divides = |predicate: &usize| {
        let literal = Literal {
            predicate: *predicate,
            holds: true,
        };
        (1..total).contains(&table.count_among(rows, literal))
    };
    match (0..table.predicates).find(divides) {
        Some(predicate) => fork(table, rows, predicate),
        None => Tree::Leaf {
            safe: most_are_safe,
        },
    }
}

fn fork(table: &Table, rows: &Rows, predicate: usize) -> Tree {
    let side = |holds| grow(table, &table.among(rows, Literal { predicate, holds }));
    let (holds, fails) = (side(true), side(false));
    // Pruned: what both sides agree on needs no predicate.
    if holds == fails && matches!(holds, Tree::Leaf { .. }) {
        return holds;
    }
    Tree::Fork {
        predicate,
        holds: Box::new(holds),
        fails: Box::new(fails),
    }
}

fn entropy(p: usize, n: usize) -> f64 {
    let total = (p + n) as f64;
    let part = |count: usize| match count {
        0 => 0.0,
        count => -(count as f64 / total) * (count as f64 / total).log2(),
    };
    part(p) + part(n)
}

impl Tree {
    /// The ways to leaves of one kind.
    pub fn cubes(&self, safe: bool) -> Vec<Cube> {
        let mut cubes = Vec::new();
        self.collect(safe, &mut Vec::new(), &mut cubes);
        cubes
    }

    fn collect(&self, wanted: bool, way: &mut Cube, cubes: &mut Vec<Cube>) {
        match self {
            Tree::Leaf { safe } if *safe == wanted => cubes.push(way.clone()),
            Tree::Leaf { .. } => {}
            Tree::Fork {
                predicate,
                holds,
                fails,
            } => {
                for (holds, side) in [(true, holds), (false, fails)] {
                    way.push(Literal {
                        predicate: *predicate,
                        holds,
                    });
                    side.collect(wanted, way, cubes);
                    way.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(function: impl Fn(&[bool]) -> bool, predicates: usize) -> Table {
        let rows: Vec<Vec<bool>> = (0..1usize << predicates)
            .map(|number| (0..predicates).map(|bit| number >> bit & 1 == 1).collect())
            .collect();
        let rows: Vec<(&[bool], bool)> = rows
            .iter()
            .map(|row| (row.as_slice(), function(row)))
            .collect();
        Table::new(predicates, &rows)
    }

    fn agrees(tree: &Tree, table: &Table) -> bool {
        let cubes = tree.cubes(true);
        let none = Rows::none(table.len());
        let all = table.all();
        let covered = cubes
            .iter()
            .fold(none, |rows, cube| rows.or(&table.covered(&all, cube)));
        covered == table.safe
    }

    #[test]
    fn a_tree_says_what_the_table_says() {
        let seed_example = table(|v| (!v[0] || v[1]) && v[3] && v[5], 6);
        assert!(agrees(&learn(&seed_example), &seed_example));
        // No predicate gains anything at first.
        let parity = table(|v| v[0] ^ v[1] ^ v[2], 4);
        assert!(agrees(&learn(&parity), &parity));
    }

    #[test]
    fn only_what_matters_is_asked() {
        let one = table(|v| v[2], 5);
        let leaf = |safe| Box::new(Tree::Leaf { safe });
        let expected = Tree::Fork {
            predicate: 2,
            holds: leaf(true),
            fails: leaf(false),
        };
        assert_eq!(learn(&one), expected);
        assert_eq!(learn(&table(|_| true, 3)), Tree::Leaf { safe: true });
    }
}
