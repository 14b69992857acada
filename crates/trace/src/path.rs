//! The path of a recorded run: events, each with the condition that it puts on the input.

use nearmiss_abi::channel::{ChannelKind, ChannelRow};
use nearmiss_abi::check::{CONTRACT_PREFIX, Kind};
use nearmiss_abi::event::{
    Event as RawEvent, EventKind, FORBIDDEN_STEP, NO_LOWER, PHASE_FUNCTION, PHASE_SETUP,
    phase as phase_of, steps_passed,
};
use nearmiss_abi::note::{NoteKind, NoteRow};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::trace::{STATE_EXECUTED, STATE_EXITED};
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};
use nearmiss_sites::Sites;

use crate::binding::{Binder, Bindings};
use crate::channel::{Channel, channels, recorded};
use crate::implied;
use crate::import::{Imported, import};
use crate::raw::{Answer, RawTrace};
use crate::switch;
use crate::verify::{Verified, verify};
use crate::word::{Word, Words};

/// A recorded run: what happened, over terms that lie in an [`Arena`].
#[derive(Clone, Debug)]
pub struct RecordedPath {
    /// The file of the program.
    pub program: Vec<u8>,
    /// Where input came from, as this run numbers it.
    pub channels: Vec<Channel>,
    /// What the arena's terms call each of these channels.
    pub numbers: Vec<u32>,
    /// What happened, in order, with what that implies for lengths of inputs.
    pub events: Vec<Event>,
    /// What came from outside and is not given again: [`RawTrace::answers`].
    pub answers: Vec<Answer>,
    /// Which bytes the events bind, where these are not all of their conditions.
    pub bindings: Bindings,
    /// Words of the input that are compared with texts of another length.
    pub words: Vec<Word>,
    /// The phase of a harness that the run came to.
    pub phase: u16,
    /// How many steps towards a target it passed, where a harness marks them.
    pub steps_passed: u8,
    /// What was lost while recording.
    pub notes: Vec<NoteRow>,
    /// How the process ended.
    pub state: State,
    /// Whether the recording stopped before the process did.
    pub stopped: bool,
    /// Where the path ended, if not with the last event.
    pub end: End,
    /// Terms and events that contradict the recorded input; none of them is used.
    pub inconsistent: u64,
}

/// How a recorded process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was killed, or still runs.
    Running,
    /// It ended with this status.
    Exited(i32),
    /// It executed another program.
    Executed,
}

/// Where a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the last event.
    Whole,
    /// Before this event, which is of no known kind or about a term that is cut off or makes
    /// no sense.
    Before(usize),
}

/// One event of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// Where.
    pub site: SiteId,
    /// Which way a branch went, whether a check held.
    pub truth: bool,
    /// What made two runs that pass here go the same way: the truth, the number of a switch's
    /// target, the value that was fixed (its low 64 bits).
    pub choice: u64,
    /// What holds of the input because of this event: a one-bit term that is true under the
    /// recorded input. `None` where the event was about concrete data.
    pub condition: Option<TermId>,
    /// What a switch was on.
    pub switched: Option<TermId>,
    /// Whether, between the event before and this one, the program did something on concrete data
    /// that could go wrong on other data: an access with a computed address, a division.
    pub sensitive: bool,
    /// Why a value was fixed.
    pub reason: Option<NoteKind>,
    /// In which phase of a harness it happened, one of `nearmiss_abi::event::PHASE_*`; that of the
    /// function where nobody says.
    pub phase: u16,
    /// How many steps towards a target were passed before it; `nearmiss_abi::event::FORBIDDEN_STEP` behind a
    /// place that was not to be passed.
    pub steps_passed: u8,
    /// Of a branch or switch: where the stack ended (`nearmiss_abi::event::frame`), which tells
    /// activations of a function apart; 0 where nobody says.
    pub frame: u16,
    /// What goes wrong if this check fails, or is feared where this probe leads, if the event
    /// says so and not its site.
    pub failure: Option<Kind>,
    /// Whether the failing side of this check is the program's own code, which ends it: `abort`, an
    /// assertion, a trap. Which side is taken there is a decision like that of a branch.
    pub exits: bool,
    /// Which bytes it binds, for [`Bindings::get`].
    pub binding: Option<u32>,
    /// What a model decided by how long an input is, or where one of its lines ends, if it did
    /// (`nearmiss_abi::event::LENGTH_*`): with another length other events come instead.
    pub by_length: Option<u16>,
    /// Of a decision: what takes the other way here, and at several decisions behind it.
    pub hint: Option<Hint>,
    /// Of a decision: the number, among [`RecordedPath::words`], of what is compared here where no change of bytes makes it
    /// equal.
    pub word: Option<u32>,
    /// No event of the program's: that an input is long enough, which the next other event implies
    /// or needs.
    pub implied: Option<LengthBound>,
}

