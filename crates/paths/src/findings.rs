//! Failures, as everywhere in nearmiss: seen by the twin, one for each defect.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;

use nearmiss_abi::check::Kind;
use nearmiss_judge::Complaint;
use nearmiss_judge::contract::{self, Told};
use nearmiss_judge::defects::merge;
use nearmiss_judge::spot::{self, Check};
use nearmiss_results::{Finding, Frame, Input, Status, Test};
use nearmiss_sites::Sites;

/// A test that failed, as the recording saw it.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The test's number, from 1.
    pub test: usize,
    /// The check that did not hold; `None` if the process died without one.
    pub check: Option<Check>,
    /// Whether that is what is to be thought of the test: a violated contract by itself is not.
    pub is_verdict: bool,
}

/// What findings are made of.
pub struct Evidence<'a> {
    /// Places of the program.
    pub sites: &'a Sites,
    /// The program.
    pub program: PathBuf,
    /// Where it ran.
    pub directory: PathBuf,
    /// What the recording saw.
    pub failed: &'a [Failed],
    /// What the twin said: the test's number, and its complaints.
    pub complaints: &'a [(usize, Vec<Complaint>)],
    /// The rows of each test, by its number minus one.
    pub rows: &'a dyn Fn(usize) -> Vec<u8>,
}

/// The file that the harness is written to.
pub const HARNESS: &str = "build/harness.c";

/// Findings, and the tests that show them.
#[derive(Debug, Default)]
pub struct Findings {
    /// In the order of the first tests that show them.
    pub list: Vec<Finding>,
    /// The number of the finding that a test shows, by the test's number: what it fails of first.
    pub shown: BTreeMap<usize, String>,
}

impl Evidence<'_> {
    /// The findings.
    pub fn findings(&self) -> Findings {
        let mut defects = Defects::default();
        for (test, complaints) in self.complaints {
            for told in contract::told(complaints) {
                match told {
                    Told::Failure(complaint) => {
                        if let Some(finding) = self.seen(*test, &complaint) {
                            defects.add(*test, finding);
                        }
                    }
                    Told::Fails(function, complaint) => {
                        let finding = self.violated(*test, Status::Confirmed, function, &complaint);
                        defects.add(*test, finding);
                    }
                    Told::Harmless(function, complaint) => {
                        let status = Status::Unconfirmed;
                        let finding = self.violated(*test, status, function, &complaint);
                        // By itself no failure: the test has failed of it only if that is all there is to it.
                        let is_all = |failed: &Failed| failed.test == *test && failed.is_verdict;
                        match self.failed.iter().any(is_all) {
                            true => defects.add(*test, finding),
                            false => defects.add_harmless(*test, finding),
                        }
                    }
                }
            }
        }
        for failed in self.failed {
            let twin_saw_it = self.complaints.iter().any(|(test, _)| *test == failed.test);
            if let Some(check) = failed.check.as_ref().filter(|_| !twin_saw_it) {
                let finding = self.predicted(failed, check);
                match failed.is_verdict {
                    true => defects.add_predicted(failed.test, finding),
                    false => defects.add_harmless(failed.test, finding),
                }
            }
        }
        defects.number()
    }

    /// What the twin saw.
    fn seen(&self, test: usize, complaint: &Complaint) -> Option<Finding> {
        // What the harness does with what the function left is no failure of the function. But it
        // is also named where the function's own frame has no line: of calls that were merged.
        let seen = spot::of_complaint(self.sites, complaint)
            .filter(|(_, place)| !place.file.ends_with(HARNESS));
        let (kind, place) = match (seen, self.of_record(test, complaint)) {
            // A signal on the line of the check that the recording saw fail is that failure.
            (Some((Kind::Crash, place)), Some((kind, check))) if place.line == check.line => {
                (kind, place)
            }
            (seen, recorded) => seen.or(recorded)?,
        };
        Some(Finding {
            kind,
            file: place.file,
            line: place.line,
            column: place.column,
            function: place.function,
            stack: self.stack(complaint),
            object: complaint.object.clone(),
            ..self.blank(test, Status::Confirmed, complaint.text.clone())
        })
    }

    /// A violated requirement of a contract.
    fn violated(
        &self,
        test: usize,
        status: Status,
        function: String,
        complaint: &Complaint,
    ) -> Finding {
        let place = complaint.places.first().cloned().unwrap_or_default();
        let text = match status {
            Status::Confirmed => complaint.text.clone(),
            _ => format!(
                "the contract of the function can be violated (not confirmed: {})",
                contract::doubt(&complaint.text)
            ),
        };
        Finding {
            kind: Kind::Precondition,
            file: place.file,
            line: place.line,
            column: place.column,
            function,
            stack: self.stack(complaint),
            object: complaint.object.clone(),
            ..self.blank(test, status, text)
        }
    }

    /// The calls that led to a complaint, without those of the harness.
    fn stack(&self, complaint: &Complaint) -> Vec<Frame> {
        let frames = spot::stack(self.sites, complaint).into_iter();
        frames
            .take_while(|frame| !frame.file.ends_with(HARNESS))
            .collect()
    }

    /// A complaint without a place (a signal, say) is about the check that the recording saw fail.
    fn of_record(
        &self,
        test: usize,
        complaint: &Complaint,
    ) -> Option<(Kind, nearmiss_judge::complaint::Place)> {
        let failed = self.failed.iter().find(|failed| failed.test == test)?;
        let check = failed.check.as_ref()?;
        let kind = complaint.as_kind(check.spot.kind)?;
        let place = nearmiss_judge::complaint::Place {
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
        };
        Some((kind, place))
    }

    /// What only the recording saw.
    fn predicted(&self, failed: &Failed, check: &Check) -> Finding {
        let doubt = format!("{} (its sanitizer twin did not fail there)", check.message);
        Finding {
            kind: check.spot.kind,
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
            ..self.blank(failed.test, Status::Unconfirmed, doubt)
        }
    }

    /// A finding about which nothing is said yet but the test.
    fn blank(&self, test: usize, status: Status, message: String) -> Finding {
        let input = BTreeMap::from([("rows".to_string(), Input::bytes(&(self.rows)(test)))]);
        Finding {
            status,
            input,
            message,
            ..Finding::new(Test {
                id: format!("P{test}"),
                program: self.program.clone(),
                cwd: self.directory.clone(),
                ..Test::default()
            })
        }
    }
}

