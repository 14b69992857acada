//! Looks for the place of a mark: clang is asked whether the file is still C with a mark in it.

use std::path::{Path, PathBuf};

use super::places::{self, Slot};
use super::{MarkError, MarkPlace, TargetMark, declaration, overlay, read, write};
use crate::build::compile::Compiler;
use crate::build::error::BuildError;
use crate::build::look::Looker;
use crate::build::source::{Files, Source};

/// Of steps in their order those for which there is a place, numbered from 0 without gaps.
pub fn placeable(
    compiler: &Compiler,
    files: &mut Files,
    steps: Vec<TargetMark>,
) -> Result<Vec<TargetMark>, BuildError> {
    let mut setter = Setter::new(compiler, files, declaration());
    let mut steps = steps;
    let mut paths: Vec<PathBuf> = Vec::new();
    for step in &steps {
        if let MarkPlace::Line(file, _) = &step.place {
            let path = setter.path_of(file)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    for path in paths {
        let of_file = |step: &&mut TargetMark| match &step.place {
            MarkPlace::Line(file, _) => setter.path_of(file).is_ok_and(|it| it == path),
            _ => false,
        };
        let mut of_file: Vec<&mut TargetMark> = steps.iter_mut().filter(of_file).collect();
        setter.place_all(&path, &mut of_file)?;
    }
    steps.retain(|step| step.slot.is_some());
    for (number, step) in (0..).zip(&mut steps) {
        step.number = number;
    }
    Ok(steps)
}

/// Finds places for marks. clang has the last word.
pub struct Setter<'a> {
    compiler: &'a Compiler,
    files: &'a mut Files,
    /// What declares the function that marks call.
    pub declaration: String,
    /// Notes for the report.
    pub notes: Vec<String>,
    looker: Looker<'a>,
}

/// How many lines before a line a statement may have begun.
const LONGEST_STATEMENT: u32 = 40;

/// The same for the steps of an analyser's path, of which one may be left out.
const LONGEST_STEP: u32 = 3;

impl<'a> Setter<'a> {
    pub fn new(compiler: &'a Compiler, files: &'a mut Files, declaration: String) -> Setter<'a> {
        Setter {
            compiler,
            declaration,
            notes: Vec::new(),
            looker: Looker::new(compiler, files.sources.len()),
            files,
        }
    }

    /// Looks for the places of steps in one file. Most stand at the beginning of their lines: clang is asked about many
    /// at once, and about fewer where it says no.
    fn place_all(&mut self, path: &Path, steps: &mut [&mut TargetMark]) -> Result<(), BuildError> {
        let text = read(path)?;
        let likely = |step: &&mut TargetMark| match step.place {
            MarkPlace::Line(_, line) if !places::is_in_macro(&text, line) => {
                places::of_line(&text, line).first().copied()
            }
            _ => None,
        };
        let slots: Option<Vec<Slot>> = steps.iter().map(likely).collect();
        if let Some(slots) = slots {
            let marks = (slots.iter()).map(|slot| (*slot, slot.form.text(None, 0)));
            if self.compiles(path, marks.collect())?.is_ok() {
                for (step, slot) in steps.iter_mut().zip(slots) {
                    step.slot = Some(slot);
                }
                return Ok(());
            }
        }
        if let [step] = steps {
            let MarkPlace::Line(file, line) = step.place.clone() else {
                return Ok(());
            };
            return match self.line(step, &file, line, LONGEST_STEP) {
                Ok((_, slot)) => {
                    step.slot = Some(slot);
                    Ok(())
                }
                Err(BuildError::Mark(_)) => Ok(()),
                Err(other) => Err(other),
            };
        }
        let (left, right) = steps.split_at_mut(steps.len() / 2);
        self.place_all(path, left)?;
        self.place_all(path, right)
    }

    /// The file and the place in it.
    pub fn place(&mut self, mark: &TargetMark) -> Result<(PathBuf, Slot), BuildError> {
        if let (Some(slot), MarkPlace::Line(file, _)) = (mark.slot, &mark.place) {
            return Ok((self.path_of(file)?, slot));
        }
        let (path, slot) = match &mark.place {
            MarkPlace::Line(file, line) => self.line(mark, file, *line, LONGEST_STATEMENT)?,
            MarkPlace::Name(name) => self.name(mark, name)?,
            MarkPlace::Label(function, label) => self.label(mark, function, label)?,
        };
        if let Some(condition) = &mark.when {
            let inserted = slot.form.checked_text(condition, mark.number);
            if let Err(messages) = self.compiles(&path, vec![(slot, inserted)])? {
                return Err(MarkError::Condition(messages).into());
            }
        }
        Ok((path, slot))
    }

    fn line(
        &mut self,
        mark: &TargetMark,
        file: &Path,
        line: u32,
        longest: u32,
    ) -> Result<(PathBuf, Slot), BuildError> {
        let path = self.path_of(file)?;
        // What is wrong with the file itself is said of the file.
        let sources = &mut self.files.sources;
        let index = sources.iter().position(|source| source.path == path);
        self.looker.look(sources, index.unwrap_or(0))?;
        let text = read(&path)?;
        let count = text.lines().count();
        if line == 0 || line as usize > count {
            return Err(MarkError::NoSuchLine(mark.place.clone(), count).into());
        }
        if places::is_in_macro(&text, line) {
            return Err(MarkError::InMacro(mark.place.clone()).into());
        }
        for begin in (line.saturating_sub(longest).max(1)..=line).rev() {
            for slot in places::of_line(&text, begin) {
                if begin != line && !places::are_together(&text, slot, line) {
                    continue;
                }
                let inserted = slot.form.text(None, mark.number);
                if self.compiles(&path, vec![(slot, inserted)])?.is_ok() {
                    if begin != line {
                        let at = &mark.place;
                        self.notes.push(format!(
                            "{at} is part of a statement that begins at line {begin}"
                        ));
                    }
                    return Ok((path, slot));
                }
            }
        }
        Err(MarkError::NoStatement(mark.place.clone()).into())
    }

    /// A function, or else a label of any.
    fn name(&mut self, mark: &TargetMark, name: &str) -> Result<(PathBuf, Slot), BuildError> {
        for source in &self.files.sources {
            let text = read(&source.path)?;
            let found = places::of_function(&text, name).or_else(|| places::of_label(&text, name));
            if let Some(slot) = found {
                return Ok((source.path.clone(), slot));
            }
        }
        Err(MarkError::NoSuchName(mark.place.clone()).into())
    }

    fn label(
        &mut self,
        mark: &TargetMark,
        function: &str,
        label: &str,
    ) -> Result<(PathBuf, Slot), BuildError> {
        for source in &self.files.sources {
            let text = read(&source.path)?;
            if let Some(body) = places::of_function(&text, function)
                && let Some(slot) = places::of_label(&text[body.offset..], label)
            {
                let offset = body.offset + slot.offset;
                return Ok((source.path.clone(), Slot { offset, ..slot }));
            }
        }
        Err(MarkError::NoSuchName(mark.place.clone()).into())
    }

    /// The file as the sources name it.
    fn path_of(&self, file: &Path) -> Result<PathBuf, BuildError> {
        let ends = |source: &&Source| source.name == file || source.path.ends_with(file);
        if let Some(source) = self.files.sources.iter().find(ends) {
            return Ok(source.path.clone());
        }
        let here = std::env::current_dir().map_err(BuildError::CurrentDirectory)?;
        let path = here.join(file);
        match path.exists() {
            true => Ok(path),
            false => Err(BuildError::NoSuchFile(file.to_path_buf())),
        }
    }

    /// Whether a file is still C with marks in it; what clang says if not. A header is looked at in the
    /// first source.
    fn compiles(
        &self,
        path: &Path,
        inserted: Vec<(Slot, String)>,
    ) -> Result<Result<(), String>, BuildError> {
        let text = places::insert(&self.declaration, &read(path)?, inserted);
        let copy = self.compiler.directory.join("marked.c");
        write(&copy, &text)?;
        let copies = [(path.to_path_buf(), copy)];
        let word = overlay::write(&self.compiler.directory, "overlay-trial", &copies)?;
        let sources = &self.files.sources;
        let own = sources.iter().find(|source| source.path == path);
        let mut source = own.unwrap_or(&sources[0]).clone();
        source.overlay = Some(word);
        let nowhere = Path::new("/dev/null");
        let checked = (self.compiler).plain(&source, &source.path, &["-fsyntax-only"], nowhere);
        Ok(checked.map_err(|error| error.to_string()))
    }
}
