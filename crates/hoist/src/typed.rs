//! Contracts against the program's types: what each term is, and how it is reached.

use nearmiss_contracts::place::{self, Index};
use nearmiss_contracts::{Attribute, Contract, Formula, Term};
use nearmiss_harness::Unit;
use nearmiss_harness::entry::{Definition, Leaf, Place, Step};

/// A place of a contract in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The place; of one with an index that is a name: its first element.
    pub place: Place,
    /// The number that is the index of the last step.
    pub index: Option<Place>,
}

/// Finds the place of a term.
pub fn find(unit: &Unit, function: &Definition, text: &str) -> Result<Found, String> {
    let parsed = place::Place::parse(text)?;
    let mut found = Found {
        place: unit.base(function, &parsed.root)?,
        index: None,
    };
    for step in &parsed.steps {
        if found.index.is_some() {
            return Err(format!("{text}: only the last index may be a name"));
        }
        let step = match step {
            place::Step::Member(name) => Step::Member(name.clone()),
            place::Step::Element(Index::Number(number)) => Step::Element(*number),
            place::Step::Element(Index::Name(name)) => {
                found.index = Some(number(unit, function, name)?);
                Step::Element(0)
            }
        };
        found.place = unit
            .part(&found.place, &step)
            .map_err(|why| format!("{text}: {why}"))?;
    }
    Ok(found)
}

fn number(unit: &Unit, function: &Definition, name: &str) -> Result<Place, String> {
    let place = unit.base(function, name)?;
    match place.leaf {
        Leaf::Integer { .. } => Ok(place),
        _ => Err(format!("{name} is no number")),
    }
}

/// What a formula is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, or a truth.
    Number,
    /// A pointer.
    Pointer,
}

/// Everything that is wrong with a contract in the light of the program's types.
pub fn mistakes(unit: &Unit, function: &Definition, contract: &Contract) -> Vec<String> {
    let mut found = Vec::new();
    if contract.parameters != function.parameters {
        found.push(format!(
            "{}({}) is {} in the program",
            contract.function,
            contract.parameters.join(", "),
            function.signature
        ));
    }
    for formula in &contract.requires {
        if let Err(why) = kind(unit, function, formula) {
            found.push(format!("requires {formula}: {why}"));
        }
    }
    found
}

/// What a formula is; an error says what does not fit.
pub fn kind(unit: &Unit, function: &Definition, formula: &Formula) -> Result<Kind, String> {
    let of = |part: &Formula| kind(unit, function, part);
    match formula {
        Formula::Number(_) => Ok(Kind::Number),
        Formula::Null => Ok(Kind::Pointer),
        Formula::Term(term) => of_term(unit, function, term),
        Formula::Add(left, right)
        | Formula::Subtract(left, right)
        | Formula::Multiply(left, right)
        | Formula::Remainder(left, right)
        | Formula::BitAnd(left, right) => match (of(left)?, of(right)?) {
            (Kind::Number, Kind::Number) => Ok(Kind::Number),
            _ => Err(format!("{formula} calculates with a pointer")),
        },
        Formula::Compare(_, left, right) => {
            let zero = |one: &Formula| *one == Formula::Number(0);
            let fits = of(left)? == of(right)? || zero(left) || zero(right);
            match fits {
                true => Ok(Kind::Number),
                false => Err(format!("{formula} compares a pointer with a number")),
            }
        }
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().try_for_each(|part| of(part).map(|_| ()))?;
            Ok(Kind::Number)
        }
        Formula::Not(inner) => of(inner).map(|_| Kind::Number),
    }
}

fn of_term(unit: &Unit, function: &Definition, term: &Term) -> Result<Kind, String> {
    let found = find(unit, function, &term.place)?;
    match (term.attribute, &found.place.leaf) {
        (Attribute::Value, Leaf::Integer { .. }) => Ok(Kind::Number),
        (Attribute::Value, Leaf::Pointer { .. }) => Ok(Kind::Pointer),
        (Attribute::Value, _) => Err(format!("{term} is neither a number nor a pointer")),
        (Attribute::Bounds | Attribute::Before, Leaf::Pointer { element: 0, .. }) => {
            Err(format!("{term}: the size of its elements is not known"))
        }
        (Attribute::Bounds | Attribute::Before, Leaf::Pointer { .. } | Leaf::Array { .. }) => {
            Ok(Kind::Number)
        }
        (Attribute::Find(_), Leaf::Pointer { element: 1, .. } | Leaf::Array { element: 1, .. }) => {
            Ok(Kind::Number)
        }
        (Attribute::Least | Attribute::Greatest, _) if unit.elements(&found.place).is_some() => {
            Ok(Kind::Number)
        }
        _ => Err(format!("{term}: {} is no pointer of that kind", term.place)),
    }
}