/// One finding for each defect, with the first test that shows it.
#[derive(Default)]
struct Defects {
    found: Vec<Finding>,
    /// The tests that show each of them.
    tests: Vec<BTreeSet<usize>>,
    /// What each test fails of first: the position of the finding.
    first: BTreeMap<usize, usize>,
}

impl Defects {
    fn add(&mut self, test: usize, finding: Finding) {
        let Ok(merged) = merge(&mut self.found, finding, |finding, _| {
            Ok::<_, Infallible>(finding)
        });
        if merged.is_new {
            self.tests.push(BTreeSet::new());
        }
        self.tests[merged.position].insert(test);
        self.first.entry(test).or_insert(merged.position);
    }

    /// Adds what a test shows although nothing fails in it.
    fn add_harmless(&mut self, test: usize, finding: Finding) {
        let first = self.first.clone();
        self.add(test, finding);
        self.first = first;
    }

    /// What only the recording saw is the defect that the twin saw on that line, if it saw one there.
    fn add_predicted(&mut self, test: usize, finding: Finding) {
        let place = (&finding.file, finding.line);
        let here = |known: &Finding| (&known.file, known.line) == place;
        match self.found.iter().position(here) {
            Some(position) => {
                self.first.entry(test).or_insert(position);
            }
            None => self.add(test, finding),
        }
    }

    /// Numbers them in the order of their first tests.
    fn number(self) -> Findings {
        let Defects {
            found,
            tests,
            first,
        } = self;
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&position| tests[position].first().copied());
        let mut findings = Findings::default();
        for (rank, position) in order.into_iter().enumerate() {
            let id = format!("NM-{}", rank + 1);
            let shown = first.iter().filter(|(_, first)| **first == position);
            let shown = shown.map(|(test, _)| (*test, id.clone()));
            findings.shown.extend(shown);
            findings.list.push(Finding {
                id,
                tests: tests[position].len() as u64,
                ..found[position].clone()
            });
        }
        findings
    }
}
