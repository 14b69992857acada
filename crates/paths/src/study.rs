//! One function from its files to its report.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_abi::environment as options;
use nearmiss_abi::event::{PHASE_FUNCTION, PHASE_SETUP};
use nearmiss_abi::server::{MODE_BOTH, MODE_FUNCTION, MODE_PRECONDITION};
use nearmiss_abi::site::SiteId;
use nearmiss_harness::INPUT;
use nearmiss_results::{FunctionReport, PathTest, Verdict};
use nearmiss_search::{DepthFirst, Guided, NewCoverage, Phase, Strategy, Tally};
use nearmiss_server::{Server, Settings};
use nearmiss_sites::program::Program;
use nearmiss_solve::{Backend, Stack};

use crate::arrivals::{Arrivals, Finished};
use crate::bounds::Limits;
use crate::budget::Budget;
use crate::build::{self, Programs};
use crate::collect::{Collection, Describer};
use crate::error::ExploreError;
use crate::executor::{self, ForkServer};
use crate::explain::explain;
use crate::explorer::{Arrival, Explorer, Pending};
use crate::guide::Guide;
use crate::input::Input;
use crate::judge::{Judge, Setup};
use crate::measure::{self, Measure};
use crate::memory::Limit;
use crate::precondition::{Auto, Late, Precondition, Summary, Unrestricted};
use crate::reach::{self, has_reached, is_guided};
use crate::report::{ReportBuilder, figures};
use crate::signatures::CoverageSignatures;
use crate::workspace::Workspace;
use crate::{Config, Cover, Mode};

/// Explores: where a process that makes many runs does not make each as a fresh one would, once more from the
/// beginning with a fresh one for each.
pub fn explore(config: &Config, tally: &Tally) -> Result<FunctionReport, ExploreError> {
    match attempt(config, tally, true) {
        Err(ExploreError::NotRepeatable) => attempt(config, tally, false),
        explored => explored,
    }
}

fn attempt(
    config: &Config,
    tally: &Tally,
    may_restart: bool,
) -> Result<FunctionReport, ExploreError> {
    if let Some(file) = config.build.files.first() {
        tally.enter(Phase::Building(file.display().to_string()));
    }
    let directory = config.directory.join(build::DIRECTORY);
    let mut programs = build::build(&config.build, config.request.as_ref(), &directory)?;
    programs.restarts &= may_restart && config.restarts;
    let programs = Arc::new(programs);
    let takes_formula = matches!(config.mode, Mode::Auto | Mode::Late);
    let wants_program = takes_formula && precondition_name(config).is_some();
    let program = wants_program.then(|| build::program(&programs)).flatten();
    let guide = reach::guide(config, &programs)?;
    let leads_behind_return = guide.as_ref().is_some_and(Guide::matters_at_end);
    let has_handlers = guide.as_ref().is_some_and(Guide::has_handlers);
    let guide = guide.filter(|_| is_guided(config));
    let executor = start_executor(config, &programs, guide.as_ref())?;
    let start = Instant::now();
    nearmiss_solve::interrupt_by(config.stop);
    let budget = Budget {
        deadline: Budget::deadline_of_exploring(config.time),
        stop: config.stop,
        memory: Limit::new(config.memory),
    };
    let mut finishing = budget.of_finishing(config.time);
    if config.reach.is_some() {
        // Whether a failure is confirmed is the answer: the twin has its time.
        finishing.deadline += FOR_THE_TWIN;
    }
    let mut workspace = workspace(config, executor, &programs, budget);
    tally.set_deadline(budget.deadline);
    tally.enter(Phase::Exploring);
    let mut study = Study {
        config,
        tally,
        programs: programs.clone(),
        collection: Collection::default(),
        judge: config
            .reach
            .is_none()
            .then(|| judge(config, &programs, finishing)),
        measure: config
            .reach
            .is_none()
            .then(|| measure(config, &programs, finishing)),
        finishing,
        is_covered: false,
        rejected: 0,
        failed_before: Vec::new(),
        leads_behind_return,
        has_handlers,
        signatures: CoverageSignatures::new(config.cover),
    };
    let first = study.first_input(&mut workspace);
    let Some(precondition) = precondition(config, program.as_ref(), &mut workspace, &first)? else {
        return Err(nothing_admissible(config));
    };
    let mut explorer = explorer(config, &mut workspace, precondition);
    explorer.guide = guide;
    let mut arrivals = Arrivals::new(explorer, first, strategy(config));
    if let Err(why) = study.pursue(&mut arrivals) {
        study.abandon();
        return Err(why);
    }
    if let Some(why) = nothing_explored(config, &programs, &arrivals) {
        return Err(why);
    }
    let spent = start.elapsed();
    let figures = figures(&arrivals.explorer, spent);
    let infeasible = explain(&mut arrivals.explorer, &programs, (config.time, spent));
    Ok(ReportBuilder::new(study, arrivals).report(figures, infeasible))
}

