//! Pointers that may point to what others do, and the choices of all pointers.

use crate::HarnessError;
use crate::layout::Builder;
use crate::model::{Allowed, Limit, Target, What};
use crate::path::Path;
use crate::rulebook::Subject;
use crate::rules::RuleKind;

impl Builder<'_> {
    /// Adds what rules say about aliases; gives every pointer with several targets its choice.
    pub fn aliases(&mut self) -> Result<(), HarnessError> {
        for number in 0..self.layout.pointers.len() {
            let path = self.layout.pointers[number].path.clone();
            let subject = Subject {
                path: &path,
                member: None,
                tags: &[],
            };
            for other in self.rules.all_about(RuleKind::Alias, subject, self.types) {
                self.layout.pointers[number].is_described = true;
                let target = self.block_of(&path, &other)?;
                let targets = &mut self.layout.pointers[number].targets;
                if !targets.contains(&target) {
                    targets.insert(targets.len().min(1), target);
                    let first = self.layout.pointers[number].first;
                    self.layout.pointers[number].first = if first > 0 { first + 1 } else { 0 };
                }
            }
            self.choice(number);
        }
        Ok(())
    }

    /// What the other pointer of `--alias path=other` was given for its own.
    fn block_of(&self, path: &Path, other: &str) -> Result<Target, HarnessError> {
        let wanted = Path::parse(other)?;
        let found = self
            .layout
            .pointers
            .iter()
            .find(|p| wanted.matches(&p.path));
        let wrong = |why: &str| HarnessError(format!("`--alias {path}={other}`: {why}"));
        let found = found.ok_or_else(|| wrong(&format!("no pointer is called `{other}`")))?;
        match found.targets.first() {
            Some(target @ Target::Block(number)) => {
                let own = self.layout.pointers.iter().find(|p| p.path == *path);
                let own = own.and_then(|pointer| pointer.targets.first());
                if let Some(Target::Block(own)) = own {
                    let (a, b) = (self.element_of(*own), self.element_of(*number));
                    if a != b {
                        return Err(wrong("they point to different types"));
                    }
                }
                Ok(*target)
            }
            _ => Err(wrong(&format!("`{other}` has no memory of its own"))),
        }
    }

    fn element_of(&self, block: usize) -> crate::types::TypeId {
        self.types.bare(self.layout.blocks[block].element)
    }

    fn choice(&mut self, number: usize) {
        let pointer = &self.layout.pointers[number];
        let (at, first, count) = (pointer.at, pointer.first, pointer.targets.len());
        if count < 2 {
            return;
        }
        let path = pointer.path.clone();
        let leaf = self.leaf(&path, at, 1, What::Choice);
        let limit = Limit {
            leaf,
            allowed: Allowed::Range(0, count as i128 - 1),
            first: first as i128,
        };
        self.layout.limits.insert(leaf, limit);
    }
}
