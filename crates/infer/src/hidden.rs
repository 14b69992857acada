//! Structures that are larger than their header says: a library shows the first members of what only it can make, such
//! as the streams of zlib. No formula over what is shown means anything then. It shows in one of two ways: one element is
//! never enough, whatever is in it; or what is touched first where there is none lies behind the end of one.

use crate::InferError;
use crate::environment::Home;
use crate::runner::{Failure, Group};
use crate::study::Study;
use crate::valuations::{self, Valuation};

/// Calls with so many elements, and at least so many of them.
const CALLS: usize = 32;
const FEWEST: usize = 8;
/// Tests of each.
const TESTS: usize = 4;
/// Valuations that are looked at for them.
const TRIES: usize = 20_000;

impl Study<'_> {
    /// The first parameter that leads to a structure of which more is used than is declared.
    pub(crate) fn larger_inside(&mut self) -> Result<Option<usize>, InferError> {
        for index in 0..self.environment.blocks.len() {
            let block = &self.environment.blocks[index];
            let is_record = !block.of.members.is_empty();
            if is_record && matches!(block.home, Home::Parameter(_)) && self.is_exceeded(index)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn is_exceeded(&mut self, index: usize) -> Result<bool, InferError> {
        let size = self.environment.blocks[index].of.size as i64;
        let behind = |failure: &Failure| match failure.block == Some(index) {
            true => failure.distance,
            false => 0,
        };
        let with_one = self.outcomes(index, 1)?;
        let is_behind =
            |outcome: &Option<Failure>| outcome.as_ref().is_some_and(|it| behind(it) > 0);
        if with_one.len() >= FEWEST && with_one.iter().all(is_behind) {
            return Ok(true);
        }
        let with_none = self.outcomes(index, 0)?;
        let touched: Vec<i64> = with_none.iter().flatten().map(behind).collect();
        let touched: Vec<i64> = touched
            .into_iter()
            .filter(|distance| *distance > 0)
            .collect();
        Ok(touched.len() >= FEWEST && touched.iter().all(|distance| *distance > size))
    }

    /// What becomes of calls with so many elements.
    fn outcomes(
        &mut self,
        index: usize,
        elements: i64,
    ) -> Result<Vec<Option<Failure>>, InferError> {
        let mut groups = Vec::new();
        for values in self.calls_with(index, elements) {
            let tests = (0..TESTS).map(|_| self.new_test(&values)).collect();
            groups.push(Group { tests, fresh: true });
        }
        self.tests += (groups.len() * TESTS) as u64;
        match groups.is_empty() {
            true => Ok(Vec::new()),
            false => self.runner.run(&groups),
        }
    }

    fn calls_with(&mut self, index: usize, elements: i64) -> Vec<Valuation> {
        let block = &self.environment.blocks[index];
        let (address, bounds) = (block.address, block.bounds);
        let mut calls = Vec::new();
        for _ in 0..TRIES {
            let values = valuations::random(&self.environment, &mut self.random);
            if values[address] == index as i64 + 1 && values[bounds] == elements {
                calls.push(values);
            }
            if calls.len() == CALLS {
                break;
            }
        }
        calls
    }
}
