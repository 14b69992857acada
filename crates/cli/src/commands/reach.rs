//! `nearmiss reach`: an input that comes to a place, or a proof that there is none.

mod alarms;
mod diff;
mod program;
mod programs;
mod unwritten;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_campaign::Campaign;
use nearmiss_paths::TargetSearch;
use nearmiss_paths::build::{MarkPlace, TargetMark};
use nearmiss_report::function::reach as shown;
use nearmiss_report::text::Detail;
use nearmiss_results::ReachVerdict;
use nearmiss_search::Tally;

use super::explore::{settings, writing};
use super::kept;
use crate::arguments::values::place;
use crate::arguments::{ExploreArguments, Format, Overflow, PreMode, ReachArguments};
use crate::display::{Display, Mode, function};
use crate::files::Disk;
use crate::{FOUND, NOTHING, UNKNOWN, output, signals};

/// Looks for a way to the target and tells what came of it.
pub fn reach(arguments: ReachArguments) -> Result<u8, String> {
    if arguments.sarif.is_some() || arguments.analyze {
        return alarms::judge(arguments);
    }
    if program::is_command(&arguments.common.flags) {
        return program::reach(&arguments);
    }
    if arguments.diff.is_some() {
        return Err("--diff needs tests: `-- ./program arguments`, `-- make check`".into());
    }
    let request = Request::from(arguments)?;
    let arguments = &request.arguments;
    writing::refuse_to_overwrite(&arguments.common.results)?;
    let name = format!("reach-{}", request.function);
    let directory = kept::directory_of(&name, &arguments.common.campaign.dir);
    let campaign = Campaign::open(&directory).map_err(|error| error.to_string())?;
    let mut config = settings::config(arguments, campaign.root())?;
    config.build.marks = request.marks;
    config.build.wraps = request.overflow == Overflow::Wrap;
    config.reach = Some(request.reach);
    signals::install();
    let tally = Arc::new(Tally::default());
    let watched = function::Exploration::new(tally.clone());
    let display = Display::start(watched, Mode::choose(arguments.common.quiet));
    let reached = nearmiss_paths::reach(&config, &tally);
    display.finish();
    let mut reached = reached.map_err(|error| error.to_string())?;
    for finding in &mut reached.exploration.findings {
        finding.replay = kept::replay_command(&finding.id, &name, &arguments.common.campaign.dir);
    }
    let report = &mut reached.report;
    report.input = shown::input(report, Detail::Full);
    if report.verdict == ReachVerdict::Reached {
        report.replay = Some(kept::replay_command(
            "--test 1",
            &name,
            &arguments.common.campaign.dir,
        ));
    }
    kept::keep(&reached.exploration, campaign.root())?;
    let detail = match arguments.common.results.all {
        true => Detail::Full,
        false => Detail::Brief,
    };
    let people = shown::report(&reached.report, Some(&reached.exploration), &Disk, detail);
    let said = match arguments.common.results.format {
        Format::Json => reached.report.to_json(),
        Format::Text => people,
    };
    let file = arguments
        .common
        .results
        .output
        .as_ref()
        .map(|_| said.clone());
    output::result(said.as_bytes())?;
    writing::write(&reached.exploration, file, campaign.root(), arguments)?;
    Ok(match reached.report.verdict {
        ReachVerdict::Reached => FOUND,
        ReachVerdict::Infeasible => NOTHING,
        ReachVerdict::Unknown => UNKNOWN,
    })
}

/// What is asked for, with the flags that `explore` has too as its own.
struct Request {
    arguments: ExploreArguments,
    function: String,
    marks: Vec<TargetMark>,
    overflow: Overflow,
    reach: TargetSearch,
}

impl Request {
    fn from(arguments: ReachArguments) -> Result<Request, String> {
        let target = arguments.words.first().map(|word| place(word));
        let target = target.ok_or("what is to be reached?")??;
        let files = files(&arguments, &target)?;
        let stem = || {
            files[0]
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let function = arguments
            .common
            .subject
            .function
            .clone()
            .unwrap_or_else(stem);
        if arguments.common.subject.oracle.is_some()
            || arguments.common.subject.pre_mode == PreMode::Early
        {
            return Err("--oracle and --pre-mode early are for nearmiss explore".into());
        }
        let marks = marks(&arguments, target);
        Ok(Request {
            function,
            marks,
            overflow: arguments.overflow,
            reach: TargetSearch {
                is_guided: !arguments.unguided,
                failing: None,
                inputs: 1,
            },
            arguments: as_exploration(arguments, files),
        })
    }
}

/// The flags that `explore` has too.
fn as_exploration(arguments: ReachArguments, files: Vec<PathBuf>) -> ExploreArguments {
    ExploreArguments {
        files,
        common: arguments.common,
    }
}

/// The files that are needed: those that are named behind the target, and those that places name.
fn files(arguments: &ReachArguments, target: &MarkPlace) -> Result<Vec<PathBuf>, String> {
    let named = arguments.words.iter().skip(1);
    let mut files: Vec<PathBuf> = named.map(PathBuf::from).collect();
    for place in arguments.via.iter().chain([target]) {
        if let MarkPlace::Line(file, _) = place
            && !files.iter().any(|known| is_same(known, file))
            // A header is part of the files that include it, and so is a C file that one of them includes.
            && (arguments.words.len() == 1 || file.extension().is_some_and(|it| it == "c"))
            && !files.iter().any(|known| includes(known, file))
        {
            files.push(file.clone());
        }
    }
    match files.is_empty() {
        true => Err("which file has it? name it behind the target".into()),
        false => Ok(files),
    }
}

/// Whether a C file includes another one by its name: then it is not compiled beside it.
fn includes(file: &Path, other: &Path) -> bool {
    let Some(name) = other.file_name().map(|name| name.to_string_lossy()) else {
        return false;
    };
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| {
        let included = line.strip_prefix("#include").map(str::trim);
        included.is_some_and(|path| {
            let path = path.trim_matches('"');
            path.rsplit('/').next() == Some(name.as_ref())
        })
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    one == other || whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// Steps in their order, the target last, and what must not be passed.
fn marks(arguments: &ReachArguments, target: MarkPlace) -> Vec<TargetMark> {
    let steps = arguments.via.iter().map(|place| (place.clone(), None));
    let target = (target, arguments.when.clone());
    let steps = steps.chain([target]).zip(0..);
    let steps = steps.map(|((place, when), number)| TargetMark {
        place,
        when,
        number,
        slot: None,
    });
    let forbidden = arguments.not_through.iter().map(|place| TargetMark {
        place: place.clone(),
        when: None,
        number: FORBIDDEN_STEP,
        slot: None,
    });
    steps.chain(forbidden).collect()
}
