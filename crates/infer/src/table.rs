//! The truth table: which assignments are safe, kept so that a set of rows is a row of bits.

/// A set of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows(Vec<u64>);

impl Rows {
    /// None of so many.
    pub fn none(count: usize) -> Rows {
        Rows(vec![0; count.div_ceil(64)])
    }

    pub fn insert(&mut self, row: usize) {
        self.0[row / 64] |= 1 << (row % 64);
    }

    pub fn contains(&self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many both have.
    pub fn common(&self, other: &Rows) -> usize {
        let words = self.0.iter().zip(&other.0);
        words.map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Those that both have.
    pub fn and(&self, other: &Rows) -> Rows {
        Rows(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// Those that the other one has not.
    pub fn minus(&self, other: &Rows) -> Rows {
        Rows(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    pub fn or(&self, other: &Rows) -> Rows {
        Rows(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(index, word): (usize, &u64)| {
            let word = *word;
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| index * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// A predicate that holds, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    pub predicate: usize,
    pub holds: bool,
}

/// Literals that hold together.
pub type Cube = Vec<Literal>;

/// Assignments and what became of their tests.
#[derive(Clone, Debug)]
pub struct Table {
    pub predicates: usize,
    /// Rows in which a predicate holds.
    holds: Vec<Rows>,
    pub safe: Rows,
    pub unsafe_rows: Rows,
    count: usize,
}

impl Table {
    /// Of assignments and whether each is safe.
    pub fn new(predicates: usize, rows: &[(&[bool], bool)]) -> Table {
        let none = Rows::none(rows.len());
        let mut table = Table {
            predicates,
            holds: vec![none.clone(); predicates],
            safe: none.clone(),
            unsafe_rows: none,
            count: rows.len(),
        };
        for (row, (assignment, is_safe)) in rows.iter().enumerate() {
            for (column, holds) in table.holds.iter_mut().zip(assignment.iter()) {
                if *holds {
                    column.insert(row);
                }
            }
            let outcome = if *is_safe {
                &mut table.safe
            } else {
                &mut table.unsafe_rows
            };
            outcome.insert(row);
        }
        table
    }

    /// The rows among these in which a literal holds.
    pub fn among(&self, rows: &Rows, literal: Literal) -> Rows {
        let column = &self.holds[literal.predicate];
        if literal.holds {
            rows.and(column)
        } else {
            rows.minus(column)
        }
    }

    /// How many rows among these a literal holds in.
    pub fn count_among(&self, rows: &Rows, literal: Literal) -> usize {
        let common = rows.common(&self.holds[literal.predicate]);
        if literal.holds {
            common
        } else {
            rows.count() - common
        }
    }

    /// The rows in which all literals hold.
    pub fn covered(&self, within: &Rows, cube: &[Literal]) -> Rows {
        cube.iter()
            .fold(within.clone(), |rows, literal| self.among(&rows, *literal))
    }

    /// How a predicate is in a row.
    pub fn literal(&self, row: usize, predicate: usize) -> Literal {
        let holds = self.holds[predicate].contains(row);
        Literal { predicate, holds }
    }

    /// All rows.
    pub fn all(&self) -> Rows {
        self.safe.or(&self.unsafe_rows)
    }

    pub fn len(&self) -> usize {
        self.count
    }
}
