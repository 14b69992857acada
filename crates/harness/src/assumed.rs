//! What is assumed of inputs: what a call in C could pass, and no input of a plan is.
//!
//! Where nothing was said about an input this is a *bound*. What rules leave open (a pointer of a known size is
//! not null either) is a *convention*: nobody is told of it again and again, but a proof names it.

use crate::layout::Builder;
use crate::model::{Count, Pointer, Target};
use crate::path::Path;
use crate::plan::listed;
use crate::stubs::STUB_CALLS;
use crate::types::TypeId;

/// Names that a sentence has.
const LISTED: usize = 6;

const IN_THE_MIDDLE: &str =
    "a pointer leads to the first element of its memory, never to a variable of the program";

/// Names in a sentence: `a`, `b`; of many the first.
pub fn some_of(names: &[String]) -> String {
    let listed = names.iter().take(LISTED).map(|name| format!("`{name}`"));
    let text = listed.collect::<Vec<_>>().join(", ");
    match names.len() {
        0..=LISTED => text,
        many => format!("{text} and {} more", many - LISTED),
    }
}

/// A sentence about one name, with which `NAME` is replaced, or about several; none about none.
fn sentence(names: &[String], one: &str, many: &str) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(one.replace("NAME", name)),
        _ => Some(format!("{} {many}", listed(names))),
    }
}

/// Pointers with one name, such as all `t[].next`, that lead to memory.
struct Place {
    name: String,
    element: TypeId,
    /// Their numbers.
    pointers: Vec<usize>,
    /// The blocks that were made for them.
    blocks: Vec<usize>,
    /// Whether the user said what they lead to.
    is_described: bool,
}

