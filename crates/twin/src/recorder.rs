//! The recorder of a program: the program once more, of the recipes that it keeps, instrumented and linked with the
//! runtime. It is made on demand, and its units are kept by what they are made of: after an edit of one file one unit
//! is compiled.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_abi::site::{LINK_SECTION, RECIPE_SECTION};
use nearmiss_compile::recipe::{RecipeError, compile_recipe, unknown_option};
use nearmiss_sites::recipe::Recipe;
use nearmiss_sites::{Link, frame};

use crate::arguments::{self, Argument};
use crate::image::Image;
use crate::variant::admit_hooks;
use crate::workshop::{is_whole, seal, stamp};
use crate::{Config, TwinError, archive, hash, jobs, tool};

/// A recorder, ready to run.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The program.
    pub program: PathBuf,
    /// Shared libraries of the program and their recorders.
    pub libraries: Vec<(PathBuf, PathBuf)>,
}

/// The source of an object that is part of a recorder as the user's compiler makes it, and why clang could not.
pub fn refusal(object: &Path) -> Option<String> {
    fs::read_to_string(object.with_extension(REFUSED)).ok()
}

/// The ending of the file beside an object that says why clang did not make it.
const REFUSED: &str = "refused";

/// Whether a program or library keeps recipes.
pub fn has_recipes(path: &Path) -> bool {
    nearmiss_cc::elf::has_section(path, RECIPE_SECTION)
}

/// Whether a program or library was linked by `nearmiss cc`, of whatever.
pub fn keeps_link(path: &Path) -> bool {
    nearmiss_cc::elf::has_section(path, LINK_SECTION)
}

/// Whether a recorder can be made of a program that loads these libraries: a program in C++, say, may have no unit in C
/// of its own, and test a library that has.
pub fn can_be_recorded(program: &Path, libraries: &[PathBuf]) -> bool {
    has_recipes(program) || (keeps_link(program) && libraries.iter().any(|path| has_recipes(path)))
}

/// Builds the recorder of a program in `directory`, with recorders of those of its shared libraries that keep
/// recipes. What is up to date is not built again.
pub fn build_recorder(
    program: &Path,
    libraries: &[PathBuf],
    directory: &Path,
    config: &Config,
    compiler: &nearmiss_compile::Config,
) -> Result<Recorder, TwinError> {
    let library_directory = directory.join("lib");
    fs::create_dir_all(&library_directory)
        .map_err(|error| TwinError::file(&library_directory, error))?;
    let directory =
        fs::canonicalize(directory).map_err(|error| TwinError::file(directory, error))?;
    let mut builder = Builder {
        config,
        compiler,
        directory,
        libraries: Vec::new(),
    };
    for path in libraries.iter().filter(|path| has_recipes(path)) {
        let image = Image::read(path)?;
        let recorder = builder.directory.join("lib").join(image.library_name());
        builder.build(&image, &recorder)?;
        let original = fs::canonicalize(path).map_err(|error| TwinError::file(path, error))?;
        builder.libraries.push((original, recorder));
    }
    let name = program.file_name().unwrap_or_default();
    let output = builder.directory.join(name);
    builder.build(&Image::read(program)?, &output)?;
    Ok(Recorder {
        program: output,
        libraries: builder.libraries,
    })
}

struct Builder<'a> {
    config: &'a Config,
    compiler: &'a nearmiss_compile::Config,
    directory: PathBuf,
    /// Shared libraries and their recorders.
    libraries: Vec<(PathBuf, PathBuf)>,
}

