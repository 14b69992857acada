//! How much input the recorded runs saw: little of it means that little could be varied.

use serde::{Deserialize, Serialize};

/// Input of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFigures {
    /// `argument`, `stdin`, `file`, `memory`, `variable`, `pipe`, `socket` or `call`.
    pub kind: String,
    /// How many of them were seen: files, arguments, …
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Adds figures to others, kind by kind.
pub fn add_inputs(all: &mut Vec<InputFigures>, more: &[InputFigures]) {
    for one in more {
        match all.iter_mut().find(|known| known.kind == one.kind) {
            Some(known) => {
                known.count += one.count;
                known.bytes += one.bytes;
            }
            None => all.push(one.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_one_kind_are_added() {
        let row = |kind: &str, count, bytes| InputFigures {
            kind: kind.into(),
            count,
            bytes,
        };
        let mut all = vec![row("file", 1, 10)];
        add_inputs(&mut all, &[row("stdin", 1, 5), row("file", 2, 3)]);
        assert_eq!(all, [row("file", 3, 13), row("stdin", 1, 5)]);
    }
}
