//! A solver in a process of its own, played by a shell.

mod common;

use std::time::{Duration, Instant};

use common::{byte, limits};
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::{Answer, Backend, Limits, Model, Reason, Stack};

fn answer(script: &str, limits: &Limits) -> Answer {
    let mut terms = Terms::new();
    let goal = goal(&mut terms);
    let recorded = |_: InputByte| 0;
    let command = ["sh", "-c", script].map(String::from).to_vec();
    let mut session = Stack::bare(Backend::External { command }).session(&recorded);
    session.query(&mut terms, goal, limits).answer
}

fn goal(terms: &mut Terms) -> TermId {
    let (input, value) = (terms.input(byte(0)), terms.constant(8, 0x41));
    terms.eq(input, value)
}

#[test]
fn answers_are_understood() {
    let model = Model::from_iter([(byte(0), 0x41)]);
    for (script, expected) in [
        (
            "cat >/dev/null; echo sat; echo '((i0_0 #x41))'",
            Answer::Sat(model.clone()),
        ),
        ("echo sat; echo '((i0_0 #b01000001))'", Answer::Sat(model)),
        (
            "echo sat; echo '((i0_0 #x42))'",
            Answer::Unknown(Reason::WrongModel),
        ),
        ("cat >/dev/null; echo unsat; echo '(error)'", Answer::Unsat),
        ("echo unknown", Answer::Unknown(Reason::Timeout)),
        ("echo nonsense", Answer::Unknown(Reason::Failed)),
        ("grep -q 'get-value (i0_0)' && echo unsat", Answer::Unsat),
    ] {
        assert_eq!(answer(script, &limits(20)), expected, "{script}");
    }
}

#[test]
fn it_is_ended_in_time() {
    let start = Instant::now();
    let answer = answer("exec sleep 1000", &Limits::time(Duration::from_millis(50)));
    assert_eq!(answer, Answer::Unknown(Reason::Timeout));
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_missing_program_is_a_failure() {
    let mut terms = Terms::new();
    let goal = goal(&mut terms);
    let recorded = |_: InputByte| 0;
    let command = vec!["no-such-program-anywhere".to_string()];
    let mut session = Stack::bare(Backend::External { command }).session(&recorded);
    let answer = session.query(&mut terms, goal, &limits(1)).answer;
    assert_eq!(answer, Answer::Unknown(Reason::Failed));
    assert_eq!(session.statistics().failures, 1);
}
