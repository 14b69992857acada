//! A whole program with its recorded tests: `nearmiss reach FILE:LINE -- PROGRAM …`, and the lines of a diff.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nearmiss_abi::channel::ChannelSet;
use nearmiss_campaign::{Campaign, TestCase};
use nearmiss_engine::reach::{MarkedProgram, Outcome, Search, Survey};
use nearmiss_engine::{Calls, Config, Options, Output};
use nearmiss_paths::build::{self, MarkPlace, TargetMark};
use nearmiss_report::function::reach as shown;
use nearmiss_report::text::Detail;
use nearmiss_results::{Nearest, ReachReport, ReachVerdict, TestOrigin, VERSION};
use nearmiss_search::Tally;
use nearmiss_sites::rewrite::Rewrite;
use nearmiss_twin::Variant;

use super::programs::{Program, Programs};
use super::{diff, marks};
use crate::arguments::values::place;
use crate::arguments::{Format, ReachArguments};
use crate::commands::{contracts, kept, run, settings, test};
use crate::display::{Display, Mode, function};
use crate::files::Disk;
use crate::{FOUND, NOTHING, UNKNOWN, environment, output, signals};

/// Bytes of each input of a recorded test that are looked at.
const INPUT: u64 = 4 << 10;

/// Every target has so much time: enough for its nearest tests, although building took the rest.
const LEAST: Duration = Duration::from_secs(2);

/// Whether the words behind `--` are a command and no flags for the compiler.
pub fn is_command(words: &[String]) -> bool {
    words.first().is_some_and(|word| !word.starts_with('-'))
}

/// Looks for an input of a program that comes to each target, and tells what came of it.
pub fn reach(arguments: &ReachArguments) -> Result<u8, String> {
    if arguments.common.subject.function.is_some() {
        return Err("--function and a program are two entries: choose one".into());
    }
    let name = format!("reach-{}", program_name(&arguments.common.flags));
    let directory = kept::directory_of(&name, &arguments.common.campaign.dir);
    let campaign = Campaign::open(&directory).map_err(|error| error.to_string())?;
    let config = config(arguments, campaign.root())?;
    signals::install();
    let tally = Arc::new(Tally::default());
    let watched = function::Exploration::new(tally.clone());
    let display = Display::start(watched, Mode::choose(arguments.common.quiet));
    let reports = search(arguments, campaign, &config, &tally, &name);
    display.finish();
    let reports = reports?;
    tell(arguments, &reports)?;
    Ok(status(&reports))
}

/// What the engine is to do.
fn config(arguments: &ReachArguments, directory: &Path) -> Result<Config, String> {
    environment::check_address_space()?;
    let compiler = environment::compiler_config()?;
    let (limits, subject) = (&arguments.common.limits, &arguments.common.subject);
    Ok(Config {
        directory: directory.to_path_buf(),
        time: limits.time,
        query_time: limits.query_time,
        run_time: None,
        distance: None,
        grow: 0,
        runs: limits.max_paths,
        rules: Vec::new(),
        jobs: 1,
        checks: None,
        sandbox: environment::sandbox(arguments.common.no_sandbox)?,
        solver: settings::solver(arguments.common.solver.as_deref())?,
        channels: ChannelSet::DEFAULT,
        options: Options {
            input: INPUT,
            ..Options::default()
        },
        output: Output::Kept,
        compiler,
        calls: Calls::default(),
        contracted: contracts::wanted(subject.contracts.as_deref(), subject.no_contracts)?,
        stop: &signals::STOP,
    })
}

fn search(
    arguments: &ReachArguments,
    campaign: Campaign,
    config: &Config,
    tally: &Tally,
    name: &str,
) -> Result<Vec<ReachReport>, String> {
    let tests = tests(&arguments.common.flags, config, &campaign, tally)?;
    let root = campaign.root().to_path_buf();
    let search = Search::new(config, campaign, tests, tally);
    let programs = Programs::read(&search)?;
    let targets = match &arguments.diff {
        Some(change) => programs.with_code(diff::changed_lines(change)?),
        None => {
            let word = arguments.words.first().ok_or("what is to be reached?")?;
            vec![place(word)?]
        }
    };
    // Where the tests come is looked at once for all targets.
    let survey = match targets.len() {
        0 | 1 => None,
        _ => Some(
            search
                .survey(config.time)
                .map_err(|error| error.to_string())?,
        ),
    };
    let end = Instant::now() + config.time;
    let mut reports = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        let time = (left / (targets.len() - number) as u32).max(LEAST);
        let one = One {
            arguments,
            programs: &programs,
            search: &search,
            survey: survey.as_ref(),
            config,
            directory: root.join("marked"),
            number: number + 1,
        };
        let mut report = one.reach(target, time)?;
        if report.verdict == ReachVerdict::Reached {
            let test = format!("--test {}", number + 1);
            let campaign = &arguments.common.campaign.dir;
            report.replay = Some(kept::replay_command(&test, name, campaign));
        }
        reports.push(report);
        if signals::STOP.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(reports)
}

