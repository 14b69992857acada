//! One finding per defect: merged over all paths and tests, with the smallest distance and the
//! smallest change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::kept;
use nearmiss_campaign::store::USUAL_DIRECTORY;
use nearmiss_judge::identity::is_same;
use nearmiss_judge::nearness;
use nearmiss_results::{Finding, Input, Lead, Status};
use serde::{Deserialize, Serialize};

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
    all: Vec<Defect>,
    /// How they are replayed; the number follows.
    replay: String,
}

#[derive(Debug)]
struct Defect {
    finding: Finding,
    /// The tests that lead to it, and the program of each.
    tests: BTreeMap<String, PathBuf>,
}

impl Defect {
    /// Another test leads to it.
    fn add(&mut self, test: String, program: PathBuf) {
        self.tests.insert(test, program);
        let finding = &mut self.finding;
        finding.tests = self.tests.len() as u64;
        let named = self.tests.iter().filter(|(test, _)| !test.is_empty());
        let leads = named.map(|(test, program)| Lead {
            test: test.clone(),
            program: program.clone(),
        });
        finding.leads = leads.collect();
        finding
            .leads
            .sort_by_key(|lead| (lead.test.len(), lead.test.clone()));
    }
}

impl Defects {
    /// None yet; the campaign is in this directory, as the user named it.
    pub fn new(directory: &Path) -> Defects {
        let replay = match directory == Path::new(USUAL_DIRECTORY) {
            true => "nearmiss replay".to_string(),
            false => format!("nearmiss replay --dir {}", directory.display()),
        };
        Defects {
            all: Vec::new(),
            replay,
        }
    }

    /// Adds a failure that a test leads to. Its input is kept in `inputs` if it is the first of
    /// its defect, or nearer to its test than the one before. Says whether the defect is new.
    pub fn add(&mut self, found: &Found, inputs: &Path) -> io::Result<bool> {
        let test = found.finding.test.clone();
        let known = self
            .all
            .iter()
            .position(|defect| is_same(&defect.finding, &found.finding));
        let is_new = known.is_none();
        let position = known.unwrap_or(self.all.len());
        let id = format!("NM-{}", position + 1);
        if is_new {
            let finding = self.keep(found, &id, inputs)?;
            self.all.push(Defect {
                finding,
                tests: BTreeMap::new(),
            });
        } else if is_better(&found.finding, &self.all[position].finding) {
            let before = self.all[position].finding.distance;
            self.all[position].finding = self.keep(found, &id, inputs)?;
            meet_at(&mut self.all[position].finding, before);
        } else {
            meet_at(&mut self.all[position].finding, found.finding.distance);
        }
        self.all[position].add(test.id, test.program);
        Ok(is_new)
    }

    /// Copies the input of a failure to where findings are kept; gives it its number.
    fn keep(&self, found: &Found, id: &str, inputs: &Path) -> io::Result<Finding> {
        let campaign = inputs.parent().unwrap_or(inputs);
        let mut finding = found.moved_to(&inputs.join(id), campaign)?.finding;
        finding.id = id.to_string();
        finding.replay = format!("{} {id}", self.replay);
        Ok(finding)
    }

    /// A test that takes the path of another leads to the same defects.
    pub fn share(&mut self, first: &str, other: &str) {
        for defect in &mut self.all {
            if let Some(program) = defect.tests.get(first).cloned() {
                defect.add(other.to_string(), program);
            }
        }
    }

    /// The findings.
    pub fn findings(&self) -> Vec<Finding> {
        self.all
            .iter()
            .map(|defect| defect.finding.clone())
            .collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}

/// Whether a finding is better than another of the same defect: seen rather than predicted, with an
/// input that is nearer to the test's, near to the test's path.
pub fn is_better(new: &Finding, old: &Finding) -> bool {
    let rank = |finding: &Finding| {
        let is_predicted = finding.status == Status::Unconfirmed;
        (
            is_predicted,
            nearness::of_finding(finding),
            finding.distance,
        )
    };
    rank(new) < rank(old)
}

/// A finding was also met at this distance.
fn meet_at(finding: &mut Finding, distance: u32) {
    finding.distance = finding.distance.min(distance);
}

/// Adds failures to those that are known; of one defect the better one stays, with the smaller
/// distance of both.
pub fn take_in(known: &mut Vec<Found>, new: Vec<Found>) {
    for mut found in new {
        let same = |one: &&mut Found| is_same(&one.finding, &found.finding);
        match known.iter_mut().find(same) {
            Some(old) if is_better(&found.finding, &old.finding) => {
                meet_at(&mut found.finding, old.finding.distance);
                *old = found;
            }
            Some(_) => {}
            None => known.push(found),
        }
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
