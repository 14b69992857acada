//! Which rule holds for which input.

use std::cell::Cell;

use crate::HarnessError;
use crate::path::{Path, Step};
use crate::rules::{Rule, RuleKind};
use crate::types::{TypeId, Types};

/// The user's rules; remembers which of them were of use.
#[derive(Debug)]
pub(crate) struct Rulebook {
    rules: Vec<Entry>,
    /// Parameters and globals. Any other name alone is that of a member.
    roots: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    rule: Rule,
    pattern: Path,
    used: Cell<bool>,
}

/// An input as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub path: &'a Path,
    /// The structure that it is a member of, and as which.
    pub member: Option<(TypeId, &'a str)>,
    /// What attributes say.
    pub tags: &'a [String],
}

impl Rulebook {
    /// Reads the targets of all rules; `roots` are the names of parameters and globals.
    pub fn new(rules: &[Rule], roots: Vec<String>) -> Result<Rulebook, HarnessError> {
        let entry = |rule: &Rule| {
            Ok(Entry {
                pattern: Path::parse(&rule.target)?,
                rule: rule.clone(),
                used: Cell::new(false),
            })
        };
        let rules = rules.iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Rulebook { rules, roots })
    }

    /// What the last rule of this kind says about a pointer; else its attribute.
    pub fn about(&self, kind: RuleKind, subject: Subject<'_>, types: &Types) -> Option<String> {
        let said = self.all_about(kind, subject, types).pop();
        said.or_else(|| tagged(kind, subject.tags))
    }

    /// What all rules of this kind say about a pointer.
    pub fn all_about(&self, kind: RuleKind, subject: Subject<'_>, types: &Types) -> Vec<String> {
        let meant = self.of(kind).filter(|entry| {
            entry.pattern.matches(subject.path)
                || self.is_member(&entry.pattern, subject.member, types)
        });
        meant
            .map(|entry| {
                entry.used.set(true);
                entry.rule.value.clone()
            })
            .collect()
    }

    /// The range of a number, or of the array that it is in.
    pub fn range(&self, subject: Subject<'_>, types: &Types) -> Option<String> {
        let mut said = None;
        for entry in self.of(RuleKind::Range) {
            let meant = entry.pattern.covers(subject.path)
                || self.is_member(&entry.pattern, subject.member, types);
            if meant {
                entry.used.set(true);
                said = Some(entry.rule.value.clone());
            }
        }
        said.or_else(|| tagged(RuleKind::Range, subject.tags))
    }

    /// A rule that was about nothing, though it was meant for this function.
    pub fn unused(&self) -> Option<&Rule> {
        let is_unused = |entry: &&Entry| !entry.used.get() && !entry.rule.is_general;
        let unused = self.rules.iter().find(is_unused);
        unused.map(|entry| &entry.rule)
    }

    /// Whether a pattern such as `node.next` or `next` means this member.
    fn is_member(&self, pattern: &Path, member: Option<(TypeId, &str)>, types: &Types) -> bool {
        let Some((record, name)) = member else {
            return false;
        };
        match pattern.steps.as_slice() {
            [] => pattern.root == name && !self.roots.contains(&pattern.root),
            [Step::Member(wanted)] => {
                wanted == name && types.names(record).contains(&pattern.root.as_str())
            }
            _ => false,
        }
    }

    fn of(&self, kind: RuleKind) -> impl Iterator<Item = &Entry> {
        self.rules
            .iter()
            .filter(move |entry| entry.rule.kind == kind)
    }
}

fn tagged(kind: RuleKind, tags: &[String]) -> Option<String> {
    let mut said = tags.iter().filter_map(|tag| Rule::from_tag(tag));
    let said = said.rfind(|(of, _)| *of == kind);
    said.map(|(_, value)| value.to_string())
}
