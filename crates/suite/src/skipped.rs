//! Executions that are not looked at: how many, why, and one of them.

use std::collections::BTreeMap;

use nearmiss_results::Skipped;

/// Why an execution is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It did not end.
    Running,
    /// What it left cannot be read.
    Unreadable,
    /// The program was built by another nearmiss.
    Version,
    /// The program cannot be found again.
    ProgramGone,
    /// The program was replaced after it ran.
    ProgramReplaced,
    /// The program lay in a temporary directory and is too large for a copy.
    ProgramTooLarge,
    /// What it read from its standard input is not known.
    StdinLost,
    /// It read files that are too large.
    FileTooLarge,
    /// It used more files than are kept.
    TooManyFiles,
    /// The budget of the disk was used up.
    NoRoom,
    /// There are more tests than are wanted.
    TooManyTests,
    /// The user stopped the suite.
    Stopped,
}

impl Reason {
    fn words(self) -> &'static str {
        match self {
            Reason::Running => "still running when the suite had ended",
            Reason::Unreadable => {
                "left nothing that could be read: killed at its start, or files are limited (ulimit -f)"
            }
            Reason::Version => "built by another version of nearmiss: rebuild it",
            Reason::ProgramGone => "the program was removed after it ran",
            Reason::ProgramReplaced => "the program was built anew after it ran",
            Reason::ProgramTooLarge => {
                "the program lies in a temporary directory and is too large for a copy"
            }
            Reason::StdinLost => "its standard input could not be kept",
            Reason::FileTooLarge => "it reads files that are too large",
            Reason::TooManyFiles => "it uses too many files",
            Reason::NoRoom => "no room on the disk for the files it reads (--disk)",
            Reason::TooManyTests => "more different executions than wanted (--executions)",
            Reason::Stopped => "the suite was stopped",
        }
    }
}

/// What was skipped so far.
#[derive(Debug, Default)]
pub struct SkipList(BTreeMap<Reason, (u64, String)>);

impl SkipList {
    /// Counts executions; the first of a kind is its example.
    pub fn add(&mut self, reason: Reason, count: u64, example: impl FnOnce() -> String) {
        self.0.entry(reason).or_insert_with(|| (0, example())).0 += count;
    }

    /// For the report, the most frequent reason first.
    pub fn rows(&self) -> Vec<Skipped> {
        let row = |(reason, (count, example)): (&Reason, &(u64, String))| Skipped {
            reason: reason.words().to_string(),
            count: *count,
            example: example.clone(),
        };
        let mut rows: Vec<Skipped> = self.0.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_with_the_first_example() {
        let mut list = SkipList::default();
        list.add(Reason::NoRoom, 1, || "a".into());
        list.add(Reason::StdinLost, 1, || "b".into());
        list.add(Reason::StdinLost, 2, || "c".into());
        let rows = list.rows();
        let shown: Vec<(u64, &str)> = rows
            .iter()
            .map(|row| (row.count, row.example.as_str()))
            .collect();
        assert_eq!(shown, [(3, "b"), (1, "a")]);
    }
}
