//! How many elements blocks have: constants, inputs of their own, formulas over other inputs.

use crate::HarnessError;
use crate::formula::{Amount, Formula};
use crate::layout::{Builder, Scene};
use crate::model::{Allowed, Block, Count, Leaf, Limit, Tail, What};
use crate::path::{Path, Step};
use crate::rules::RuleKind;

/// Why a pointer has no target yet.
pub(crate) enum Trouble {
    /// Its size depends on an input that is not laid out, or does not exist.
    Later(HarnessError),
    Error(HarnessError),
}

impl From<HarnessError> for Trouble {
    fn from(error: HarnessError) -> Trouble {
        Trouble::Error(error)
    }
}

impl Trouble {
    /// What to say if there is no later.
    fn error(self) -> HarnessError {
        match self {
            Trouble::Later(error) | Trouble::Error(error) => error,
        }
    }
}

impl Builder<'_> {
    /// How many elements a rule says, and how many that may be; `own` is where a count of its own may
    /// be kept.
    pub fn count(
        &mut self,
        scene: &Scene,
        path: &Path,
        own: Option<usize>,
        text: &str,
    ) -> Result<(Count, u64), Trouble> {
        let amount = Amount::parse(text)
            .map_err(|error| HarnessError(format!("size of `{path}`: {}", error.0)))?;
        match amount {
            Amount::Between(low, high) if low == high => Ok((Count::Fixed(low), high)),
            Amount::Between(low, high) => {
                let at = own.ok_or_else(|| {
                    HarnessError(format!(
                        "size of `{path}`: a number or a formula is needed here"
                    ))
                })?;
                let leaf = self.leaf(path, at, 4, What::Count);
                self.limit(leaf, Allowed::Range(i128::from(low), i128::from(high)));
                Ok((Count::Own(leaf), high))
            }
            Amount::Formula(formula) => self.tied(scene, path, &formula),
        }
    }

    fn tied(
        &mut self,
        scene: &Scene,
        path: &Path,
        formula: &Formula<Path>,
    ) -> Result<(Count, u64), Trouble> {
        let formula = formula.map(&mut |name| {
            let sibling = self.sibling(scene, name);
            let unknown = || {
                let names = self.known_numbers();
                Trouble::Later(HarnessError(format!(
                    "`--size {path}=…{name}…`: no integer input is called `{name}`; there are {names}"
                )))
            };
            sibling.or_else(|| self.find(name)).ok_or_else(unknown)
        })?;
        if let Formula::Number(number) = formula {
            let count = u64::try_from(number).map_err(|_| {
                HarnessError(format!("`--size {path}={number}`: no number of elements"))
            })?;
            return Ok((Count::Fixed(count), count));
        }
        self.bound_inputs(path, &formula);
        let limits = &self.layout.limits;
        let (_, most) = formula.bounds(&|leaf| limits[leaf].allowed.bounds());
        let most = u64::try_from(most.max(0)).unwrap_or(u64::MAX);
        Ok((Count::Tied(formula), most))
    }

    /// The number that a name means beside a member: another member of the same structure, alone or
    /// behind the structure's name.
    fn sibling(&self, scene: &Scene, name: &Path) -> Option<usize> {
        let (record, path, _) = scene.member.as_ref()?;
        let mut inner = path.clone();
        if !self.types.names(*record).contains(&name.root.as_str()) {
            inner = inner.member(&name.root);
        }
        inner.steps.extend(name.steps.iter().cloned());
        self.find(&inner)
    }

    /// Inputs that count elements are neither negative nor large, unless the user says so.
    fn bound_inputs(&mut self, path: &Path, formula: &Formula<usize>) {
        match formula {
            Formula::Number(_) => {}
            Formula::Operation(_, operands) => {
                self.bound_inputs(path, &operands.0);
                self.bound_inputs(path, &operands.1);
            }
            Formula::Input(leaf) if self.layout.limits.contains_key(leaf) => {}
            Formula::Input(leaf) => {
                let name = self.layout.leaves[*leaf].name.clone();
                let most = i128::from(self.elements).min(self.layout.leaves[*leaf].bounds().1);
                let allowed = Allowed::Range(0, most);
                self.limit(*leaf, allowed);
                let note = format!(
                    "`{name}` is 0 to {most}, because it counts what `{path}` points to: \
                     `--range {name}=LOW..HIGH` says otherwise"
                );
                self.bound(note.clone());
                self.layout.notes.push(note);
            }
        }
    }

    /// Lays out the array of no length that a structure alone in its block may end with. The block
    /// is the last thing in the staging.
    pub fn tail(&mut self, number: usize, scene: &Scene) -> Result<(), HarnessError> {
        let types = self.types;
        let Block {
            path,
            element,
            at,
            size,
            ..
        } = self.layout.blocks[number].clone();
        let Some(open) = types.tail(element) else {
            return Ok(());
        };
        let mut inner = scene.clone();
        let mut path = path.then(Step::Target);
        for (record, member) in open.way {
            inner.member = Some((record, path.clone(), member.name.clone()));
            inner.tags = member.tags.clone();
            path = path.member(&member.name);
        }
        let rule = self
            .rules
            .about(RuleKind::Size, inner.subject(&path), types);
        let Some(text) = rule else {
            let path = path.general();
            self.note(format!(
                "`{path}` has no elements: `--size {path}=N` gives it some"
            ));
            return Ok(());
        };
        let counted = self.count(&inner, &path, None, &text);
        let (count, most) = counted.map_err(Trouble::error)?;
        let step = types.size(open.element);
        self.layout.size = at;
        self.reserve(size.saturating_add(step.saturating_mul(most)), &path)?;
        for index in 0..most {
            let place = at + (open.offset + index * step) as usize;
            self.place(open.element, &path.then(Step::Index(index)), place, &inner)?;
        }
        self.layout.blocks[number].tail = Some(Tail {
            path,
            size: step,
            count,
            most,
        });
        Ok(())
    }

    /// Limits a number; blocks are not empty in the first input if they need not be.
    fn limit(&mut self, leaf: usize, allowed: Allowed) {
        let (low, high) = allowed.bounds();
        let limit = Limit {
            leaf,
            allowed,
            first: 1.clamp(low, high),
        };
        self.layout.limits.insert(leaf, limit);
    }

    /// The leaf of a number.
    pub fn find(&self, path: &Path) -> Option<usize> {
        let is_it =
            |leaf: &Leaf| matches!(leaf.what, What::Number { .. }) && path.matches(&leaf.path);
        self.layout.leaves.iter().position(is_it)
    }

    fn known_numbers(&self) -> String {
        let numbers =
            self.layout.leaves.iter().filter(|leaf| {
                matches!(leaf.what, What::Number { .. }) && leaf.path.steps.len() < 2
            });
        let names: Vec<String> = numbers
            .take(8)
            .map(|leaf| format!("`{}`", leaf.name))
            .collect();
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    }
}
