//! `nearmiss.contracts`: one block a function, one requirement a line, and where it came from.
//!
//! ```text
//!  # nearmiss contracts 1
//!  function strcpy(dest, src)
//!    from infer string.h: complete, 60 of 60 assignments, 7680 tests
//!    requires bounds(dest) > strlen(src)
//!    requires bounds(src) > strlen(src)
//!  end
//! ```
//!
//! `#` begins a comment where a line starts. A requirement that is not known is no line at all; `requires 0` says that no
//! call is safe.

use crate::formula::Formula;
use crate::parse::parse;

/// The first line of a file.
pub const HEAD: &str = "# nearmiss contracts 1";

/// What must hold when a function is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The function.
    pub function: String,
    /// Its parameters, by the names that requirements use.
    pub parameters: Vec<String>,
    /// Where it came from, and on how much it rests: one line.
    pub from: String,
    /// What must hold, all of it.
    pub requires: Vec<Formula>,
}

/// A file with these contracts.
pub fn write(contracts: &[Contract]) -> String {
    let mut text = format!("{HEAD}\n");
    for contract in contracts {
        let parameters = contract.parameters.join(", ");
        text += &format!("function {}({parameters})\n", contract.function);
        text += &format!("  from {}\n", contract.from);
        for formula in &contract.requires {
            text += &format!("  requires {formula}\n");
        }
        text += "end\n";
    }
    text
}

/// The contracts of a file; an error names the line.
pub fn read(text: &str) -> Result<Vec<Contract>, String> {
    let mut contracts = Vec::new();
    let mut open: Option<Contract> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let failed = |why: &str| format!("line {}: {why}", index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (word, &mut open) {
            ("function", None) => open = Some(head(rest).ok_or_else(|| failed(HEAD_FORM))?),
            ("from", Some(contract)) => contract.from = rest.to_string(),
            ("requires", Some(contract)) => {
                let formula = parse(rest).map_err(|error| failed(&error.to_string()))?;
                contract.requires.push(formula);
            }
            ("end", Some(_)) => contracts.extend(open.take()),
            (_, None) => return Err(failed("expected: function NAME(PARAMETERS)")),
            (_, Some(_)) => return Err(failed("expected one of from, requires, end")),
        }
    }
    match open {
        Some(contract) => Err(format!("function {} has no end", contract.function)),
        None => Ok(contracts),
    }
}

const HEAD_FORM: &str = "expected a name and parameters in brackets: strcpy(dest, src)";

fn head(text: &str) -> Option<Contract> {
    let (function, parameters) = text.strip_suffix(')')?.split_once('(')?;
    let parameters = parameters.split(',').map(|name| name.trim().to_string());
    Some(Contract {
        function: function.trim().to_string(),
        parameters: parameters.filter(|name| !name.is_empty()).collect(),
        from: String::new(),
        requires: Vec::new(),
    })
}
