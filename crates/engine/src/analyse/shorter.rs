//! Inputs that are too short for what the path decided.
//!
//! Where a byte decided something, the input is long enough to have it (`Event::implied`). A
//! shorter input is one more way that execution can go there, of which no more is predicted than
//! that it comes there: it is run, and its own path is looked at.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_expr::support::Supports;
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId};
use nearmiss_solve::Answer;
use nearmiss_trace::{Event, LengthBound};

use super::{Flip, Task, Walk};

/// A [`Flip::choice`] that is none of the event's own.
pub const SHORTER: u64 = 1 << 63;

/// The first event from this one on that is one of the program's.
fn next_own(number: usize, events: &[Event]) -> Option<usize> {
    let next = events[number..]
        .iter()
        .position(|event| event.implied.is_none());
    next.map(|distance| number + distance)
}

impl Walk<'_> {
    /// An event that says that an input is long enough.
    pub(super) fn long_enough(&mut self, number: usize, events: &[Event], task: &Task) {
        if task.checks_from.is_some_and(|first| number >= first) {
            self.look_for_same_way(number, events);
        }
        let is_tried = events[number].implied.is_some_and(|bound| bound.is_tried);
        let is_attached = is_tried && events[number].kind == EventKind::Assume;
        let next = next_own(number, events).filter(|_| is_attached);
        if next.is_some_and(|next| self.is_wanted_fork(next, task)) {
            self.ask_shorter(&events[number]);
        }
    }

    /// Asks for the longest input that is too short, and for the shortest ones.
    pub(super) fn ask_shorter(&mut self, event: &Event) {
        let (Some(condition), Some(bound)) = (event.condition, event.implied) else {
            return;
        };
        // What earlier bytes say of this length counts, also where the path has not asked about it before: an input without
        // the lines that were read does not come here.
        self.mention(condition, false);
        let mut goals = vec![self.terms.not(condition)];
        if let Some(length) = self.length_of(bound) {
            for shortest in (0..2).filter(|shortest| shortest + 1 < bound.least) {
                let value = self.terms.constant(32, shortest.into());
                goals.push(self.terms.eq(length, value));
            }
        }
        for (number, goal) in goals.into_iter().enumerate() {
            match self.ask_way(goal) {
                Answer::Sat(changes) => {
                    let choice = SHORTER | u64::from(bound.least) << 2 | number as u64;
                    self.shorter.push(Flip::new(choice, changes));
                }
                Answer::Unsat => {}
                Answer::Unknown(_) => self.shorter_is_unknown = true,
            }
        }
    }

    fn length_of(&self, bound: LengthBound) -> Option<TermId> {
        self.lengths.term_of(bound.channel?)
    }

    /// Whether some input is too short and may go on as this one did. What is said about the path's
    /// checks is not said about such inputs; they are looked at when their fork is explored.
    fn look_for_same_way(&mut self, number: usize, events: &[Event]) {
        let event = &events[number];
        let (Some(condition), Some(bound)) = (event.condition, event.implied) else {
            return;
        };
        let next = next_own(number, events);
        let leaves_at_end =
            next.and_then(|next| self.holds_at_end(&events[next], bound)) == Some(false);
        let goal = match self.length_of(bound).filter(|_| leaves_at_end) {
            Some(length) => {
                let last = self.terms.constant(32, (bound.least - 1).into());
                self.terms.binary(Op::Ult, length, last)
            }
            None => self.terms.not(condition),
        };
        self.mention(condition, false);
        self.related_lengths(goal);
        let limits = self.limits();
        if self.session.query(self.terms, goal, &limits).answer == Answer::Unsat {
            return;
        }
        match (bound.channel, event.kind) {
            // Of all lower addresses only one is tried, of many lengths only the first.
            (None, _) => self.unchosen += 1,
            _ if !bound.is_tried => self.unchosen += 1,
            (_, EventKind::Branch) => self.same_way.extend([number]),
            _ => self.same_way.extend(next),
        }
    }

    /// Whether an event goes as it did where the input ends just before the byte that decided
    /// it. `None`: that is not known.
    fn holds_at_end(&mut self, event: &Event, bound: LengthBound) -> Option<bool> {
        let condition = event.condition?;
        let piece = self.channels.get(bound.channel? as usize)?.piece?;
        let end = match self.channels.get(piece.channel as usize)?.kind {
            ChannelKind::Argument | ChannelKind::Environment => 0,
            _ if piece.is_line => b'\n',
            _ => return None,
        };
        let byte = InputByte {
            channel: piece.channel,
            offset: piece.start + bound.least - 1,
        };
        let mut supports = Supports::new();
        let set = supports.of(self.terms, condition);
        if supports.bytes(set) != [byte] {
            return None;
        }
        let recorded = self.recorded;
        let ended = |other: InputByte| {
            if other == byte {
                end
            } else {
                recorded.byte(other)
            }
        };
        Some(Evaluator::new().holds(self.terms, &ended, condition))
    }
}
