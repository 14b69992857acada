//! How far a search has come, in numbers that any thread may read at any time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A number that any thread may change.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Takes from it.
    pub fn remove(&self, fewer: u64) {
        self.0.fetch_sub(fewer, Ordering::Relaxed);
    }

    /// Sets it.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Reads it.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a search is doing, and when its time is over.
#[derive(Debug, Default)]
pub struct Meter<Phase> {
    phase: Mutex<Phase>,
    deadline: Mutex<Option<Instant>>,
}

impl<Phase: Clone> Meter<Phase> {
    /// What is being done.
    pub fn phase(&self) -> Phase {
        self.phase.lock().expect("no thread panics").clone()
    }

    /// Enters a phase.
    pub fn enter(&self, phase: impl Into<Phase>) {
        *self.phase.lock().expect("no thread panics") = phase.into();
    }

    /// When the time is over, if that is known.
    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().expect("no thread panics")
    }

    /// Sets when the time is over.
    pub fn set_deadline(&self, deadline: Instant) {
        *self.deadline.lock().expect("no thread panics") = Some(deadline);
    }
}
