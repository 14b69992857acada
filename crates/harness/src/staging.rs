//! The staging as bytes: what lies where, and an input to begin with.

use crate::layout::Layout;
use crate::model::{Leaf, What};
use crate::plan::Plan;
use crate::values::integer;

impl Layout {
    /// Sorts leaves by their place; everything that has their numbers follows.
    pub fn leaves_by_place(&mut self) {
        let mut order: Vec<usize> = (0..self.leaves.len()).collect();
        order.sort_by_key(|leaf| self.leaves[*leaf].at);
        let mut now = vec![0; order.len()];
        for (place, leaf) in order.iter().enumerate() {
            now[*leaf] = place;
        }
        self.leaves = order
            .iter()
            .map(|leaf| self.leaves[*leaf].clone())
            .collect();
        let limits = std::mem::take(&mut self.limits).into_values();
        self.limits = limits
            .map(|mut limit| {
                limit.leaf = now[limit.leaf];
                (limit.leaf, limit)
            })
            .collect();
        for block in &mut self.blocks {
            block.count.renumber(&now);
            if let Some(tail) = &mut block.tail {
                tail.count.renumber(&now);
            }
        }
    }

    /// The leaf that a byte of the staging belongs to.
    pub fn leaf_at(&self, offset: usize) -> Option<&Leaf> {
        let after = self.leaves.partition_point(|leaf| leaf.at <= offset);
        let before = self.leaves[..after].iter().rev().take(16);
        before.clone().find(|leaf| offset < leaf.at + leaf.size)
    }
}

impl Plan {
    /// Bytes of the staging.
    pub fn input_size(&self) -> usize {
        self.layout.size
    }

    /// The function's prototype as C writes it.
    pub fn prototype(&self) -> String {
        let function = &self.function.function;
        let name = if function.name == "nearmiss_program_main" {
            "main"
        } else {
            &function.name
        };
        let parameters = self.types.parameters(&function.signature);
        let head = format!("{name}({parameters})");
        self.types.declare(function.signature.result, &head)
    }

    /// What the user should know about choices that were made for lack of a rule.
    pub fn notes(&self) -> &[String] {
        &self.layout.notes
    }

    /// Bounds on the inputs that nothing was said about: other paths may lie beyond.
    pub fn bounds(&self) -> &[String] {
        &self.layout.bounds
    }

    /// What else no input is although a call could pass it: what rules leave open, and what is never chosen.
    pub fn conventions(&self) -> &[String] {
        &self.layout.conventions
    }

    /// An input to begin with: one that keeps to all ranges.
    pub fn first_input(&self) -> Vec<u8> {
        let mut staging = vec![0; self.layout.size];
        for limit in self.layout.limits.values() {
            self.layout.leaves[limit.leaf].write(&mut staging, limit.first);
        }
        staging
    }

    /// What byte `offset` of the staging is part of: `n`, `t[3]`, `t.count`, and which byte of it.
    pub fn name_of(&self, offset: usize) -> (String, usize) {
        match self.layout.leaf_at(offset) {
            Some(leaf) => (leaf.name.clone(), offset - leaf.at),
            None => ("padding".into(), 0),
        }
    }
}

impl Leaf {
    /// Writes a number to its place.
    pub fn write(&self, staging: &mut [u8], value: i128) {
        let place = &mut staging[self.at..self.at + self.size];
        let mut bytes = [0; 16];
        bytes[..place.len()].copy_from_slice(place);
        let old = u128::from_le_bytes(bytes);
        let (first, width) = match self.what {
            What::Number {
                bits: Some(bits), ..
            } => bits,
            _ => (0, self.size as u32 * 8),
        };
        let mask = if width >= 128 {
            u128::MAX
        } else {
            (1 << width) - 1
        };
        let new = (old & !(mask << first)) | ((value as u128 & mask) << first);
        place.copy_from_slice(&new.to_le_bytes()[..place.len()]);
    }

    /// The number at its place.
    pub fn read(&self, staging: &[u8]) -> i128 {
        let (signed, bits) = match self.what {
            What::Number { signed, bits } => (signed, bits),
            _ => (false, None),
        };
        let place = &staging[self.at..self.at + self.size];
        integer(place, signed, bits)
    }
}