/// What happens while a function is explored.
pub struct Study<'a> {
    /// What is wanted.
    pub config: &'a Config,
    /// What is run.
    pub programs: Arc<Programs>,
    /// What has arrived.
    pub collection: Collection,
    /// Runs every test on the sanitizer twin.
    pub judge: Option<Judge>,
    /// Counts what tests cover.
    pub measure: Option<Measure>,
    /// Whether branches or conditions were wanted, and all of them are covered.
    pub is_covered: bool,
    /// Tests that the precondition rejects, where only requirements were posted.
    pub rejected: u64,
    /// Where runs failed that were to come to a target, and did not.
    pub failed_before: Vec<SiteId>,
    /// Whether destructors, or functions left for the program's end, may come to the target: they are not looked at.
    pub leads_behind_return: bool,
    /// Whether signals have handlers: what fails by a signal may go on there.
    pub has_handlers: bool,
    /// What the judge may use.
    finishing: Budget,
    /// Distinguishes runs that concretized a value.
    signatures: CoverageSignatures,
    tally: &'a Tally,
}

impl Study<'_> {
    /// The input that everything begins with.
    fn first_input(&self, workspace: &mut Workspace) -> Input {
        match &self.programs.plan {
            Some(plan) => {
                let number = workspace.channels.named(INPUT.as_bytes(), 0);
                Input::of_channel(number, plan.first_input())
            }
            None => Input::default(),
        }
    }

    /// Takes all runs, or as many as are wanted.
    fn pursue(&mut self, arrivals: &mut Arrivals<'_>) -> Result<(), ExploreError> {
        while let Some(arrival) = arrivals.next()? {
            if self.arrive(&mut arrivals.explorer, arrival)? {
                arrivals.stop();
            }
            self.count(arrivals);
        }
        Ok(())
    }

    /// Waits until nothing uses the programs any more.
    fn abandon(&mut self) {
        self.judge.take().map(Judge::finish);
        self.measure.take().map(Measure::finish);
    }

    /// Takes a run on an admissible input; says whether that is enough.
    fn arrive(
        &mut self,
        explorer: &mut Explorer<'_>,
        mut arrival: Arrival,
    ) -> Result<bool, ExploreError> {
        let measure = self.measure.as_ref();
        arrival.is_new = (self.signatures).is_new(&arrival, &explorer.workspace.channels, measure);
        let has_reached = has_reached(self.config, explorer, &arrival);
        arrival.is_new |= has_reached;
        if self.config.reach.is_some() && !has_reached {
            self.failed_before
                .extend(arrival.failed().map(|event| event.site));
        }
        let is_admissible = !arrival.is_new || self.is_accepted(explorer.workspace, &arrival)?;
        self.rejected += u64::from(!is_admissible);
        if is_admissible {
            let describer = Describer {
                plan: self.programs.plan.as_ref(),
                channels: &explorer.workspace.channels,
                sites: &explorer.workspace.sites,
                guide: explorer.guide.as_ref(),
                steps: Some(self.config.build.steps()).filter(|steps| *steps > 0),
                has_reached,
            };
            if let Some(number) = self.collection.take(&describer, &arrival)
                && self.is_worth_keeping(number, has_reached)
                && let Some(judge) = &self.judge
            {
                let PathTest { rows, .. } = &self.collection.tests[number - 1];
                judge.look_at(number, rows.clone());
            }
        }
        let tests = self.collection.tests.len();
        let enough = (self.config.paths).is_some_and(|max| tests as u64 >= max);
        let wanted = self.config.reach.as_ref().map_or(1, |reach| reach.inputs);
        let has_come = has_reached && is_admissible && tests >= wanted;
        Ok(enough || self.is_covered || has_come)
    }

    /// Counts the newest test. Where branches or conditions are wanted, one that adds nothing is
    /// dropped, unless it fails.
    fn is_worth_keeping(&mut self, number: usize, has_reached: bool) -> bool {
        if self.config.reach.is_some() {
            if has_reached {
                let judge = || judge(self.config, &self.programs, self.finishing);
                self.judge.get_or_insert_with(judge);
            } else {
                self.collection.drop_last();
            }
            return has_reached;
        }
        let PathTest { rows, verdict, .. } = &self.collection.tests[number - 1];
        let Some(measure) = &self.measure else {
            return true;
        };
        if self.config.cover == Cover::Paths {
            measure.look_at(rows.clone());
            return true;
        }
        // Without coverage every path is a test.
        let Some(counted) = measure.ask(rows.clone()) else {
            return true;
        };
        self.is_covered = counted.is_full;
        let fails = !matches!(verdict, Verdict::None | Verdict::Pass);
        let keeps = fails || counted.gain.matters(self.config.cover);
        if !keeps {
            self.collection.tests.pop();
        }
        keeps
    }

    /// Where only requirements were posted, the precondition has the last word.
    fn is_accepted(
        &self,
        workspace: &mut Workspace,
        arrival: &Arrival,
    ) -> Result<bool, ExploreError> {
        let has_precondition = precondition_name(self.config).is_some();
        if self.config.mode != Mode::Native || !has_precondition {
            return Ok(true);
        }
        let recorded = workspace.run(MODE_PRECONDITION, &arrival.recorded.input)?;
        Ok(recorded.is_accepted())
    }

    fn count(&self, arrivals: &Arrivals<'_>) {
        let (tally, explorer) = (self.tally, &arrivals.explorer);
        tally.paths.set(self.collection.tests.len() as u64);
        tally.infeasible.set(explorer.tree.infeasible_count);
        tally.open.set(arrivals.open() as u64);
        tally.runs.set(explorer.tree.runs);
        let calls = explorer.precondition.calls().calls;
        tally.precondition_calls.set(calls);
        let queries = explorer.workspace.solver.statistics().queries();
        tally.queries.set(queries);
        tally.findings.set(self.collection.failed.len() as u64);
    }
}

