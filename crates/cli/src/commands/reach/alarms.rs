//! The alarms of a static analyser, each judged: something can fail there, nothing can, or it is not known.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_campaign::Campaign;
use nearmiss_harness::{Request, Rule, RuleKind};
use nearmiss_paths::build::{
    ALLOCATING, ANSWERING, MarkPlace, Objects, READ, REFUSED, Sources, TargetMark,
};
use nearmiss_paths::{Config, LineRange, TargetSearch, build};
use nearmiss_report::escape;
use nearmiss_report::function::reach as shown;
use nearmiss_report::sarif::{self, Alarm};
use nearmiss_report::text::Detail;
use nearmiss_results::{Finding, ReachReport, ReachVerdict};
use nearmiss_search::Tally;
use serde_json::{Value, json};

use super::{as_exploration, unwritten};
use crate::arguments::{ExploreArguments, Format, ReachArguments};
use crate::commands::explore::settings;
use crate::commands::kept;
use crate::{FOUND, NOTHING, UNKNOWN, output, signals};

/// Judges every alarm of the report, or of clang's analyser; tells and writes the verdicts.
pub fn judge(arguments: ReachArguments) -> Result<u8, String> {
    let (sarif, written) = (arguments.sarif.clone(), arguments.sarif_output.clone());
    if let Some(path) = written.as_ref().filter(|path| path.exists()) {
        refuse_other(path, sarif.as_deref())?;
    }
    let mut files: Vec<PathBuf> = arguments.words.iter().map(PathBuf::from).collect();
    let mut report = sarif.map(|path| read(&path)).transpose()?;
    if files.is_empty() {
        files = report.iter().flat_map(named_files).collect();
    }
    let format = arguments.common.results.format;
    let arguments = as_exploration(arguments, files);
    signals::install();
    if report.is_none() {
        report = Some(analyzed(&arguments)?);
    }
    let mut report = report.unwrap_or_default();
    let mut verdicts = Vec::new();
    let kept = kept::directory_of("alarms", &arguments.common.campaign.dir);
    let objects = Objects::new(&kept.join("objects"));
    for alarm in sarif::alarms(&report) {
        let verdict = verdict(&arguments, &objects, &alarm);
        sarif::annotate(&mut report, &alarm, &verdict);
        if format == Format::Text {
            output::result(line(&alarm, &verdict).as_bytes())?;
        }
        verdicts.push(verdict);
    }
    if format == Format::Json {
        let text = serde_json::to_string_pretty(&verdicts).map_err(|error| error.to_string())?;
        output::result(format!("{text}\n").as_bytes())?;
    } else {
        output::result(totals(&verdicts).as_bytes())?;
    }
    if let Some(path) = written {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(status(&verdicts))
}

fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let report: Value = serde_json::from_slice(&text)
        .map_err(|error| format!("{} is no SARIF: {error}", path.display()))?;
    match report["runs"].is_array() {
        true => Ok(report),
        false => Err(format!("{} is no SARIF: it has no runs", path.display())),
    }
}

/// A file that is there is written over only if it is an analyser's report with verdicts of ours.
fn refuse_other(path: &Path, input: Option<&Path>) -> Result<(), String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_ours = text.contains("\"nearmiss\"") && input != Some(path);
    match is_ours || text.is_empty() {
        true => Ok(()),
        false => Err(format!("{} was not written by nearmiss", path.display())),
    }
}

