//! `nearmiss.contracts`: one block a function, one requirement a line, and where it came from.
//!
//! ```text
//!  # nearmiss contracts 1
//!  function set(i, x)
//!    from hoist ./unit_tests: 2 calls on 2 paths
//!    in table.c
//!    signature void set(unsigned int i, unsigned int x)
//!    body 90c5a3f2dd0e41b7
//!    requires x != 100 || i != 10
//!    shown fails at table.c:6 for i == 10, x == 100; safe for i == 9, x == 100
//!  end
//! ```
//!
//! `#` begins a comment where a line starts. A requirement that is not known is no line at all; `requires 0` says that no
//! call is safe. `shown` says of the requirement before it which calls showed it. What a contract was derived from (`in`, `signature`, `body`) is compared with the program: where that has
//! changed, the contract is stale.

use std::collections::BTreeMap;

use crate::formula::Formula;
use crate::parse::parse;

/// The first line of a file.
pub const HEAD: &str = "# nearmiss contracts 1";

/// What must hold when a function is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// The function.
    pub function: String,
    /// Its parameters, by the names that requirements use.
    pub parameters: Vec<String>,
    /// Where it came from, and on how much it rests: one line. Empty: written by hand.
    pub from: String,
    /// What it was derived from.
    pub subject: Subject,
    /// What must hold, all of it.
    pub requires: Vec<Formula>,
    /// Calls that showed a requirement, by its number.
    pub shown: BTreeMap<usize, String>,
}

/// The function as it was when a contract was derived from it; what is empty is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The source file: tells static functions of one name apart.
    pub file: String,
    /// As C declares it.
    pub signature: String,
    /// A digest of its body.
    pub body: String,
}

impl Contract {
    /// Whether `nearmiss hoist` wrote it, and may write it again.
    pub fn is_hoisted(&self) -> bool {
        self.from == "hoist" || self.from.starts_with("hoist ")
    }

    /// All that must hold, as one formula.
    pub fn formula(&self) -> Formula {
        Formula::All(self.requires.clone())
    }

    /// The contract as a block of a file.
    pub fn block(&self) -> String {
        let parameters = self.parameters.join(", ");
        let mut text = format!("function {}({parameters})\n", self.function);
        let mut line = |word: &str, rest: &str| {
            if !rest.is_empty() {
                text += &format!("  {word} {rest}\n");
            }
        };
        line("from", &self.from);
        line("in", &self.subject.file);
        line("signature", &self.subject.signature);
        line("body", &self.subject.body);
        for (number, formula) in self.requires.iter().enumerate() {
            line("requires", &formula.to_string());
            line("shown", self.shown.get(&number).map_or("", String::as_str));
        }
        text + "end\n"
    }
}

/// A file with these contracts.
pub fn write(contracts: &[Contract]) -> String {
    let blocks: String = contracts.iter().map(Contract::block).collect();
    format!("{HEAD}\n{blocks}")
}

/// A contract and the lines of the file that it stands in, from 0; the second is behind its end.
type Placed = (Contract, std::ops::Range<usize>);

/// The contracts of a file; an error names the line.
pub fn read(text: &str) -> Result<Vec<Contract>, String> {
    let placed = read_placed(text)?;
    Ok(placed.into_iter().map(|(contract, _)| contract).collect())
}

/// A file's text with new contracts in it: each takes the place of the one that `hoist` wrote for that
/// function before, or comes at the end. Everything else stays, comments too.
pub fn merge(text: &str, new: &[Contract]) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let known = read_placed(text)?;
    let is_same = |one: &Contract, other: &Contract| {
        one.function == other.function && one.subject.file == other.subject.file
    };
    let mut merged = String::new();
    let mut at = 0;
    for (contract, place) in &known {
        let replaced = new.iter().find(|new| is_same(new, contract));
        let Some(by) = replaced.filter(|_| contract.is_hoisted()) else {
            continue;
        };
        lines[at..place.start]
            .iter()
            .for_each(|line| merged += &format!("{line}\n"));
        merged += &by.block();
        at = place.end;
    }
    lines[at..]
        .iter()
        .for_each(|line| merged += &format!("{line}\n"));
    if merged.is_empty() {
        merged = format!("{HEAD}\n");
    }
    let is_new = |new: &&Contract| !known.iter().any(|(contract, _)| is_same(new, contract));
    merged.extend(new.iter().filter(is_new).map(Contract::block));
    Ok(merged)
}

fn read_placed(text: &str) -> Result<Vec<Placed>, String> {
    let mut contracts = Vec::new();
    let mut open: Option<(Contract, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let failed = |why: &str| format!("line {}: {why}", index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (word, &mut open) {
            ("function", None) => {
                open = Some((head(rest).ok_or_else(|| failed(HEAD_FORM))?, index));
            }
            ("end", Some(_)) => {
                contracts.extend(open.take().map(|(it, start)| (it, start..index + 1)));
            }
            (_, Some((contract, _))) => said(contract, word, rest).map_err(|why| failed(&why))?,
            (_, None) => return Err(failed("expected: function NAME(PARAMETERS)")),
        }
    }
    match open {
        Some((contract, start)) => Err(format!(
            "line {}: function {} has no end",
            start + 1,
            contract.function
        )),
        None => Ok(contracts),
    }
}

/// Takes in one line of a block.
fn said(contract: &mut Contract, word: &str, rest: &str) -> Result<(), String> {
    let rest = rest.to_string();
    match word {
        "from" => contract.from = rest,
        "in" => contract.subject.file = rest,
        "signature" => contract.subject.signature = rest,
        "body" => contract.subject.body = rest,
        "requires" => {
            let formula = parse(&rest).map_err(|error| error.to_string())?;
            contract.requires.push(formula);
        }
        "shown" if !contract.requires.is_empty() => {
            contract.shown.insert(contract.requires.len() - 1, rest);
        }
        _ => return Err("expected one of from, in, signature, body, requires, shown, end".into()),
    }
    Ok(())
}

const HEAD_FORM: &str = "expected a name and parameters in brackets: strcpy(dest, src)";

fn head(text: &str) -> Option<Contract> {
    let (function, parameters) = text.strip_suffix(')')?.split_once('(')?;
    let parameters = parameters.split(',').map(|name| name.trim().to_string());
    Some(Contract {
        function: function.trim().to_string(),
        parameters: parameters.filter(|name| !name.is_empty()).collect(),
        ..Contract::default()
    })
}
