//! Harnesses written by hand, for tests of the exploration alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use nearmiss_sandbox::Sandbox;
use nearmiss_search::DepthFirst;
use nearmiss_server::{Server, Settings};
use nearmiss_sites::Sites;
use nearmiss_solve::Stack;
use tempfile::TempDir;

use crate::arrivals::{Arrivals, Finished};
use crate::bounds::Limits;
use crate::budget::Budget;
use crate::executor::{ForkServer, HarnessExecutor};
use crate::explorer::{Explorer, Tree};
use crate::input::Input;
use crate::memory;
use crate::precondition::{Auto, Calls, Late, Precondition, Summary, Unrestricted};
use crate::workspace::Workspace;

/// What every harness begins with: `x` has the inputs.
const PRELUDE: &str = r#"
#include <nearmiss.h>
void __nm_mark(unsigned phase);
unsigned __nm_mode(void);
static void accept(int ok)
{
    int accepted = 0;
    if (ok) accepted = 1;
    nearmiss_result("accepted", &accepted, sizeof accepted);
}
"#;

/// What every harness ends with: `f` is explored, `p` says which inputs are admissible.
const MAIN: &str = r#"
int main(void)
{
    static unsigned char x[SIZE];
    __nm_mark(0);
    nearmiss_symbolic(x, sizeof x, "input");
    if (__nm_mode() == 1) {
        __nm_mark(1);
        accept(p(x));
        return 0;
    }
    if (__nm_mode() == 2) {
        __nm_mark(1);
        nearmiss_assume(p(x) != 0);
    }
    __nm_mark(2);
    int result = f(x);
    __nm_mark(4);
    nearmiss_result("result", &result, sizeof result);
    return 0;
}
"#;

/// How the precondition is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treated {
    Early,
    Late,
    Lazily,
    Learnt,
    Auto,
}

/// What an exploration came to.
#[derive(Debug)]
pub struct Explored {
    /// Results of the function, one for each path, sorted.
    pub results: Vec<i32>,
    pub tree: Tree,
    pub calls: Calls,
    pub finished: Finished,
}

pub fn explore(source: &str, size: usize, treated: Treated) -> Explored {
    let directory = tempfile::tempdir().expect("a directory");
    let program = compile(&directory, source, size);
    let executor = Box::new(fork_server(directory.path(), &program));
    let mut workspace = workspace(executor, nearmiss_twin::sites_of(&program));
    let number = workspace.channels.named(b"input", 0);
    let first = Input::of_channel(number, vec![0; size]);
    let mode = if treated == Treated::Early { 2 } else { 0 };
    let precondition = precondition(&mut workspace, &first, treated);
    let mut results = Vec::new();
    let explorer = Explorer::new(&mut workspace, precondition, Limits::default(), mode);
    let mut arrivals = Arrivals::new(explorer, first, Box::new(DepthFirst::default()));
    while let Some(arrival) = arrivals.next().expect("runs") {
        if arrival.is_new {
            let result = arrival.recorded.result("result").expect("it returned");
            results.push(i32::from_le_bytes(result.try_into().expect("four bytes")));
        }
    }
    let finished = arrivals.finished().expect("it has ended");
    results.sort_unstable();
    Explored {
        results,
        calls: arrivals.explorer.precondition.calls(),
        tree: arrivals.explorer.tree,
        finished,
    }
}

fn precondition(
    workspace: &mut Workspace,
    first: &Input,
    treated: Treated,
) -> Box<dyn Precondition> {
    match treated {
        Treated::Early => return Box::new(Unrestricted),
        Treated::Late => return Box::new(Late::default()),
        Treated::Lazily | Treated::Learnt | Treated::Auto => {}
    }
    let summary = Summary::start(workspace, first).expect("runs");
    let mut summary = summary.expect("an input that keeps to the setup");
    if treated == Treated::Auto {
        return Box::new(Auto::new(workspace, summary, None).expect("nothing to look at"));
    }
    if treated == Treated::Learnt {
        let end = Instant::now() + Duration::from_secs(300);
        summary.learn(workspace, 10_000, end).expect("runs");
    }
    Box::new(summary)
}

fn compile(directory: &TempDir, source: &str, size: usize) -> PathBuf {
    let text = format!("#define SIZE {size}\n{PRELUDE}\n{source}\n{MAIN}");
    let (file, program) = (directory.path().join("h.c"), directory.path().join("h"));
    std::fs::write(&file, text).expect("a file");
    let nearmiss = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/nearmiss");
    let status = Command::new(nearmiss)
        .args(["__compile", "-g"])
        .args([&file, Path::new("-o"), &program])
        .status();
    assert!(status.expect("nearmiss cc").success());
    program
}

fn fork_server(directory: &Path, program: &Path) -> ForkServer {
    let settings = Settings {
        program: program.to_path_buf(),
        environment: Vec::new(),
        record: Some("terms=65536,events=65536,length=0,channels=n".into()),
        restarts: None,
        directory: directory.join("server"),
        working_directory: directory.to_path_buf(),
    };
    let server = Server::start(&Sandbox::none(), settings).expect("a server");
    ForkServer::new(server, AMPLE, false)
}

/// Far more than a run or a query takes: the machine may be busy.
const AMPLE: Duration = Duration::from_secs(60);

/// A workspace that nothing stops.
pub fn workspace(executor: Box<HarnessExecutor>, sites: Sites) -> Workspace {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let budget = Budget {
        deadline: Instant::now() + Duration::from_secs(24 * 60 * 60),
        stop: &NEVER,
        memory: memory::Limit::NONE,
    };
    Workspace::new(executor, sites, Stack::default().tree(), AMPLE, budget)
}