/// The tests that a command makes: one if it is a program of ours, else all that it runs.
fn tests(
    words: &[String],
    config: &Config,
    campaign: &Campaign,
    tally: &Tally,
) -> Result<Vec<TestCase>, String> {
    let command: Vec<OsString> = words.iter().map(OsString::from).collect();
    let found = command.first().map(|name| environment::find_program(name));
    let is_ours = |path: &PathBuf| {
        nearmiss_twin::has_recipes(path) || nearmiss_twin::inspect(path, &[]).is_ok()
    };
    let tests = match found {
        Some(Ok(program)) if is_ours(&program) => {
            let target = run::target(command)?;
            nearmiss_engine::reach::record_one(target, config, campaign, tally)
        }
        _ => nearmiss_engine::reach::record_suite(&test::suite(command)?, config, campaign, tally),
    };
    tests.map_err(|error| error.to_string())
}

fn program_name(words: &[String]) -> String {
    let first = words.first().map(Path::new).unwrap_or(Path::new("program"));
    let name = first.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// One target.
struct One<'a> {
    arguments: &'a ReachArguments,
    programs: &'a Programs,
    search: &'a Search<'a>,
    survey: Option<&'a Survey>,
    config: &'a Config,
    /// Where the marked program is built.
    directory: PathBuf,
    /// Its number, from 1.
    number: usize,
}

impl One<'_> {
    /// The programs that have the place one after the other, those first of which a test comes nearest.
    fn reach(&self, target: &MarkPlace, time: Duration) -> Result<ReachReport, String> {
        let deadline = Instant::now() + time;
        let mut programs: Vec<(&Program, Option<Order>)> = (self.programs.with(target).into_iter())
            .map(|program| (program, self.nearest(program, target)))
            .collect();
        programs.sort_by_key(|(_, order)| order.as_ref()?.first().map(|(distance, _)| *distance));
        let mut answer: Option<ReachReport> = None;
        // Programs of which it is not known.
        let mut open = None;
        for (number, (program, order)) in programs.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let others = programs.len() - number;
            if left.is_zero() && answer.is_some() {
                open = Some(format!("no time for {others} other programs that have it"));
                break;
            }
            let share = (left / others as u32).max(LEAST);
            match self.reach_in(program, order.as_deref(), target, share) {
                Ok(report) if report.verdict == ReachVerdict::Reached => {
                    return Ok(together(answer, report));
                }
                Ok(report) => answer = Some(together(answer, report)),
                Err(why) => open = Some(why),
            }
        }
        match (answer, open) {
            (Some(answer), None) => Ok(answer),
            (Some(answer), Some(why)) => Ok(and_open(answer, &why)),
            (None, Some(why)) => Err(why),
            (None, None) => Ok(ReachReport {
                reason: Some("no program of the tests has that place".into()),
                ..self.asked(target)
            }),
        }
    }

    /// The same in one of the programs.
    fn reach_in(
        &self,
        program: &Program,
        nearest: Option<&[(u32, String)]>,
        target: &MarkPlace,
        time: Duration,
    ) -> Result<ReachReport, String> {
        let mut report = self.asked(target);
        report.function = program_name(&[program.file.to_string_lossy().into_owned()]);
        let marks = marks(self.arguments, target.clone());
        let marked = match self.marked(program, &marks) {
            Ok(marked) => marked,
            // One line of many, without a statement in it, is no reason to give up.
            Err(why) if self.arguments.diff.is_some() => {
                report.reason = Some(first_words(&why));
                return Ok(report);
            }
            Err(why) => return Err(why),
        };
        let name = format!("test-{}", self.number);
        let ids = |order: &[(u32, String)]| order.iter().map(|(_, id)| id.clone()).collect();
        let nearest: Option<Vec<String>> = nearest.map(ids);
        let search = self.search;
        let outcome = search.reach(&program.file, &marked, time, &name, nearest.as_deref());
        let outcome = outcome.map_err(|error| error.to_string())?;
        fill(&mut report, outcome);
        Ok(report)
    }

    /// The tests that come nearest to a line, if that was looked at.
    fn nearest(&self, program: &Program, target: &MarkPlace) -> Option<Order> {
        let MarkPlace::Line(file, line) = target else {
            return None;
        };
        let lines = program.lines(file, *line);
        let search = self.search;
        let order = |survey| search.nearest(survey, &program.file, &program.flows, &lines);
        self.survey.map(order)
    }

    fn asked(&self, target: &MarkPlace) -> ReachReport {
        let names = |places: &[MarkPlace]| places.iter().map(MarkPlace::to_string).collect();
        ReachReport {
            version: VERSION,
            target: target.to_string(),
            when: self.arguments.when.clone(),
            via: names(&self.arguments.via),
            not_through: names(&self.arguments.not_through),
            ..ReachReport::default()
        }
    }

    /// The program with marks in it.
    fn marked(&self, program: &Program, marks: &[TargetMark]) -> Result<MarkedProgram, String> {
        let compiler = &self.config.compiler;
        let units = build::mark_units(&program.units, marks, compiler, &self.directory);
        let units = units.map_err(|error| error.to_string())?;
        let beside = nearmiss_engine::contracts_beside(
            &program.file,
            &program.libraries,
            self.config,
            &self.directory,
        )?;
        for (function, why) in &beside.unused {
            let words = format!("The contract of {function} was not used: {why}.\n");
            output::message(words.as_bytes());
        }
        let sources = beside.sources;
        let rewrite = Rewrite {
            checks: beside.checks,
            ..Rewrite::default()
        };
        let variant = Variant {
            rewrite: &rewrite,
            sources: &sources,
            replaced: &units.bitcode,
            compiler,
        };
        let twin = nearmiss_twin::Config {
            clang: self.config.compiler.clang.clone(),
            library_directory: self.config.compiler.library_directory.clone(),
            units: self.directory.join("units"),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            quick: false,
        };
        let (file, libraries) = (&program.file, &program.libraries);
        let built = nearmiss_twin::build_variant(file, libraries, &variant, &self.directory, &twin);
        Ok(MarkedProgram {
            program: built.map_err(|error| error.to_string())?,
            steps: build::steps_of(marks),
        })
    }
}

