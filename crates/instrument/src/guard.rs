//! The guard of a region: is anything here labelled?

use nearmiss_abi::shadow::{CALLEE_OFFSET, GRANULE_SHIFT, RETURNED_OFFSET, RETURNED_SECOND_OFFSET};
use rustc_hash::FxHashSet;

use crate::function::{Label, Rewriter};
use crate::llvm::{Opcode, Value};
use crate::regions::Grain;

/// What a guard looks at.
#[derive(Debug, Default)]
pub struct Sources {
    labels: Vec<Value>,
    seen: FxHashSet<Value>,
    memory: Vec<Memory>,
    /// Whether arguments may have arrived with labels.
    pub arrival: bool,
    /// How many words of the returned labels may be set.
    pub returned: u32,
    /// Whether the region has work to do in any process that records.
    pub recording: bool,
    /// Whether the region does something sensitive.
    pub sensitive: bool,
}

/// Memory that the region touches.
#[derive(Debug)]
struct Memory {
    address: Value,
    size: u64,
    aligned: bool,
}

/// The largest access whose summary one 64-bit read covers, wherever it starts.
pub const MOST_BYTES_SUMMARISED: u64 = 50;

impl Sources {
    /// Whether there is nothing to look at, so that the region needs no guard.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
            && self.memory.is_empty()
            && !self.arrival
            && self.returned == 0
            && !self.recording
            && !self.sensitive
    }

    /// Whether the guard reads the summary or asks whether there is one.
    fn needs_summary(&self) -> bool {
        !self.memory.is_empty() || self.recording
    }

    /// Looks at a label.
    pub fn add_label(&mut self, label: Label) {
        if let Some(label) = label
            && self.seen.insert(label)
        {
            self.labels.push(label);
        }
    }

    /// Looks at the labels of memory.
    pub fn add_memory(&mut self, address: Value, size: u64, alignment: u64) {
        if size > MOST_BYTES_SUMMARISED {
            self.recording = true;
        } else if !self
            .memory
            .iter()
            .any(|known| known.address == address && known.size >= size)
        {
            self.memory.push(Memory {
                address,
                size,
                aligned: alignment >= size,
            });
        }
    }

    /// Writes the guard's condition. In a huge function, and where frames are to be small, each guard loads the
    /// summary's words itself: kept from the entry on, they would live through all of the function.
    pub fn emit(&self, rewriter: &mut Rewriter<'_>) -> Value {
        if matches!(rewriter.grain, Grain::Huge | Grain::Short) && self.needs_summary() {
            rewriter.summary = rewriter.context.load_summary_words();
        }
        let rewriter = &*rewriter;
        let builder = &rewriter.context.builder;
        let mut words: Vec<Value> = self.labels.clone();
        words.extend(
            self.memory
                .iter()
                .map(|memory| emit_summary(rewriter, memory)),
        );
        if self.sensitive {
            words.push(builder.load(builder.integer_type(32), rewriter.context.calm_word()));
        }
        for offset in [RETURNED_OFFSET, RETURNED_SECOND_OFFSET]
            .into_iter()
            .take(self.returned as usize)
        {
            words.push(builder.load(
                builder.integer_type(32),
                rewriter.context.thread_word(offset),
            ));
        }
        let mut conditions = Vec::new();
        if let Some(any) = words.into_iter().reduce(|a, b| builder.or(a, b)) {
            conditions.push(builder.is_not_zero(any));
        }
        if self.arrival {
            let callee = builder.load(
                builder.integer_type(64),
                rewriter.context.thread_word(CALLEE_OFFSET),
            );
            conditions.push(builder.is_not_zero(callee));
        }
        if self.recording {
            conditions.push(builder.is_not_zero(rewriter.summary.1));
        }
        conditions
            .into_iter()
            .reduce(|a, b| builder.or(a, b))
            .expect("sources are not empty")
    }
}

/// Reads the summary of `memory`: 32 bits, not zero where a label may be.
fn emit_summary(rewriter: &Rewriter<'_>, memory: &Memory) -> Value {
    let builder = &rewriter.context.builder;
    let (base, mask) = rewriter.summary;
    let address = builder.unsigned(memory.address, 64);
    let granule = builder.binary(Opcode::LLVMLShr, address, builder.u64(GRANULE_SHIFT.into()));
    let index = builder.binary(Opcode::LLVMAnd, granule, mask);
    let pointer = builder.offset(base, index);
    let width = match memory.size {
        0..=8 if memory.aligned => 8,
        0..=8 => 16,
        9..=16 if memory.aligned => 16,
        9..=18 => 32,
        _ => 64,
    };
    let word = builder.load(builder.integer_type(width), pointer);
    match width {
        64 => {
            // Fold to 32 bits: the words of a guard are joined in that width.
            let upper = builder.binary(Opcode::LLVMLShr, word, builder.u64(32));
            builder.unsigned(builder.or(word, upper), 32)
        }
        _ => builder.unsigned(word, 32),
    }
}