fn explorer<'a>(
    config: &Config,
    workspace: &'a mut Workspace,
    precondition: Box<dyn Precondition>,
) -> Explorer<'a> {
    let limits = Limits {
        loops: config.loops,
        recursion: config.recursion,
    };
    let mode = if early(config) {
        MODE_BOTH
    } else {
        MODE_FUNCTION
    };
    Explorer::new(workspace, precondition, limits, mode)
}

/// Where branches or conditions are wanted, what goes where no run went comes first.
fn strategy(config: &Config) -> Box<dyn Strategy<Pending>> {
    match config.cover {
        _ if is_guided(config) => Box::new(Guided::default()),
        Cover::Paths => Box::new(DepthFirst::default()),
        Cover::Branches | Cover::Mcdc => Box::new(NewCoverage::default()),
    }
}

fn precondition_name(config: &Config) -> Option<&String> {
    config.request.as_ref()?.precondition.as_ref()
}

fn early(config: &Config) -> bool {
    config.mode == Mode::Early && precondition_name(config).is_some()
}

/// Calls of the precondition before the function is looked at, where its paths are summarised.
const LEARNING_CALLS: u64 = 4096;

/// How the precondition is treated; `None` if no input keeps to the sizes and ranges.
fn precondition(
    config: &Config,
    program: Option<&Program>,
    workspace: &mut Workspace,
    first: &Input,
) -> Result<Option<Box<dyn Precondition>>, ExploreError> {
    let is_looked_at_apart = !matches!(config.mode, Mode::Native | Mode::Early);
    if precondition_name(config).is_none() || !is_looked_at_apart {
        return Ok(Some(Box::new(Unrestricted)));
    }
    if config.mode == Mode::Calls {
        return Ok(Some(Box::new(Late::learning())));
    }
    let Some(mut summary) = Summary::start(workspace, first)? else {
        return Ok(None);
    };
    if matches!(config.mode, Mode::Auto | Mode::Late) {
        let auto = Auto::new(workspace, summary, program)?;
        return Ok(Some(match config.mode {
            Mode::Late if !auto.has_formula() => Box::new(Late::learning()),
            _ => Box::new(auto),
        }));
    }
    let end = Instant::now() + config.time / 4;
    summary.learn(workspace, LEARNING_CALLS, end)?;
    Ok(Some(Box::new(summary)))
}

