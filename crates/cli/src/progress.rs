//! One line on a terminal that says how far the work has come.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use nearmiss_engine::Progress;

/// Shows progress if standard error is a terminal.
#[derive(Debug)]
pub struct Line {
    shown: bool,
    last: Option<Instant>,
    dirty: bool,
}

/// Time between two changes of the line.
const PAUSE: Duration = Duration::from_millis(100);

impl Line {
    /// A line that nothing stands in yet.
    pub fn new() -> Line {
        Line {
            shown: io::stderr().is_terminal(),
            last: None,
            dirty: false,
        }
    }

    /// Shows how far the work has come.
    pub fn show(&mut self, progress: &Progress) {
        // While the program runs, the terminal is its own.
        let Some(words) = words(progress).filter(|_| self.shown) else {
            return;
        };
        let counts = matches!(progress, Progress::Deciding { done, .. } if *done > 0);
        if counts && self.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        self.dirty = true;
        let _ = write!(io::stderr(), "\r\x1b[K{words}");
    }

    /// Clears the line.
    pub fn clear(&mut self) {
        if self.dirty {
            let _ = write!(io::stderr(), "\r\x1b[K");
            self.dirty = false;
        }
    }
}

fn words(progress: &Progress) -> Option<String> {
    Some(match progress {
        Progress::Recording => return None,
        Progress::Reading => "reading the trace".to_string(),
        Progress::Deciding {
            done,
            total,
            failing,
        } => format!("deciding checks: event {done} of {total}, {failing} can fail"),
        Progress::BuildingTwin => "building the sanitizer twin".to_string(),
        Progress::Confirming { done, total } => {
            format!("replaying: {done} of {total} places")
        }
    })
}
