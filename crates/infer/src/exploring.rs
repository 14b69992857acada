//! One exploration: all paths of the calls that a condition lets through. What fails there is run natively, too.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nearmiss_abi::check::Kind;
use nearmiss_harness::{Prototype, Request};
use nearmiss_paths::build::Contracted;
use nearmiss_paths::build::Sources;
use nearmiss_paths::{Config, Cover as Covered, Mode};
use nearmiss_results::{DecidedAssignments, FunctionReport, Verdict};
use nearmiss_search::Tally;

use crate::InferError;
use crate::condition::Condition;
use crate::constants;
use crate::inputs::TestCase;
use crate::runner::{Failure, Group};
use crate::study::Study;
use crate::valuations::Valuation;
use crate::whitebox::WhiteBox;
use crate::wrapper::{self, Numbers};

/// Failing calls of one exploration that are learnt from.
const CALLS: usize = 200;

/// Explorations of one function.
pub struct Session<'a> {
    pub prototype: &'a Prototype,
    pub white_box: &'a WhiteBox,
    /// The time that is left for exploring, without building.
    pub left: Duration,
    /// Whether signed numbers may overflow.
    pub wraps: bool,
    pub decided: DecidedAssignments,
}

/// A call that fails, here and natively.
pub struct FailingCall {
    pub values: Valuation,
    pub test: TestCase,
    pub failure: Failure,
}

/// Failing calls of an exploration, and whether all of them fail by an overflow of signed numbers.
#[derive(Default)]
pub struct Refutation {
    pub calls: Vec<FailingCall>,
    pub is_overflow: bool,
}

/// What one exploration showed.
struct Exploration {
    failing: Vec<(Valuation, TestCase)>,
    /// Whether anything fails at all.
    has_failure: bool,
    is_overflow: bool,
    paths: u64,
    /// Why there may be more paths, and within which bounds there are no others.
    open: Vec<String>,
    within: Vec<String>,
}

/// What one exploration led to.
pub enum Outcome {
    /// No call fails.
    Proved,
    /// Calls fail.
    Refuted(Refutation),
    /// It is not known.
    Open(String),
}

impl Study<'_> {
    /// Explores the calls that a condition lets through. What fails is run natively, too.
    pub(crate) fn explore(
        &mut self,
        session: &mut Session<'_>,
        admissible: &Condition,
        numbers: Numbers,
    ) -> Result<Outcome, InferError> {
        let file = self.config.directory.join("white_box.c");
        let text = wrapper::write(
            &self.config.subject,
            session.prototype,
            &self.environment,
            admissible,
            numbers,
        );
        fs::write(&file, text).map_err(|error| InferError::Io(file.clone(), error))?;
        if session.left < Duration::from_millis(100) || self.is_over() {
            return Ok(Outcome::Open("the time was over".into()));
        }
        let config = self.exploration(session, file);
        let start = Instant::now();
        let explored = nearmiss_paths::explore(&config, &Tally::default());
        // The time of tests is another one.
        self.deadline += start.elapsed();
        let explored = match explored {
            Ok(report) => {
                let spent = Duration::from_secs_f64(report.figures.seconds.max(0.0));
                session.left = session.left.saturating_sub(spent);
                self.read(&report)
            }
            Err(error) => return Ok(Outcome::Open(error.to_string())),
        };
        session.decided.paths += explored.paths;
        self.proof_bounds = explored.within;
        let found = explored.has_failure;
        let calls = self.confirm(explored.failing)?;
        let is_overflow = explored.is_overflow;
        Ok(match (calls.is_empty(), explored.open.into_iter().next()) {
            (false, _) => Outcome::Refuted(Refutation { calls, is_overflow }),
            (true, _) if found => {
                Outcome::Open("some calls fail under the checks of the exploration only".into())
            }
            (true, Some(why)) => Outcome::Open(why),
            (true, None) => Outcome::Proved,
        })
    }

    /// Those that fail natively, too.
    fn confirm(
        &mut self,
        failing: Vec<(Valuation, TestCase)>,
    ) -> Result<Vec<FailingCall>, InferError> {
        let group = |(_, test): &(Valuation, TestCase)| Group {
            tests: vec![test.clone()],
            fresh: true,
        };
        let failing: Vec<_> = failing.into_iter().take(CALLS).collect();
        let groups: Vec<Group> = failing.iter().map(group).collect();
        let failures = self.runner.run(&groups)?;
        self.tests += failing.len() as u64;
        let pairs = failing.into_iter().zip(failures);
        let confirmed = pairs.filter_map(|((values, test), failure)| {
            Some(FailingCall {
                values,
                test,
                failure: failure?,
            })
        });
        Ok(confirmed.collect())
    }

    fn exploration(&self, session: &Session<'_>, file: PathBuf) -> Config {
        let subject = &self.config.subject;
        let is_option = |word: &&String| word.starts_with('-');
        let mut files = vec![file];
        files.extend(
            subject
                .linked
                .iter()
                .filter(|word| !is_option(word))
                .map(PathBuf::from),
        );
        let options = subject.linked.iter().filter(is_option);
        Config {
            build: Sources {
                files,
                flags: subject.flags.iter().chain(options).cloned().collect(),
                compile_commands: None,
                compiler: session.white_box.compiler.clone(),
                marks: Vec::new(),
                wraps: session.wraps,
                contracted: Contracted::default(),
                refuses: false,
                answers: false,
                objects: None,
            },
            request: Some(Request {
                function: wrapper::NAME.into(),
                depth: nearmiss_harness::DEFAULT_DEPTH,
                elements: nearmiss_harness::DEFAULT_ELEMENTS,
                ..Request::default()
            }),
            mode: Mode::Auto,
            cover: Covered::Paths,
            loops: None,
            recursion: None,
            time: session.left,
            memory: 2 << 30,
            paths: None,
            query_time: Duration::from_secs(2),
            run_time: Duration::from_secs(1),
            solver: None,
            sandbox: self.config.sandbox.clone(),
            directory: self.config.directory.join("explored"),
            reach: None,
            restarts: true,
            stop: self.config.stop,
        }
    }

    fn read(&self, report: &FunctionReport) -> Exploration {
        let fails = |verdict: &Verdict| !matches!(verdict, Verdict::None | Verdict::Pass);
        let failing = report.tests.iter().filter(|test| fails(&test.verdict));
        let failing = failing.filter_map(|test| wrapper::call(&self.environment, &test.before));
        let overflows = |kind: Kind| kind == Kind::SignedOverflow;
        let calls_calloc = constants::calls(&self.config.subject, "calloc");
        // The memory of calls is made by the explored program itself.
        let is_ours = |bound: &&String| !calls_calloc && bound.starts_with("`calloc` answers");
        Exploration {
            failing: failing.collect(),
            has_failure: !report.findings.is_empty()
                || report.tests.iter().any(|test| fails(&test.verdict)),
            is_overflow: !report.findings.is_empty()
                && (report.findings.iter()).all(|finding| overflows(finding.kind)),
            paths: report.figures.paths,
            open: report.incomplete.clone(),
            within: (report.bounds.iter())
                .filter(|bound| !is_ours(bound))
                .cloned()
                .collect(),
        }
    }
}
