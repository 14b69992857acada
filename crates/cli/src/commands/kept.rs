//! What earlier commands left in the campaign's directory: the report of the last `run` or `test`, and
//! one for each function that was explored.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nearmiss_campaign::{USUAL_DIRECTORY, read_report};
use nearmiss_engine::EngineError;
use nearmiss_results::{FunctionReport, Report};

use crate::output;

/// The report of an exploration, in its directory.
const REPORT: &str = "report.json";
/// What the directory of an exploration is called: this, and the name of the function.
const PREFIX: &str = "explore-";

/// An exploration that was made.
#[derive(Debug)]
pub struct Exploration {
    /// What was explored: a function, or a file with a harness.
    pub name: String,
    /// Where everything of it is.
    pub directory: PathBuf,
    /// What was found out.
    pub report: FunctionReport,
}

/// Whose a finding is.
#[derive(Debug)]
pub enum Owner {
    /// The last `run` or `test`.
    Campaign(Box<Report>),
    /// An exploration.
    Exploration(Box<Exploration>),
}

/// Everything of an exploration lies in a directory of its own, so that what is known of one function is
/// still there when another has been explored.
pub fn directory_of(name: &str, campaign: &Path) -> PathBuf {
    campaign.join(format!("{PREFIX}{name}"))
}

/// Keeps the report of an exploration beside what it was made from.
pub fn keep(report: &FunctionReport, directory: &Path) -> Result<(), String> {
    let path = directory.join(REPORT);
    let file = fs::File::create(&path);
    let written = file.and_then(|file| report.write_json(BufWriter::new(file)));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// The last exploration of this name.
pub fn exploration(name: &str, campaign: &Path) -> Result<Exploration, String> {
    let directory = directory_of(name, campaign);
    let path = directory.join(REPORT);
    let text = fs::read_to_string(&path).map_err(|_| {
        let place = directory.display();
        format!("{place}: no report here; nearmiss explore makes one")
    })?;
    let report = FunctionReport::from_json(&text);
    Ok(Exploration {
        name: name.into(),
        report: report.map_err(|error| format!("{}: {error}", path.display()))?,
        directory,
    })
}

/// All explorations, the last one first.
pub fn explorations(campaign: &Path) -> Vec<Exploration> {
    let Ok(entries) = fs::read_dir(campaign) else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry
                .file_name()
                .to_str()?
                .strip_prefix(PREFIX)?
                .to_string();
            let written = fs::metadata(entry.path().join(REPORT)).ok()?.modified();
            Some((written.ok()?, name))
        })
        .collect();
    found.sort_by(|left, right| right.cmp(left));
    let names = found.into_iter().map(|(_, name)| name);
    names
        .filter_map(|name| exploration(&name, campaign).ok())
        .collect()
}

/// The report of the last `run` or `test`, or why there is none.
pub fn campaign_report(campaign: &Path) -> Result<Report, String> {
    read_report(campaign).map_err(|error| error.to_string())
}

/// Whose this finding is. One of `run` or `test` comes first: what their reports say about it names no
/// function. Of explorations the last one comes first. That others have one of this number is said.
pub fn owner(id: &str, function: Option<&str>, campaign: &Path) -> Result<Owner, String> {
    if let Some(name) = function {
        let exploration = exploration(name, campaign)?;
        return match exploration.report.finding(id) {
            Some(_) => Ok(Owner::Exploration(Box::new(exploration))),
            None => Err(unknown(id)),
        };
    }
    let report = campaign_report(campaign);
    let mut others = explorations(campaign);
    others.retain(|other| other.report.finding(id).is_some());
    match report {
        Ok(report) if report.finding(id).is_some() => {
            mention(id, "the last run", &others);
            Ok(Owner::Campaign(Box::new(report)))
        }
        _ if !others.is_empty() => {
            let last = others.remove(0);
            mention(id, &last.name, &others);
            Ok(Owner::Exploration(Box::new(last)))
        }
        Ok(_) => Err(unknown(id)),
        // There is no report, and nothing was explored with such a finding.
        Err(trouble) => Err(match explorations(campaign).is_empty() {
            true => trouble,
            false => unknown(id),
        }),
    }
}

fn unknown(id: &str) -> String {
    EngineError::NoFinding(id.to_string()).to_string()
}

/// Says that several have a finding of the same number.
fn mention(id: &str, whose: &str, others: &[Exploration]) {
    if others.is_empty() {
        return;
    }
    let flags: Vec<String> = (others.iter())
        .map(|other| format!("--function {}", other.name))
        .collect();
    output::complain(&format!(
        "{id} is that of {whose}; there are others: {}",
        flags.join(", ")
    ));
}

/// The command that runs a finding or a test of an exploration again: `nearmiss replay NM-1 --function f`.
pub fn replay_command(what: &str, name: &str, campaign: &Path) -> String {
    let mut words = vec!["nearmiss".to_string(), "replay".to_string()];
    words.extend(what.split(' ').map(str::to_string));
    words.extend(["--function".to_string(), name.to_string()]);
    if campaign != Path::new(USUAL_DIRECTORY) {
        words.extend(["--dir".to_string(), campaign.display().to_string()]);
    }
    nearmiss_report::shell::command_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_says_where() {
        let usual = Path::new(USUAL_DIRECTORY);
        assert_eq!(
            replay_command("NM-1", "f", usual),
            "nearmiss replay NM-1 --function f"
        );
        assert_eq!(
            replay_command("--test 7", "f", Path::new("my dir")),
            "nearmiss replay --test 7 --function f --dir 'my dir'"
        );
    }

    fn explored(campaign: &Path, name: &str, age: u64) {
        let directory = directory_of(name, campaign);
        fs::create_dir(&directory).unwrap();
        let report = FunctionReport {
            version: nearmiss_results::VERSION,
            function: name.into(),
            ..FunctionReport::default()
        };
        keep(&report, &directory).unwrap();
        let file = fs::File::options().write(true).open(directory.join(REPORT));
        let time = SystemTime::now() - std::time::Duration::from_secs(age);
        file.unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn the_last_exploration_comes_first() {
        let campaign = tempfile::tempdir().unwrap();
        for (name, age) in [("a", 20), ("b", 10), ("c", 30)] {
            explored(campaign.path(), name, age);
        }
        fs::create_dir(directory_of("unfinished", campaign.path())).unwrap();
        let found = explorations(campaign.path());
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert!(owner("NM-1", None, campaign.path()).is_err());
        assert!(owner("NM-1", Some("a"), campaign.path()).is_err());
    }
}
