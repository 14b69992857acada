//! Marks in the user's code, without a change to the user's files: clang sees copies in their place.
//!
//! ```text
//!   free(p);                 becomes    if ((WHEN) && nm_harness_reached(0)) {} else
//!                                       free(p);
//! ```
//!
//! The function that is called gives 0, so the program goes on as it would; a statement stays one
//! statement. Whether a mark can stand somewhere is asked of clang, and `#line` keeps lines and columns.

mod overlay;
pub(super) mod places;
pub(super) mod program;

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_sites::flow::MARKER;

use super::compile::Compiler;
use super::error::BuildError;
use super::look::Looker;
use super::source::{Files, Source};
use places::{Form, Slot};

/// A mark that the program passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetMark {
    /// Where.
    pub place: MarkPlace,
    /// What must hold there, in C.
    pub when: Option<String>,
    /// Its number: that of a step, or `nearmiss_abi::event::FORBIDDEN_STEP`.
    pub number: u8,
}

/// Where a mark is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkPlace {
    /// A line of a file.
    Line(PathBuf, u32),
    /// The beginning of a function, or a label.
    Name(String),
    /// A label of a function.
    Label(String, String),
}

impl std::fmt::Display for MarkPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MarkPlace::Line(file, line) => write!(f, "{}:{line}", file.display()),
            MarkPlace::Name(name) => write!(f, "{name}"),
            MarkPlace::Label(function, label) => write!(f, "{function}:{label}"),
        }
    }
}

/// Why a mark cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkError {
    /// The file has fewer lines.
    NoSuchLine(MarkPlace, usize),
    /// No function or label has that name.
    NoSuchName(MarkPlace),
    /// The line is part of a macro.
    InMacro(MarkPlace),
    /// No statement begins there, nor in the lines before it.
    NoStatement(MarkPlace),
    /// clang does not take the condition; what it says.
    Condition(String),
}

impl std::fmt::Display for MarkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MarkError::NoSuchLine(place, lines) => {
                write!(f, "{place}: the file has {lines} lines")
            }
            MarkError::NoSuchName(place) => write!(
                f,
                "{place}: no given file has a function or label of that name (FILE:LINE, FUNCTION, FUNCTION:LABEL)"
            ),
            MarkError::InMacro(place) => {
                write!(f, "{place} is part of a macro: name a line that uses it")
            }
            MarkError::NoStatement(place) => {
                write!(
                    f,
                    "{place}: no statement begins there, name the line of one"
                )
            }
            MarkError::Condition(messages) => {
                write!(f, "the condition does not compile there:\n{messages}")
            }
        }
    }
}

/// How many steps marks are.
pub fn steps(marks: &[TargetMark]) -> u8 {
    let numbers = marks.iter().map(|mark| mark.number);
    let steps = numbers.filter(|number| *number != FORBIDDEN_STEP);
    steps.max().map_or(0, |last| last + 1)
}

/// The row by which the harness says that all steps were passed.
pub const REACHED: &str = "reached";

/// The C function that counts the steps.
pub fn counter(steps: u8) -> String {
    format!(
        "\nstatic unsigned nm_harness_passed;\n\
         __attribute__((__noinline__, __optnone__)) int {MARKER}(unsigned nm_harness_number)\n{{\n\
         \x20   if (__nm_mode() == 1 || nm_harness_passed == 255 || nm_harness_passed == {steps}u)\n        return 0;\n\
         \x20   if (nm_harness_number == 255)\n        nm_harness_passed = 255;\n\
         \x20   else if (nm_harness_number == nm_harness_passed)\n        nm_harness_passed++;\n\
         \x20   else\n        return 0;\n\
         \x20   __nm_mark(2u | nm_harness_passed << 8);\n\
         \x20   if (nm_harness_passed == {steps}u)\n\
         \x20       nearmiss_result(\"{REACHED}\", &nm_harness_passed, 4);\n\
         \x20   return 0;\n}}\n"
    )
}

