//! Answers that all sessions of a campaign share.
//!
//! Neighbouring paths ask the same questions: behind the fork where two of them part, most
//! conditions are about other bytes of the input. A question's [`Key`] says what is asked and
//! nothing else, not even on which path, so whoever has answered it has answered it for all.
//!
//! ```text
//!  "no"           depends on the conditions alone
//!  an input       is near to one recorded input: also on the recorded values of its bytes
//!  "don't know"   holds for those who have no more time
//! ```

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use nearmiss_expr::digest::absorb;

use crate::question::{Answer, Model, Reason};

/// What a question asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The conditions and the goal.
    pub question: u128,
    /// The recorded values of the bytes that these depend on.
    pub recorded: u128,
}

impl Key {
    fn with_recorded(self) -> u128 {
        absorb(self.question, self.recorded)
    }
}

/// How much is kept: answers, and bytes of inputs in them. Twice as much for a short while.
const ROOM: usize = 400_000;

/// Answers to questions. What was not asked for long is forgotten.
#[derive(Debug, Default)]
pub struct Answers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// What was told or asked for since the last time that there was too much.
    recent: HashMap<u128, Known>,
    /// What was before.
    older: HashMap<u128, Known>,
    /// How much is in `recent`.
    size: usize,
}

#[derive(Clone, Debug)]
enum Known {
    Unsat,
    Sat(Model),
    /// Not within this time.
    Unknown(Reason, Duration),
}

impl Answers {
    /// The answer to a question, if someone knows it, or knows that it takes more time.
    pub fn look_up(&self, key: Key, time: Duration) -> Option<Answer> {
        let mut kept = self.kept.lock().expect("no thread panics");
        match kept.get(key.question) {
            Some(Known::Unsat) => return Some(Answer::Unsat),
            Some(Known::Unknown(reason, tried)) if is_no_more(time, tried) => {
                return Some(Answer::Unknown(reason));
            }
            _ => {}
        }
        match kept.get(key.with_recorded()) {
            Some(Known::Sat(model)) => Some(Answer::Sat(model)),
            _ => None,
        }
    }

    /// Remembers the answer to a question that had so much time.
    pub fn tell(&self, key: Key, answer: &Answer, time: Duration) {
        let (name, known) = match answer {
            Answer::Unsat => (key.question, Known::Unsat),
            Answer::Sat(model) => (key.with_recorded(), Known::Sat(model.clone())),
            Answer::Unknown(reason @ (Reason::Timeout | Reason::TooLarge)) => {
                (key.question, Known::Unknown(*reason, time))
            }
            Answer::Unknown(_) => return,
        };
        let mut kept = self.kept.lock().expect("no thread panics");
        kept.put(name, known);
    }
}

/// Whether a time is no longer than another, as far as that can be told of times.
fn is_no_more(time: Duration, than: Duration) -> bool {
    time <= than + than / 8
}

impl Kept {
    fn get(&mut self, name: u128) -> Option<Known> {
        if let Some(known) = self.recent.get(&name) {
            return Some(known.clone());
        }
        let known = self.older.remove(&name)?;
        self.put(name, known.clone());
        Some(known)
    }

    fn put(&mut self, name: u128, known: Known) {
        self.size += match &known {
            Known::Sat(model) => 1 + model.len(),
            _ => 1,
        };
        self.recent.insert(name, known);
        if self.size > ROOM {
            self.older = std::mem::take(&mut self.recent);
            self.size = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::InputByte;

    const SECOND: Duration = Duration::from_secs(1);

    fn key(question: u128, recorded: u128) -> Key {
        Key { question, recorded }
    }

    #[test]
    fn a_no_is_for_all_an_input_for_those_who_recorded_the_same() {
        let answers = Answers::default();
        answers.tell(key(1, 1), &Answer::Unsat, SECOND);
        let byte = InputByte {
            channel: 0,
            offset: 0,
        };
        let model = Answer::Sat(Model::from_iter([(byte, 7)]));
        answers.tell(key(2, 1), &model, SECOND);
        assert_eq!(answers.look_up(key(1, 2), SECOND), Some(Answer::Unsat));
        assert_eq!(answers.look_up(key(2, 1), SECOND), Some(model));
        assert_eq!(answers.look_up(key(2, 2), SECOND), None);
    }

    #[test]
    fn who_has_more_time_asks_again() {
        let answers = Answers::default();
        let late = Answer::Unknown(Reason::Timeout);
        answers.tell(key(1, 1), &late, SECOND);
        assert_eq!(answers.look_up(key(1, 1), SECOND), Some(late));
        assert_eq!(answers.look_up(key(1, 1), 2 * SECOND), None);
        let wrong = Answer::Unknown(Reason::WrongModel);
        answers.tell(key(2, 1), &wrong, SECOND);
        assert_eq!(answers.look_up(key(2, 1), SECOND), None);
    }

    #[test]
    fn what_is_asked_for_stays() {
        let answers = Answers::default();
        answers.tell(key(0, 0), &Answer::Unsat, SECOND);
        answers.tell(key(1, 0), &Answer::Unsat, SECOND);
        for question in 2..3 * ROOM as u128 {
            answers.tell(key(question, 0), &Answer::Unsat, SECOND);
            if question.is_multiple_of(1000) {
                assert!(answers.look_up(key(0, 0), SECOND).is_some(), "{question}");
            }
        }
        assert_eq!(answers.look_up(key(1, 0), SECOND), None);
    }
}
