//! How far the work has come, while it runs: a thread reads its numbers and shows them on
//! standard error.
//!
//! On a terminal two lines are drawn anew ten times a second and cleared at the end. In a log a
//! line is written now and then. In CI, or if the user wants silence, nothing is shown.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`campaign`] | what is shown of `run` and `test`; `snapshot` and `words` are its parts |
//! | [`function`] | what is shown of `explore` |
//! | `speed` | how much happens in a second |

pub mod campaign;
pub mod function;
pub mod precondition;
mod snapshot;
mod speed;
mod words;

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::environment;

/// Work that can be watched.
pub trait Watched: Send + 'static {
    /// The lines of a live display, none longer than the terminal is wide.
    fn live(&mut self, width: usize) -> Vec<String>;
    /// A line for a log, if it is time for one.
    fn log(&mut self) -> Option<String>;
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Lines on a terminal that change.
    Live,
    /// Now and then a line.
    Log,
    /// Not at all.
    Silent,
}

impl Mode {
    /// What suits standard error.
    pub fn choose(quiet: bool) -> Mode {
        let is_terminal = io::stderr().is_terminal() && environment::can_move_cursor();
        Mode::of(quiet || environment::is_ci(), is_terminal)
    }

    fn of(quiet: bool, is_terminal: bool) -> Mode {
        match (quiet, is_terminal) {
            (true, _) => Mode::Silent,
            (false, true) => Mode::Live,
            (false, false) => Mode::Log,
        }
    }
}

/// A thread that shows progress until it is told to finish, or dropped.
#[derive(Debug)]
pub struct Display {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Display {
    /// Shows this work from now on.
    pub fn start(mut watched: impl Watched, mode: Mode) -> Display {
        let pause = match mode {
            Mode::Live => Duration::from_millis(100),
            Mode::Log => Duration::from_secs(1),
            Mode::Silent => return Display { thread: None },
        };
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut screen = Screen::default();
            while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                write(&match mode {
                    Mode::Live => screen.draw(watched.live(environment::width())),
                    _ => watched.log().map_or(String::new(), |line| line + "\n"),
                });
            }
            write(&screen.draw(Vec::new()));
        });
        Display {
            thread: Some((sender, thread)),
        }
    }

    /// Clears what is drawn; nothing is shown any more.
    pub fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            // Progress is of no importance now.
            let _ = thread.join();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes in one piece, so that nothing flickers.
fn write(text: &str) {
    if !text.is_empty() {
        // Nobody could be told that this failed.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The lines that are drawn now; the cursor stands behind the last.
#[derive(Debug, Default)]
struct Screen {
    lines: Vec<String>,
}

impl Screen {
    /// What a terminal must be sent to show these lines instead.
    fn draw(&mut self, lines: Vec<String>) -> String {
        if lines == self.lines {
            return String::new();
        }
        let mut text = String::from("\r");
        if self.lines.len() > 1 {
            text += &format!("\x1b[{}A", self.lines.len() - 1);
        }
        // Each line is written over, then what stood behind and beneath is cleared.
        text += &lines.join("\x1b[K\n");
        text += "\x1b[J";
        self.lines = lines;
        text
    }
}

/// When a log gets a line.
#[derive(Debug, Default)]
struct Pace<News> {
    last: Duration,
    news: News,
}

impl<News: PartialEq> Pace<News> {
    /// A line this often, whatever happens.
    const SELDOM: Duration = Duration::from_secs(30);
    /// Not more often than this, even if there is news. Short runs thus write nothing.
    const OFTEN: Duration = Duration::from_secs(5);

    /// Whether it is time for a line.
    fn is_due(&mut self, elapsed: Duration, news: News) -> bool {
        let pause = match news == self.news {
            true => Self::SELDOM,
            false => Self::OFTEN,
        };
        if elapsed.saturating_sub(self.last) < pause {
            return false;
        }
        *self = Pace {
            last: elapsed,
            news,
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_where_nobody_looks() {
        assert_eq!(Mode::of(true, true), Mode::Silent);
        assert_eq!(Mode::of(false, true), Mode::Live);
        assert_eq!(Mode::of(false, false), Mode::Log);
    }

    #[test]
    fn lines_are_drawn_over_each_other_and_cleared() {
        let lines = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let mut screen = Screen::default();
        assert_eq!(screen.draw(lines(&[])), "");
        assert_eq!(screen.draw(lines(&["a", "b"])), "\ra\x1b[K\nb\x1b[J");
        assert_eq!(screen.draw(lines(&["a", "b"])), "", "nothing new");
        assert_eq!(screen.draw(lines(&["c"])), "\r\x1b[1Ac\x1b[J");
        assert_eq!(screen.draw(lines(&[])), "\r\x1b[J");
    }

    #[test]
    fn a_log_has_news_and_signs_of_life() {
        let mut pace = Pace::default();
        let mut at = |seconds, findings| pace.is_due(Duration::from_secs(seconds), findings);
        assert!(!at(4, 1), "short runs are silent");
        assert!(at(5, 1));
        assert!(!at(9, 2), "news are told together");
        assert!(at(10, 2));
        assert!(!at(39, 2));
        assert!(at(40, 2));
    }

    struct Nothing;

    impl Watched for Nothing {
        fn live(&mut self, _width: usize) -> Vec<String> {
            Vec::new()
        }
        fn log(&mut self) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_display_ends_when_it_is_told_to() {
        Display::start(Nothing, Mode::Log).finish();
        drop(Display::start(Nothing, Mode::Silent));
    }
}