impl Builder<'_> {
    /// Builds the recorder of a program or library, unless it is up to date.
    fn build(&mut self, image: &Image, output: &Path) -> Result<(), TwinError> {
        let recipes = image.recipes()?;
        let link = image.link()?;
        let arguments = self.link_arguments(&link)?;
        let key = self.key(image, &arguments)?;
        let key_file = output.with_added_extension("key");
        if is_whole(output, &key_file, &key) {
            return Ok(());
        }
        let _ = fs::remove_file(output.with_extension(REFUSED));
        let objects = self.compile(&recipes)?;
        // Twins and variants are linked with what clang could not compile, too.
        let (plain, objects): (Vec<PathBuf>, Vec<PathBuf>) =
            (objects.into_iter()).partition(|object| refusal(object).is_some());
        let words = arguments::words(&arguments);
        let words = plain.iter().map(OsString::from).chain(words);
        let link = Link {
            arguments: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            ..link
        };
        if let Err(error) = self.link(&link, &objects, &[], output) {
            let undefined = undefined_names(&error.to_string());
            let is_whole = self.link_with_more(&link, &recipes, &objects, output);
            if !is_whole.map_err(|_| error)? {
                let refusal = output.with_extension(REFUSED);
                let text = format!("a call of {undefined}, which no part of the link defines,");
                fs::write(&refusal, text).map_err(|error| TwinError::file(&refusal, error))?;
            }
        }
        seal(output, &key_file, &key)
    }

    /// Links with what the user's optimiser made superfluous: units of archives of which the program took none, and
    /// calls that are never made. Whether everything that is called is there.
    fn link_with_more(
        &self,
        link: &Link,
        recipes: &[Recipe],
        objects: &[PathBuf],
        output: &Path,
    ) -> Result<bool, TwinError> {
        let mut unlinked: Vec<Recipe> = Vec::new();
        for argument in arguments::resolve(arguments::read(&link.arguments), &link.directory()) {
            if let Argument::File(path) = argument
                && path.extension().is_some_and(|extension| extension == "a")
            {
                unlinked.extend(archive::recipes(&path)?);
            }
        }
        unlinked.retain(|recipe| !recipes.contains(recipe));
        let mut more: Vec<OsString> = Vec::new();
        if !unlinked.is_empty() {
            let others = self.compile(&unlinked)?;
            let directory = self.directory.join("archives").join("unlinked");
            more.push(archive::write(&others, &directory)?.into());
            if self.link(link, objects, &more, output).is_ok() {
                return Ok(true);
            }
        }
        more.push("-Wl,--unresolved-symbols=ignore-all".into());
        self.link(link, objects, &more, output).map(|()| false)
    }

    /// Compiles every unit, some at a time; gives the objects.
    fn compile(&self, recipes: &[Recipe]) -> Result<Vec<PathBuf>, TwinError> {
        let units = &self.config.units;
        fs::create_dir_all(units).map_err(|error| TwinError::file(units, error))?;
        let units = fs::canonicalize(units).map_err(|error| TwinError::file(units, error))?;
        let how = self.how();
        let named = recipes.iter().map(|recipe| {
            let name = hash::name(&[how.as_bytes(), &frame::write(recipe)]);
            (units.join(format!("{name}.o")), recipe)
        });
        let named: Vec<(PathBuf, &Recipe)> = named.collect();
        jobs::each(self.config.jobs, &named, |(object, recipe)| {
            self.compile_unit(recipe, object)
        })?;
        Ok(named.into_iter().map(|(object, _)| object).collect())
    }

    /// Makes the object of one unit: instrumented, or, if clang cannot, by the user's compiler.
    fn compile_unit(&self, recipe: &Recipe, object: &Path) -> Result<(), TwinError> {
        let refusal = object.with_extension(REFUSED);
        jobs::once(object, |unfinished| {
            let _ = fs::remove_file(&refusal);
            let why = match compile_recipe(recipe, unfinished, self.compiler) {
                Ok(()) => return Ok(()),
                Err(RecipeError::Trouble(why)) => return Err(failed(recipe, why)),
                Err(why) => why.to_string(),
            };
            compile_plainly(recipe, unfinished).map_err(|_| failed(recipe, why.clone()))?;
            let text = format!("{} ({why})", recipe.source);
            fs::write(&refusal, text).map_err(|error| TwinError::file(&refusal, error))
        })
    }

    /// Names how units are compiled.
    fn how(&self) -> String {
        let Self {
            compiler, config, ..
        } = self;
        format!(
            "recorder {:?} {:?} {} {} {}",
            config.clang,
            compiler.checks,
            compiler.choices_are_branches,
            compiler.fine,
            stamp(&compiler.instrument)
        )
    }

    /// Names everything that a recorder is made of.
    fn key(&self, image: &Image, arguments: &[Argument]) -> Result<String, TwinError> {
        let words = arguments::words(arguments).join(std::ffi::OsStr::new("\n"));
        let files = arguments.iter().filter_map(|argument| match argument {
            Argument::File(path) => Some(stamp(path)),
            _ => None,
        });
        let archives = nearmiss_compile::archives(&self.compiler.library_directory);
        let archives = archives.iter().map(|path| stamp(path));
        let stamps: Vec<String> = files.chain(archives).collect();
        Ok(hash::name(&[
            self.how().as_bytes(),
            image.section(RECIPE_SECTION)?,
            image.section(LINK_SECTION)?,
            words.as_encoded_bytes(),
            stamps.join("\n").as_bytes(),
        ]))
    }

    /// The recorded arguments without what is compiled once more, and with recorders in the place of libraries.
    fn link_arguments(&self, link: &Link) -> Result<Vec<Argument>, TwinError> {
        let arguments = arguments::resolve(arguments::read(&link.arguments), &link.directory());
        let replace = |argument| match argument {
            Argument::File(path) => {
                archive::of_link(&path, &self.libraries, &self.directory).map(Argument::File)
            }
            other => Ok(other),
        };
        arguments.into_iter().map(replace).collect()
    }

    fn link(
        &self,
        link: &Link,
        objects: &[PathBuf],
        more: &[OsString],
        output: &Path,
    ) -> Result<(), TwinError> {
        let mut words: Vec<OsString> = objects.iter().map(OsString::from).collect();
        words.extend(link.arguments.iter().map(OsString::from));
        words.extend(more.iter().cloned());
        if !self.libraries.is_empty() {
            let mut option = OsString::from("-Wl,-rpath,");
            option.push(self.directory.join("lib"));
            words.push(option);
        }
        link_instrumented(link, words, &self.directory, output, self.compiler)
    }
}

