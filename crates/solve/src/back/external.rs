//! Any program that reads SMT-LIB 2, as a child process: for comparison, one process a query.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nearmiss_expr::{InputByte, Ranges, Terms, print};

use crate::query::{Answer, Layer, Model, Query, Reason, Reply, Solver};

/// A solver in a process of its own.
pub struct External {
    command: Vec<String>,
}

impl External {
    /// A program with its arguments, such as `z3 -in`.
    pub fn new(command: Vec<String>) -> External {
        External { command }
    }

    fn answer(&self, terms: &mut Terms, query: &Query<'_>) -> Result<Answer, Reason> {
        let script = script(terms, query);
        let text = self.run(script, query.effort.deadline.left())?;
        let (verdict, values) = text.trim_start().split_once('\n').unwrap_or((&text, ""));
        match verdict.trim() {
            "sat" => Ok(Answer::Sat(model(values).ok_or(Reason::Failed)?)),
            "unsat" => Ok(Answer::Unsat),
            "unknown" | "timeout" => Err(Reason::Timeout),
            _ => Err(Reason::Failed),
        }
    }

    /// What the program says to a script, if it says it in time.
    fn run(&self, script: String, time: Duration) -> Result<String, Reason> {
        let (program, arguments) = self.command.split_first().ok_or(Reason::Failed)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| Reason::Failed)?;
        let mut input = child.stdin.take().ok_or(Reason::Failed)?;
        let mut output = child.stdout.take().ok_or(Reason::Failed)?;
        // A program that does not read, or writes before it has read all, must not stop us.
        thread::spawn(move || input.write_all(script.as_bytes()));
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut text = String::new();
            let done = output.read_to_string(&mut text);
            sender.send(done.map(|_| text))
        });
        let said = receiver.recv_timeout(time);
        // It has ended, or is to end now; either way nothing of it stays behind.
        let _ = child.kill();
        let _ = child.wait();
        said.map_err(|_| Reason::Timeout)?
            .map_err(|_| Reason::Failed)
    }
}

/// A command that cannot be used as a solver.
#[derive(Debug)]
pub struct NoSolver {
    command: String,
    why: Refused,
}

#[derive(Debug)]
enum Refused {
    NoCommand,
    NotStarted(io::Error),
    NoAnswer,
    WrongAnswer,
}

impl fmt::Display for NoSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = &self.command;
        match &self.why {
            Refused::NoCommand => f.write_str("--solver: no command given"),
            Refused::NotStarted(error) => write!(f, "--solver {command}: {error}"),
            Refused::NoAnswer => write!(f, "--solver {command}: it gives no answer"),
            Refused::WrongAnswer => write!(
                f,
                "--solver {command}: it does not answer a query in SMT-LIB 2 on its standard input"
            ),
        }
    }
}

impl std::error::Error for NoSolver {}

/// Makes sure that a command is a solver, by a query whose answer is known; else says why not. One
/// that never answers would leave every check undecided.
pub fn check(command: &[String]) -> Result<(), NoSolver> {
    const QUERY: &str = "(set-option :produce-models true)\n(set-logic QF_BV)\n\
        (declare-const i0_0 (_ BitVec 8))\n(assert (= i0_0 #x2a))\n(check-sat)\n\
        (get-value (i0_0))\n(exit)\n";
    let refused = |why: Refused| NoSolver {
        command: command.join(" "),
        why,
    };
    let Some((program, arguments)) = command.split_first() else {
        return Err(refused(Refused::NoCommand));
    };
    // Only whether it can be started: what it says is asked below.
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| refused(Refused::NotStarted(error)))?;
    let _ = child.kill();
    let _ = child.wait();
    let external = External::new(command.to_vec());
    let said = external.run(QUERY.to_string(), PATIENCE);
    let said = said.map_err(|_| refused(Refused::NoAnswer))?;
    let (verdict, values) = said.trim_start().split_once('\n').unwrap_or((&said, ""));
    let value = model(values).and_then(|model| model.iter().next().map(|(_, value)| value));
    match (verdict.trim(), value) {
        ("sat", Some(0x2a)) => Ok(()),
        _ => Err(refused(Refused::WrongAnswer)),
    }
}

/// How long a solver may take for a query that needs no thought.
const PATIENCE: Duration = Duration::from_secs(10);

impl Solver for External {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let answer = self.answer(terms, query).unwrap_or_else(Answer::Unknown);
        Reply::new(answer, Layer::External)
    }
}

/// The query as a script that asks for the values of all inputs in it.
fn script(terms: &mut Terms, query: &Query<'_>) -> String {
    let mut assertions = query.constraints.to_vec();
    assertions.push(query.goal);
    for &(byte, value) in query.fixed {
        let (input, value) = (terms.input(byte), terms.constant(8, value.into()));
        assertions.push(terms.eq(input, value));
    }
    let script = print::smt(terms, &mut Ranges::new(), &assertions);
    let names: Vec<&str> = script
        .lines()
        .filter_map(|line| line.strip_prefix("(declare-const ")?.split(' ').next())
        .collect();
    let values = if names.is_empty() {
        String::new()
    } else {
        format!("(get-value ({}))\n", names.join(" "))
    };
    format!("(set-option :produce-models true)\n{script}{values}(exit)\n")
}

/// Reads the pairs of names and values that follow `sat`.
fn model(values: &str) -> Option<Model> {
    let mut words = values
        .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
        .filter(|word| !word.is_empty());
    let mut model = Model::new();
    while let Some(name) = words.next() {
        model.set(input_byte(name)?, byte_value(words.next()?)?);
    }
    Some(model)
}

/// The input byte that is called `i<channel>_<offset>` in a script.
fn input_byte(name: &str) -> Option<InputByte> {
    let (channel, offset) = name.strip_prefix('i')?.split_once('_')?;
    Some(InputByte {
        channel: channel.parse().ok()?,
        offset: offset.parse().ok()?,
    })
}

/// `#x41` or `#b01000001`.
fn byte_value(text: &str) -> Option<u8> {
    let hexadecimal = text.strip_prefix("#x").map(|digits| (digits, 16));
    let binary = text.strip_prefix("#b").map(|digits| (digits, 2));
    let (digits, base) = hexadecimal.or(binary)?;
    u8::from_str_radix(digits, base).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_solvers_write_them() {
        let model = model("((i0_3 #x41)\n (i2_17 #b00001111))\n").expect("well-formed");
        let byte = |channel, offset| InputByte { channel, offset };
        let values: Vec<_> = model.iter().collect();
        assert_eq!(values, [(byte(0, 3), 0x41), (byte(2, 17), 15)]);
        assert!(super::model("((error \"no model\"))").is_none());
    }
}