/// The tests of a program, and how far each is from a place.
type Order = Vec<(u32, String)>;

/// What programs say of one place: what is reached in one is reached; it is infeasible if it is so in all.
fn together(one: Option<ReachReport>, other: ReachReport) -> ReachReport {
    let Some(one) = one else {
        return other;
    };
    let rank = |it: &ReachReport| match it.verdict {
        ReachVerdict::Reached => 0,
        ReachVerdict::Unknown => 1,
        ReachVerdict::Infeasible => 2,
    };
    let is_first = rank(&one) <= rank(&other);
    let (answer, less) = if is_first { (one, other) } else { (other, one) };
    ReachReport {
        runs: answer.runs + less.runs,
        queries: answer.queries + less.queries,
        pruned: answer.pruned + less.pruned,
        seconds: answer.seconds + less.seconds,
        ..answer
    }
}

/// An answer, where that of another program is missing.
fn and_open(answer: ReachReport, why: &str) -> ReachReport {
    let before = answer.reason.as_deref().unwrap_or("infeasible in one");
    ReachReport {
        verdict: ReachVerdict::Unknown,
        reason: Some(format!("{before}; {why}")),
        assumed: Vec::new(),
        ..answer
    }
}

/// What a search found out.
fn fill(report: &mut ReachReport, outcome: Outcome) {
    report.runs = outcome.runs;
    report.queries = outcome.queries;
    report.pruned = outcome.pruned;
    report.seconds = outcome.time.as_secs_f64();
    if outcome.is_unreachable || outcome.is_left_out {
        report.verdict = ReachVerdict::Infeasible;
        report.assumed = vec![
            if outcome.is_left_out {
                LEFT_OUT
            } else {
                UNREACHABLE
            }
            .into(),
        ];
        return;
    }
    let Some(reached) = outcome.reached else {
        report.reason = Some(outcome.reasons.join("; "));
        report.nearest = outcome.nearest.map(|(test, distance)| Nearest {
            test,
            decisions: u64::from(distance) + 1,
        });
        return;
    };
    report.verdict = ReachVerdict::Reached;
    report.test = Some(TestOrigin {
        id: reached.test,
        is_own: reached.is_own,
    });
    report.channels = reached.input;
    report.path = reached.path;
    report.violated = reached.violated;
    report.input = shown::channels(report);
}

const UNREACHABLE: &str = "no way of the program's control flow leads there from where it begins";

const LEFT_OUT: &str =
    "the compiler has left no code of it in this program: it takes it for unreachable, or unused";

/// One answer in full, several as a table.
fn tell(arguments: &ReachArguments, reports: &[ReachReport]) -> Result<(), String> {
    let results = &arguments.common.results;
    let detail = match results.all {
        true => Detail::Full,
        false => Detail::Brief,
    };
    let json = |text: serde_json::Result<String>| text.map_err(|error| error.to_string());
    let text = match (results.format, reports) {
        (Format::Json, [only]) if arguments.diff.is_none() => only.to_json(),
        (Format::Json, all) => json(serde_json::to_string_pretty(all))? + "\n",
        (Format::Text, [only]) if arguments.diff.is_none() => {
            shown::report(only, None, &Disk, detail)
        }
        (Format::Text, all) => shown::table(all),
    };
    if let Some(path) = &results.output {
        std::fs::write(path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    output::result(text.as_bytes())
}

/// Of several targets: 1 if one is reached, 0 if all are infeasible or there is none, else 3.
fn status(reports: &[ReachReport]) -> u8 {
    let has = |wanted: ReachVerdict| reports.iter().any(|it| it.verdict == wanted);
    match (has(ReachVerdict::Reached), has(ReachVerdict::Unknown)) {
        (true, _) => FOUND,
        (false, true) => UNKNOWN,
        (false, false) => NOTHING,
    }
}

/// The first line of a message, and the first error of a compiler in it.
fn first_words(message: &str) -> String {
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    let error = lines.find(|line| line.contains("error: "));
    match error {
        Some(error) => format!("{first} {error}"),
        None => first.to_string(),
    }
}
