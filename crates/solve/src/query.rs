//! The one query that a solver answers, and the reply to it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nearmiss_bitwuzla::Deadline;
use nearmiss_expr::{InputByte, Inputs, TermId, Terms};

/// Is there an input for which every constraint of the path condition and the goal are true?
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The part of the path condition that matters for the goal: one-bit terms that hold. The
    /// recorded input makes them true.
    pub constraints: &'a [TermId],
    /// A one-bit term that shall hold too.
    pub goal: TermId,
    /// Bytes that shall have a certain value, for this query only.
    pub fixed: &'a [(InputByte, u8)],
    /// The input bytes that constraints and goal depend on, in ascending order.
    pub bytes: &'a [InputByte],
    /// The recorded input: bytes that are not decided stay as they are there.
    pub recorded: &'a dyn Inputs,
    /// What a solver may keep of this query for the next.
    pub policy: Policy<'a>,
    /// How long to try.
    pub effort: Effort,
}

/// How the queries to one solver follow each other: what an incremental one may assert for good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy<'a> {
    /// All queries are about one path. What was a constraint in one query is true in all later
    /// ones, whether they mention it or not: they leave out what has no input byte in common with
    /// the goal, and that the recorded input makes true.
    Prefix {
        /// How many constraints, from the first on, were in an earlier query to the same solver.
        seen: usize,
    },
    /// Queries are about any set of constraints of one arena of terms: a constraint is an
    /// assumption, and holds for this query only.
    Assumptions {
        /// What holds in every query, and is among the constraints of each. It only grows.
        always: &'a [TermId],
    },
}

/// How long a solver may try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// When to give up.
    pub deadline: Deadline,
    /// After how many conflicts a SAT solver gives up: the same on every machine.
    pub conflicts: Option<u32>,
}

/// How many times its CPU time a query may take where nothing else limits it: the machine has other
/// work too.
const MAX_SLOWDOWN: u32 = 32;

/// How much a query may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The CPU time of one query, with all layers.
    pub time: Duration,
    /// When it has to end in any case; `None`: much later.
    pub latest: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(10),
            latest: None,
        }
    }
}

impl Limits {
    /// A limit of CPU time only.
    pub fn time(time: Duration) -> Limits {
        Limits { time, latest: None }
    }

    /// A limit of CPU time, and of the clock on the wall.
    pub fn until(time: Duration, latest: Instant) -> Limits {
        Limits {
            time,
            latest: Some(latest),
        }
    }

    /// The limits of so many queries together.
    pub fn times(&self, queries: u32) -> Limits {
        Limits {
            time: self.time * queries,
            ..*self
        }
    }

    /// When a query that begins now has to end.
    pub fn deadline(&self) -> Deadline {
        let latest = self.latest;
        let latest = latest.unwrap_or_else(|| Instant::now() + self.time * MAX_SLOWDOWN);
        Deadline::after(self.time, latest)
    }

    pub(crate) fn effort(&self) -> Effort {
        Effort {
            deadline: self.deadline(),
            conflicts: None,
        }
    }
}

/// What is known after a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is such an input: this one.
    Sat(Model),
    /// There is none.
    Unsat,
    /// No layer could decide it.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Time or conflicts ran out.
    Timeout,
    /// The query is too large to be put to the solver.
    TooLarge,
    /// The solver's model does not satisfy the query: an error of nearmiss.
    WrongModel,
    /// Two solvers do not agree: an error of nearmiss.
    Disagreement,
    /// A solver in a process of its own did not start, or said something else.
    Failed,
}

/// What decided a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// The goal is a constant.
    Constant,
    /// The same query was answered before, also on another path.
    Known,
    /// The goal's range is.
    Ranges,
    /// An input found earlier, or the recorded one, will do.
    Models,
    /// A part of the query was found unsatisfiable earlier.
    Cores,
    /// Few values for each byte: all were tried.
    Domains,
    /// One byte with another value will do.
    OneByte,
    /// Our bit-blaster.
    BitBlaster,
    /// Bitwuzla.
    Bitwuzla,
    /// A solver in a process of its own.
    External,
}

impl Layer {
    /// Every layer, in the order in which they are tried.
    pub const ALL: [Layer; 10] = [
        Layer::Constant,
        Layer::Known,
        Layer::Ranges,
        Layer::Models,
        Layer::Cores,
        Layer::Domains,
        Layer::OneByte,
        Layer::BitBlaster,
        Layer::Bitwuzla,
        Layer::External,
    ];

    /// The name used in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Constant => "constant",
            Layer::Known => "known",
            Layer::Ranges => "ranges",
            Layer::Models => "models",
            Layer::Cores => "cores",
            Layer::Domains => "domains",
            Layer::OneByte => "one-byte",
            Layer::BitBlaster => "bit-blaster",
            Layer::Bitwuzla => "bitwuzla",
            Layer::External => "external",
        }
    }

    /// Whether it is a back end: nothing in front of it could answer.
    pub fn is_back_end(self) -> bool {
        matches!(self, Layer::BitBlaster | Layer::Bitwuzla | Layer::External)
    }
}

/// An answer, the layer that gave it, and the time it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// The layer that gave it.
    pub layer: Layer,
    /// The time of the whole query, with all layers; zero until the front has measured it.
    pub time: Duration,
}

impl Reply {
    /// A reply of a layer.
    pub fn new(answer: Answer, layer: Layer) -> Reply {
        Reply {
            answer,
            layer,
            time: Duration::ZERO,
        }
    }
}

/// A back end, or a layer in front of one.
pub trait Solver {
    /// Answers a query. New terms may be made on the way.
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply;
}

/// An input: the bytes that were decided. All others are as recorded.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Model {
    bytes: BTreeMap<InputByte, u8>,
}

impl Model {
    /// Decides nothing: the recorded input.
    pub fn new() -> Model {
        Model::default()
    }

    /// The value of a byte, if it was decided.
    pub fn get(&self, byte: InputByte) -> Option<u8> {
        self.bytes.get(&byte).copied()
    }

    /// Decides a byte.
    pub fn set(&mut self, byte: InputByte, value: u8) {
        self.bytes.insert(byte, value);
    }

    /// The decided bytes, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (InputByte, u8)> + '_ {
        self.bytes.iter().map(|(&byte, &value)| (byte, value))
    }

    /// How many bytes were decided.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was decided.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Only the bytes that differ from the recorded input.
    pub fn changes(&self, recorded: &dyn Inputs) -> Model {
        self.iter()
            .filter(|&(byte, value)| recorded.byte(byte) != value)
            .collect()
    }

    /// The whole input.
    pub fn over<'a>(&'a self, recorded: &'a dyn Inputs) -> impl Inputs + 'a {
        move |byte: InputByte| self.get(byte).unwrap_or_else(|| recorded.byte(byte))
    }
}

impl FromIterator<(InputByte, u8)> for Model {
    fn from_iter<I: IntoIterator<Item = (InputByte, u8)>>(bytes: I) -> Model {
        Model {
            bytes: bytes.into_iter().collect(),
        }
    }
}
