//! The one question that a solver answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nearmiss_expr::{InputByte, Inputs, TermId, Terms};

/// Is there an input for which every condition of the path and the goal are true?
///
/// A solver belongs to one path. What was a condition in one question is true in all later
/// ones, whether they mention it or not: they leave out what has no input byte in common with
/// the goal, and that the recorded input makes true.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// One-bit terms that hold; the recorded input makes them true.
    pub path: &'a [TermId],
    /// How many of them, from the first on, were in an earlier question to the same solver.
    pub asked: usize,
    /// A one-bit term that shall hold too.
    pub goal: TermId,
    /// Bytes that shall have a certain value, for this question only.
    pub fixed: &'a [(InputByte, u8)],
    /// The input bytes that path and goal depend on, in ascending order.
    pub bytes: &'a [InputByte],
    /// The recorded input.
    pub recorded: &'a dyn Inputs,
    /// How long to try.
    pub effort: Effort,
}

/// How long a solver may try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// When to give up.
    pub deadline: Instant,
    /// After how many conflicts a SAT solver gives up: the same on every machine.
    pub conflicts: Option<u32>,
}

/// How much a question may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The time of one question, with all layers.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// A limit of time only.
    pub fn time(time: Duration) -> Limits {
        Limits { time }
    }

    pub(crate) fn effort(&self) -> Effort {
        Effort {
            deadline: Instant::now() + self.time,
            conflicts: None,
        }
    }
}

/// What became of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is such an input: this one.
    Sat(Model),
    /// There is none.
    Unsat,
    /// Nobody knows.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Time or conflicts ran out.
    Timeout,
    /// The question is too large to be put to the solver.
    TooLarge,
    /// The solver's model does not satisfy the question: an error of nearmiss.
    WrongModel,
    /// Two solvers do not agree: an error of nearmiss.
    Disagreement,
    /// A solver in a process of its own did not start, or said something else.
    Failed,
}

/// Who decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// The goal is a constant.
    Constant,
    /// The same was asked on another path.
    Known,
    /// The goal's range is.
    Ranges,
    /// An input found earlier, or the recorded one, will do.
    Models,
    /// A part of the question was found unsatisfiable earlier.
    Cores,
    /// Our bit-blaster.
    BitBlaster,
    /// Bitwuzla.
    Bitwuzla,
    /// A solver in a process of its own.
    External,
}

impl Layer {
    /// Every layer, in the order in which they are asked.
    pub const ALL: [Layer; 8] = [
        Layer::Constant,
        Layer::Known,
        Layer::Ranges,
        Layer::Models,
        Layer::Cores,
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
            Layer::BitBlaster => "bit-blaster",
            Layer::Bitwuzla => "bitwuzla",
            Layer::External => "external",
        }
    }
}

/// An answer and who gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// Who gave it.
    pub by: Layer,
}

impl Reply {
    /// A reply.
    pub fn new(answer: Answer, by: Layer) -> Reply {
        Reply { answer, by }
    }
}

/// Someone who answers questions: a back end, or a layer in front of one.
pub trait Solver {
    /// Answers a question. New terms may be made on the way.
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply;
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
