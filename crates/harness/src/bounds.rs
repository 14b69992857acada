//! Sizes as parameters of a precondition: `t_bounds` is how many elements there are where `t` points, `r_data_bounds`
//! the same of `r->data`; 0 for NULL, and for members of what is not there. C itself cannot tell, so the harness does.
//! `nearmiss infer --form c` writes such functions.

use crate::layout::Layout;
use crate::model::{Block, Count, Owner, Pointer, Target};
use crate::operands::{self, STAGING};
use crate::path::{Path, Step};

/// The variable with the bytes of a block as the inputs say, not as they were in the recorded run.
pub(crate) const SIZES: &str = "nm_harness_sizes";

/// What a precondition asks about a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Elements from where it points to the end of its block.
    Bounds(usize),
    /// Elements before: pointers of the harness lead to the start of their blocks.
    Before,
}

/// The pointer whose size a parameter of this name is; none if there is no such pointer, or more than one.
pub(crate) fn extent(layout: &Layout, name: &str) -> Option<Extent> {
    if let Some(name) = name.strip_suffix("_bounds") {
        return pointer(layout, name).map(Extent::Bounds);
    }
    let name = name.strip_suffix("_before")?;
    pointer(layout, name).map(|_| Extent::Before)
}

fn pointer(layout: &Layout, name: &str) -> Option<usize> {
    let is_it = |pointer: &Pointer| joined(&pointer.path).as_deref() == Some(name);
    let mut found = (0..layout.pointers.len()).filter(|number| is_it(&layout.pointers[*number]));
    match (found.next(), found.next()) {
        (Some(number), None) => Some(number),
        _ => None,
    }
}

/// `r_data` of `r->data`; none of a path that C forms of contracts cannot name.
fn joined(path: &Path) -> Option<String> {
    let mut name = path.root.clone();
    for step in &path.steps {
        match step {
            // The first element is what members behind a pointer belong to.
            Step::Target | Step::Index(0) => {}
            Step::Member(member) => name = format!("{name}_{member}"),
            Step::Index(_) | Step::Any | Step::Call => return None,
        }
    }
    Some(name)
}

impl Extent {
    /// As an expression in C, without branches.
    pub fn text(self, layout: &Layout) -> String {
        let Extent::Bounds(number) = self else {
            return "0".into();
        };
        let pointer = &layout.pointers[number];
        let there = presence(layout, pointer);
        let choices = pointer.targets.iter().enumerate();
        let counts = choices.filter_map(|(choice, target)| match target {
            Target::Block(number) => {
                let chosen = chosen(pointer, choice);
                Some(format!("{chosen} * {}", count(layout, *number)))
            }
            Target::Stub(_) | Target::Null => None,
        });
        let counts: Vec<String> = counts.collect();
        match counts.is_empty() {
            true => "0".into(),
            false => format!("({there} * ({}))", counts.join(" + ")),
        }
    }
}

/// Whether a pointer has its target with this number: 1 or 0.
fn chosen(pointer: &Pointer, choice: usize) -> String {
    match pointer.targets.len() {
        1 => "1ul".into(),
        _ => format!("(unsigned long)({STAGING}[{}] == {choice})", pointer.at),
    }
}

fn count(layout: &Layout, number: usize) -> String {
    let block = &layout.blocks[number];
    match block.count {
        Count::Text => format!("{SIZES}[{number}]"),
        _ => operands::count(layout, &block.count, block.most),
    }
}

/// Whether the pointer itself is there: 1 or 0.
fn presence(layout: &Layout, pointer: &Pointer) -> String {
    let Owner::Block(number) = pointer.owner else {
        return "1ul".into();
    };
    let block = &layout.blocks[number];
    let end = pointer.at - block.at + 8;
    let fits = format!(
        "(unsigned long)({end}ul <= {} * {}ul)",
        count(layout, number),
        block.size
    );
    format!("{fits} * {}", reached(layout, number, block))
}

/// Whether the pointer that a block was made for leads to it: 1 or 0.
fn reached(layout: &Layout, number: usize, block: &Block) -> String {
    let is_its = |pointer: &&Pointer| pointer.path == block.path;
    let Some(pointer) = layout.pointers.iter().find(is_its) else {
        return "1ul".into();
    };
    let choice = (pointer.targets.iter()).position(|target| *target == Target::Block(number));
    let Some(choice) = choice else {
        return "1ul".into();
    };
    let there = presence(layout, pointer);
    format!("{} * {there}", chosen(pointer, choice))
}
