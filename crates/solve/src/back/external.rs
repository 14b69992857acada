//! Any program that reads SMT-LIB 2, as a child process: for comparison, one process a question.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use nearmiss_expr::{InputByte, Ranges, Terms, print};

use crate::question::{Answer, Layer, Model, Question, Reason, Reply, Solver};

/// A solver in a process of its own.
pub struct External {
    command: Vec<String>,
    ranges: Ranges,
}

impl External {
    /// A program with its arguments, such as `z3 -in`.
    pub fn new(command: Vec<String>) -> External {
        External {
            command,
            ranges: Ranges::new(),
        }
    }

    fn script(&mut self, terms: &mut Terms, question: &Question<'_>) -> String {
        let mut assertions = question.path.to_vec();
        assertions.push(question.goal);
        for &(byte, value) in question.fixed {
            let (input, value) = (terms.input(byte), terms.constant(8, value.into()));
            assertions.push(terms.eq(input, value));
        }
        print::smt(terms, &mut self.ranges, &assertions)
    }

    fn answer(&mut self, terms: &mut Terms, question: &Question<'_>) -> Answer {
        let _ = self.script(terms, question);
        Answer::Unknown(Reason::Failed)
    }
}

impl Solver for External {
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        Reply::new(self.answer(terms, question), Layer::External)
    }
}
