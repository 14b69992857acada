//! A whole program with its recorded tests: `nearmiss reach FILE:LINE -- PROGRAM …`, and the lines of a diff.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nearmiss_abi::channel::ChannelSet;
use nearmiss_campaign::{Campaign, Capsule, TestCase};
use nearmiss_engine::reach::{LineKey, MarkedProgram, Outcome, Search, Survey};
use nearmiss_engine::{Calls, Config, Options, Output};
use nearmiss_paths::build::{self, MarkPlace, TargetMark};
use nearmiss_report::function::reach as shown;
use nearmiss_report::text::Detail;
use nearmiss_results::{Nearest, ReachReport, ReachVerdict, TestOrigin, VERSION};
use nearmiss_search::Tally;
use nearmiss_sites::flow::UnitFlow;
use nearmiss_sites::rewrite::Rewrite;
use nearmiss_sites::{Twin, Unit};
use nearmiss_twin::{TwinError, Variant};

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
    let is_ours = |path: &PathBuf| nearmiss_twin::inspect(path, &[]).is_ok();
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

/// A program of the tests, and what it is made of.
struct Program {
    file: PathBuf,
    libraries: Vec<PathBuf>,
    units: Vec<(Unit, Twin)>,
    flows: Vec<UnitFlow>,
}

impl Program {
    /// A line of a file, as its units number it.
    fn lines(&self, file: &Path, line: u32) -> Vec<LineKey> {
        let units = self.units.iter();
        units
            .flat_map(|(unit, _)| {
                let files = (0..).zip(&unit.files);
                let named = files.filter(|(_, name)| is_named(unit, name, file));
                named.map(|(number, _)| (unit.hash, number, line))
            })
            .collect()
    }
}

/// The programs of the tests.
struct Programs(Vec<Program>);

impl Programs {
    fn read(search: &Search) -> Result<Programs, String> {
        let read = |capsule: &Capsule| -> Result<Program, String> {
            let libraries = nearmiss_engine::reach::libraries(capsule);
            let failed = |error: TwinError| error.to_string();
            Ok(Program {
                file: capsule.program.clone(),
                units: nearmiss_twin::kept_units(&capsule.program, &libraries).map_err(failed)?,
                flows: nearmiss_twin::flows_of(&capsule.program, &libraries).map_err(failed)?,
                libraries,
            })
        };
        let programs = search.programs().into_iter().map(read);
        Ok(Programs(programs.collect::<Result<_, _>>()?))
    }

    /// The program that has a place: the first, if that cannot be said without looking at sources.
    fn with(&self, place: &MarkPlace) -> Option<&Program> {
        let has = |program: &&Program| match place {
            MarkPlace::Line(file, _) => program.units.iter().any(|(unit, _)| has_file(unit, file)),
            MarkPlace::Name(name) | MarkPlace::Label(name, _) => {
                let mut functions = program.flows.iter().flat_map(|flow| &flow.functions);
                functions.any(|function| function.name == *name)
            }
        };
        let found = self.0.iter().find(has);
        found.or_else(|| {
            self.0
                .first()
                .filter(|_| matches!(place, MarkPlace::Name(_)))
        })
    }

    /// Of some lines those that have code in a program; of several in the same blocks the first.
    fn with_code(&self, lines: Vec<(PathBuf, u32)>) -> Vec<MarkPlace> {
        let mut places = Vec::new();
        let mut known: Vec<Vec<(u64, usize, usize)>> = Vec::new();
        for (file, line) in lines {
            let blocks = self.blocks(&file, line);
            if !blocks.is_empty() && !known.contains(&blocks) {
                known.push(blocks);
                places.push(MarkPlace::Line(file, line));
            }
        }
        places
    }

    /// The blocks that have code of a line: unit, function, block.
    fn blocks(&self, file: &Path, line: u32) -> Vec<(u64, usize, usize)> {
        let mut blocks = Vec::new();
        for program in &self.0 {
            let keys = program.lines(file, line);
            for flow in &program.flows {
                let is_here = |it: &(u32, u32)| keys.contains(&(flow.unit, it.0, it.1));
                for (function, content) in flow.functions.iter().enumerate() {
                    for (block, content) in content.blocks.iter().enumerate() {
                        if content.lines.iter().any(is_here) {
                            blocks.push((flow.unit, function, block));
                        }
                    }
                }
            }
        }
        blocks.sort_unstable();
        blocks
    }
}

fn has_file(unit: &Unit, file: &Path) -> bool {
    let mut names = unit.files.iter().chain([&unit.source]);
    names.any(|name| is_named(unit, name, file))
}

/// Whether a file of a unit is the one that a user names.
fn is_named(unit: &Unit, name: &str, file: &Path) -> bool {
    let full = Path::new(&unit.directory).join(name);
    let whole = |path: &Path| path.canonicalize().ok();
    let same = || whole(&full).is_some() && whole(&full) == whole(file);
    full == file || full.ends_with(file) || same()
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
    fn reach(&self, target: &MarkPlace, time: Duration) -> Result<ReachReport, String> {
        let mut report = self.asked(target);
        let Some(program) = self.programs.with(target) else {
            report.reason = Some("no program of the tests has that place".into());
            return Ok(report);
        };
        report.function = program_name(&[program.file.to_string_lossy().into_owned()]);
        let marks = marks(self.arguments, target.clone());
        let marked = match self.marked(program, &marks) {
            Ok(marked) => marked,
            // One line of many, without a statement in it, is no reason to give up.
            Err(why) if self.arguments.diff.is_some() => {
                report.reason = Some(why.lines().next().unwrap_or_default().into());
                return Ok(report);
            }
            Err(why) => return Err(why),
        };
        let name = format!("test-{}", self.number);
        let nearest = self.nearest(program, target);
        let search = self.search;
        let outcome = search.reach(&program.file, &marked, time, &name, nearest.as_deref());
        let outcome = outcome.map_err(|error| error.to_string())?;
        fill(&mut report, outcome);
        Ok(report)
    }

    /// The tests that come nearest to a line, if that was looked at.
    fn nearest(&self, program: &Program, target: &MarkPlace) -> Option<Vec<String>> {
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