/// Adds a file with that function, for a harness of another tool.
pub fn add_counter(compiler: &Compiler, files: &mut Files, steps: u8) -> Result<(), BuildError> {
    let path = compiler.directory.join("marks.c");
    let declared = "extern void nearmiss_result(const char *, const void *, __SIZE_TYPE__);\n\
                    extern void __nm_mark(unsigned);\nextern unsigned __nm_mode(void);\n";
    write(&path, &format!("{declared}{}", counter(steps)))?;
    files.sources.push(Source {
        name: path.clone(),
        path,
        directory: compiler.directory.clone(),
        words: Vec::new(),
    });
    Ok(())
}

/// The declaration of that function, in files with marks.
fn declaration() -> String {
    format!("int {MARKER}(unsigned);")
}

/// A mark that has found its place in a file.
struct Placed<'m> {
    slot: Slot,
    mark: &'m TargetMark,
}

/// Files with marks in them.
#[derive(Debug)]
pub struct Marked {
    /// The word for clang that puts copies in place of them.
    word: String,
    /// The files.
    paths: Vec<PathBuf>,
    /// Notes for the report.
    notes: Vec<String>,
}

/// Sets marks: all sources are compiled with copies in place of the files that have some. Gives notes for
/// the report.
pub fn set(
    compiler: &Compiler,
    files: &mut Files,
    marks: &[TargetMark],
) -> Result<Vec<String>, BuildError> {
    let marked = mark(compiler, files, marks, declaration())?;
    for source in &mut files.sources {
        source.words.push(marked.word.clone());
    }
    Ok(marked.notes)
}

