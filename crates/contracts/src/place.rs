//! The place that a term is about, taken apart: `p->data[2].size`, `*count`.

use std::fmt;

/// A place: a parameter or global, and the way from there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The parameter or global.
    pub root: String,
    /// The way.
    pub steps: Vec<Step>,
}

/// One step on the way to a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `->name`, or `.name` behind a structure.
    Member(String),
    /// `[2]`, `[n]`, or `*` before the name, which is `[0]`.
    Element(Index),
}

/// Which element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// A number.
    Number(u64),
    /// A parameter or global that is a number.
    Name(String),
}

impl Place {
    /// A parameter or global itself.
    pub fn root(name: &str) -> Place {
        Place {
            root: name.to_string(),
            steps: Vec::new(),
        }
    }

    /// This place and one step more.
    pub fn then(&self, step: Step) -> Place {
        let mut place = self.clone();
        place.steps.push(step);
        place
    }

    /// Takes the text of a place apart; an error says which part makes no sense.
    pub fn parse(text: &str) -> Result<Place, String> {
        let stars = text.len() - text.trim_start_matches('*').len();
        let rest = &text[stars..];
        let end = rest.find(|c: char| "-.[".contains(c)).unwrap_or(rest.len());
        let mut place = Place::root(&rest[..end]);
        let mut rest = &rest[end..];
        while !rest.is_empty() {
            let (step, left) = step(rest).ok_or_else(|| format!("{text}: what is {rest}?"))?;
            place.steps.push(step);
            rest = left;
        }
        let target = Step::Element(Index::Number(0));
        place.steps.extend(std::iter::repeat_n(target, stars));
        Ok(place)
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let index = index.trim();
        let index = match index.parse() {
            Ok(number) => Index::Number(number),
            Err(_) if is_name(index) => Index::Name(index.to_string()),
            Err(_) => return None,
        };
        return Some((Step::Element(index), rest));
    }
    let rest = text.strip_prefix("->").or(text.strip_prefix('.'))?;
    let end = rest.find(|c: char| "-.[".contains(c)).unwrap_or(rest.len());
    let name = &rest[..end];
    is_name(name).then(|| (Step::Member(name.to_string()), &rest[end..]))
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|c: char| c.is_ascii_digit())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for (number, step) in self.steps.iter().enumerate() {
            let behind_element = number > 0 && matches!(self.steps[number - 1], Step::Element(_));
            match step {
                // Only types know which of the two it is: both are read as one.
                Step::Member(name) if behind_element => write!(f, ".{name}")?,
                Step::Member(name) => write!(f, "->{name}")?,
                Step::Element(Index::Number(number)) => write!(f, "[{number}]")?,
                Step::Element(Index::Name(name)) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart_and_put_together() {
        for text in ["n", "p->data", "p[3]", "p[3].x", "p->data[n]", "p->q->r"] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Place::parse("*p").unwrap().to_string(), "p[0]");
        for text in ["p[", "p[-1]", "p->", "p[a+b]"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