impl Builder<'_> {
    /// Says what all inputs have in common, when every pointer has its targets.
    pub fn assumptions(&mut self) {
        self.never_null();
        self.one_element();
        self.never_the_same();
        self.in_the_middle();
        self.of_few_values();
        self.stubs_are_simple();
    }

    fn never_null(&mut self) {
        let names = |is_described: bool| {
            let pointers = self.layout.pointers.iter();
            let found = pointers.filter(|pointer| {
                let leads = matches!(
                    pointer.targets.first(),
                    Some(Target::Block(_) | Target::Stub(_))
                );
                leads
                    && !pointer.targets.contains(&Target::Null)
                    && pointer.is_described == is_described
            });
            unique(found.map(|pointer| &pointer.path))
        };
        let (open, described) = (names(false), names(true));
        let one = "`NAME` is never NULL: `--null NAME` says otherwise";
        let many = "are never NULL: `--null NAME` says otherwise";
        self.bounds_and_conventions(sentence(&open, one, many), sentence(&described, one, many));
    }

    /// Strings, and memory of which a size was said, are not meant.
    fn one_element(&mut self) {
        let blocks = self.layout.blocks.iter().filter(|block| {
            matches!(block.count, Count::Fixed(1)) && self.types.record(block.element).is_some()
        });
        let names = unique(blocks.map(|block| &block.path));
        let one = "`NAME` points to one element: `--size NAME=N` gives it more";
        let many = "point to one element each: `--size NAME=N` gives more";
        self.bounds_and_conventions(None, sentence(&names, one, many));
    }

    /// That no two pointers lead to the same memory (the beginning and the end of an array, a list that ends in
    /// itself). It is a bound for pointers to the same type, of which nothing was said.
    fn never_the_same(&mut self) {
        let places = self.places();
        let types = self.types;
        let alike = |a: &Place, b: &Place| {
            !a.is_described && !b.is_described && types.bare(a.element) == types.bare(b.element)
        };
        let bounds = self.groups(&places, &alike);
        let overlapping = |a: &Place, b: &Place| types.may_overlap(a.element, b.element);
        let conventions = self.groups(&places, &overlapping);
        for bound in bounds {
            self.bound(bound);
        }
        for convention in conventions {
            self.convention(convention);
        }
    }

    /// Pointers that lead to memory, by their names.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (number, pointer) in self.layout.pointers.iter().enumerate() {
            let Some(block) = pointer.block() else {
                continue;
            };
            let (name, element) = (
                pointer.path.general().to_string(),
                self.layout.blocks[block].element,
            );
            match places.iter_mut().find(|place| place.name == name) {
                Some(place) => {
                    place.pointers.push(number);
                    place.blocks.push(block);
                }
                None => places.push(Place {
                    name,
                    element,
                    pointers: vec![number],
                    blocks: vec![block],
                    is_described: pointer.is_described,
                }),
            }
        }
        places
    }

    /// A sentence for each group of pointers that could lead to the same memory, and do not.
    fn groups(&self, places: &[Place], meet: &dyn Fn(&Place, &Place) -> bool) -> Vec<String> {
        let mut group: Vec<usize> = (0..places.len()).collect();
        for (later, place) in places.iter().enumerate() {
            for earlier in 0..later {
                if meet(&places[earlier], place) && !self.is_alias(&places[earlier], place) {
                    let (old, new) = (group[later], group[earlier]);
                    for number in group.iter_mut().filter(|number| **number == old) {
                        *number = new;
                    }
                }
            }
        }
        let of = |first: usize| -> Vec<&Place> {
            let members = places.iter().zip(&group);
            members
                .filter(|(_, number)| **number == first)
                .map(|(place, _)| place)
                .collect()
        };
        let groups = (0..places.len()).map(of);
        groups
            .filter_map(|members| self.never_meet(&members, meet))
            .collect()
    }

    fn never_meet(
        &self,
        members: &[&Place],
        meet: &dyn Fn(&Place, &Place) -> bool,
    ) -> Option<String> {
        let names: Vec<String> = members.iter().map(|place| place.name.clone()).collect();
        match members {
            [] => None,
            [one] => {
                let is_several = one.pointers.len() > 1 && meet(one, one);
                is_several.then(|| format!("no two of `{}` point into the same memory", one.name))
            }
            [first, second] if first.pointers.len() + second.pointers.len() == 2 => {
                let (name, other) = (&second.name, &first.name);
                let is_option = self.types.bare(first.element) == self.types.bare(second.element);
                Some(match is_option {
                    true => format!(
                        "`{name}` never points into `{other}`: `--alias {name}={other}` says otherwise"
                    ),
                    false => format!("`{name}` never points into what `{other}` points to"),
                })
            }
            _ => Some(format!(
                "no two of {} point into the same memory: `--alias NAME=OTHER` says otherwise",
                some_of(&names)
            )),
        }
    }

    /// Whether a rule lets the one lead where the other does.
    fn is_alias(&self, one: &Place, other: &Place) -> bool {
        let leads = |from: &Place, to: &Place| {
            let mut pointers = from.pointers.iter();
            pointers.any(|number| {
                let targets = &self.layout.pointers[*number].targets;
                let mut blocks = to.blocks.iter();
                blocks.any(|block| targets.contains(&Target::Block(*block)))
            })
        };
        leads(one, other) || leads(other, one)
    }

    fn in_the_middle(&mut self) {
        let mut blocks = self.layout.pointers.iter().filter_map(Pointer::block);
        if blocks.next().is_some() {
            self.convention(IN_THE_MIDDLE.into());
        }
    }

    fn of_few_values(&mut self) {
        let names = std::mem::take(&mut self.enumerations);
        let bound = sentence(
            &names,
            "`NAME` is one of its constants: `--range NAME=LOW..HIGH` says otherwise",
            "are constants of their types: `--range NAME=LOW..HIGH` says otherwise",
        );
        let unions = std::mem::take(&mut self.unions);
        let held = sentence(
            &unions,
            "`NAME` is what its union holds, no other member",
            "are what their unions hold, no other members",
        );
        self.bounds_and_conventions(bound, None);
        self.bounds_and_conventions(held, None);
    }

    fn stubs_are_simple(&mut self) {
        for number in 0..self.layout.stubs.len() {
            let stub = &self.layout.stubs[number];
            let name = match &stub.function {
                Some(function) => function.clone(),
                None => stub.path.general().to_string(),
            };
            let changes = match stub.writes.is_empty() {
                true => "it changes nothing",
                false => "it changes what its arguments point to, nothing else",
            };
            let gives = match stub.root {
                Some(_) => {
                    format!(", and gives something of its own in the first {STUB_CALLS} calls only")
                }
                None => String::new(),
            };
            let said = format!("`{name}` is a stub that returns: {changes}{gives}");
            let is_wanted = stub.function.is_some() || !stub.writes.is_empty();
            match is_wanted {
                true => self.convention(said),
                false => self.bound(said),
            }
        }
    }

    fn bounds_and_conventions(&mut self, bound: Option<String>, convention: Option<String>) {
        if let Some(bound) = bound {
            self.bound(bound);
        }
        if let Some(convention) = convention {
            self.convention(convention);
        }
    }

    fn convention(&mut self, convention: String) {
        let said = self.layout.bounds.iter().chain(&self.layout.conventions);
        if !said.into_iter().any(|it| *it == convention) {
            self.layout.conventions.push(convention);
        }
    }
}

/// Names of paths, each once.
fn unique<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let name = path.general().to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
