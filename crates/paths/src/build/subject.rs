//! What is under test: a function with a harness of ours, or a harness of another tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nearmiss_contracts::Contract;
use nearmiss_harness::{Plan, Request, Unit};

use super::compile::Compiler;
use super::contracts;
use super::error::{BuildError, FileFunctions};
use super::fuzzer;
use super::look::{Looker, similar};
use super::marks;
use super::source::{Files, Source};
use super::unit::Additions;

/// What a `main` of the user's is called where the harness has one.
pub(super) const OTHER_MAIN: &str = "nearmiss_original_main";

/// A harness that is longer takes minutes to compile, and no exploration of it comes to an end.
const LONGEST_HARNESS: usize = 1 << 20;

/// What is under test, ready to be compiled.
#[derive(Debug)]
pub struct Subject {
    /// The function.
    pub function: String,
    /// The user's file that has it.
    pub source: Source,
    /// The file to compile: the harness, or the user's file itself.
    pub input: PathBuf,
    /// Words for that file alone.
    pub words: Vec<String>,
    /// Where inputs lie.
    pub plan: Option<Plan>,
    /// What is compiled and linked beside it.
    pub files: Files,
    /// Notes for the report.
    pub notes: Vec<String>,
    /// What is defined for it.
    pub additions: Additions,
}

/// Functions in the order in which a file names them; what only its headers define is left out.
fn listed(functions: &BTreeSet<String>, content: &str) -> Vec<String> {
    let places = functions
        .iter()
        .filter_map(|name| Some((content.find(name.as_str())?, name)));
    let mut places: Vec<(usize, &String)> = places.collect();
    places.sort();
    places.into_iter().map(|(_, name)| name.clone()).collect()
}

/// Finds out what is under test, and writes a harness if there is none. `additions` are what the files
/// need and do not define.
pub fn find(
    compiler: &Compiler,
    files: Files,
    request: Option<&Request>,
    contracts: &[Contract],
    additions: &Additions,
) -> Result<Subject, BuildError> {
    let mut finder = Finder {
        looker: Looker::new(compiler, files.sources.len()),
        compiler,
        files,
        contracts,
        additions: additions.clone(),
    };
    match request {
        Some(request) => finder.function(request),
        None => finder.other_harness(),
    }
}

pub(super) struct Finder<'a> {
    pub compiler: &'a Compiler,
    pub looker: Looker<'a>,
    pub files: Files,
    contracts: &'a [Contract],
    /// What is written behind the files that are included.
    pub additions: Additions,
}

/// The maximum of functions of a file that are named where the one that was asked for is not there.
const FEW_FUNCTIONS: usize = 8;

