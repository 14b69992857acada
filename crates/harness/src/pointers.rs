//! Gives pointers their targets: blocks, stubs, what other pointers point to, nothing.

use crate::HarnessError;
use crate::counts::Trouble;
use crate::layout::{Builder, Scene, Waiting};
use crate::model::{Block, COUNT_OFFSET, Count, Owner, Target};
use crate::path::{Path, Step};
use crate::rules::RuleKind;
use crate::types::{BYTE, Kind, TypeId};

/// How long strings are where nothing is said, without their zero.
pub(crate) const DEFAULT_STRING: u64 = 6;
/// Structures of the C library that cannot be invented, what they are, and what to do instead.
const LIBRARY: &[(&str, &str, &str)] = &[
    (
        "_IO_FILE",
        "a stream (`FILE`)",
        "a function that opens one (`fmemopen`, `tmpfile`) and passes it can be explored instead",
    ),
    (
        "__va_list_tag",
        "a list of arguments (`va_list`)",
        "a function that makes one of its own arguments can be explored instead",
    ),
];

impl Builder<'_> {
    /// Gives all pointers their targets, also those that are in blocks made for others.
    pub fn resolve(&mut self) -> Result<(), HarnessError> {
        let mut postponed = 0;
        while let Some(waiting) = self.waiting.pop_front() {
            match self.target(&waiting) {
                Ok(()) => postponed = 0,
                Err(Trouble::Error(error)) => return Err(error),
                Err(Trouble::Later(error)) if postponed > self.waiting.len() => return Err(error),
                Err(Trouble::Later(_)) => {
                    postponed += 1;
                    self.waiting.push_back(waiting);
                }
            }
        }
        self.aliases()
    }

    fn target(&mut self, waiting: &Waiting) -> Result<(), Trouble> {
        let path = self.layout.pointers[waiting.pointer].path.clone();
        let nested = !waiting.scene.is_top(&path);
        let fresh = self.fresh(waiting, &path)?;
        let nullable = self.is_nullable(waiting, &path)?;
        let kinds = [RuleKind::Null, RuleKind::Size, RuleKind::String];
        let is_described = (kinds.into_iter()).any(|it| self.rule(it, waiting, &path).is_some());
        let pointer = &mut self.layout.pointers[waiting.pointer];
        pointer.is_described = is_described;
        pointer.targets.extend(fresh);
        if nullable || fresh.is_none() {
            // Lists and trees begin small.
            pointer.first = if nested { pointer.targets.len() } else { 0 };
            pointer.targets.push(Target::Null);
        }
        Ok(())
    }

    /// What is made for this pointer alone.
    fn fresh(&mut self, waiting: &Waiting, path: &Path) -> Result<Option<Target>, Trouble> {
        let types = self.types;
        let target = waiting.target;
        let bare = types.bare(target);
        let size = self.rule(RuleKind::Size, waiting, path);
        let size = size.or_else(|| self.untyped_size(target, path));
        if let Kind::Function(signature) = types.kind(target) {
            return Ok(self.stub(waiting, path, bare, signature)?);
        }
        if self.is_string(waiting, path, size.is_some())? {
            return Ok(Some(self.string(waiting, path)?));
        }
        let Some(element) = self.element(waiting, path, size.is_some())? else {
            return Ok(None);
        };
        if self.is_deep_enough(waiting, bare) {
            self.bound(format!(
                "lists and trees are at most {} nodes deep: `--depth N` says otherwise",
                self.depth
            ));
            return Ok(None);
        }
        let (count, most) = match size {
            Some(text) => {
                let own = self.layout.pointers[waiting.pointer].at + COUNT_OFFSET;
                self.count(&waiting.scene, path, Some(own), &text)?
            }
            None => {
                let is_record = types.record(element).is_some();
                if !is_record {
                    self.note_one(path, types.size(element) == 1);
                }
                (Count::Fixed(1), 1)
            }
        };
        Ok(Some(self.block(waiting, path, element, count, most)?))
    }

    /// The size of memory without a type, where one is assumed.
    fn untyped_size(&mut self, target: TypeId, path: &Path) -> Option<String> {
        let is_untyped = match self.types.kind(target) {
            Kind::Void => true,
            Kind::Record(record) => !record.complete && self.of_library(target).is_none(),
            _ => false,
        };
        let bytes = self.untyped_bytes.filter(|_| is_untyped)?;
        let path = path.general();
        self.bound(format!(
            "`{path}` has no known type and points to {bytes} bytes: `--size {path}=BYTES` says otherwise"
        ));
        Some(bytes.to_string())
    }

    /// Whether lists and trees end here. Structures that lead to each other count together, so that
    /// the state of a whole program, where everything leads to everything, stays small.
    fn is_deep_enough(&self, waiting: &Waiting, target: TypeId) -> bool {
        let types = self.types;
        let alike = |of: &&TypeId| **of == target || types.leads_to(target, **of);
        let around = waiting.scene.nesting.iter().filter(alike).count();
        types.record(target).is_some() && around >= self.depth
    }

    /// The type of the elements that a pointer points to; none if there can be no such object.
    fn element(
        &mut self,
        waiting: &Waiting,
        path: &Path,
        sized: bool,
    ) -> Result<Option<TypeId>, HarnessError> {
        let types = self.types;
        let target = waiting.target;
        let (why, unit) = match types.kind(target) {
            Kind::Record(_) if let Some(what) = self.of_library(target) => {
                return self.refuse(waiting, path, &what);
            }
            Kind::Void => ("has no type".to_string(), "BYTES"),
            Kind::Record(record) if !record.complete => {
                let name = types.spell(target);
                (format!("points to the incomplete type `{name}`"), "BYTES")
            }
            Kind::Array(..) if types.size(target) == 0 => {
                if sized {
                    return Ok(Some(self.innermost(target)));
                }
                ("points to an array of unknown length".into(), "ELEMENTS")
            }
            _ => return Ok(Some(target)),
        };
        if sized {
            return Ok(Some(BYTE));
        }
        let general = path.general();
        let what = format!("{why}: `--size {general}={unit}` makes memory for it");
        self.refuse(waiting, path, &what)
    }

    /// What is to be said about an object that only the C library can make.
    fn of_library(&self, target: TypeId) -> Option<String> {
        let names = self.types.names(target);
        let known = LIBRARY.iter().find(|(name, _, _)| names.contains(name));
        known.map(|(_, what, help)| format!("is {what}: {help}"))
    }

    /// There is no object for a pointer: it is null if the user allows that or if it is only part of
    /// an input.
    fn refuse(
        &mut self,
        waiting: &Waiting,
        path: &Path,
        what: &str,
    ) -> Result<Option<TypeId>, HarnessError> {
        let null = self.rule(RuleKind::Null, waiting, path);
        if null.is_some_and(|said| said != "no") {
            return Ok(None);
        }
        let general = path.general();
        let said = format!("`{general}` {what}, `--null {general}` passes NULL");
        if waiting.scene.is_top(path) {
            return Err(HarnessError(said));
        }
        self.note(format!("{said}; it is NULL"));
        Ok(None)
    }

    fn innermost(&self, of: TypeId) -> TypeId {
        match *self.types.kind(of) {
            Kind::Array(element, _) if self.types.size(of) == 0 => self.innermost(element),
            _ => of,
        }
    }

    fn note_one(&mut self, path: &Path, of_bytes: bool) {
        let path = path.general();
        let mut note = format!("`{path}` points to one element: `--size {path}=N` gives it more");
        if of_bytes {
            note += &format!(", `--string {path}` makes it a string");
        }
        self.bound(note.clone());
        self.note(note);
    }

    /// Whether a pointer is to a string.
    fn is_string(&self, waiting: &Waiting, path: &Path, sized: bool) -> Result<bool, HarnessError> {
        let types = self.types;
        let said = self.rule(RuleKind::String, waiting, path).is_some();
        if said
            && !matches!(types.kind(waiting.target), Kind::Void)
            && types.size(waiting.target) != 1
        {
            return Err(HarnessError(format!(
                "`{path}` cannot be a string: it points to `{}`; `--size {path}=N` gives it elements",
                types.spell(waiting.target)
            )));
        }
        Ok(said || (types.is_char(waiting.target) && !sized))
    }

    fn string(&mut self, waiting: &Waiting, path: &Path) -> Result<Target, HarnessError> {
        let said = self
            .rule(RuleKind::String, waiting, path)
            .unwrap_or_default();
        if said.parse::<u64>().is_err() {
            let general = path.general();
            self.bound(format!(
                "`{general}` has at most {DEFAULT_STRING} bytes: `--string {general}=N` says otherwise"
            ));
        }
        let most = said.parse().unwrap_or(DEFAULT_STRING);
        let untyped = matches!(self.types.kind(waiting.target), Kind::Void);
        let element = if untyped { BYTE } else { waiting.target };
        self.block(waiting, path, element, Count::Text, most)
    }

    /// Makes a block, and lays out its elements.
    fn block(
        &mut self,
        waiting: &Waiting,
        path: &Path,
        element: TypeId,
        count: Count,
        most: u64,
    ) -> Result<Target, HarnessError> {
        let size = self.types.size(element);
        // The zero that ends the longest string has its place too.
        let zero = u64::from(matches!(count, Count::Text));
        let at = self.reserve(size.saturating_mul(most).saturating_add(zero), path)?;
        let number = self.layout.blocks.len();
        let one = matches!(count, Count::Fixed(1));
        self.layout.blocks.push(Block {
            path: path.clone(),
            element,
            size,
            constant: self.types.is_qualified(waiting.target, "const"),
            count,
            most,
            at,
            tail: None,
        });
        let mut nesting = waiting.scene.nesting.clone();
        nesting.push(self.types.bare(element));
        let mut scene = Scene::new(Owner::Block(number), nesting, waiting.scene.element_tags());
        scene.text = matches!(self.layout.blocks[number].count, Count::Text);
        for index in 0..most {
            let step = if one {
                Step::Target
            } else {
                Step::Index(index)
            };
            let place = at + (index * size) as usize;
            self.place(element, &path.then(step), place, &scene)?;
        }
        if one {
            self.tail(number, &scene)?;
        }
        Ok(Target::Block(number))
    }

    pub fn rule(&self, kind: RuleKind, waiting: &Waiting, path: &Path) -> Option<String> {
        let subject = waiting.scene.subject(path);
        self.rules.about(kind, subject, self.types)
    }

    fn is_nullable(&self, waiting: &Waiting, path: &Path) -> Result<bool, HarnessError> {
        let said = self.rule(RuleKind::Null, waiting, path);
        let nested = !waiting.scene.is_top(path);
        let by_default = nested && self.types.is_recursive(waiting.target);
        Ok(said.map_or(by_default, |said| said != "no"))
    }
}