/// Makes copies of files with marks in them, which begin with a declaration.
fn mark(
    compiler: &Compiler,
    files: &mut Files,
    marks: &[TargetMark],
    declaration: String,
) -> Result<Marked, BuildError> {
    let mut setter = Setter {
        compiler,
        files,
        declaration,
        notes: Vec::new(),
    };
    let mut placed: Vec<(PathBuf, Vec<Placed<'_>>)> = Vec::new();
    for mark in marks {
        let (path, slot) = setter.place(mark)?;
        let mark = Placed { slot, mark };
        match placed.iter_mut().find(|(file, _)| *file == path) {
            Some((_, marks)) => marks.push(mark),
            None => placed.push((path, vec![mark])),
        }
    }
    let mut copies = Vec::new();
    for (number, (path, marks)) in placed.iter().enumerate() {
        let text = read(path)?;
        let inserted = marks.iter().map(|it| {
            let condition = it.mark.when.as_deref();
            (it.slot, it.slot.form.text(condition, it.mark.number))
        });
        let copy = compiler.directory.join(format!("marked-{number}.c"));
        let text = places::insert(&setter.declaration, &text, inserted.collect());
        write(&copy, &text)?;
        copies.push((path.clone(), copy));
    }
    Ok(Marked {
        notes: setter.notes,
        word: overlay::write(&compiler.directory, "overlay", &copies)?,
        paths: copies.into_iter().map(|(path, _)| path).collect(),
    })
}

/// Of steps in their order those for which there is a place, numbered from 0 without gaps.
pub fn placeable(
    compiler: &Compiler,
    files: &mut Files,
    steps: Vec<TargetMark>,
) -> Result<Vec<TargetMark>, BuildError> {
    let mut setter = Setter {
        compiler,
        files,
        declaration: declaration(),
        notes: Vec::new(),
    };
    let mut placed = Vec::new();
    for step in steps {
        match setter.place(&step) {
            Ok(_) => placed.push(TargetMark {
                number: placed.len() as u8,
                ..step
            }),
            Err(BuildError::Mark(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(placed)
}

struct Setter<'a> {
    compiler: &'a Compiler,
    files: &'a mut Files,
    /// What declares the function that marks call.
    declaration: String,
    notes: Vec<String>,
}

/// How many lines before a line a statement may have begun.
const LONGEST_STATEMENT: u32 = 40;

impl Setter<'_> {
    /// The file and the place in it.
    fn place(&mut self, mark: &TargetMark) -> Result<(PathBuf, Slot), BuildError> {
        let (path, slot) = match &mark.place {
            MarkPlace::Line(file, line) => self.line(mark, file, *line)?,
            MarkPlace::Name(name) => self.name(mark, name)?,
            MarkPlace::Label(function, label) => self.label(mark, function, label)?,
        };
        if let Some(condition) = &mark.when {
            let inserted = slot.form.checked_text(condition, mark.number);
            if let Err(messages) = self.compiles(&path, slot, &inserted)? {
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
    ) -> Result<(PathBuf, Slot), BuildError> {
        let path = self.path_of(file)?;
        // What is wrong with the file itself is said of the file.
        let sources = &mut self.files.sources;
        let index = sources.iter().position(|source| source.path == path);
        Looker::new(self.compiler, sources.len()).look(sources, index.unwrap_or(0))?;
        let text = read(&path)?;
        let count = text.lines().count();
        if line == 0 || line as usize > count {
            return Err(MarkError::NoSuchLine(mark.place.clone(), count).into());
        }
        if places::is_in_macro(&text, line) {
            return Err(MarkError::InMacro(mark.place.clone()).into());
        }
        for begin in (line.saturating_sub(LONGEST_STATEMENT).max(1)..=line).rev() {
            for slot in places::of_line(&text, begin) {
                if begin != line && !places::are_together(&text, slot, line) {
                    continue;
                }
                let inserted = slot.form.text(None, mark.number);
                if self.compiles(&path, slot, &inserted)?.is_ok() {
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

    /// Whether a file is still C with a mark in it; what clang says if not. A header is looked at in the
    /// first source.
    fn compiles(
        &self,
        path: &Path,
        slot: Slot,
        inserted: &str,
    ) -> Result<Result<(), String>, BuildError> {
        let inserted = vec![(slot, inserted.to_string())];
        let text = places::insert(&self.declaration, &read(path)?, inserted);
        let copy = self.compiler.directory.join("marked.c");
        write(&copy, &text)?;
        let copies = [(path.to_path_buf(), copy)];
        let word = overlay::write(&self.compiler.directory, "overlay-trial", &copies)?;
        let sources = &self.files.sources;
        let own = sources.iter().find(|source| source.path == path);
        let mut source = own.unwrap_or(&sources[0]).clone();
        source.words.push(word);
        let nowhere = Path::new("/dev/null");
        let checked = (self.compiler).plain(&source, &source.path, &["-fsyntax-only"], nowhere);
        Ok(checked.map_err(|error| error.to_string()))
    }
}

pub(super) fn read(path: &Path) -> Result<String, BuildError> {
    let bytes = fs::read(path).map_err(|error| BuildError::File(path.into(), error))?;
    // Bytes that are no UTF-8 stand in comments and strings; each stays one character for the compiler.
    Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
}

/// Writes what [`read`] gave, byte by byte.
fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    fs::write(path, bytes).map_err(|error| BuildError::File(path.into(), error))
}

impl Form {
    /// What is inserted.
    fn text(self, condition: Option<&str>, number: u8) -> String {
        let condition = condition.map_or(String::new(), |it| format!("({it}) && "));
        self.around(&format!("{condition}{MARKER}({number}u)"))
    }

    /// The same, such that clang says where in the condition a mistake is.
    fn checked_text(self, condition: &str, number: u8) -> String {
        let lines = format!("(\n#line 1 \"--when\"\n{condition}\n) && {MARKER}({number}u)");
        self.around(&lines)
    }

    fn around(self, condition: &str) -> String {
        match self {
            Form::BeforeStatement => format!("if ({condition}) {{}} else"),
            Form::Alone => format!("if ({condition}) {{}}"),
        }
    }
}
