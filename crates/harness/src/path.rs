//! How inputs are called: `n`, `t[3]`, `list->next->value`, `*p`, `s.x`.

use std::fmt;

use crate::HarnessError;

/// The name of an input, or of several: `rows[]` are all elements of `rows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// A parameter, a global, a stub; in rules also the name of a structure.
    pub root: String,
    /// How to get from there to the input.
    pub steps: Vec<Step>,
}

/// One step on the way to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// What a pointer to a single object points to.
    Target,
    /// An element.
    Index(u64),
    /// Any element; only in rules.
    Any,
    /// A member.
    Member(String),
    /// What a stub gives back.
    Call,
}

impl Path {
    /// The name alone.
    pub fn root(name: &str) -> Path {
        Path {
            root: name.to_string(),
            steps: Vec::new(),
        }
    }

    /// A step further.
    pub fn then(&self, step: Step) -> Path {
        let mut longer = self.clone();
        longer.steps.push(step);
        longer
    }

    /// The path of a member; members of anonymous structures belong to the one around them.
    pub fn member(&self, name: &str) -> Path {
        if name.is_empty() {
            self.clone()
        } else {
            self.then(Step::Member(name.to_string()))
        }
    }

    /// The pattern of this path and of those that differ only in their indices.
    pub fn general(&self) -> Path {
        let steps = self.steps.iter().map(|step| match step {
            Step::Index(_) => Step::Any,
            other => other.clone(),
        });
        Path {
            root: self.root.clone(),
            steps: steps.collect(),
        }
    }

    /// Reads what a user wrote.
    pub fn parse(text: &str) -> Result<Path, HarnessError> {
        let bad = || HarnessError(format!("`{text}` is not the name of an input"));
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let stars = compact.chars().take_while(|c| *c == '*').count();
        let (root, mut rest) = identifier(&compact[stars..]).ok_or_else(bad)?;
        let mut path = Path::root(root);
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("->") {
                let (name, after) = identifier(after).ok_or_else(bad)?;
                path = path.then(Step::Target).member(name);
                rest = after;
            } else if let Some(after) = rest.strip_prefix('.') {
                let (name, after) = identifier(after).ok_or_else(bad)?;
                path = path.member(name);
                rest = after;
            } else if let Some(after) = rest.strip_prefix("()") {
                path = path.then(Step::Call);
                rest = after;
            } else if let Some(after) = rest.strip_prefix('[') {
                let (index, after) = after.split_once(']').ok_or_else(bad)?;
                let step = match index {
                    "" | "*" => Step::Any,
                    _ => Step::Index(index.parse().map_err(|_| bad())?),
                };
                path = path.then(step);
                rest = after;
            } else {
                return Err(bad());
            }
        }
        let stars = std::iter::repeat_n(Step::Target, stars);
        path.steps.extend(stars);
        Ok(path)
    }

    /// Whether this pattern means that path.
    pub fn matches(&self, path: &Path) -> bool {
        self.meets(path, |rest| rest.is_empty())
    }

    /// Whether this pattern means that path, or an array that it is an element of.
    pub fn covers(&self, path: &Path) -> bool {
        let is_element = |step: &Step| !matches!(step, Step::Member(_) | Step::Call);
        self.meets(path, |rest| rest.iter().all(is_element))
    }

    /// Whether this pattern means the start of that path, and what is behind it is as it should be.
    fn meets(&self, path: &Path, fits: impl Fn(&[Step]) -> bool) -> bool {
        let meets = |pattern: &[Step], steps: &[Step]| {
            let parts = steps.split_at_checked(pattern.len());
            parts.is_some_and(|(start, rest)| same_steps(pattern, start) && fits(rest))
        };
        // Who writes `p.x` for a pointer means `p->x`.
        let dotted = || meets(&dotted(&self.steps), &dotted(&path.steps));
        self.root == path.root && (meets(&self.steps, &path.steps) || dotted())
    }
}

/// The steps without arrows: only the dots of them.
fn dotted(steps: &[Step]) -> Vec<Step> {
    let is_arrow = |place: usize| {
        let next = steps.get(place + 1);
        steps[place] == Step::Target && matches!(next, Some(Step::Member(_)))
    };
    let kept = (0..steps.len()).filter(|place| !is_arrow(*place));
    kept.map(|place| steps[place].clone()).collect()
}

fn same_steps(pattern: &[Step], steps: &[Step]) -> bool {
    let same = |(pattern, step): (&Step, &Step)| match (pattern, step) {
        (Step::Any, Step::Index(_) | Step::Target) => true,
        (Step::Target, Step::Index(0)) | (Step::Index(0), Step::Target) => true,
        _ => pattern == step,
    };
    pattern.len() == steps.len() && pattern.iter().zip(steps).all(same)
}

/// Splits off the identifier that a text starts with.
pub(crate) fn identifier(text: &str) -> Option<(&str, &str)> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let starts_well = name.starts_with(|c: char| !c.is_ascii_digit());
    starts_well.then_some((name, rest))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.root.clone();
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.next() {
            match step {
                Step::Target => match steps.peek() {
                    Some(Step::Member(name)) => {
                        text = format!("{text}->{name}");
                        steps.next();
                    }
                    Some(Step::Index(_) | Step::Any) => text = format!("(*{text})"),
                    _ => text = format!("*{text}"),
                },
                Step::Index(index) => text = format!("{text}[{index}]"),
                Step::Any => text = format!("{text}[]"),
                Step::Member(name) => text = format!("{text}.{name}"),
                Step::Call => text = format!("{text}()"),
            }
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).expect("a path")
    }

    #[test]
    fn paths_are_written_as_they_are_read() {
        for text in [
            "n",
            "t[3]",
            "list->next->value",
            "*p",
            "s.x",
            "m[1][2]",
            "o->read()[1]",
            "rows[]",
        ] {
            assert_eq!(path(text).to_string(), text);
        }
        for text in ["", "3", "a..b", "a[", "a[x]", "a+b", "p->"] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_means_elements_too() {
        assert!(path("p->x").matches(&path("p[0].x")));
        assert!(path("*p").matches(&path("p[0]")));
        assert!(path("t[]").matches(&path("t[7]")));
        assert!(!path("t[]").matches(&path("t")));
        assert!(path("p.x").matches(&path("p->x")));
        assert!(path("p.x").covers(&path("p->x[3]")));
        assert!(!path("p.x").matches(&path("p[1].x")));
        assert!(path("t").covers(&path("t[1][2]")));
        assert!(!path("t").covers(&path("t[1].x")));
        assert!(!path("t[1]").covers(&path("t[2]")));
    }
}
