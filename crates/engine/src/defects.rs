//! One finding per defect: merged over all paths and tests, with the smallest distance and the
//! smallest change.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::kept;
use nearmiss_campaign::store::USUAL_DIRECTORY;
use nearmiss_judge::defects::merge;
use nearmiss_judge::{identity, nearness};
use nearmiss_results::{Finding, Input, Lead, Status};
use serde::{Deserialize, Serialize};

/// Once so many tests lead to a defect, another one's input is brought nearer only if it is nearer already.
const MANY_TESTS: u64 = 4;

/// A failure with the input that shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// What fails; without a number yet.
    pub finding: Finding,
    /// The run that shows it.
    pub capsule: Capsule,
    /// Where its new files lie.
    #[serde(with = "nearmiss_sandbox::words::path")]
    pub directory: PathBuf,
}

/// The defects of a campaign, in the order in which they were found.
#[derive(Debug)]
pub struct Defects {
    findings: Vec<Finding>,
    /// The tests that lead to each, and the program of each test.
    tests: Vec<BTreeMap<String, PathBuf>>,
    /// How they are replayed; the number follows.
    replay: String,
}

impl Defects {
    /// None yet; the campaign is in this directory, as the user named it.
    pub fn new(directory: &Path) -> Defects {
        let replay = match directory == Path::new(USUAL_DIRECTORY) {
            true => "nearmiss replay".to_string(),
            false => format!("nearmiss replay --dir {}", directory.display()),
        };
        Defects {
            findings: Vec::new(),
            tests: Vec::new(),
            replay,
        }
    }

    /// Adds a failure that a test leads to. Its input is kept in `inputs` if it is the first of
    /// its defect, or nearer to its test than the one before. Says whether the defect is new.
    pub fn add(&mut self, found: &Found, inputs: &Path) -> io::Result<bool> {
        let campaign = inputs.parent().unwrap_or(inputs);
        let replay = &self.replay;
        let keep = |_, position: usize| -> io::Result<Finding> {
            let id = format!("NM-{}", position + 1);
            let replay = format!("{replay} {id}");
            let finding = found.moved_to(&inputs.join(&id), campaign)?.finding;
            Ok(Finding {
                id,
                replay,
                ..finding
            })
        };
        let merged = merge(&mut self.findings, found.finding.clone(), keep)?;
        if merged.is_new {
            self.tests.push(BTreeMap::new());
        }
        let test = found.finding.test.clone();
        self.add_lead(merged.position, test.id, test.program);
        Ok(merged.is_new)
    }

    /// Another test leads to a defect.
    fn add_lead(&mut self, position: usize, test: String, program: PathBuf) {
        let tests = &mut self.tests[position];
        tests.insert(test, program);
        let named = tests.iter().filter(|(test, _)| !test.is_empty());
        let mut leads: Vec<Lead> = named
            .map(|(test, program)| Lead {
                test: test.clone(),
                program: program.clone(),
            })
            .collect();
        leads.sort_by_key(|lead| (lead.test.len(), lead.test.clone()));
        let finding = &mut self.findings[position];
        finding.tests = tests.len() as u64;
        finding.leads = leads;
    }

    /// Whether a defect was shown by many tests and no nearer input is needed: where a failure is on the way of every
    /// test of a suite, bringing it nearer for each takes the time of all else.
    pub fn is_settled(&self, finding: &Finding, cost: u64) -> bool {
        self.findings.iter().any(|known| {
            known.status == Status::Confirmed
                && known.tests >= MANY_TESTS
                && nearness::of_finding(known) <= cost
                && identity::is_same(known, finding)
        })
    }

    /// A test that takes the path of another leads to the same defects.
    pub fn share(&mut self, first: &str, other: &str) {
        for position in 0..self.tests.len() {
            if let Some(program) = self.tests[position].get(first).cloned() {
                self.add_lead(position, other.to_string(), program);
            }
        }
    }

    /// The findings.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.findings.len()
    }
}

impl AsRef<Finding> for Found {
    fn as_ref(&self) -> &Finding {
        &self.finding
    }
}

impl AsMut<Finding> for Found {
    fn as_mut(&mut self) -> &mut Finding {
        &mut self.finding
    }
}

/// Adds failures to those that are known.
pub fn take_in(known: &mut Vec<Found>, new: Vec<Found>) {
    for found in new {
        let Ok(_) = merge(known, found, |found, _| Ok::<_, Infallible>(found));
    }
}

impl Found {
    /// The same, no longer confirmed, for this reason.
    pub fn doubted(mut self, why: &str) -> Found {
        self.finding.status = Status::Unconfirmed;
        let message = &mut self.finding.message;
        *message = format!("{message} (not confirmed: {why})");
        self
    }

    /// A copy of it with all its files in `directory`, where no other input can change or remove them; what is
    /// there is replaced.
    pub fn moved_to(&self, directory: &Path, campaign: &Path) -> io::Result<Found> {
        let mut name = directory.file_name().unwrap_or_default().to_os_string();
        name.push(".new");
        let unfinished = directory.with_file_name(name);
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        let mut moved = self.clone();
        for (number, file) in moved.capsule.own_files().into_iter().enumerate() {
            if !file.starts_with(campaign) {
                continue;
            }
            let name = kept::own_name(file, number);
            fs::copy(&*file, unfinished.join(&name))?;
            let kept = directory.join(name);
            for input in moved.finding.input.values_mut() {
                if *input == Input::File(file.clone()) {
                    *input = Input::File(kept.clone());
                }
            }
            *file = kept;
        }
        // It must be possible to replay it when the tests are others.
        moved.capsule.environment = moved.capsule.environment.inline();
        moved.capsule.write(&unfinished)?;
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::rename(&unfinished, directory)?;
        moved.directory = directory.to_path_buf();
        Ok(moved)
    }
}