/// Why there is nothing to report, if so.
fn nothing_explored(
    config: &Config,
    programs: &Programs,
    arrivals: &Arrivals,
) -> Option<ExploreError> {
    let workspace = &arrivals.explorer.workspace;
    if programs.plan.is_none() && workspace.channels.name(0).is_none() {
        return Some(ExploreError::NothingSymbolic(programs.source.clone()));
    }
    if arrivals.finished() != Some(Finished::Empty) {
        return None;
    }
    Some(if workspace.budget.is_exhausted() {
        ExploreError::OutOfTime
    } else {
        nothing_admissible(config)
    })
}

fn nothing_admissible(config: &Config) -> ExploreError {
    ExploreError::NothingAdmissible(precondition_name(config).cloned())
}

/// Starts the program that records.
fn start_executor(
    config: &Config,
    programs: &Programs,
    guide: Option<&Guide>,
) -> Result<ForkServer, ExploreError> {
    let mut environment = environment();
    if let Some(guide) = guide {
        let phase = programs
            .plan
            .as_ref()
            .map_or(PHASE_FUNCTION, |_| PHASE_SETUP);
        let path = std::path::absolute(config.directory.join("dead-ends"));
        let path = path.map_err(|error| ExploreError::File(config.directory.clone(), error))?;
        let written = std::fs::write(&path, guide.dead_ends(phase));
        written.map_err(|error| ExploreError::File(path.clone(), error))?;
        environment.push((options::DEAD_ENDS.into(), path.into()));
    }
    let mut server = Server::start(
        &config.sandbox,
        Settings {
            program: programs.recording.clone(),
            environment,
            record: Some(recording_options()),
            directory: config.directory.join("recording"),
            working_directory: config.directory.clone(),
            restarts: executor::restarts_from(programs.restarts),
        },
    )?;
    server.stop_by(config.stop);
    Ok(ForkServer::new(server, config.run_time, programs.restarts))
}

fn workspace(
    config: &Config,
    executor: ForkServer,
    programs: &Programs,
    budget: Budget,
) -> Workspace {
    let sites = nearmiss_twin::sites_of(&programs.recording);
    let solver = Stack::new(Backend::of(config.solver.as_deref())).tree();
    Workspace::new(Box::new(executor), sites, solver, config.query_time, budget)
}

/// Inputs are named memory and nothing else; small tables, since functions are small.
fn recording_options() -> String {
    let numbers = [
        (options::OPTION_TERMS, 1 << 20),
        (options::OPTION_EVENTS, 1 << 18),
        (options::OPTION_BLOB, 64 << 20),
        (options::OPTION_LENGTH, 0),
        (options::OPTION_ALLOCATION, options::DEFAULT_ALLOCATION),
        (options::OPTION_STRICT, 1),
    ];
    let numbers = numbers.map(|(name, value)| format!("{name}={value}"));
    let channels = ChannelSet::NONE.with(ChannelKind::Named);
    let name = options::OPTION_CHANNELS;
    format!("{},{name}={channels}", numbers.join(","))
}

/// The same environment on every machine: what a function does must not depend on it. New memory is
/// filled with 0xbe, as AddressSanitizer does: so it is seen what was never written.
pub fn environment() -> Vec<(OsString, OsString)> {
    let fixed = [
        ("LANG", "C"),
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/"),
        ("MALLOC_PERTURB_", "65"),
    ];
    fixed
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
}

fn measure(config: &Config, programs: &Arc<Programs>, budget: Budget) -> Measure {
    Measure::start(measure::Setup {
        programs: programs.clone(),
        sandbox: config.sandbox.clone(),
        environment: environment(),
        run_time: config.run_time,
        cover: config.cover,
        budget,
    })
}

/// How long the twin may be built and run behind the time of a search for a target.
const FOR_THE_TWIN: Duration = Duration::from_secs(60);

fn judge(config: &Config, programs: &Arc<Programs>, budget: Budget) -> Judge {
    let (programs, restarts) = (programs.clone(), programs.restarts);
    Judge::start(Setup {
        build: Box::new(move || build::twin(&programs)),
        sandbox: config.sandbox.clone(),
        directory: config.directory.join("judge"),
        environment: environment(),
        run_time: config.run_time,
        budget,
        mode: MODE_FUNCTION,
        restarts,
    })
}
