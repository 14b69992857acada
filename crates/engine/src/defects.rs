//! One finding per defect: merged over all paths and tests, with the smallest distance and the
//! smallest change.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_results::{Finding, Status};
use serde::{Deserialize, Serialize};

use crate::capsule::Capsule;
use crate::complaint::is_memory;

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
#[derive(Debug, Default)]
pub struct Defects {
    all: Vec<Defect>,
}

#[derive(Debug)]
struct Defect {
    finding: Finding,
    tests: BTreeSet<String>,
}

impl Defects {
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
            self.all.push(Defect {
                finding: keep(found, &id, inputs)?,
                tests: BTreeSet::new(),
            });
        } else if size(&found.finding) < size(&self.all[position].finding) {
            self.all[position].finding = keep(found, &id, inputs)?;
        }
        let defect = &mut self.all[position];
        defect.tests.insert(test);
        defect.finding.tests = defect.tests.len() as u64;
        Ok(is_new)
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

/// Copies the input of a failure to where findings are kept; gives it its number.
fn keep(found: &Found, id: &str, inputs: &Path) -> io::Result<Finding> {
    let (directory, unfinished) = (inputs.join(id), inputs.join(format!("{id}.new")));
    for stale in [&unfinished, &directory] {
        if stale.exists() {
            fs::remove_dir_all(stale)?;
        }
    }
    fs::create_dir_all(&unfinished)?;
    let mut capsule = found.capsule.clone();
    let mut finding = found.finding.clone();
    for file in capsule.own_files() {
        let Some(name) = kept_name(file, inputs) else {
            continue;
        };
        fs::copy(&*file, unfinished.join(&name))?;
        let kept = directory.join(name);
        for input in finding.input.values_mut() {
            if matches!(input, nearmiss_results::Input::File(path) if path == file) {
                *input = nearmiss_results::Input::File(kept.clone());
            }
        }
        *file = kept;
    }
    capsule.write(&unfinished)?;
    fs::rename(&unfinished, &directory)?;
    finding.id = id.to_string();
    finding.replay = format!("nearmiss replay {id}");
    Ok(finding)
}

/// The name of a file that was made for an input: made unique, since files of several paths may
/// come together. `None` for one that stays where it is.
fn kept_name(file: &Path, inputs: &Path) -> Option<String> {
    let campaign = inputs.parent()?;
    let within = file.strip_prefix(campaign).ok()?;
    let is_made = within.starts_with("inputs") || within.starts_with("paths");
    let parts: Vec<_> = within
        .components()
        .skip(1)
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    match file.file_name().and_then(|name| name.to_str()) {
        Some("stdin") if is_made => Some("stdin".into()),
        _ => is_made.then(|| parts.join("-")),
    }
}