/// Links instrumented objects with the runtime; `words` are the objects and the arguments of the program's link, which
/// is recorded as `link`.
pub(crate) fn link_instrumented(
    link: &Link,
    mut words: Vec<OsString>,
    directory: &Path,
    output: &Path,
    compiler: &nearmiss_compile::Config,
) -> Result<(), TwinError> {
    if !link.shared {
        let more = nearmiss_compile::wrap_main(&words);
        words.extend(more.map(OsString::from));
    }
    let linked_in = link.directory();
    let place = Some(linked_in.as_path()).filter(|path| path.is_dir());
    let place = place.unwrap_or(directory);
    words = admit_hooks(words, place, output)?;
    words.push("-Wl,--export-dynamic-symbol=__nm_*".into());
    words.push("-Wl,--start-group".into());
    let archives = nearmiss_compile::archives(&compiler.library_directory);
    words.extend(archives.into_iter().map(OsString::from));
    words.push("-Wl,--end-group".into());
    let unfinished = output.with_added_extension(format!("{}.tmp", std::process::id()));
    words.extend(["-Qunused-arguments".into(), "-w".into()]);
    words.extend(["-o".into(), unfinished.clone().into_os_string()]);
    let record_file = output.with_added_extension("link.o");
    let mut record = link.clone();
    loop {
        let written = fs::write(&record_file, nearmiss_compile::object_file(&record));
        written.map_err(|error| TwinError::file(&record_file, error))?;
        let all = words.iter().cloned().chain([record_file.clone().into()]);
        let task = "link the instrumented program";
        let error = match tool::run(&compiler.clang, all, place, task) {
            Ok(()) => break,
            Err(error) => error,
        };
        // An option of the user's compiler that clang does not know.
        let said = error.to_string();
        let unknown: Vec<&str> = said.lines().filter_map(unknown_option).collect();
        let before = words.len();
        words.retain(|word| !unknown.iter().any(|one| word == one));
        record
            .arguments
            .retain(|word| !unknown.contains(&word.as_str()));
        if words.len() == before {
            return Err(error);
        }
    }
    fs::rename(&unfinished, output).map_err(|error| TwinError::file(output, error))
}

/// The names of functions that a linker complains about, a few of them.
fn undefined_names(said: &str) -> String {
    const SHOWN: usize = 4;
    let mut names: Vec<&str> = Vec::new();
    for line in said.lines() {
        let name = line
            .split_once("undefined reference to `")
            .map(|(_, rest)| rest);
        let name = name.map(|rest| rest.trim_end_matches('\''));
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names.truncate(SHOWN);
    match names.is_empty() {
        true => "a function".to_string(),
        false => names.join(", "),
    }
}

/// Compiles a unit by the user's compiler, of the sources that are on the disk.
fn compile_plainly(recipe: &Recipe, object: &Path) -> Result<(), TwinError> {
    let command = nearmiss_cc::command::Command::parse(&recipe.arguments, nearmiss_cc::Language::C);
    use nearmiss_cc::options::Role;
    let wanted = |argument: &&nearmiss_cc::command::Argument| {
        let role = argument.role;
        matches!(
            role,
            Role::Front | Role::Code | Role::Target | Role::Optimise | Role::Plain
        )
    };
    let chosen = command.arguments.iter().filter(wanted);
    let mut words: Vec<String> = recipe.compiler[1..].to_vec();
    words.extend(chosen.flat_map(|argument| argument.words.clone()));
    words.extend(["-w", "-g", "-c", &recipe.source, "-o"].map(str::to_string));
    words.push(object.to_string_lossy().into_owned());
    let compiler = Path::new(&recipe.compiler[0]);
    tool::run(compiler, words, &recipe.directory(), "compile a unit")
}

fn failed(recipe: &Recipe, output: String) -> TwinError {
    TwinError::Tool {
        task: format!("compile {} for recording", recipe.source),
        output,
    }
}