/// What a model knows of several decisions to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// A one-bit term that is false: an input that makes it true takes the other way at all of them.
    pub goal: TermId,
    /// Where it was given: the call.
    pub site: SiteId,
}

/// That a piece of input is long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthBound {
    /// The channel of the length; `None`: the condition is about an address.
    pub channel: Option<u32>,
    /// The least length that is enough, or the lowest bits of the lowest address.
    pub least: u32,
    /// Whether shorter inputs are another way that is tried; there is a maximum of these.
    pub is_tried: bool,
}

impl Event {
    /// Whether this event tells paths apart that differ in what they decide on input data.
    pub fn is_decision(&self) -> bool {
        let decides = match self.kind {
            EventKind::Branch | EventKind::Switch => true,
            EventKind::Check => self.exits,
            _ => false,
        };
        decides && self.condition.is_some()
    }

    /// It is no part of the code under test: what it decided holds, and has no alternatives.
    fn become_condition(&mut self) {
        if self.is_decision() {
            self.kind = EventKind::Assume;
            self.switched = None;
        }
        self.sensitive = false;
    }

    /// Whether this event says that a check failed in the recorded run.
    pub fn is_failure(&self) -> bool {
        self.kind == EventKind::CheckFailed || self.kind == EventKind::Check && !self.truth
    }
}

/// Where terms go: those of one run, or of many, of which equal ones are one.
///
/// A byte of input has one number in all runs of an arena, in whatever order they met their inputs.
pub struct Arena<'a> {
    /// The terms.
    pub terms: &'a mut Terms,
    /// Kept from run to run to save its allocations.
    pub evaluator: &'a mut Evaluator,
    /// The number of a channel in all runs; different channels have different numbers.
    pub number: &'a mut dyn FnMut(&Channel) -> u32,
}

/// How a trace is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// What was fed to the program; `None` if that is unknown.
    pub stdin: Option<&'a [u8]>,
    /// The maximum of events: what lies behind is left out, as if the recording had stopped.
    pub events: usize,
    /// Whether the path says where it needs an input that is long enough.
    pub implied_lengths: bool,
}

impl RecordedPath {
    /// The path of a trace.
    pub fn read(raw: &RawTrace, sites: &Sites, arena: &mut Arena, how: Reading) -> RecordedPath {
        let channels = channels(raw, how.stdin);
        let numbers: Vec<u32> = channels.iter().map(&mut *arena.number).collect();
        let verified = verify(raw, &channels);
        let recorded = usable_events(raw, &verified);
        let usable = recorded.min(how.events);
        arena.evaluator.reset();
        let mut reader = Reader {
            sites,
            verified: &verified,
            recorded: &Renumbered {
                channels: &channels,
                numbers: &numbers,
            },
            numbers: &numbers,
            terms: arena.terms,
            evaluator: arena.evaluator,
            inconsistent: verified.inconsistent,
        };
        let (mut events, bindings, words) = reader.events(raw, &raw.events[..usable]);
        let inconsistent = reader.inconsistent;
        if how.implied_lengths {
            events = implied::insert(events, arena.terms, &channels, &bindings);
        }
        let marks = || raw.events[..usable].iter().filter(|event| is_mark(event));
        let steps = marks().map(|mark| steps_passed(mark.aux));
        RecordedPath {
            program: raw.program().to_vec(),
            phase: marks()
                .next_back()
                .map_or(PHASE_FUNCTION, |mark| phase_of(mark.aux)),
            steps_passed: steps.filter(|it| *it != FORBIDDEN_STEP).max().unwrap_or(0),
            notes: raw.notes.clone(),
            answers: raw.answers.clone(),
            state: state(raw),
            stopped: raw.header.stopped != 0 || usable < recorded,
            end: end(raw, usable),
            inconsistent,
            channels,
            numbers,
            events,
            bindings,
            words,
        }
    }

    /// The path of a run with terms of its own, in which channels have the run's numbers. `stdin` is
    /// what was fed to the program; `None` if that is unknown.
    pub fn read_alone(
        raw: &RawTrace,
        sites: &Sites,
        stdin: Option<&[u8]>,
    ) -> (Terms, RecordedPath) {
        let mut terms = Terms::new();
        let mut next = 0;
        let mut arena = Arena {
            terms: &mut terms,
            evaluator: &mut Evaluator::new(),
            number: &mut |_| {
                next += 1;
                next - 1
            },
        };
        let how = Reading {
            stdin,
            events: usize::MAX,
            implied_lengths: true,
        };
        let path = RecordedPath::read(raw, sites, &mut arena, how);
        (terms, path)
    }