/// The C files that alarms are in.
fn named_files(report: &Value) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for alarm in sarif::alarms(report) {
        let file = PathBuf::from(alarm.place.file);
        if file.extension().is_some_and(|it| it == "c") && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// What clang's analyser says of the files.
fn analyzed(arguments: &ExploreArguments) -> Result<Value, String> {
    let directory = kept::directory_of("alarms", &arguments.common.campaign.dir);
    let sources = settings::sources(arguments)?;
    let reports = build::analyze(&sources, &directory).map_err(|error| error.to_string())?;
    let mut runs = Vec::new();
    let mut head = Value::Null;
    for path in reports {
        let mut report = read(&path)?;
        if let Some(list) = report["runs"].as_array_mut() {
            runs.append(list);
        }
        head = report;
    }
    head["runs"] = json!(runs);
    Ok(head)
}

/// What is to be thought of an alarm.
fn verdict(arguments: &ExploreArguments, objects: &Objects, alarm: &Alarm) -> ReachReport {
    let unknown = |reason: String| ReachReport {
        version: nearmiss_results::VERSION,
        target: format!("{}:{}", alarm.place.file, alarm.place.first),
        reason: Some(reason),
        ..ReachReport::default()
    };
    if let Some(reason) = sarif::no_state(alarm) {
        return ReachReport {
            is_no_state: true,
            ..unknown(reason.into())
        };
    }
    if let Some(reason) = sarif::not_judged(alarm) {
        return unknown(reason.into());
    }
    search(arguments, objects, alarm).unwrap_or_else(|error| {
        let mut lines = error.lines().filter(|line| !line.trim().is_empty());
        unknown(lines.next().unwrap_or("it could not be built").to_string())
    })
}

/// An alarm about a null pointer may be one about memory that is not there: what cannot fail while allocations
/// succeed is asked about once more, with allocations that fail.
fn search(
    arguments: &ExploreArguments,
    objects: &Objects,
    alarm: &Alarm,
) -> Result<ReachReport, String> {
    let functions = match &arguments.common.subject.function {
        Some(function) => vec![function.clone()],
        None => entries(arguments, objects, alarm)?,
    };
    let mut answer = Err(String::new());
    for function in &functions {
        let next = search_from(arguments, objects, alarm, function);
        answer = match (answer, next) {
            (Err(_), next) => next,
            // What cannot fail for whatever its own function is given cannot fail for its callers.
            (Ok(_), Ok(next)) if next.verdict == ReachVerdict::Infeasible => Ok(next),
            (answer, _) => answer,
        };
        if (answer.as_ref()).is_ok_and(|it| it.verdict != ReachVerdict::Unknown) {
            break;
        }
    }
    answer
}

/// The same from one function.
fn search_from(
    arguments: &ExploreArguments,
    objects: &Objects,
    alarm: &Alarm,
    function: &str,
) -> Result<ReachReport, String> {
    let question = Question {
        arguments,
        objects,
        alarm,
        function,
        refuses: false,
        answers: false,
    };
    let with_memory = question.judge()?;
    if is_answerable(&with_memory) {
        let with_files = Question {
            refuses: true,
            answers: true,
            ..question
        };
        let runs = with_memory.runs;
        let answer = match with_files.judge() {
            Ok(answer) => answer,
            Err(_) => {
                let reason = with_memory.reason.unwrap_or_default();
                return Ok(ReachReport {
                    reason: Some(format!(
                        "{reason}; with files as inputs it could not be built"
                    )),
                    ..with_memory
                });
            }
        };
        let reason = (answer.reason).map(|why| format!("where files are inputs: {why}"));
        return Ok(ReachReport {
            runs: answer.runs + runs,
            reason,
            ..answer
        });
    }
    let is_refuted = with_memory.verdict == ReachVerdict::Infeasible;
    let names = |assumed: &String| {
        let mut allocating = ALLOCATING.iter();
        allocating.any(|name| assumed.contains(&format!("`{name}`")))
    };
    let allocates = with_memory.assumed.iter().any(names);
    if !(is_refuted && allocates && sarif::is_about_null(alarm)) {
        return Ok(with_memory);
    }
    let without = Question {
        refuses: true,
        ..question
    };
    let Ok(answer) = without.judge() else {
        return Ok(with_memory);
    };
    let runs = answer.runs + with_memory.runs;
    let reason = answer
        .reason
        .map(|why| format!("while memory is there nothing fails; where it is not: {why}"));
    Ok(ReachReport {
        runs,
        reason,
        ..answer
    })
}

/// An alarm, and the function that everything begins with.
#[derive(Clone, Copy)]
struct Question<'a> {
    arguments: &'a ExploreArguments,
    objects: &'a Objects,
    alarm: &'a Alarm,
    function: &'a str,
    /// Whether allocations may fail.
    refuses: bool,
    /// Whether files that are read are inputs.
    answers: bool,
}

