//! A path for people: places in the source and the ways that were taken there.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_results::Step;
use nearmiss_sites::{SiteKind, Sites};
use nearmiss_trace::Event;

/// The step that an event was.
pub fn taken(sites: &Sites, event: &Event) -> Step {
    let jumps = event.reason == Some(NoteKind::Jump);
    match event.kind {
        EventKind::Concretized if jumps => Step {
            way: format!("to {:#x}", event.choice),
            ..step(sites, event.site, event.kind, event.choice)
        },
        _ => step(sites, event.site, event.kind, event.choice),
    }
}

/// The step that another choice would have been.
pub fn other(sites: &Sites, event: &Event, choice: u64) -> Step {
    step(sites, event.site, event.kind, choice)
}

fn step(sites: &Sites, id: SiteId, kind: EventKind, choice: u64) -> Step {
    let Some((unit, site)) = sites.get(id) else {
        return Step {
            file: String::new(),
            line: 0,
            column: 0,
            way: choice.to_string(),
        };
    };
    let way = match (kind, &site.kind) {
        (EventKind::Switch, SiteKind::Switch { cases, default }) => case(cases, *default, choice),
        (EventKind::Switch | EventKind::Concretized, _) => format!("= {choice}"),
        (EventKind::Check, SiteKind::Check { kind, .. }) => {
            let is_assertion = Kind::from_code(*kind) == Some(Kind::Assertion);
            let words = match (is_assertion, choice != 0) {
                (true, true) => "holds",
                (true, false) => "fails",
                (false, true) => "not reached",
                (false, false) => "reached",
            };
            words.into()
        }
        (EventKind::Probe, _) if choice == 0 => "too much memory".into(),
        _ if choice != 0 => "true".into(),
        _ => "false".into(),
    };
    Step {
        file: unit.file_of(site).into(),
        line: site.line,
        column: site.column,
        way,
    }
}

/// The cases that lead to a target.
fn case(cases: &[(u64, u32)], default: u32, target: u64) -> String {
    if u64::from(default) == target {
        return "default".into();
    }
    let values = cases.iter().filter(|case| u64::from(case.1) == target);
    let values: Vec<String> = values.map(|case| (case.0 as i64).to_string()).collect();
    format!("case {}", values.join(", "))
}
