//! Compiling all of it, and linking: with stubs for functions that nobody defines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::compile::{Compiler, refused};
use super::live;
use super::missing::{Stubs, explain, undefined, variables};
use super::source::{Files, Source};
use super::subject::Subject;
use super::tool::word;
use super::{PROGRAM, Programs, symbols};

/// How often new undefined names may come up: a linker may tell only some at a time.
const MOST_LINKS: usize = 50;

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

/// Compiles and links what is under test.
pub fn make(compiler: Compiler, subject: Subject) -> Result<Programs, String> {
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
    let missing = link(&mut recipe, &objects, &program)?;
    Ok(Programs {
        recording: program,
        plan: subject.plan,
        function: subject.function,
        source: recipe.source.name.clone(),
        missing: missing.into_iter().collect(),
        notes,
        recipe,
    })
}

/// Compiles every source with instrumentation, some at a time; gives the objects.
fn compile_all(
    recipe: &Recipe,
    is_our_harness: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<PathBuf>, String> {
    let (compiler, sources) = (&recipe.compiler, &recipe.files.sources);
    let output = |name: &str| compiler.directory.join(format!("{name}.o"));
    let first = || {
        let object = output("subject");
        (compiler.instrumented(&recipe.source, &recipe.input, &recipe.words, &object))
            .map_err(|messages| match is_our_harness {
                true => format!("the harness does not compile:\n{messages}"),
                false => refused(&recipe.source, &messages),
            })
            .map(|()| object)
    };
    let other = |(index, source): (usize, &Source)| {
        let object = output(&format!("other-{index}"));
        (compiler.instrumented(source, &source.path, &[], &object))
            .map_err(|messages| refused(source, &messages))
            .map(|()| object)
    };
    let objects = std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let made = sources.iter().enumerate().map(other);
            made.collect::<Result<Vec<PathBuf>, String>>()
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
        false => Err(format!(
            "{} could not be instrumented: see what `nearmiss cc` says of it with NEARMISS_VERBOSE=1",
            recipe.source.name.display()
        )),
    }
}

/// Links, with stubs for what is missing; gives the names of those functions.
fn link(
    recipe: &mut Recipe,
    objects: &[PathBuf],
    program: &Path,
) -> Result<BTreeSet<String>, String> {
    let directory = recipe.compiler.directory.clone();
    let mut stubs = Stubs::default();
    for _ in 0..MOST_LINKS {
        let words = recipe.link_words(objects, program);
        let mut messages = Vec::new();
        if nearmiss_cc::build_in(&directory, &words, &recipe.compiler.config, &mut messages) {
            return Ok(stubs.functions);
        }
        let messages = String::from_utf8_lossy(&messages).into_owned();
        let mut found = undefined(&messages);
        found.retain(|name| !stubs.has(name));
        if found.is_empty() {
            return Err(format!("the program cannot be linked:\n{messages}"));
        }
        let variables = missing_variables(recipe, &found)?;
        let is_function = |name: &String| !variables.contains(name);
        (stubs.functions).extend(found.into_iter().filter(is_function));
        stubs.variables.extend(variables);
        recipe.stubs = Some(stubs.compile(&recipe.compiler, &directory)?);
    }
    Err("the program cannot be linked: ever more functions are missing".to_string())
}

/// Which of these names are variables: an error if code that may run needs one.
fn missing_variables(recipe: &Recipe, names: &BTreeSet<String>) -> Result<Vec<String>, String> {
    let mut files = recipe.files.clone();
    // The harness uses what its includes use.
    let mut subject = recipe.source.clone();
    subject.path = recipe.input.clone();
    subject.words.extend(recipe.words.iter().cloned());
    files.sources.insert(0, subject);
    let found = variables(names, &files, &recipe.compiler);
    if found.is_empty() {
        return Ok(found);
    }
    let needed = live::undefined(recipe)?;
    let needed: Vec<String> = (found.iter())
        .filter(|name| needed.contains(*name))
        .cloned()
        .collect();
    match needed.is_empty() {
        true => Ok(found),
        false => {
            files.sources[0] = recipe.source.clone();
            Err(explain(&needed, &files.sources))
        }
    }
}