/// Bytes of memory that has no known type: what an analyser takes for any memory must be some.
const UNTYPED_BYTES: u32 = 64;

impl Question<'_> {
    /// First the path that the analyser shows is followed, then any other: an alarm is right if something can fail
    /// there on whatever way.
    fn judge(&self) -> Result<ReachReport, String> {
        let steps = self.steps()?;
        if steps.is_empty() {
            return self.ask(&[]);
        }
        let followed = self.ask(&steps)?;
        let flow = Some(followed.verdict);
        if followed.verdict == ReachVerdict::Reached {
            return Ok(ReachReport { flow, ..followed });
        }
        let runs = followed.runs;
        let answer = self.ask(&[])?;
        Ok(ReachReport {
            flow,
            runs: answer.runs + runs,
            ..answer
        })
    }

    /// The steps of the analyser's path that can be marked.
    fn steps(&self) -> Result<Vec<TargetMark>, String> {
        let sources = sources(self.arguments, self.objects)?;
        let directory = kept::directory_of("alarms", &self.arguments.common.campaign.dir);
        let places = self.alarm.steps.iter();
        let places: Vec<(PathBuf, u32)> = places
            .map(|place| (PathBuf::from(&place.file), place.first))
            .collect();
        let steps = build::steps_of_flow(&sources, &directory, &places);
        steps.map_err(|error| error.to_string())
    }

    /// Can it be so, on a path through these steps? A pointer that the alarm takes for null is one that may be.
    fn ask(&self, steps: &[TargetMark]) -> Result<ReachReport, String> {
        let report = self.ask_with(steps, &[])?;
        let taken = never_null(self.alarm, &report);
        if taken.is_empty() {
            return Ok(report);
        }
        let runs = report.runs;
        let report = self.ask_with(steps, &taken)?;
        Ok(ReachReport {
            runs: report.runs + runs,
            ..report
        })
    }

    /// The same, with pointers that may be null beside those that the alarm names.
    fn ask_with(&self, steps: &[TargetMark], nulls: &[String]) -> Result<ReachReport, String> {
        let directory = &self.arguments.common.campaign.dir;
        let name = format!("alarm-{}", self.function);
        let place = kept::directory_of(&name, directory);
        let campaign = Campaign::open(&place).map_err(|error| error.to_string())?;
        let mut config = settings::config(self.arguments, campaign.root())?;
        config.build.marks = steps.to_vec();
        config.build.objects = Some(self.objects.clone());
        config.build.refuses = self.refuses;
        config.build.answers = self.answers;
        let is_unwritten = sarif::is_about_uninitialised(self.alarm);
        self.describe(&mut config, is_unwritten, nulls);
        let mut reached = match is_unwritten {
            true => unwritten::reach(self.alarm, &mut config),
            false => nearmiss_paths::reach(&config, &Tally::default()).map_err(|it| it.to_string()),
        }?;
        if reached.report.verdict == ReachVerdict::Infeasible && reached.has_failed_before() {
            // What the memory of a made-up input lacks refutes no alarm.
            reached.report.verdict = ReachVerdict::Unknown;
            let failed = |it: &&String| it.contains("failed before");
            let failed = reached.report.assumed.iter().find(failed);
            let failed = failed.map_or("runs failed before", String::as_str);
            reached.report.reason = Some(format!("{failed}: {SAY_MORE}"));
        }
        let found = reached.exploration.findings.first();
        let is_other = |it: &&Finding| !is_unwritten && !sarif::is_kind(self.alarm, it.kind.name());
        let other = found.filter(is_other);
        if let (Some(other), ReachVerdict::Reached) = (other, reached.report.verdict) {
            // That something fails is no confirmation of what the alarm says.
            reached.report.verdict = ReachVerdict::Unknown;
            let id = &other.id;
            let kind = other.kind.name();
            reached.report.reason = Some(format!("another thing fails there: {kind} ({id})"));
        }
        let system = reached.report.assumed.iter().find(|it| asks_system(it));
        if let (Some(system), ReachVerdict::Infeasible) = (system, reached.report.verdict) {
            // What a file or the environment may hold refutes no alarm.
            reached.report.verdict = ReachVerdict::Unknown;
            reached.report.reason = Some(format!("nothing fails while {system}"));
        }
        let found = found.map(|it| it.id.clone());
        let report = &mut reached.report;
        report.input = shown::input(report, Detail::Full);
        let again = found.unwrap_or_else(|| "--test 1".into());
        if report.verdict == ReachVerdict::Reached {
            report.replay = Some(kept::replay_command(&again, &name, directory));
        }
        kept::keep(&reached.exploration, campaign.root())?;
        Ok(reached.report)
    }

    /// Something is to fail at the alarm's lines, or they are to be reached; what the analyser took for null may be.
    fn describe(&self, config: &mut Config, is_target: bool, nulls: &[String]) {
        let place = &self.alarm.place;
        let lines = LineRange {
            file: place.file.clone().into(),
            first: place.first,
            last: place.last.max(place.first),
        };
        if is_target {
            config.build.marks.push(TargetMark {
                place: MarkPlace::Line(lines.file.clone(), lines.first),
                when: None,
                number: config.build.marks.len() as u8,
                slot: None,
            });
        }
        config.reach = Some(TargetSearch {
            is_guided: true,
            failing: (!is_target).then_some(lines),
            inputs: 1,
        });
        let request = config.request.get_or_insert_with(Request::default);
        request.function = self.function.to_string();
        request.untyped_bytes = Some(UNTYPED_BYTES);
        if self.refuses {
            request.globals.push(REFUSED.into());
        }
        if self.answers {
            request.globals.extend(READ.map(String::from));
        }
        let nulls = self.alarm.maybe_null.iter().chain(nulls).map(|name| Rule {
            kind: RuleKind::Null,
            target: name.clone(),
            value: String::new(),
            is_general: true,
        });
        request.rules.extend(nulls);
    }
}