impl Finder<'_> {
    /// A harness of another tool, or a libFuzzer target.
    fn other_harness(&mut self) -> Result<Subject, BuildError> {
        let sources = &mut self.files.sources;
        if let Some(index) = self.looker.find(sources, "main")? {
            let source = self.files.sources.remove(index);
            return Ok(Subject {
                function: "main".to_string(),
                input: source.path.clone(),
                words: Vec::new(),
                plan: None,
                files: std::mem::take(&mut self.files),
                notes: std::mem::take(&mut self.looker.notes),
                additions: Additions::default(),
                source,
            });
        }
        let Some(index) = self.looker.find(sources, fuzzer::TARGET)? else {
            return Err(self.nothing_to_explore());
        };
        let path = &self.files.sources[index].path;
        let text = fs::read(path).map_err(|error| BuildError::File(path.clone(), error))?;
        match fuzzer::request(&String::from_utf8_lossy(&text)) {
            Some(request) => self.function(&request),
            None => Err(BuildError::UnnamedParameters(path.clone())),
        }
    }

    fn nothing_to_explore(&mut self) -> BuildError {
        let mut files = Vec::new();
        for index in 0..self.files.sources.len() {
            let source = &self.files.sources[index];
            let file = source.name.clone();
            let content = fs::read(&source.path).unwrap_or_default();
            if let Ok(looked) = self.looker.look(&mut self.files.sources, index) {
                let content = String::from_utf8_lossy(&content);
                let functions = listed(&looked.functions, &content);
                files.push(FileFunctions { file, functions });
            }
        }
        BuildError::NothingToExplore(files)
    }

    /// A function, for which a harness is written.
    fn function(&mut self, request: &Request) -> Result<Subject, BuildError> {
        if request.function == "main" {
            return Err(BuildError::MainIsNoFunction);
        }
        let index = self.home(&request.function)?;
        if let Some(file) = &request.precondition_file {
            self.additions.files = vec![file.clone()];
        }
        let (included, beside) = self.helpers(request, index)?;
        self.add_globals(request, &included)?;
        self.add_stubs(request, &included)?;
        let (input, words) = self.unit(&included)?;
        let object = self.debug_information(&included, &input, &words)?;
        let plan = self.plan(request, &object, &beside)?;
        let mut text = plan.harness(&input);
        if self.additions.steps > 0 {
            text += &marks::counter(self.additions.steps);
        }
        if text.len() > LONGEST_HARNESS {
            return Err(BuildError::TooManyInputs {
                function: request.function.clone(),
                bytes: plan.input_size(),
            });
        }
        let harness = self.write("harness.c", &text)?;
        let source = self.files.sources[index].clone();
        let mut files = std::mem::take(&mut self.files);
        files.sources = others(files.sources, &included);
        let mut notes = std::mem::take(&mut self.looker.notes);
        notes.extend(plan.notes().iter().cloned());
        Ok(Subject {
            function: request.function.clone(),
            input: harness,
            plan: Some(plan),
            source,
            words,
            files,
            notes,
            additions: std::mem::take(&mut self.additions),
        })
    }

    fn plan(
        &mut self,
        request: &Request,
        object: &[u8],
        beside: &[usize],
    ) -> Result<Plan, BuildError> {
        let mut unit = Unit::read(object)?;
        for index in beside {
            let looked = self.looker.look(&mut self.files.sources, *index)?;
            unit.add(&looked.object)?;
        }
        let (request, note) = contracts::required(request, self.contracts, &unit);
        self.looker.notes.extend(note);
        Ok(unit.plan(&request)?)
    }

    /// Where the precondition, the oracle and named globals are: the files to include, that of the
    /// function first, and those that the harness only needs to know.
    fn helpers(
        &mut self,
        request: &Request,
        index: usize,
    ) -> Result<(Vec<usize>, Vec<usize>), BuildError> {
        let (mut included, mut beside) = (vec![index], Vec::new());
        let is_elsewhere = request.precondition_file.is_none();
        let precondition = request.precondition.as_ref().filter(|_| is_elsewhere);
        let functions = [precondition, request.oracle.as_ref()];
        for name in functions.into_iter().flatten() {
            let sources = &mut self.files.sources;
            if self.looker.look(sources, index)?.functions.contains(name) {
                continue;
            }
            match self.looker.find_exported(sources, name)? {
                Some(home) => push_once(&mut beside, home),
                // A static function is called where it is.
                None => push_once(&mut included, self.home(name)?),
            }
        }
        for name in &request.globals {
            let found = self.looker.find_exported(&mut self.files.sources, name)?;
            if let Some(home) = found {
                push_once(&mut beside, home);
            }
        }
        beside.retain(|other| !included.contains(other));
        Ok((included, beside))
    }

    /// The file that defines a function.
    fn home(&mut self, function: &str) -> Result<usize, BuildError> {
        if let Some(index) = self.looker.find(&mut self.files.sources, function)? {
            return Ok(index);
        }
        let known = self.known_functions();
        let mut like = similar(function, &known);
        if like.is_empty() && known.len() <= FEW_FUNCTIONS {
            like.extend(known);
        }
        let files = self.files.sources.iter();
        Err(BuildError::NoFunction {
            files: files.map(|source| source.name.clone()).collect(),
            function: function.to_string(),
            similar: like,
        })
    }

    fn known_functions(&mut self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for index in 0..self.files.sources.len() {
            if let Ok(looked) = self.looker.look(&mut self.files.sources, index) {
                names.extend(looked.functions.iter().cloned());
            }
        }
        names
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, BuildError> {
        let path = self.compiler.directory.join(name);
        fs::write(&path, text).map_err(|error| BuildError::File(path.clone(), error))?;
        Ok(path)
    }
}

fn push_once(list: &mut Vec<usize>, index: usize) {
    if !list.contains(&index) {
        list.push(index);
    }
}

/// The sources that are compiled on their own. A `main` in them gives way to the harness's.
fn others(sources: Vec<Source>, included: &[usize]) -> Vec<Source> {
    (sources.into_iter().enumerate())
        .filter(|(index, _)| !included.contains(index))
        .map(|(index, mut source)| {
            source.words.push(format!("-Dmain={OTHER_MAIN}_{index}"));
            source
        })
        .collect()
}