    /// A byte of the recorded input, by the run's own number of its channel.
    pub fn recorded(&self, byte: InputByte) -> Option<u8> {
        recorded(&self.channels, byte.channel, byte.offset)
    }
}

/// The recorded input under the numbers that channels have in all runs.
struct Renumbered<'a> {
    channels: &'a [Channel],
    numbers: &'a [u32],
}

impl Inputs for Renumbered<'_> {
    fn byte(&self, byte: InputByte) -> u8 {
        // A run with terms of its own keeps its numbers.
        let channel = if self.numbers.get(byte.channel as usize) == Some(&byte.channel) {
            Some(byte.channel as usize)
        } else {
            let mut numbers = self.numbers.iter();
            numbers.position(|&number| number == byte.channel)
        };
        let known = channel.and_then(|it| recorded(self.channels, it as u32, byte.offset));
        known.unwrap_or(0)
    }
}

fn state(raw: &RawTrace) -> State {
    match raw.header.state {
        STATE_EXITED => State::Exited(raw.header.exit_status),
        STATE_EXECUTED => State::Executed,
        _ => State::Running,
    }
}

fn end(raw: &RawTrace, usable: usize) -> End {
    if usable == raw.events.len() && raw.events.len() as u64 == raw.header.event_count {
        End::Whole
    } else {
        End::Before(usable)
    }
}

fn is_mark(event: &RawEvent) -> bool {
    event.kind == EventKind::Mark as u8
}

/// Whether an event is about concrete data: a check that failed, an assumption that did not hold.
fn has_no_term(event: &RawEvent) -> bool {
    match EventKind::from_code(event.kind) {
        Some(EventKind::CheckFailed | EventKind::Mark) => true,
        Some(EventKind::Assume) => event.label == 0 && !event.truth(),
        _ => false,
    }
}

/// How many events there are before the first that makes no sense.
fn usable_events(raw: &RawTrace, verified: &Verified) -> usize {
    let makes_sense = |event: &RawEvent| {
        let Some(kind) = EventKind::from_code(event.kind) else {
            return false;
        };
        if has_no_term(event) {
            return true;
        }
        let label = event.label as usize;
        if label == 0 || label >= verified.usable() {
            return false;
        }
        let is_any_width = matches!(
            kind,
            EventKind::Switch | EventKind::Concretized | EventKind::Word
        );
        is_any_width || raw.terms[label].width == 1
    };
    let first_bad = raw.events.iter().position(|event| !makes_sense(event));
    first_bad.unwrap_or(raw.events.len())
}

struct Reader<'a> {
    sites: &'a Sites,
    verified: &'a Verified,
    /// The recorded input, by the numbers that terms have for channels.
    recorded: &'a dyn Inputs,
    /// What terms call each channel of the trace.
    numbers: &'a [u32],
    terms: &'a mut Terms,
    evaluator: &'a mut Evaluator,
    inconsistent: u64,
}

/// A harness fills blocks of a symbolic size with as many elements as this run has: that they fit is
/// no condition on other runs.
fn is_about_this_run(kind: u8) -> bool {
    kind == EventKind::Check as u8 || kind == EventKind::Probe as u8
}

