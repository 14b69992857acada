//! One finding per defect: merged over all paths and tests, with the smallest distance and the
//! smallest change.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_results::{Finding, Input, Status};
use serde::{Deserialize, Serialize};

use crate::campaign::USUAL_DIRECTORY;
use crate::capsule::Capsule;
use crate::complaint::{Complaint, is_memory};

/// A failure with the input that shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// What fails; without a number yet.
    pub finding: Finding,
    /// The run that shows it.
    pub capsule: Capsule,
    /// Where its new files lie.
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
    tests: BTreeSet<String>,
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
        let test = found.finding.test.id.clone();
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
                tests: BTreeSet::new(),
            });
        } else if size(&found.finding) < size(&self.all[position].finding) {
            self.all[position].finding = self.keep(found, &id, inputs)?;
        }
        let defect = &mut self.all[position];
        defect.tests.insert(test);
        defect.finding.tests = defect.tests.len() as u64;
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
            if defect.tests.contains(first) {
                defect.tests.insert(other.to_string());
                defect.finding.tests = defect.tests.len() as u64;
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

/// What makes a finding better than another of the same defect: seen rather than predicted, near
/// to the test's path, few changes, few bytes.
fn size(finding: &Finding) -> (bool, u32, u64, u64) {
    let bytes = |change: &nearmiss_results::Change| change.from.len().max(change.to.len()) as u64;
    let resized = |one: &nearmiss_results::Resized| one.from.abs_diff(one.to);
    (
        finding.status == Status::Unconfirmed,
        finding.distance,
        finding.changes.iter().map(bytes).sum(),
        finding.lengths.iter().map(resized).sum(),
    )
}

/// Whether one of these complaints is the failure that a finding tells of.
pub fn is_shown(finding: &Finding, complaints: &[Complaint]) -> bool {
    complaints.iter().any(|complaint| {
        complaint.names(&finding.file, finding.line)
            && complaint.as_kind(finding.kind) == Some(finding.kind)
    })
}

/// Whether two findings are of one defect. Memory errors at one place that show as one are one;
/// so is one that was only predicted where another was seen.
pub fn is_same(known: &Finding, new: &Finding) -> bool {
    let place = |finding: &Finding| (finding.file.clone(), finding.line);
    let same_column = known.column == new.column || known.column == 0 || new.column == 0;
    let same_kind = known.kind == new.kind && (same_column || new.distance > 0);
    let shadowed = is_memory(known.kind)
        && is_memory(new.kind)
        && known.column == new.column
        && known.status != new.status;
    place(known) == place(new) && (same_kind || shadowed)
}

impl Found {
    /// A copy of it with all files that were made for it in `directory`; what is there is
    /// replaced.
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
            if !is_made(file, campaign) {
                continue;
            }
            let name = match file.file_name().and_then(|name| name.to_str()) {
                Some(name @ ("stdin" | "named")) => name.to_string(),
                _ => format!("file-{number}"),
            };
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

/// Whether a file was made for an input, and is not what a test was recorded with.
fn is_made(file: &Path, campaign: &Path) -> bool {
    let Ok(within) = file.strip_prefix(campaign) else {
        return false;
    };
    within.starts_with("inputs") || within.components().any(|part| part.as_os_str() == "paths")
}
