//! Events and notes: what the path is made of, and what was lost.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{BY_LENGTH, Event, EventKind, frame};
use nearmiss_abi::hook::ANYWHERE;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::formula::Truth;
use crate::runtime::{FIXED_CACHE, Runtime};
use crate::server;
use crate::thread::Thread;

/// A check that was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KnownCheck {
    site: SiteId,
    label: Label,
    kind: u8,
}

impl KnownCheck {
    /// None.
    pub const NONE: KnownCheck = KnownCheck {
        site: SiteId::NONE,
        label: CONCRETE,
        kind: 0,
    };
}

impl Runtime {
    /// Records an event, and with it whether the program did something sensitive before.
    pub fn append(&mut self, event: &Event) {
        let event = event.after_sensitive(self.take_sensitive());
        if let Err(full) = self.trace.append_event(&event) {
            self.stop_full(full);
        }
        if self.dead_ends.are_behind(&event) {
            self.trace.set_exited(0);
            server::end_run();
        }
    }

    /// A branch, check or assumption: the condition `label` was as `truth` says.
    pub fn decided(&mut self, kind: EventKind, label: Label, truth: bool, site: SiteId) {
        self.decided_so(Event::new(kind, truth, label, site));
    }

    /// A model decided by the length of an input, or of one of its lines; `what` is one of `abi::event::LENGTH_*`.
    pub fn decided_by_length(&mut self, what: u16, label: Label, truth: bool, site: SiteId) {
        let event = Event::new(EventKind::Branch, truth, label, site);
        self.decided_so(Event {
            flags: event.flags | BY_LENGTH,
            aux: what,
            ..event
        });
    }

    /// A branch in the frame that ends here.
    pub fn branched(&mut self, label: Label, truth: bool, site: SiteId, stack_pointer: u64) {
        let event = Event::new(EventKind::Branch, truth, label, site);
        self.decided_so(Event {
            aux: frame(stack_pointer),
            ..event
        });
    }

    /// As the event says, whose term may be of any width.
    fn decided_so(&mut self, event: Event) {
        let label = self.truth(event.label);
        if label == CONCRETE || self.is_constant(label) {
            return;
        }
        if self.trace.term(label).value != event.truth() as u64 {
            // The term is not what the program looked at: a path with it would be a lie.
            self.trace
                .note(NoteKind::Overwritten, SiteId(event.site), 1);
            return;
        }
        self.append(&Event { label, ..event });
    }

    /// A memory access or call must satisfy this, or fails as `kind` says. An access of a
    /// model has no site: models make their checks themselves.
    pub fn check_that(&mut self, kind: Kind, truth: Truth, site: SiteId) {
        if site == SiteId::NONE {
            return;
        }
        if truth.label == CONCRETE || self.is_constant(truth.label) {
            if !truth.holds {
                let failure = Truth::concrete(false);
                self.append_about(EventKind::CheckFailed, kind, failure, site);
            }
            return;
        }
        // In a loop the same check comes again and again; once it held, it always does.
        let check = KnownCheck {
            site,
            label: truth.label,
            kind: kind as u8,
        };
        let slot = (truth.label as usize ^ site.0 as usize) % FIXED_CACHE;
        if self.known_checks[slot] == check {
            return;
        }
        self.known_checks[slot] = check;
        self.append_about(EventKind::Check, kind, truth, site);
    }

    /// Something is nearly always so; where it is not, `kind` is feared.
    pub fn probe(&mut self, kind: Kind, truth: Truth, site: SiteId) {
        if truth.label != CONCRETE && !self.is_constant(truth.label) {
            self.append_about(EventKind::Probe, kind, truth, site);
        }
    }

    fn append_about(&mut self, event: EventKind, kind: Kind, truth: Truth, site: SiteId) {
        let mut event = Event::new(event, truth.holds, truth.label, site);
        event.aux = kind as u16;
        self.append(&event);
    }

    /// A check failed on whatever data.
    pub fn check_failed(&mut self, site: SiteId) {
        self.append(&Event::new(EventKind::CheckFailed, false, CONCRETE, site));
    }

    /// An access on concrete data failed in this way.
    pub fn check_failed_as(&mut self, kind: Kind, site: SiteId) {
        let mut event = Event::new(EventKind::CheckFailed, false, CONCRETE, site);
        event.aux = kind as u16;
        self.append(&event);
    }

    /// A switch on `label` in the frame that ends here.
    pub fn switched(&mut self, label: Label, site: SiteId, stack_pointer: u64) {
        if label == CONCRETE || self.is_constant(label) || self.width(label) == 0 {
            return;
        }
        let event = Event::new(EventKind::Switch, false, label, site);
        self.append(&Event {
            aux: frame(stack_pointer),
            ..event
        });
    }

    /// `label` keeps its recorded value from here on.
    ///
    /// Except a size or an address that depends on nothing but lengths of inputs. To fix it
    /// would fix the input's length, and with it everything that can go wrong for a longer
    /// one; but what lies at such an address, or is moved in such an amount, moves along with
    /// the length: the byte at the end of a longer string is the byte at the end of this one.
    /// That is an approximation, which replays judge. Where no model goes on (a call into
    /// foreign code, say), a length is fixed like anything else.
    pub fn fix(&mut self, label: Label, kind: NoteKind, site: SiteId) {
        if label == CONCRETE || self.width(label) == 0 || self.is_constant(label) {
            return;
        }
        if matches!(kind, NoteKind::Size | NoteKind::Address) && self.is_length(label) {
            return;
        }
        // Terms do not change: what was fixed once stays fixed, and nothing more is lost.
        let cached = &mut self.fixed[label as usize % FIXED_CACHE];
        if *cached == label {
            return;
        }
        *cached = label;
        let site = place_of(site);
        self.trace.note(kind, site, 1);
        let mut event = Event::new(EventKind::Concretized, true, label, site);
        event.aux = kind as u16;
        self.append(&event);
    }

    /// Whether `label` is known to keep its recorded value.
    pub fn is_fixed(&self, label: Label) -> bool {
        label != CONCRETE && self.fixed[label as usize % FIXED_CACHE] == label
    }

    /// `label` was lost without a constraint.
    pub fn lost(&mut self, label: Label, kind: NoteKind, site: SiteId) {
        if label != CONCRETE && !self.is_constant(label) {
            self.trace.note(kind, place_of(site), 1);
        }
    }

    /// Something that is not modelled read memory.
    pub fn opaque(&mut self, address: u64, size: u64, kind: NoteKind, site: SiteId) {
        let symbolic = match size {
            _ if address == ANYWHERE && kind == NoteKind::Library => self.shows_labels(),
            _ if address == ANYWHERE => true,
            0 => self.reaches_label(address),
            _ => self.shadow.first_label(address, size).is_some(),
        };
        if symbolic {
            self.trace.note(kind, place_of(site), 1);
        }
    }
}

/// Where something happened: what a model does, it does for the program's call of it.
pub fn place_of(site: SiteId) -> SiteId {
    if site == SiteId::NONE {
        Thread::current().model_site()
    } else {
        site
    }
}

/// The note kind of a code that instrumented code passed.
pub fn note_kind(code: u32) -> NoteKind {
    NoteKind::from_code(code as u8).unwrap_or(NoteKind::Operation)
}
