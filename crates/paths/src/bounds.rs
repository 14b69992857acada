//! Bounds on loops and recursion: how often a path went around, and how deep it is.
//!
//! Events say in which frame of the stack they happened, sites in which loop they lie. Frames that
//! end below an event's own are gone; the others are the activations that it happened in. A loop's
//! turns are counted in its activation, for each place that decides on another turn, and start
//! again with every turn of the loop around it.

use std::collections::HashMap;

use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_sites::{Loop, Sites};
use nearmiss_trace::Event;

/// How far paths may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum of turns of a loop in a row.
    pub loops: Option<u32>,
    /// Maximum of activations of a function at the same time.
    pub recursion: Option<u32>,
}

/// Where a path is.
#[derive(Debug)]
pub struct Bounds {
    limits: Limits,
    /// From the outermost to the innermost; those without events are not known.
    activations: Vec<Activation>,
}

#[derive(Debug)]
struct Activation {
    frame: u16,
    /// The unit and the function's number in it.
    function: (u64, u32),
    /// How often each place has decided for another turn.
    turns: HashMap<SiteId, Turns>,
}

#[derive(Clone, Copy, Debug)]
struct Turns {
    count: u32,
    number: u32,
    parent: Option<u32>,
}

impl Bounds {
    /// At the beginning.
    pub fn new(limits: Limits) -> Bounds {
        Bounds {
            limits,
            activations: Vec::new(),
        }
    }

    /// The path comes to an event; says whether that lies deeper than recursion may go.
    pub fn come_to(&mut self, sites: &Sites, event: &Event) -> bool {
        let is_decision = matches!(event.kind, EventKind::Branch | EventKind::Switch);
        let Some((unit, site)) = sites.get(event.site).filter(|_| is_decision) else {
            return false;
        };
        let function = (unit.hash, site.function);
        // The stack grows downwards, and the numbers of frames wrap around.
        let is_over = |inner: &Activation| {
            let above = event.frame.wrapping_sub(inner.frame) as i16;
            above > 0 || above == 0 && inner.function != function
        };
        while self.activations.last().is_some_and(is_over) {
            self.activations.pop();
        }
        let same = |inner: &Activation| inner.frame == event.frame;
        if !self.activations.last().is_some_and(same) {
            self.activations.push(Activation {
                frame: event.frame,
                function,
                turns: HashMap::new(),
            });
        }
        let own = |activation: &&Activation| activation.function == function;
        let depth = self.activations.iter().filter(own).count() as u32;
        self.limits.recursion.is_some_and(|max| depth > max)
    }

    /// Whether a way from the event that the path has come to is one turn too many.
    pub fn is_beyond(&self, sites: &Sites, event: &Event, choice: u64) -> bool {
        let (Some(max), Some(around)) = (self.limits.loops, deciding(sites, event)) else {
            return false;
        };
        let known = self.activations.last();
        let turns = known.and_then(|activation| activation.turns.get(&event.site));
        around.stays(choice) && turns.map_or(0, |turns| turns.count) >= max
    }

    /// The path goes on from there.
    pub fn go(&mut self, sites: &Sites, event: &Event) {
        let (Some(activation), Some(around)) =
            (self.activations.last_mut(), deciding(sites, event))
        else {
            return;
        };
        if around.stays(event.choice) {
            // The loops inside start again.
            forget_inside(&mut activation.turns, around.number);
            let turns = activation.turns.entry(event.site).or_insert(Turns {
                count: 0,
                number: around.number,
                parent: around.parent,
            });
            turns.count += 1;
        } else {
            let turns = &mut activation.turns;
            forget_inside(turns, around.number);
            turns.retain(|_, turns| turns.number != around.number);
        }
    }
}

/// The loop on whose next turn an event decides.
fn deciding<'s>(sites: &'s Sites, event: &Event) -> Option<&'s Loop> {
    let (_, site) = sites.get(event.site)?;
    site.in_loop.as_ref().filter(|around| around.is_left())
}

/// Forgets the turns of all loops inside one.
fn forget_inside(turns: &mut HashMap<SiteId, Turns>, outer: u32) {
    let mut outers = vec![outer];
    while let Some(outer) = outers.pop() {
        turns.retain(|_, turns| {
            let is_inside = turns.parent == Some(outer);
            if is_inside {
                outers.push(turns.number);
            }
            !is_inside
        });
    }
}
