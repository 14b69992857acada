//! Carrying out a command to which something is added.
//!
//! Whatever goes wrong in our own part, the build goes on: an object without a recipe, or a program without the
//! capture library, is named when an analysis looks at it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_abi::site::RECIPE_SECTION;
use nearmiss_sites::frame;
use nearmiss_sites::recipe::Recipe;

use crate::command::{Argument, Command, InputKind};
use crate::config::Config;
use crate::options::Role;
use crate::process::{Failure, Tool, say, trouble};
use crate::sources::Maker;
use crate::{dependencies, elf, link};

/// A command to carry out.
pub struct Build<'a> {
    pub config: &'a Config,
    /// The directory of the command.
    pub directory: &'a Path,
    /// The user's words.
    pub words: &'a [String],
    /// The words, read.
    pub command: &'a Command,
    /// Whether objects keep the contents of their sources.
    pub keeps_sources: bool,
}

impl Build<'_> {
    /// Runs the compiler and adds what is to be added.
    pub fn run(&self) -> Result<(), Failure> {
        match self.command.compile_only() {
            true => self.compile(),
            false if self.sources().next().is_some() => self.compile_and_link(),
            false => self.link(),
        }
    }

    fn sources(&self) -> impl Iterator<Item = &Argument> {
        self.command.inputs(InputKind::Instrumented)
    }

    /// Makes objects, and gives each its recipe.
    fn compile(&self) -> Result<(), Failure> {
        let temporary = temporary_directory()?;
        let sources: Vec<&Argument> = self.sources().collect();
        let asked_for = match sources.as_slice() {
            [source] => dependencies::asked_for(self.command, &object(self.command, source)),
            _ => None,
        };
        let own = temporary.path().join("dependencies");
        let adds =
            asked_for.is_none() && sources.len() == 1 && !self.command.has(Role::Dependencies);
        let mut words = self.words.to_vec();
        if adds {
            words.extend(["-MD".into(), "-MF".into(), text(&own)]);
        }
        self.compiler(words).run()?;
        for source in sources {
            let written = asked_for.as_ref().map(|path| self.directory.join(path));
            let written = written.or_else(|| adds.then(|| own.clone()));
            let read = written.and_then(|path| read_dependencies(&path));
            let read = read.unwrap_or_else(|| self.ask_for_dependencies(source, &own));
            let recipe = frame::write(&self.maker().recipe(source, &read));
            let object = self.directory.join(object(self.command, source));
            // Where it cannot be added, the object is still the compiler's own.
            let _ = elf::append(&object, RECIPE_SECTION, &recipe);
        }
        Ok(())
    }

    /// Makes a program of sources.
    fn compile_and_link(&self) -> Result<(), Failure> {
        let temporary = temporary_directory()?;
        let file = temporary.path().join("dependencies");
        let recipe = |source: &Argument| {
            let dependencies = self.ask_for_dependencies(source, &file);
            self.maker().recipe(source, &dependencies)
        };
        let recipes: Vec<Recipe> = self.sources().map(recipe).collect();
        self.run_with_additions(temporary.path(), &recipes)
    }

    fn link(&self) -> Result<(), Failure> {
        self.run_with_additions(temporary_directory()?.path(), &self.recipes_of_objects())
    }

    /// The recipes of the objects of a link that optimises: the linker makes others of them, without our sections.
    fn recipes_of_objects(&self) -> Vec<Recipe> {
        let words = self
            .command
            .arguments
            .iter()
            .map(|argument| &argument.words[0]);
        if !words.into_iter().any(|word| word.starts_with("-flto")) {
            return Vec::new();
        }
        let objects = self.command.inputs(InputKind::Linked);
        let sections = objects.filter_map(|object| {
            elf::section(&self.directory.join(&object.words[0]), RECIPE_SECTION)
        });
        let recipes = sections.filter_map(|section| frame::read_all(&section).ok());
        recipes.flatten().collect()
    }

    /// Links; where the linker does not take what is added, as the user says.
    fn run_with_additions(&self, directory: &Path, recipes: &[Recipe]) -> Result<(), Failure> {
        let record = self.record(directory, recipes)?;
        let with = |more: Vec<String>| self.compiler([self.words, &more].concat());
        let linked = with(link::additions(self.command, &record, self.config)).run();
        if !matches!(linked, Err(Failure::Status(_))) {
            return linked;
        }
        // What does not link without us is the user's to mend, and the compiler has said so.
        let alone = with(link::record_words(self.command, &record)).run_silent();
        if alone.is_err() && with(Vec::new()).run_silent().is_err() {
            return linked;
        }
        self.say_not_captured();
        Ok(())
    }

    fn say_not_captured(&self) {
        let output = self.command.output().unwrap_or("a.out");
        let words =
            format!("{output} is linked without nearmiss's capture library: the linker refused it");
        say(&mut io::stderr(), &words);
    }

    /// The object file with the record of the link.
    fn record(&self, directory: &Path, recipes: &[Recipe]) -> Result<PathBuf, Failure> {
        let record = link::record(self.command, self.directory, self.config.language);
        // Not by a name that ends with `.o`: libtool looks at a link's command line for objects that all links need.
        let file = directory.join("link-record");
        let written = fs::write(&file, link::object_file(&record, recipes));
        written.map_err(|error| trouble(&file, &error))?;
        Ok(file)
    }

    /// Has the compiler say what a source depends on.
    fn ask_for_dependencies(&self, source: &Argument, file: &Path) -> Vec<String> {
        let wanted = |argument: &&Argument| {
            let role = argument.role;
            matches!(
                role,
                Role::Front | Role::Code | Role::Target | Role::Optimise | Role::Plain
            )
        };
        let chosen = self.command.arguments.iter().filter(wanted);
        let mut words: Vec<String> = chosen.flat_map(|argument| argument.words.clone()).collect();
        words.extend(["-w".into(), "-M".into(), "-MF".into(), text(file)]);
        let input = source.input.as_ref();
        if let Some(language) = input.and_then(|input| input.language.clone()) {
            words.extend(["-x".into(), language]);
        }
        words.push(source.words[0].clone());
        let _ = fs::remove_file(file);
        let _ = self.compiler(words).run_silent();
        read_dependencies(file).unwrap_or_default()
    }

    fn maker(&self) -> Maker<'_> {
        let words = self.command.arguments.iter();
        Maker {
            directory: self.directory,
            compiler: &self.config.compiler,
            arguments: words.flat_map(|argument| argument.words.clone()).collect(),
            keeps_sources: self.keeps_sources,
        }
    }

    fn compiler(&self, words: Vec<String>) -> Tool<'_> {
        let (program, first) = (self.config.compiler.split_first()).expect("a compiler is named");
        Tool::new(Path::new(program), [first, &words].concat())
            .with_variables(&self.config.variables)
    }
}

fn read_dependencies(file: &Path) -> Option<Vec<String>> {
    let bytes = fs::read(file).ok()?;
    Some(dependencies::read(&String::from_utf8_lossy(&bytes)))
}

/// The object that the compiler writes.
fn object(command: &Command, source: &Argument) -> String {
    let default = || {
        let file = Path::new(&source.words[0]).file_name().unwrap_or_default();
        PathBuf::from(file)
            .with_extension("o")
            .to_string_lossy()
            .into_owned()
    };
    command.output().map_or_else(default, str::to_string)
}

fn temporary_directory() -> Result<tempfile::TempDir, Failure> {
    let made = tempfile::Builder::new().prefix("nearmiss-cc-").tempdir();
    made.map_err(|error| trouble(Path::new("temporary directory"), &error))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
