//! Compiling all of it, and linking: with stubs for functions that no file defines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_harness::Plan;
use nearmiss_results::Undefined;
use nearmiss_twin::QUICK_LINKER;

use super::compile::Compiler;
use super::declared::Declared;
use super::error::BuildError;
use super::live;
use super::missing::{self, Stubs, explain, undefined};
use super::source::{Files, Source};
use super::subject::Subject;
use super::tool::word;
use super::unit::Variable;
use super::{PROGRAM, Programs, symbols};

/// How often new undefined names may come up: a linker may report only some at a time.
const MAX_LINKS: usize = 50;

/// How a program was made.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// The tools, and where everything is built.
    pub compiler: Compiler,
    /// The user's file with the function: how it is compiled.
    pub source: Source,
    /// The file that is compiled: the harness, or the user's file itself.
    pub input: PathBuf,
    /// Words for that file alone.
    pub words: Vec<String>,
    /// What is compiled and linked beside it.
    pub files: Files,
    /// The object with the stubs of missing functions.
    pub stubs: Option<PathBuf>,
}

impl Recipe {
    /// The words with which these objects are linked to a program.
    pub fn link_words(&self, objects: &[PathBuf], program: &Path) -> Vec<String> {
        let mut words: Vec<String> = objects.iter().map(|path| word(path)).collect();
        words.extend(self.stubs.iter().map(|path| word(path)));
        words.extend(self.files.linked.iter().map(|path| word(path)));
        words.extend(self.files.words.iter().cloned());
        if self.files.linked.iter().any(|path| has_main(path)) {
            // The harness comes first, and the first one counts.
            words.push("-Wl,--allow-multiple-definition".to_string());
        }
        words.extend(["-lm".to_string(), "-o".to_string(), word(program)]);
        words
    }
}

/// Whether an object brings a `main` of its own.
fn has_main(object: &Path) -> bool {
    fs::read(object).is_ok_and(|bytes| symbols::functions(&bytes).contains("main"))
}

/// What came of an attempt.
#[derive(Debug)]
pub enum Made {
    /// It is built.
    Programs(Box<Programs>),
    /// No file defines these variables, which may be needed: the subject is to define them.
    Needs(Vec<Variable>),
}

/// Compiles and links what is under test.
pub fn make(compiler: Compiler, subject: Subject) -> Result<Made, BuildError> {
    let mut notes = subject.notes;
    let mut recipe = Recipe {
        compiler,
        source: subject.source,
        input: subject.input,
        words: subject.words,
        files: subject.files,
        stubs: None,
    };
    let objects = compile_all(&recipe, subject.plan.is_some(), &mut notes)?;
    let program = recipe.compiler.directory.join(PROGRAM);
    let stubs = match link(
        &mut recipe,
        &objects,
        &program,
        subject.plan.is_some(),
        &mut notes,
    )? {
        Linked::With(stubs) => stubs,
        Linked::Needs(variables) => return Ok(Made::Needs(variables)),
    };
    let restarts = can_restart(&recipe, &objects, &program);
    let stubbed = subject.plan.as_ref().map_or(Vec::new(), Plan::stubbed);
    Ok(Made::Programs(Box::new(Programs {
        recording: program,
        plan: subject.plan,
        function: subject.function,
        source: recipe.source.name.clone(),
        undefined: Undefined {
            functions: stubs.functions.into_iter().collect(),
            variables: subject.additions.names(false),
            of_threads: subject.additions.names(true),
            stubbed,
            storage: stubs.variables.into_iter().collect(),
        },
        notes,
        restarts,
        recipe,
    })))
}

/// Whether all code of a program is known, and changes nothing but memory.
fn can_restart(recipe: &Recipe, objects: &[PathBuf], program: &Path) -> bool {
    let is_known = recipe.files.linked.is_empty() && recipe.stubs.is_none();
    is_known
        && objects
            .iter()
            .all(|object| symbols::is_instrumented(object))
        && nearmiss_twin::flows_of(program, &[])
            .is_ok_and(|flows| nearmiss_flow::changes_memory_only(&flows, "main"))
}