impl Reader<'_> {
    fn events(&mut self, raw: &RawTrace, events: &[RawEvent]) -> (Vec<Event>, Bindings, Vec<Word>) {
        let mut binder = Binder::new(raw, self.verified.usable(), self.numbers);
        let consistent = &self.verified.consistent;
        let wanted = events
            .iter()
            .map(|event| event.label)
            .filter(|label| consistent.get(*label as usize) == Some(&true));
        let imported = import(raw, self.terms, self.numbers, wanted);
        let mut read_events: Vec<Event> = Vec::with_capacity(events.len());
        // Of the next decision.
        let mut hint = None;
        let mut word = None;
        let mut words = Words::default();
        // What was done before an event that is not used was done before the next one.
        let mut was_sensitive = false;
        // What comes before the first mark of a harness is its setup.
        let says_phase = |event: &RawEvent| is_mark(event) && steps_passed(event.aux) == 0;
        let is_marked = events.iter().any(says_phase);
        let mut phase = if is_marked {
            PHASE_SETUP
        } else {
            PHASE_FUNCTION
        };
        let mut steps = 0;
        // Between calls at its boundary nothing is the code under test.
        let is_call = |row: &ChannelRow| row.kind == ChannelKind::Call as u8;
        let has_calls = raw.channels.iter().any(is_call);
        for event in events {
            let event = event.after_sensitive(event.is_sensitive() || was_sensitive);
            if is_mark(&event) {
                phase = phase_of(event.aux);
                steps = steps_passed(event.aux);
                was_sensitive = event.is_sensitive();
                continue;
            }
            let is_outside = has_calls && phase == PHASE_SETUP;
            if phase == PHASE_SETUP && is_about_this_run(event.kind)
                || is_outside && event.kind == EventKind::CheckFailed as u8
            {
                continue;
            }
            if self.is_look_of_contract(&event) {
                was_sensitive = event.is_sensitive();
                continue;
            }
            if event.kind == EventKind::Hint as u8 {
                let site = SiteId(event.site);
                hint = imported.get(event.label).map(|goal| Hint { goal, site });
                was_sensitive = event.is_sensitive();
                continue;
            }
            if event.kind == EventKind::Word as u8 {
                let start = imported.get(event.label);
                word = start.and_then(|start| words.add(raw, &event, self.terms, start));
                was_sensitive = event.is_sensitive();
                continue;
            }
            let mut read = self.event(&event, phase, &imported, &mut binder);
            if let Some(read) = &mut read {
                read.steps_passed = steps;
                if is_outside {
                    read.become_condition();
                }
                if read.is_decision() {
                    read.hint = hint.take();
                    read.word = word.take();
                }
            }
            self.inconsistent += read.is_none() as u64;
            was_sensitive = read.is_none() && event.is_sensitive();
            read_events.extend(read);
        }
        (read_events, binder.bindings, words.0)
    }

    /// Whether an event is a check in the code of a contract. That looks before it reads, on the recorded data; what it
    /// reads for others is no condition on the program.
    fn is_look_of_contract(&self, event: &RawEvent) -> bool {
        let kinds = [EventKind::Check, EventKind::CheckFailed, EventKind::Probe];
        let is_check = kinds.iter().any(|kind| *kind as u8 == event.kind);
        is_check
            && Kind::from_code(event.aux as u8) != Some(Kind::Precondition)
            && (self.sites.get(SiteId(event.site)))
                .is_some_and(|(unit, site)| unit.function_of(site).starts_with(CONTRACT_PREFIX))
    }

    /// `None` for an event that contradicts the recorded input.
    fn event(
        &mut self,
        raw: &RawEvent,
        phase: u16,
        imported: &Imported,
        binder: &mut Binder<'_>,
    ) -> Option<Event> {
        let kind = EventKind::from_code(raw.kind)?;
        let mut event = Event {
            kind,
            site: SiteId(raw.site),
            truth: raw.truth(),
            choice: raw.truth() as u64,
            condition: None,
            switched: None,
            sensitive: raw.is_sensitive(),
            reason: None,
            phase,
            steps_passed: 0,
            frame: 0,
            failure: None,
            exits: false,
            binding: None,
            by_length: raw.is_by_length().then_some(raw.aux),
            implied: None,
            hint: None,
            word: None,
        };
        match kind {
            EventKind::Branch if event.by_length.is_some() => {}
            EventKind::Branch | EventKind::Switch => event.frame = raw.aux,
            EventKind::Concretized => event.reason = NoteKind::from_code(raw.aux as u8),
            EventKind::Assume if raw.aux & NO_LOWER != 0 => {
                event.implied = Some(LengthBound {
                    channel: None,
                    least: u32::from(raw.aux & !NO_LOWER),
                    is_tried: true,
                });
            }
            _ => event.failure = Kind::from_code(raw.aux as u8),
        }
        if kind == EventKind::Check {
            let site = self.sites.get(event.site);
            let check = site.and_then(|(_, site)| site.check());
            event.exits = check.is_some_and(|(kind, _)| kind.is_exit());
        }
        if has_no_term(raw) {
            event.truth = false;
            event.choice = 0;
            return Some(event);
        }
        let term = imported.get(raw.label)?;
        let value = self.verified.values[raw.label as usize];
        let (condition, choice) = match kind {
            EventKind::Switch => {
                event.switched = Some(term);
                switch::condition(self.terms, self.sites, event.site, term, value)
            }
            EventKind::Concretized => (switch::equals(self.terms, term, value), value as u64),
            _ => (self.terms.holds(term, event.truth), event.choice),
        };
        event.condition = Some(condition);
        event.binding = binder.bind(raw.label);
        event.choice = choice;
        self.holds(condition).then_some(event)
    }

    /// Whether a condition is true under the recorded input.
    fn holds(&mut self, condition: TermId) -> bool {
        self.evaluator.holds(self.terms, self.recorded, condition)
    }
}
