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
mod setter;

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_sites::flow::MARKER;

use super::compile::Compiler;
use super::error::BuildError;
use super::source::{Files, Source};
use places::{Form, Slot};
use setter::Setter;

pub use setter::placeable;

/// A mark that the program passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetMark {
    /// Where.
    pub place: MarkPlace,
    /// What must hold there, in C.
    pub when: Option<String>,
    /// Its number: that of a step, or `nearmiss_abi::event::FORBIDDEN_STEP`.
    pub number: u8,
    /// Where in the file's text it stands, if clang was asked before.
    pub slot: Option<Slot>,
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
        ..Source::default()
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
    let is_source = |path: &PathBuf| files.sources.iter().any(|source| source.path == *path);
    let has_header = !marked.paths.iter().all(is_source);
    for source in &mut files.sources {
        source.overlay = Some(marked.word.clone());
        source.is_marked = has_header || marked.paths.contains(&source.path);
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
    let mut setter = Setter::new(compiler, files, declaration);
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
        let inserted = by_passage(marks).into_iter().map(|it| {
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

/// Marks of a file such that each passage of a place counts once for each time that the place is named: what is to be
/// passed later stands before what is to be passed earlier, and what no path may pass before both. Several lines
/// of one statement are passed together.
fn by_passage<'p, 'm>(marks: &'p [Placed<'m>]) -> Vec<&'p Placed<'m>> {
    let mut order: Vec<&Placed<'_>> = marks.iter().collect();
    order.sort_by_key(|it| it.mark.number);
    let mut passages: Vec<(u8, &Placed<'_>)> = Vec::new();
    for placed in order {
        let mut before = passages.iter().rev();
        let beside = before
            .clone()
            .find(|(_, it)| it.slot.offset == placed.slot.offset);
        let again = before.find(|(_, it)| it.mark.place == placed.mark.place);
        let passage = match (beside, again) {
            _ if placed.mark.number == FORBIDDEN_STEP => u8::MAX,
            (Some((beside, _)), Some((again, _))) => (again + 1).max(*beside),
            (Some((beside, _)), None) => *beside,
            (None, _) => 0,
        };
        passages.push((passage, placed));
    }
    passages.sort_by_key(|(passage, _)| Reverse(*passage));
    passages.into_iter().map(|(_, placed)| placed).collect()
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
