//! A recorded run of unit tests → what each call of the wanted function reveals.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use nearmiss_abi::channel::ChannelRow;
use nearmiss_abi::check::{Kind, contracted};
use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_RESULT, PHASE_SETUP, phase};
use nearmiss_abi::site::SiteId;
use nearmiss_contracts::{Attribute, Formula};
use nearmiss_expr::{Evaluator, InputByte, Terms};
use nearmiss_harness::entry::Definition;
use nearmiss_sites::Sites;
use nearmiss_sites::rewrite::absolute;
use nearmiss_trace::{Arena, Channel, Event, RawTrace, Reading, RecordedPath};

use crate::clauses::{Revealed, reveal};
use crate::clock::Clock;
use crate::condition::Clause;
use crate::inputs::{Bytes, Input, Role, View};
use crate::plan::MOST_ELEMENTS;
use crate::shown::given::{Given, Values};

/// What the calls of a function in one or several runs reveal.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// How many calls there were.
    pub calls: u64,
    /// How many of them there was no time for, or not for their whole path.
    pub skipped: u64,
    /// Whether the tests were ended before they were done: there may be more calls.
    pub is_cut_off: bool,
    /// How many different paths they took.
    pub paths: u64,
    /// Checks on input data that they met, on all paths.
    pub checks: u64,
    /// The clauses of all paths.
    pub clauses: Vec<(Clause, SiteId)>,
    /// Checks that cannot be said in a contract, by the place of what cannot be said.
    pub unsaid: BTreeMap<SiteId, u64>,
    /// What each call was given.
    pub given: Vec<Given>,
    /// Processes that made calls.
    pub processes: u64,
    /// Inputs of which only the first elements are looked at.
    pub cut: BTreeSet<u32>,
    /// The function.
    function: String,
    /// The file of the tests: what goes wrong there, in a callback, is none of the function's business.
    tests: Option<String>,
    seen: HashSet<Vec<(u8, u64, u8, u64)>>,
}

impl Calls {
    /// Whether an event is a check in the code of the tests.
    fn is_of_tests(&self, sites: &Sites, event: &Event) -> bool {
        let file = sites
            .get(event.site)
            .map(|(unit, site)| absolute(&unit.directory, unit.file_of(site)));
        let is_check = event.kind == EventKind::Check || event.is_failure();
        is_check && self.tests.is_some() && self.tests == file
    }

    /// No calls yet of this function, by tests of this file.
    pub fn of(function: &Definition, tests: Option<&str>) -> Calls {
        let own = function.place.as_ref().map(|(file, _)| absolute("/", file));
        Calls {
            function: function.name.clone(),
            tests: tests
                .map(str::to_string)
                .filter(|it| Some(it) != own.as_ref()),
            ..Calls::default()
        }
    }

    /// Takes in what one run recorded, for as long as there is time; `inputs` are those of the function's plan.
    pub fn add(&mut self, mut raw: RawTrace, sites: &Sites, inputs: &[Input], clock: Clock) {
        let all = calls(&raw);
        self.processes += u64::from(!all.is_empty());
        let recorded = std::mem::take(&mut raw.events);
        for (number, events) in all.into_iter().enumerate() {
            let number = number as u32;
            self.calls += 1;
            // Of a call that there is no time for it is still known what it was given: requirements must suit it.
            let given = given(&raw, number, inputs);
            self.cut.extend(cut(&given, inputs));
            self.given.push(given);
            // Calls that took the same path reveal the same.
            let path: Vec<_> = (recorded[events.clone()].iter())
                .map(|event| (event.kind, event.site, event.flags, choice(&raw, event)))
                .collect();
            if self.seen.contains(&path) {
                continue;
            }
            if clock.is_over() {
                self.skipped += 1;
                continue;
            }
            self.seen.insert(path);
            self.paths += 1;
            raw.events = recorded[events].to_vec();
            let revealed = one(&raw, sites, inputs, number, self, clock);
            self.skipped += u64::from(revealed.is_cut_off);
            self.checks += revealed.checks;
            self.clauses.extend(revealed.clauses);
            for (site, count) in revealed.unsaid {
                *self.unsaid.entry(site).or_default() += count;
            }
        }
    }
}

