//! A precondition as code: a C function, assertions, ACSL, clauses for CBMC.

use crate::formula::{Attribute, Formula, Term};
use crate::print::{Dialect, character, text, variable};

/// A function, and what is known of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Its name.
    pub function: String,
    /// Its parameters as C declares them: `const char *src`.
    pub parameters: Vec<String>,
}

/// Whole numbers that hold every value of every type.
pub(crate) const INTEGER: &str = "__int128";

/// A function that gives back 1 for a safe call. How large blocks are is given to it: C cannot tell.
pub fn function(signature: &Signature, formula: &Formula) -> String {
    let body = format!("    return {};\n", text(&named(formula), Dialect::C));
    write(signature, formula, "int", "pre", &body)
}

/// A function that asserts each part of the formula.
pub fn asserts(signature: &Signature, formula: &Formula) -> String {
    let line = |part: &&Formula| format!("    assert({});\n", text(&named(part), Dialect::C));
    let body: String = formula.conjuncts().iter().map(line).collect();
    format!(
        "#include <assert.h>\n{}",
        write(signature, formula, "void", "check", &body)
    )
}

/// A contract for Frama-C.
pub fn acsl(formula: &Formula) -> String {
    let line = |part: &&Formula| format!("  requires {};\n", text(part, Dialect::Acsl));
    let lines: String = formula.conjuncts().iter().map(line).collect();
    format!("/*@\n{lines}*/\n")
}

/// The clauses of a contract for CBMC, as they stand between a function's head and its body.
pub fn cbmc(formula: &Formula) -> String {
    let line = |part: &&Formula| format!("__CPROVER_requires({})\n", text(part, Dialect::Cbmc));
    formula.conjuncts().iter().map(line).collect()
}

/// Members are read into variables before, where they are there at all.
fn named(formula: &Formula) -> Formula {
    let one = |part: &Formula| Box::new(named(part));
    match formula {
        Formula::Term(term) if is_member(term) => {
            let place = variable(term);
            Formula::Term(Term {
                attribute: Attribute::Value,
                place,
            })
        }
        Formula::Term(_) | Formula::Number(_) | Formula::Null => formula.clone(),
        Formula::Add(left, right) => Formula::Add(one(left), one(right)),
        Formula::Subtract(left, right) => Formula::Subtract(one(left), one(right)),
        Formula::Multiply(left, right) => Formula::Multiply(one(left), one(right)),
        Formula::Remainder(left, right) => Formula::Remainder(one(left), one(right)),
        Formula::BitAnd(left, right) => Formula::BitAnd(one(left), one(right)),
        Formula::Compare(comparison, left, right) => {
            Formula::Compare(*comparison, one(left), one(right))
        }
        Formula::All(parts) => Formula::All(parts.iter().map(named).collect()),
        Formula::Any(parts) => Formula::Any(parts.iter().map(named).collect()),
        Formula::Not(inner) => Formula::Not(one(inner)),
    }
}

fn is_member(term: &Term) -> bool {
    term.place.contains("->")
}

fn write(
    signature: &Signature,
    formula: &Formula,
    result: &str,
    ending: &str,
    body: &str,
) -> String {
    let mut parameters = signature.parameters.clone();
    let mut lines = String::new();
    for bounds in sizes(formula) {
        parameters.push(format!("{INTEGER} {bounds}"));
    }
    let mut pointers: Vec<&str> = Vec::new();
    for term in formula.terms() {
        if let Some(parent) = parent(term).filter(|_| !pointers.contains(&term.place.as_str())) {
            pointers.push(&term.place);
            let name = variable(&value(&term.place));
            let (place, bounds) = (&term.place, variable(&bounds(parent)));
            // A pointer member or a number: the type is that of the member.
            lines += &format!("    __typeof__({place}) {name} = {bounds} > 0 ? {place} : 0;\n");
        }
    }
    for term in formula.terms() {
        lines += &computed(term);
    }
    let name = &signature.function;
    let parameters = match parameters.is_empty() {
        true => "void".into(),
        false => parameters.join(", "),
    };
    format!("{result} {name}_{ending}({parameters})\n{{\n{lines}{body}}}\n")
}

/// The variables with sizes that a formula needs, in their order.
fn sizes(formula: &Formula) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |term: &Term| {
        let name = variable(term);
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for term in formula.terms() {
        if let Some(parent) = parent(term) {
            add(&bounds(parent));
        }
        match term.attribute {
            Attribute::Value => {}
            Attribute::Bounds | Attribute::Before => add(term),
            _ => add(&bounds(&term.place)),
        }
    }
    names
}

fn bounds(place: &str) -> Term {
    Term {
        attribute: Attribute::Bounds,
        place: place.to_string(),
    }
}

fn value(place: &str) -> Term {
    Term {
        attribute: Attribute::Value,
        place: place.to_string(),
    }
}

/// The pointer through which a member is reached.
fn parent(term: &Term) -> Option<&str> {
    term.place.rfind("->").map(|at| &term.place[..at])
}

/// The lines that compute what C can compute.
fn computed(term: &Term) -> String {
    let name = variable(term);
    let bounds = variable(&bounds(&term.place));
    let place = match is_member(term) {
        true => variable(&value(&term.place)),
        false => term.place.clone(),
    };
    let scan = |condition: &str, step: &str| {
        format!("    {INTEGER} {name} = 0;\n    while ({condition})\n        {step};\n")
    };
    match term.attribute {
        Attribute::Find(0) => scan(
            &format!("{name} < {bounds} && {place}[{name}] != 0"),
            &format!("{name}++"),
        ),
        Attribute::Find(byte) => {
            let byte = character(byte);
            scan(
                &format!("{name} < {bounds} && {place}[{name}] != {byte}"),
                &format!("{name}++"),
            )
        }
        Attribute::Least | Attribute::Greatest => {
            let sign = if term.attribute == Attribute::Least {
                "<"
            } else {
                ">"
            };
            format!(
                "    {INTEGER} {name} = {bounds} > 0 ? {place}[0] : 0;\n    \
                 for ({INTEGER} i = 1; i < {bounds}; i++)\n        \
                 if ({place}[i] {sign} {name})\n            {name} = {place}[i];\n"
            )
        }
        _ => String::new(),
    }
}
