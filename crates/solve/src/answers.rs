//! Answers that all sessions of a campaign share.
//!
//! Neighbouring paths lead to the same queries: behind the fork where two of them part, most
//! constraints are about other bytes of the input. A query's [`Key`] names constraints and goal
//! and nothing else, not even the path, so one answer serves all paths.
//!
//! ```text
//!  "no"           depends on the constraints alone
//!  an input       is near to one recorded input: also on the recorded values of its bytes
//!  "don't know"   holds for queries that have no more time
//! ```

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use nearmiss_expr::digest::absorb;

use crate::query::{Answer, Model, Reason};

/// The name of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The constraints and the goal.
    pub query: u128,
    /// The recorded values of the bytes that these depend on.
    pub recorded: u128,
}

impl Key {
    fn with_recorded(self) -> u128 {
        absorb(self.query, self.recorded)
    }
}

/// The room unless said otherwise.
const ROOM: usize = 400_000;

/// Answers to queries. What was not looked up for long is forgotten.
#[derive(Debug)]
pub struct Answers {
    kept: Mutex<Kept>,
    /// How much is kept: answers, and bytes of inputs in them. Twice as much for a short while.
    room: usize,
}

impl Default for Answers {
    fn default() -> Answers {
        Answers::with_room(ROOM)
    }
}

#[derive(Debug, Default)]
struct Kept {
    /// What was added or looked up since the last time that there was too much.
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
    /// Room for so many answers, and bytes of inputs in them.
    pub fn with_room(room: usize) -> Answers {
        Answers {
            kept: Mutex::default(),
            room,
        }
    }

    /// The answer to a query, if it is known, or known to take more time.
    pub fn look_up(&self, key: Key, time: Duration) -> Option<Answer> {
        let mut kept = self.kept.lock().expect("no thread panics");
        match kept.get(key.query, self.room) {
            Some(Known::Unsat) => return Some(Answer::Unsat),
            Some(Known::Unknown(reason, tried)) if is_no_more(time, tried) => {
                return Some(Answer::Unknown(reason));
            }
            _ => {}
        }
        match kept.get(key.with_recorded(), self.room) {
            Some(Known::Sat(model)) => Some(Answer::Sat(model)),
            _ => None,
        }
    }

    /// Remembers the answer to a query that had so much time.
    pub fn remember(&self, key: Key, answer: &Answer, time: Duration) {
        let (name, known) = match answer {
            Answer::Unsat => (key.query, Known::Unsat),
            Answer::Sat(model) => (key.with_recorded(), Known::Sat(model.clone())),
            Answer::Unknown(reason @ (Reason::Timeout | Reason::TooLarge)) => {
                (key.query, Known::Unknown(*reason, time))
            }
            Answer::Unknown(_) => return,
        };
        let mut kept = self.kept.lock().expect("no thread panics");
        kept.put(name, known, self.room);
    }
}

/// Whether a time is no longer than another, as exactly as times are measured.
fn is_no_more(time: Duration, than: Duration) -> bool {
    time <= than + than / 8
}

impl Kept {
    fn get(&mut self, name: u128, room: usize) -> Option<Known> {
        if let Some(known) = self.recent.get(&name) {
            return Some(known.clone());
        }
        let known = self.older.remove(&name)?;
        self.put(name, known.clone(), room);
        Some(known)
    }

    fn put(&mut self, name: u128, known: Known, room: usize) {
        self.size += match &known {
            Known::Sat(model) => 1 + model.len(),
            _ => 1,
        };
        self.recent.insert(name, known);
        if self.size > room {
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

    fn key(query: u128, recorded: u128) -> Key {
        Key { query, recorded }
    }

    #[test]
    fn unsat_is_for_all_an_input_for_the_same_recorded_bytes() {
        let answers = Answers::default();
        answers.remember(key(1, 1), &Answer::Unsat, SECOND);
        let byte = InputByte {
            channel: 0,
            offset: 0,
        };
        let model = Answer::Sat(Model::from_iter([(byte, 7)]));
        answers.remember(key(2, 1), &model, SECOND);
        assert_eq!(answers.look_up(key(1, 2), SECOND), Some(Answer::Unsat));
        assert_eq!(answers.look_up(key(2, 1), SECOND), Some(model));
        assert_eq!(answers.look_up(key(2, 2), SECOND), None);
    }

    #[test]
    fn more_time_is_worth_another_try() {
        let answers = Answers::default();
        let late = Answer::Unknown(Reason::Timeout);
        answers.remember(key(1, 1), &late, SECOND);
        assert_eq!(answers.look_up(key(1, 1), SECOND), Some(late));
        assert_eq!(answers.look_up(key(1, 1), 2 * SECOND), None);
        let wrong = Answer::Unknown(Reason::WrongModel);
        answers.remember(key(2, 1), &wrong, SECOND);
        assert_eq!(answers.look_up(key(2, 1), SECOND), None);
    }

    #[test]
    fn what_is_looked_up_stays() {
        let answers = Answers::default();
        answers.remember(key(0, 0), &Answer::Unsat, SECOND);
        answers.remember(key(1, 0), &Answer::Unsat, SECOND);
        for query in 2..3 * ROOM as u128 {
            answers.remember(key(query, 0), &Answer::Unsat, SECOND);
            if query.is_multiple_of(1000) {
                assert!(answers.look_up(key(0, 0), SECOND).is_some(), "{query}");
            }
        }
        assert_eq!(answers.look_up(key(1, 0), SECOND), None);
    }
}