/// Inputs of which a refutation assumes that they are not null although the alarm says so of a member with that name.
fn never_null(alarm: &Alarm, report: &ReachReport) -> Vec<String> {
    if report.verdict != ReachVerdict::Infeasible {
        return Vec::new();
    }
    let assumed = (report.assumed.iter()).filter(|assumed| assumed.contains("never NULL:"));
    let paths = assumed.flat_map(|assumed| {
        let (names, _) = assumed.split_once("never NULL:").unwrap_or_default();
        names.split('`').skip(1).step_by(2)
    });
    let is_named = |path: &&str| {
        let member = path.rsplit(['>', '.']).next().unwrap_or_default();
        let member = member.trim_end_matches("[]");
        path.contains(['>', '.']) && alarm.null_members.iter().any(|it| it == member)
    };
    paths.filter(is_named).map(str::to_string).collect()
}

const SAY_MORE: &str = "say which inputs the function takes (--pre, --require, --size, --string)";

/// Whether an alarm is unknown although answers of the system, which it depends on, can be inputs; more of them are no
/// help where the time was over.
fn is_answerable(report: &ReachReport) -> bool {
    let reason = report.reason.as_deref().unwrap_or_default();
    let mut assumed = report.assumed.iter().filter(|it| asks_system(it));
    let names = |it: &String| {
        let mut names = it.split('`').skip(1).step_by(2);
        names.any(|name| ANSWERING.contains(&name))
    };
    report.verdict == ReachVerdict::Unknown && !reason.contains("(--time)") && assumed.any(names)
}

/// Whether an assumption is about answers of the system, other than allocations.
fn asks_system(assumed: &str) -> bool {
    let mut names = assumed.split('`').skip(1).step_by(2);
    assumed.contains("what else the system may answer")
        && names.any(|name| !ALLOCATING.contains(&name))
}

/// The files, and what was made of them before.
fn sources(arguments: &ExploreArguments, objects: &Objects) -> Result<Sources, String> {
    Ok(Sources {
        objects: Some(objects.clone()),
        ..settings::sources(arguments)?
    })
}