/// The contents of a call's inputs.
fn given(raw: &RawTrace, call: u32, inputs: &[Input]) -> Given {
    let of_call = raw.channels.iter().filter(|row| row.index == call);
    let content = |row: &ChannelRow| {
        let name = raw.blob(row.name_offset, row.name_size)?;
        let is_it = |input: &Input| input.channel().as_bytes() == name;
        let number = inputs.iter().position(is_it)?;
        let content = raw.blob(row.content_offset, row.content_size)?;
        Some((number as u32, content.to_vec()))
    };
    of_call.filter_map(content).collect()
}

/// The inputs of which a call had more elements than are looked at.
fn cut(given: &Given, inputs: &[Input]) -> Vec<u32> {
    let is_cut = |number: &&u32| {
        let input = &inputs[**number as usize];
        let most = MOST_ELEMENTS as usize * input.bytes as usize;
        let bounds = Formula::term(Attribute::Bounds, &input.place);
        let count = Values { inputs }.number(&bounds, given);
        input.role == Role::Elements
            && given[*number].len() == most
            && count.is_none_or(|it| it > MOST_ELEMENTS as i128)
    };
    given.keys().filter(is_cut).copied().collect()
}

/// What tells two events of one kind at one place apart: the value that was switched on or fixed.
fn choice(raw: &RawTrace, event: &nearmiss_abi::event::Event) -> u64 {
    let is_choice =
        event.kind == EventKind::Switch as u8 || event.kind == EventKind::Concretized as u8;
    let term = raw.terms.get(event.label as usize);
    term.filter(|_| is_choice).map_or(0, |term| term.value)
}

/// The events of each call.
fn calls(raw: &RawTrace) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (number, event) in raw.events.iter().enumerate() {
        if event.kind != EventKind::Mark as u8 {
            continue;
        }
        match phase(event.aux) {
            PHASE_FUNCTION => start = Some(number + 1),
            PHASE_RESULT | PHASE_SETUP => {
                found.extend(start.take().map(|start| start..number));
                // A call that made no inputs has its number all the same.
            }
            _ => {}
        }
    }
    // A call that never came back: the program ended in it.
    found.extend(start.map(|start| start..raw.events.len()));
    found
}

/// What one call reveals; the trace has its events only.
fn one(
    raw: &RawTrace,
    sites: &Sites,
    inputs: &[Input],
    call: u32,
    calls: &Calls,
    clock: Clock,
) -> Revealed {
    let mut terms = Terms::new();
    let by_name: HashMap<String, u32> = (inputs.iter().enumerate())
        .map(|(number, input)| (input.channel(), number as u32))
        .collect();
    let mut bytes = Bytes::default();
    let mut next = 0;
    let mut number = |channel: &Channel| {
        let name = String::from_utf8_lossy(&channel.name).into_owned();
        if let Some(input) = by_name.get(&name).filter(|_| channel.index == call) {
            bytes.channels.insert(next, *input);
        }
        for (offset, byte) in channel.content.iter().enumerate() {
            let at = InputByte {
                channel: next,
                offset: offset as u32,
            };
            bytes.recorded.insert(at, *byte);
        }
        next += 1;
        next - 1
    };
    let mut arena = Arena {
        terms: &mut terms,
        evaluator: &mut Evaluator::new(),
        number: &mut number,
    };
    let how = Reading {
        stdin: None,
        events: usize::MAX,
        implied_lengths: false,
    };
    let path = RecordedPath::read(raw, sites, &mut arena, how);
    let view = View {
        inputs,
        bytes: &bytes,
    };
    let checks: Vec<(Event, Option<Kind>)> = (path.events.iter())
        .filter(|event| !is_own_contract(sites, event, &calls.function))
        .filter(|event| !calls.is_of_tests(sites, event))
        .map(|event| (*event, kind_of(sites, event)))
        .collect();
    reveal(&terms, view, &checks, clock)
}

/// What goes wrong where a check fails.
fn kind_of(sites: &Sites, event: &Event) -> Option<Kind> {
    let (_, site) = sites.get(event.site)?;
    event.failure.or(site.check().map(|(kind, _)| kind))
}

/// Whether a check is of the function's own contract: a call of itself has one, too.
fn is_own_contract(sites: &Sites, event: &Event, function: &str) -> bool {
    let site = sites.get(event.site);
    let checked = site.and_then(|(unit, site)| contracted(unit.function_of(site)));
    event.failure == Some(Kind::Precondition) && checked == Some(function)
}
