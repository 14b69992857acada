//! An instance of the back end for each group of input bytes that queries have together.
//!
//! A SAT solver has to assign everything that was ever asserted before it says yes. On a long path
//! of which each goal concerns a small part, one instance for all of it would make every
//! query as expensive as the path is long.

use std::cmp::Reverse;
use std::collections::HashMap;

use nearmiss_expr::{InputByte, Terms};

use crate::query::{Query, Reply, Solver};

/// How many instances are kept; the one that was not needed for longest goes first.
const KEPT: usize = 64;

/// Puts a query to the instance that knows most of its bytes. Queries bring all their
/// constraints along, so an instance needs to know nothing of the others.
pub struct Instances {
    make: Box<dyn Fn() -> Box<dyn Solver>>,
    instances: HashMap<u64, Instance>,
    /// The instance that a byte's last query went to; it may be gone.
    owners: HashMap<InputByte, u64>,
    queries: u64,
}

struct Instance {
    solver: Box<dyn Solver>,
    last_query: u64,
}

impl Instances {
    /// Instances as `make` makes them.
    pub fn new(make: Box<dyn Fn() -> Box<dyn Solver>>) -> Instances {
        Instances {
            make,
            instances: HashMap::new(),
            owners: HashMap::new(),
            queries: 0,
        }
    }

    /// The instance that owns most of the bytes; among equals the oldest.
    fn choose(&self, bytes: &[InputByte]) -> Option<u64> {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for byte in bytes {
            if let Some(owner) = self.owners.get(byte)
                && self.instances.contains_key(owner)
            {
                *counts.entry(*owner).or_default() += 1;
            }
        }
        let most = counts
            .into_iter()
            .max_by_key(|&(id, count)| (count, Reverse(id)));
        most.map(|(id, _)| id)
    }

    /// A new instance, named by the number of the query that it is made for.
    fn create(&mut self) -> u64 {
        if self.instances.len() >= KEPT {
            let idle = self.instances.iter();
            let idlest = idle.min_by_key(|(_, instance)| instance.last_query);
            if let Some(id) = idlest.map(|(&id, _)| id) {
                self.instances.remove(&id);
            }
        }
        let instance = Instance {
            solver: (self.make)(),
            last_query: 0,
        };
        self.instances.insert(self.queries, instance);
        self.queries
    }
}

impl Solver for Instances {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        self.queries += 1;
        let chosen = self.choose(query.bytes);
        let id = chosen.unwrap_or_else(|| self.create());
        for &byte in query.bytes {
            self.owners.insert(byte, id);
        }
        let instance = self.instances.get_mut(&id).expect("chosen or just made");
        instance.last_query = self.queries;
        instance.solver.solve(terms, query)
    }
}
