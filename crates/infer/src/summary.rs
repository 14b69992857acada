//! The report of a study: the formula in all its forms, what it rests on, what limits it.

use nearmiss_contracts::print::{Dialect, text};
use nearmiss_contracts::{Contract, Formula, code, file};
use nearmiss_harness::{Declared, Prototype};
use nearmiss_results::{PreconditionConflict, PreconditionReport, VERSION};

use crate::InferError;
use crate::assign::Feasible;
use crate::environment::MAX_BOUNDS;
use crate::evidence::{describe, evidence};
use crate::inputs::Fuzzing;
use crate::shorten::Cover;
use crate::study::Study;
use crate::subject::Origin;
use crate::tidy::tidy;
use crate::valuations::Valuation;

impl Study<'_> {
    /// The report.
    pub fn report(
        &self,
        prototype: &Prototype,
        cover: &Cover,
        feasible: &Feasible,
    ) -> Result<PreconditionReport, InferError> {
        let formula = tidy(&cover.formula(&self.predicates));
        let conflicts = self.conflicts(feasible);
        let safe = feasible
            .rows
            .values()
            .filter(|valuations| !self.has_failed(valuations))
            .count();
        let parameters: Vec<String> = prototype.parameters.iter().map(declared).collect();
        let signature = code::Signature {
            function: prototype.function.clone(),
            parameters,
        };
        let include = match &self.config.subject.origin {
            // The types of its parameters.
            Origin::Header(header) => format!("#include <{header}>\n"),
            Origin::Source(_) => String::new(),
        };
        let left_out = self.left_out(&formula, feasible)?;
        let mut report = PreconditionReport {
            version: VERSION,
            function: prototype.function.clone(),
            file: self.config.subject.name(),
            prototype: prototype.declaration.clone(),
            formula: formula.to_string(),
            c: include.clone() + &code::function(&signature, &formula),
            asserts: include + &code::asserts(&signature, &formula),
            acsl: code::acsl(&formula),
            require: Some(text(&formula, Dialect::Require)),
            // What was cut short has assignments with too few tests.
            complete: feasible.complete && !self.is_over(),
            largest: MAX_BOUNDS,
            fuzzing: match self.config.fuzzing {
                Fuzzing::Smart => "smart".into(),
                Fuzzing::Naive => "naive".into(),
            },
            predicates: self.predicates.len(),
            found: self.used(cover),
            assignments: feasible.rows.len(),
            safe,
            proposed: feasible.proposed,
            tests: self.tests,
            conflict_count: conflicts.len(),
            conflicts: conflicts.into_iter().take(5).collect(),
            evidence: evidence(&self.environment, &formula, &self.points)?,
            left_out,
            decided: self.decided.clone(),
            notes: self.notes(prototype, safe, left_out),
            ..PreconditionReport::default()
        };
        report.contract = self.contract(prototype, &formula, &report);
        Ok(report)
    }

    /// Safe assignments that the formula does not let through.
    fn left_out(&self, formula: &Formula, feasible: &Feasible) -> Result<usize, InferError> {
        let condition = self.environment.condition(formula)?;
        let rows = feasible.rows.values();
        let safe = rows.filter(|valuations| !self.has_failed(valuations));
        let rejected =
            |valuations: &&Vec<Valuation>| valuations.iter().any(|values| !condition.holds(values));
        Ok(safe.filter(rejected).count())
    }

    /// The predicates of the formula that tests suggested.
    fn used(&self, cover: &Cover) -> Vec<String> {
        let first = self.predicates.len() - self.found.len();
        let literals: Vec<usize> = (cover.cubes.iter().flatten())
            .map(|literal| literal.predicate)
            .collect();
        let found = self.found.iter().enumerate();
        let used = found.filter(|(index, _)| literals.contains(&(first + index)));
        used.map(|(_, formula)| tidy(formula).to_string()).collect()
    }

    fn contract(
        &self,
        prototype: &Prototype,
        formula: &Formula,
        report: &PreconditionReport,
    ) -> String {
        let extent = if report.complete {
            "complete"
        } else {
            "sampled"
        };
        let contract = Contract {
            function: prototype.function.clone(),
            parameters: prototype
                .parameters
                .iter()
                .map(|p| p.name.clone())
                .collect(),
            from: format!(
                "infer {}: {extent}, {} assignments, {} tests",
                report.file, report.assignments, report.tests
            ),
            requires: formula.conjuncts().into_iter().cloned().collect(),
            ..Contract::default()
        };
        file::write(&[contract])
    }

    /// Assignments of which some valuations fail and others do not.
    fn conflicts(&self, feasible: &Feasible) -> Vec<PreconditionConflict> {
        let mixed = feasible
            .rows
            .values()
            .filter(|valuations| self.is_mixed(valuations));
        let conflict = |valuations: &Vec<Valuation>| {
            let failing = valuations
                .iter()
                .find_map(|values| self.points.get(values)?.failure.as_ref())?;
            let passing = valuations.iter().filter(|values| !self.failed(values));
            let passing = passing.filter_map(|values| self.points.get(values));
            // Few tests say little: contents may decide.
            let passing = passing
                .filter(|point| point.tests >= 64)
                .max_by_key(|point| point.tests)?;
            Some(PreconditionConflict {
                fails: describe(&self.environment, &failing.0),
                how: failing.1.words(&self.environment),
                passes: describe(&self.environment, &passing.sample),
            })
        };
        mixed.filter_map(conflict).collect()
    }
}

/// A parameter as C declares it; `restrict` means nothing to what only looks.
fn declared(parameter: &Declared) -> String {
    let name = &parameter.name;
    let spelled = parameter
        .spelled
        .replace("restrict", "")
        .trim_end()
        .to_string();
    match spelled.find("(*)") {
        Some(at) => format!("{}(*{name}){}", &spelled[..at], &spelled[at + 3..]),
        None if spelled.ends_with('*') => format!("{spelled}{name}"),
        None => format!("{spelled} {name}"),
    }
}