/// The functions to begin with: that of the flow's first step, with which the analyser began, and that of the alarm,
/// where the first cannot be called, or leaves it unknown.
fn entries(
    arguments: &ExploreArguments,
    objects: &Objects,
    alarm: &Alarm,
) -> Result<Vec<String>, String> {
    let sources = sources(arguments, objects)?;
    let directory = kept::directory_of("alarms", &arguments.common.campaign.dir);
    let mut functions = Vec::new();
    let mut is_main = false;
    for place in alarm.flow.iter().take(1).chain([&alarm.place]) {
        let found = build::function_at(&sources, &directory, Path::new(&place.file), place.first);
        match found.map_err(|error| error.to_string())? {
            Some(name) if name == "main" => is_main = true,
            Some(name) if !functions.contains(&name) => functions.push(name),
            _ => {}
        }
    }
    match (functions.is_empty(), is_main) {
        (true, true) => Err("it begins in main, whose inputs are not parameters".into()),
        (true, false) => Err("its function was not found in the given files".into()),
        (false, _) => Ok(functions),
    }
}

fn line(alarm: &Alarm, verdict: &ReachReport) -> String {
    let name = sarif::verdict_name(verdict);
    let file = escape::text(&alarm.place.file);
    let mut text = format!("{file}:{}: {name}: ", alarm.place.first);
    text += &format!(
        "{} [{}]\n",
        escape::text(&alarm.message),
        escape::text(&alarm.rule)
    );
    let begins = escape::text(&verdict.function);
    text += &verdict
        .flow
        .map(|flow| way(flow, verdict.verdict))
        .unwrap_or_default();
    match (&verdict.input, &verdict.reason) {
        (Some(input), _) if verdict.verdict == ReachVerdict::Reached => {
            text += &format!("  {begins}: {}\n", escape::text(input));
            if input.contains(READ[0]) {
                text += &format!(
                    "  {} is what is read from files, {REFUSED} says what fails, allocating, opening and closing\n",
                    READ[0]
                );
            } else if input.contains(REFUSED) {
                text += &format!("  {REFUSED} says which of the first allocations fail\n");
            }
            text += &verdict
                .replay
                .iter()
                .map(|it| format!("  {it}\n"))
                .collect::<String>();
        }
        (_, Some(reason)) => text += &format!("  {}\n", escape::text(reason)),
        _ => {
            for assumed in &verdict.assumed {
                text += &format!("  {begins}, assumed: {}\n", escape::text(assumed));
            }
        }
    }
    text
}

/// What became of the analyser's own path, where that is not the whole answer.
fn way(flow: ReachVerdict, verdict: ReachVerdict) -> String {
    let said = match (flow, verdict) {
        (ReachVerdict::Reached, _) => "on the path that is shown",
        (ReachVerdict::Infeasible, ReachVerdict::Reached) => {
            "on another path: the one that is shown is refuted"
        }
        (_, ReachVerdict::Reached) => "on another path than the one that is shown",
        (ReachVerdict::Infeasible, ReachVerdict::Unknown) => {
            "the path that is shown is refuted, others are not"
        }
        _ => return String::new(),
    };
    format!("  {said}\n")
}

fn totals(verdicts: &[ReachReport]) -> String {
    let about_states = verdicts.iter().filter(|it| !it.is_no_state).count();
    let mut text = format!("{} alarms", verdicts.len());
    if about_states < verdicts.len() {
        text += &format!(", {about_states} about states");
    }
    text + &format!(
        ": {} confirmed, {} infeasible, {} unknown.\n",
        count(verdicts, ReachVerdict::Reached),
        count(verdicts, ReachVerdict::Infeasible),
        count(verdicts, ReachVerdict::Unknown)
    )
}

/// Alarms about states with a verdict.
fn count(verdicts: &[ReachReport], wanted: ReachVerdict) -> usize {
    let is_it = |it: &&ReachReport| !it.is_no_state && it.verdict == wanted;
    verdicts.iter().filter(is_it).count()
}

fn status(verdicts: &[ReachReport]) -> u8 {
    let has = |wanted: ReachVerdict| count(verdicts, wanted) > 0;
    match (has(ReachVerdict::Reached), has(ReachVerdict::Unknown)) {
        (true, _) => FOUND,
        (false, true) => UNKNOWN,
        (false, false) => NOTHING,
    }
}
