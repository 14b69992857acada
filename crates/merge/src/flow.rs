//! In which order the blocks of a function are executed.
//!
//! A block's turn comes when nothing that is still to be executed can lead to it any more: all ways that
//! meet there have come. Within one round of a loop that is the order of the blocks without the loop's way back, in
//! which a loop inside counts as one block; a loop comes to its end before what is behind it begins.

use nearmiss_sites::program::Function;

/// A point of an execution: for each loop around it, the outermost first, where it is among its neighbours and
/// the number of its round; last the block itself. Smaller ones are executed first.
pub type Position = Vec<(u32, u32)>;

/// The order of a function's blocks.
pub struct Flow {
    /// Of each block, where it is among its neighbours.
    blocks: Vec<u32>,
    /// Of each loop, where it is among its neighbours.
    loops: Vec<u32>,
}

/// A block, or a loop as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Block(u32),
    Loop(u32),
}

impl Flow {
    /// The order of a function's blocks.
    pub fn of(function: &Function) -> Flow {
        let mut flow = Flow {
            blocks: vec![0; function.blocks.len()],
            loops: vec![0; function.headers.len()],
        };
        flow.sort(function, 0, 0);
        for &header in &function.headers {
            flow.sort(
                function,
                header,
                function.blocks[header as usize].loops.len(),
            );
        }
        flow
    }

    /// Numbers what lies `depth` loops deep and is reached from `entry`: in reverse postorder.
    fn sort(&mut self, function: &Function, entry: u32, depth: usize) {
        let nest = &function.blocks[entry as usize].loops[..depth];
        let unit = |block: u32| {
            let loops = &function.blocks[block as usize].loops;
            let is_here = loops.len() >= depth && loops[..depth] == *nest;
            is_here.then(|| match loops.get(depth) {
                Some(&inner) => Unit::Loop(inner),
                None => Unit::Block(block),
            })
        };
        let successors = |of: Unit| -> Vec<Unit> {
            let members =
                (0..function.blocks.len() as u32).filter(|&block| unit(block) == Some(of));
            let next = members.flat_map(|block| function.blocks[block as usize].successors());
            let is_way_back = |&block: &u32| depth > 0 && block == entry;
            next.filter(|block| !is_way_back(block))
                .filter_map(unit)
                .filter(|&next| next != of)
                .collect()
        };
        let mut seen = Vec::new();
        let mut done = Vec::new();
        let mut stack: Vec<(Unit, Vec<Unit>)> = Vec::new();
        if let Some(first) = unit(entry) {
            seen.push(first);
            stack.push((first, successors(first)));
        }
        while let Some((of, next)) = stack.last_mut() {
            match next.pop() {
                Some(next) if seen.contains(&next) => {}
                Some(next) => {
                    seen.push(next);
                    stack.push((next, successors(next)));
                }
                None => {
                    done.push(*of);
                    stack.pop();
                }
            }
        }
        for (place, unit) in done.into_iter().rev().enumerate() {
            match unit {
                Unit::Block(block) => self.blocks[block as usize] = place as u32,
                Unit::Loop(inner) => self.loops[inner as usize] = place as u32,
            }
        }
    }

    /// The position of the function's first block.
    pub fn first(&self, function: &Function) -> Position {
        self.position(function, 0, &[])
    }

    /// The position of `to`, for one who comes from `from`, which is at `position`; and whether that
    /// begins another round of a loop.
    pub fn next(
        &self,
        function: &Function,
        (from, position): (u32, &Position),
        to: u32,
    ) -> (Position, bool) {
        let (before, behind) = (
            &function.blocks[from as usize].loops,
            &function.blocks[to as usize].loops,
        );
        let common = before
            .iter()
            .zip(behind)
            .take_while(|(a, b)| a == b)
            .count();
        let mut rounds: Vec<u32> = position[..common].iter().map(|&(_, round)| round).collect();
        let is_way_back = common == behind.len()
            && common > 0
            && function.headers[behind[common - 1] as usize] == to;
        if is_way_back {
            rounds[common - 1] += 1;
        }
        (self.position(function, to, &rounds), is_way_back)
    }

    fn position(&self, function: &Function, block: u32, rounds: &[u32]) -> Position {
        let loops = function.blocks[block as usize].loops.iter();
        let rounds = rounds.iter().copied().chain(std::iter::repeat(0));
        let around = loops.zip(rounds);
        let mut position: Position = around
            .map(|(&number, round)| (self.loops[number as usize], round))
            .collect();
        position.push((self.blocks[block as usize], 0));
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_sites::program::{Block, End, Operand};

    /// A function of blocks with these successors and loops.
    fn function(blocks: &[(&[u32], &[u32])], headers: &[u32]) -> Function {
        let block = |(successors, loops): &(&[u32], &[u32])| Block {
            loops: loops.to_vec(),
            choices: Vec::new(),
            steps: Vec::new(),
            end: match **successors {
                [] => End::Return(None),
                [only] => End::Go(only),
                [then, otherwise, ..] => End::Branch(Operand::Unknown, then, otherwise),
            },
        };
        Function {
            name: "f".into(),
            registers: 0,
            blocks: blocks.iter().map(block).collect(),
            headers: headers.to_vec(),
        }
    }

    #[test]
    fn what_is_behind_a_loop_waits_for_all_its_rounds() {
        // 0 → 1; 1 → 3 or 2; 2 → 1: `while (1) 2; 3`, with the way out first.
        let function = function(
            &[(&[1], &[]), (&[3, 2], &[0]), (&[1], &[0]), (&[], &[])],
            &[1],
        );
        let flow = Flow::of(&function);
        let (first, _) = flow.next(&function, (0, &flow.first(&function)), 1);
        let (body, _) = flow.next(&function, (1, &first), 2);
        let (again, is_way_back) = flow.next(&function, (2, &body), 1);
        let (out, leaves) = flow.next(&function, (1, &first), 3);
        assert!(is_way_back && !leaves);
        assert!(first < body && body < again && again < out);
        let (out_later, _) = flow.next(&function, (1, &again), 3);
        assert_eq!(out, out_later, "both meet there");
    }

    #[test]
    fn an_inner_loop_begins_anew_in_each_round_of_the_outer_one() {
        // while (1) { while (2) 3; } 4
        let function = function(
            &[
                (&[1], &[]),
                (&[2, 4], &[1]),
                (&[3, 1], &[1, 0]),
                (&[2], &[1, 0]),
                (&[], &[]),
            ],
            &[2, 1],
        );
        let flow = Flow::of(&function);
        let (outer, _) = flow.next(&function, (0, &flow.first(&function)), 1);
        let (inner, _) = flow.next(&function, (1, &outer), 2);
        let (body, _) = flow.next(&function, (2, &inner), 3);
        let (second, _) = flow.next(&function, (3, &body), 2);
        let (outer_again, is_way_back) = flow.next(&function, (2, &second), 1);
        let (inner_again, _) = flow.next(&function, (1, &outer_again), 2);
        assert!(is_way_back);
        assert!(inner < body && body < second && second < outer_again && outer_again < inner_again);
        assert_eq!(inner_again.last(), inner.last());
        assert_eq!(
            inner_again[1].1, 0,
            "the inner loop counts from the beginning"
        );
    }
}
