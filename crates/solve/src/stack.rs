//! How the layers are put together.

use std::sync::Arc;

use nearmiss_expr::Inputs;

use crate::answers::Answers;
use crate::back::{BitBlaster, BitwuzlaSolver, External};
use crate::layers::{
    Checked, Differential, Escalate, Instances, OneByte, RangeBounds, RecentModels, Share,
    SmallDomains, SmallNumbers, Tabulated, UnsatCores,
};
use crate::query::Solver;
use crate::session::Session;
use crate::tree::TreeSession;

/// What solves the queries that the layers in front leave over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// Our bit-blaster for a short while, then Bitwuzla.
    #[default]
    Escalate,
    /// Our bit-blaster alone.
    BitBlaster,
    /// Bitwuzla alone.
    Bitwuzla,
    /// Both, compared: for tests.
    Differential,
    /// A program that reads SMT-LIB 2 from its standard input: for comparison.
    External {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl Backend {
    /// A command if there is one, else the default.
    pub fn of(command: Option<&[String]>) -> Backend {
        match command {
            Some(command) => Backend::External {
                command: command.to_vec(),
            },
            None => Backend::default(),
        }
    }
}

/// Puts together the layers for sessions.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What solves the queries that the layers in front leave over.
    pub backend: Backend,
    /// Whether there are layers in front.
    pub layered: bool,
    /// How long the bit-blaster may try before Bitwuzla does.
    pub share: Share,
    /// What sessions of this stack know from each other.
    pub answers: Option<Arc<Answers>>,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack::new(Backend::default())
    }
}

impl Stack {
    /// All layers in front of a back end.
    pub fn new(backend: Backend) -> Stack {
        Stack {
            backend,
            layered: true,
            share: Share {
                conflicts: 20_000,
                part: 4,
            },
            answers: None,
        }
    }

    /// The same, and sessions know what others have answered.
    pub fn shared(backend: Backend) -> Stack {
        Stack {
            answers: Some(Arc::default()),
            ..Stack::new(backend)
        }
    }

    /// A back end with nothing in front: for measurements and tests.
    pub fn bare(backend: Backend) -> Stack {
        Stack {
            layered: false,
            ..Stack::new(backend)
        }
    }

    /// A session for the path of one recorded run.
    pub fn session<'a>(&self, recorded: &'a dyn Inputs) -> Session<'a> {
        Session::new(self.assemble(), recorded, self.answers.clone())
    }

    /// A session that knows what another one does, and goes its own way from here on.
    pub fn fork<'a>(&self, session: &Session<'a>) -> Session<'a> {
        session.fork(self.assemble())
    }

    /// A session for all paths of one program, in one arena of terms.
    pub fn tree(&self) -> TreeSession {
        TreeSession::new(self.clone())
    }

    /// The layers for queries that follow one path, from the back to the front.
    fn assemble(&self) -> Box<dyn Solver> {
        let (backend, share) = (self.backend.clone(), self.share);
        let make_backend = Box::new(move || make(&backend, share, bit_blaster));
        let mut solver: Box<dyn Solver> = Box::new(Instances::new(make_backend));
        solver = Box::new(Checked::new(solver));
        if self.layered {
            solver = Box::new(OneByte::new(solver));
            solver = Box::new(SmallDomains::new(solver));
            solver = Box::new(UnsatCores::new(solver));
            solver = Box::new(RecentModels::new(solver));
            solver = Box::new(RangeBounds::new(solver));
        }
        solver
    }

    /// The layers for queries about any set of constraints, from the back to the front. One
    /// instance serves all of them.
    pub(crate) fn assemble_for_assumptions(&self) -> Box<dyn Solver> {
        // What the quick solver has learnt by its deadline it knows for good.
        let share = Share {
            part: 1,
            ..self.share
        };
        let quick = || Box::new(SmallNumbers::new(bit_blaster())) as Box<dyn Solver>;
        // The other layers were measured and cost more than they answer here: a goal is the other
        // outcome of a decision, met once on each path, and known answers come first.
        let mut solver: Box<dyn Solver> = Box::new(Checked::new(make(&self.backend, share, quick)));
        if self.layered {
            solver = Box::new(SmallDomains::new(solver));
            solver = Box::new(Tabulated::new(solver));
        }
        solver
    }
}

/// One instance of a back end.
fn make(backend: &Backend, share: Share, quick: fn() -> Box<dyn Solver>) -> Box<dyn Solver> {
    match backend {
        Backend::BitBlaster => quick(),
        Backend::Bitwuzla => bitwuzla(),
        Backend::Escalate => Box::new(Escalate::new(quick(), share, bitwuzla)),
        Backend::Differential => Box::new(Differential::new(quick(), bitwuzla())),
        Backend::External { command } => Box::new(External::new(command.clone())),
    }
}

fn bit_blaster() -> Box<dyn Solver> {
    Box::new(BitBlaster::new())
}

fn bitwuzla() -> Box<dyn Solver> {
    Box::new(BitwuzlaSolver::new())
}