/// Compiles every source with instrumentation, some at a time; gives the objects.
fn compile_all(
    recipe: &Recipe,
    is_our_harness: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<PathBuf>, BuildError> {
    let (compiler, sources) = (&recipe.compiler, &recipe.files.sources);
    let output = |name: &str| compiler.directory.join(format!("{name}.o"));
    let first = || {
        let object = output("subject");
        (compiler.instrumented(&recipe.source, &recipe.input, &recipe.words, &object))
            .map_err(|error| match is_our_harness {
                true => BuildError::OwnHarness(error),
                false => BuildError::Refused(recipe.source.name.clone(), error),
            })
            .map(|()| object)
    };
    let other = |(index, source): (usize, &Source)| {
        let object = output(&format!("other-{index}"));
        let make = || compiler.instrumented(source, &source.path, &[], &object);
        (compiler.once(source, "instrumented", &object, make))
            .map_err(|error| BuildError::Refused(source.name.clone(), error))
            .map(|()| object)
    };
    let objects = std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let made = sources.iter().enumerate().map(other);
            made.collect::<Result<Vec<PathBuf>, BuildError>>()
        });
        let first = first();
        let beside = beside.join().expect("compiling does not panic");
        first.and_then(|first| Ok([vec![first], beside?].concat()))
    })?;
    for (source, object) in sources.iter().zip(&objects[1..]) {
        if !symbols::is_instrumented(object) {
            let name = source.name.display();
            notes.push(format!("{name} could not be instrumented: it runs unseen"));
        }
    }
    match symbols::is_instrumented(&objects[0]) {
        true => Ok(objects),
        false => Err(BuildError::NotInstrumented(recipe.source.name.clone())),
    }
}

/// What came of linking.
enum Linked {
    With(Stubs),
    Needs(Vec<Variable>),
}

/// Whether nothing is said of how to link: then any linker will do.
fn is_plain(recipe: &Recipe) -> bool {
    let files = &recipe.files;
    let is_said = |word: &String| word.starts_with("-Wl") || word.starts_with("-fuse-ld");
    files.linked.is_empty() && recipe.stubs.is_none() && !files.words.iter().any(is_said)
}

/// Links, with stubs for what is missing.
fn link(
    recipe: &mut Recipe,
    objects: &[PathBuf],
    program: &Path,
    is_our_harness: bool,
    notes: &mut Vec<String>,
) -> Result<Linked, BuildError> {
    let directory = recipe.compiler.directory.clone();
    let mut stubs = Stubs::default();
    for _ in 0..MAX_LINKS {
        let words = recipe.link_words(objects, program);
        let mut messages = Vec::new();
        let mut is_linked = |words: &[String]| {
            messages.clear();
            nearmiss_compile::build_in(&directory, words, &recipe.compiler.config, &mut messages)
        };
        let quick = [&words[..], &QUICK_LINKER.map(str::to_string)].concat();
        if is_plain(recipe) && is_linked(&quick) || is_linked(&words) {
            return Ok(Linked::With(stubs));
        }
        let messages = String::from_utf8_lossy(&messages).into_owned();
        let mut found = undefined(&messages);
        found.retain(|name| !stubs.has(name));
        if found.is_empty() {
            return Err(BuildError::Link(messages));
        }
        let missing = Missing::among(recipe, &found)?;
        if !is_our_harness && !missing.needed.is_empty() {
            let sources = std::slice::from_ref(&recipe.source);
            return Err(explain(missing.needed, sources));
        }
        if !missing.definable.is_empty() {
            return Ok(Linked::Needs(missing.definable));
        }
        notes.extend(
            missing
                .needed
                .iter()
                .map(|name| missing::note_unsized(name)),
        );
        let is_function = |name: &String| !missing.variables.contains(name);
        (stubs.functions).extend(found.into_iter().filter(is_function));
        stubs.variables.extend(missing.variables);
        recipe.stubs = Some(stubs.compile(&recipe.compiler, &directory)?);
    }
    Err(BuildError::EverMoreMissing)
}

/// The variables among what no file defines.
#[derive(Debug, Default)]
struct Missing {
    variables: BTreeSet<String>,
    /// Those of them that code needs that may run.
    needed: Vec<String>,
    /// Those of these that the file under test declares, with a size.
    definable: Vec<Variable>,
}

impl Missing {
    fn among(recipe: &Recipe, names: &BTreeSet<String>) -> Result<Missing, BuildError> {
        // The harness uses what its includes use.
        let mut subject = recipe.source.clone();
        subject.path = recipe.input.clone();
        subject.words.extend(recipe.words.iter().cloned());
        let declared = Declared::by(&subject, &recipe.compiler);
        let mut functions = declared.functions;
        for source in &recipe.files.sources {
            functions.extend(Declared::by(source, &recipe.compiler).functions);
        }
        for path in &recipe.files.linked {
            // What cannot be read (an archive) says nothing.
            let called = fs::read(path).map_or(BTreeSet::new(), |bytes| symbols::called(&bytes));
            functions.extend(called);
        }
        let mut missing = Missing {
            variables: names.difference(&functions).cloned().collect(),
            ..Missing::default()
        };
        if !missing.variables.is_empty() {
            let needed = live::undefined(recipe)?;
            missing.needed = missing.variables.intersection(&needed).cloned().collect();
            missing.definable = declared.variables;
            (missing.definable).retain(|variable| missing.needed.contains(&variable.name));
        }
        Ok(missing)
    }
}
