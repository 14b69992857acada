//! Instrumented objects from recipes: a unit that the user's compiler has compiled is compiled once more.
//!
//! The user's command is read by what it says about the source: what is defined and included, the dialect, the
//! machine. How code is made is ours: line tables always, and the level that analyses are quickest with. The
//! sources are those that were compiled: where the disk has others by now, clang sees the recipe's through an
//! overlay of files.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_cc::Language;
use nearmiss_cc::command::{Argument, Command};
use nearmiss_cc::options::Role;
use nearmiss_sites::recipe::{Recipe, SourceFile};

use crate::config::Config;

/// Why a unit cannot be compiled from its recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeError {
    /// A source is not what it was, and its content was not kept.
    Changed(PathBuf),
    /// clang refuses the source, with its first message.
    Refused(String),
    /// Something else went wrong.
    Trouble(String),
}

impl std::fmt::Display for RecipeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecipeError::Changed(path) => write!(
                f,
                "{} has changed, and its object keeps no sources; rebuild the program",
                path.display()
            ),
            RecipeError::Refused(message) => write!(f, "clang cannot compile it: {message}"),
            RecipeError::Trouble(message) => f.write_str(message),
        }
    }
}

/// Words with which an unknown option is tried again, at most.
const MOST_UNKNOWN: usize = 8;

/// Makes the instrumented object of a unit.
pub fn compile_recipe(recipe: &Recipe, object: &Path, config: &Config) -> Result<(), RecipeError> {
    let trouble = |path: &Path, error: std::io::Error| {
        RecipeError::Trouble(format!("{}: {error}", path.display()))
    };
    // Words of a command are texts, which the object's own path need not be.
    let scratch = crate::temporary_directory()
        .map_err(|failure| RecipeError::Trouble(failure.to_string()))?;
    let scratch = scratch.path();
    let made = scratch.join("unit.o");
    let recorded = recipe.directory();
    let overlay = overlay(recipe, scratch)?;
    let mut words = words(recipe);
    if let Some(file) = &overlay {
        words.extend(["-ivfsoverlay".to_string(), text(file)]);
    }
    // The directory of the command may be gone.
    let directory = match recorded.is_dir() {
        true => recorded,
        false => {
            words.push(format!("-fdebug-compilation-dir={}", text(&recorded)));
            scratch.to_path_buf()
        }
    };
    let config = Config {
        keeps_allocations: !is_clang(recipe)
            || !Command::parse(&recipe.arguments, Language::C).optimises(),
        ..config.clone()
    };
    let source = match recipe.directory().join(&recipe.source).exists() {
        true => recipe.source.clone(),
        false => {
            let (words_of_copy, copy) = copy_of_source(recipe, scratch)?;
            words.extend(words_of_copy);
            copy
        }
    };
    let end = ["-c", &source, "-o", &text(&made)].map(str::to_string);
    compile(words, &end, &directory, &config)?;
    fs::copy(&made, object).map_err(|error| trouble(object, error))?;
    Ok(())
}

/// Whether the user's compiler is clang.
fn is_clang(recipe: &Recipe) -> bool {
    let mut names = recipe.compiler.iter();
    names.any(|name| {
        name.rsplit('/')
            .next()
            .is_some_and(|name| name.contains("clang"))
    })
}

/// A copy of a source that is gone, which clang's driver looks for on the disk whatever an overlay says; and the words by
/// which it is called what it was and includes what it did.
fn copy_of_source(recipe: &Recipe, scratch: &Path) -> Result<([String; 3], String), RecipeError> {
    let path = recipe.directory().join(&recipe.source);
    let kept = recipe.files.first().and_then(|file| file.content.as_ref());
    let kept = kept.ok_or_else(|| RecipeError::Changed(path.clone()))?;
    let copy = scratch.join(path.file_name().unwrap_or_default());
    fs::write(&copy, &kept.0)
        .map_err(|error| RecipeError::Trouble(format!("{}: {error}", copy.display())))?;
    let copy = text(&copy);
    let above = text(path.parent().unwrap_or(Path::new("/")));
    let called = format!("-ffile-prefix-map={copy}={}", recipe.source);
    Ok((["-iquote".to_string(), above, called], copy))
}

/// Compiles; options that clang does not know are left out, they are of the user's compiler.
fn compile(
    mut words: Vec<String>,
    end: &[String],
    directory: &Path,
    config: &Config,
) -> Result<(), RecipeError> {
    for _ in 0..MOST_UNKNOWN {
        let mut messages = Vec::new();
        let all = [words.as_slice(), end].concat();
        if crate::build_in(directory, &all, config, &mut messages) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&messages);
        let before = words.len();
        let unknown: Vec<&str> = said.lines().filter_map(unknown_option).collect();
        words.retain(|word| !unknown.contains(&word.as_str()));
        if words.len() == before {
            return Err(RecipeError::Refused(first_error(&said)));
        }
    }
    Err(RecipeError::Refused("its options are not clang's".into()))
}

/// The option that a message of clang's refuses.
pub fn unknown_option(line: &str) -> Option<&str> {
    let is_refusal = [
        "unknown argument",
        "unsupported argument",
        "unsupported option",
    ]
    .iter()
    .any(|words| line.contains(words));
    let quoted = |line: &str| {
        let start = line.rfind("option '").map(|at| at + "option '".len());
        let start = start.or_else(|| line.find('\'').map(|at| at + 1))?;
        let size = line[start..].find('\'')?;
        Some((start, size))
    };
    let (start, size) = quoted(line).filter(|_| is_refusal)?;
    Some(&line[start..start + size])
}

fn first_error(said: &str) -> String {
    let error = said.lines().find(|line| line.contains("error:"));
    let last = || said.lines().last().unwrap_or("no message");
    error.unwrap_or_else(last).to_string()
}

/// The words of clang for a recipe's source, but for its name and the output's.
fn words(recipe: &Recipe) -> Vec<String> {
    let command = Command::parse(&recipe.arguments, Language::C);
    let directory = recipe.directory();
    let gone = (!directory.is_dir()).then_some(directory.as_path());
    let mut words: Vec<String> = (command.arguments.iter())
        .filter(|argument| matters(argument))
        .flat_map(|argument| with_absolute_path(argument, gone))
        .collect();
    words.push("-O1".into());
    if !command.optimises() {
        // Headers are to say what they said, and functions to be the user's.
        words.extend(["-U__OPTIMIZE__", "-fno-inline"].map(str::to_string));
    }
    words.extend(TOLERANT.map(str::to_string));
    let mut inputs = command.with(Role::Input);
    let source = inputs.find(|argument| argument.words[0] == recipe.source);
    let language = source.and_then(|source| source.input.as_ref()?.language.clone());
    if let Some(language) = language {
        words.extend(["-x".to_string(), language]);
    }
    words
}

/// Options whose value is a path.
const PATHS: [&str; 7] = [
    "-I",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
];

/// The words of an argument whose path is one from a directory that is gone.
fn with_absolute_path(argument: &Argument, gone: Option<&Path>) -> Vec<String> {
    let name = argument.words[0].strip_suffix(argument.value.as_str());
    let name = name
        .filter(|name| !name.is_empty())
        .unwrap_or(&argument.words[0]);
    match gone {
        Some(directory) if PATHS.contains(&name) => {
            vec![name.to_string(), text(&directory.join(&argument.value))]
        }
        _ => argument.words.clone(),
    }
}

/// What the user's compiler has taken is taken: clang refuses by default what gcc warns of.
const TOLERANT: [&str; 3] = ["-g", "-Wno-everything", "-fno-color-diagnostics"];

/// Whether an argument says something about the source, and not how code is made of it.
fn matters(argument: &Argument) -> bool {
    let word = argument.words[0].as_str();
    match argument.role {
        Role::Target | Role::Plain => true,
        Role::Code => !word.starts_with("-mllvm"),
        Role::Front => !GCC_ALONE.iter().any(|name| word.starts_with(name)),
        _ => false,
    }
}

/// Options of gcc's that say nothing about the source and that clang does not know, or says something else by;
/// others that it does not know are found by its messages.
const GCC_ALONE: [&str; 16] = [
    "-W",
    "--param",
    "-fno-tree-",
    "-ftree-",
    "-fira-",
    "-fipa-",
    "-fno-ipa-",
    "-fsched",
    "-fdiagnostics-",
    "-fmax-errors",
    "-fanalyzer",
    "-fplugin",
    "-fdump-",
    "-fstack-usage",
    "-specs=",
    "-pipe",
];

/// Where the disk has other files than were compiled: a file that has clang see those of the recipe.
fn overlay(recipe: &Recipe, scratch: &Path) -> Result<Option<PathBuf>, RecipeError> {
    let mut roots = Vec::new();
    for (number, file) in recipe.files.iter().enumerate() {
        let path = recipe.path_of(file);
        if file.is_on_disk(&path) {
            continue;
        }
        let Some(content) = content(file, &path)? else {
            continue;
        };
        let kept = scratch.join(format!("{number}.source"));
        fs::write(&kept, content)
            .map_err(|error| RecipeError::Trouble(format!("{}: {error}", kept.display())))?;
        roots.push(format!(
            "{{\"name\": {}, \"type\": \"file\", \"external-contents\": {}}}",
            quoted(&plain(&path)),
            quoted(&kept)
        ));
    }
    if roots.is_empty() {
        return Ok(None);
    }
    let text = format!(
        "{{\"version\": 0, \"use-external-names\": false, \"roots\": [{}]}}",
        roots.join(", ")
    );
    let path = scratch.join("overlay.yaml");
    let written = fs::write(&path, text);
    written.map_err(|error| RecipeError::Trouble(format!("{}: {error}", path.display())))?;
    Ok(Some(path))
}

/// The content of a file that is not as it was on the disk. Headers of the system are taken as they are now.
fn content<'a>(file: &'a SourceFile, path: &Path) -> Result<Option<&'a [u8]>, RecipeError> {
    match &file.content {
        Some(content) => Ok(Some(&content.0)),
        None if path.starts_with("/usr") => Ok(None),
        None => Err(RecipeError::Changed(path.to_path_buf())),
    }
}

/// A path without `.` and `..`, as overlays compare them.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_options_are_found_in_messages() {
        let cases = [
            ("clang: error: unknown argument: '-fsome'", Some("-fsome")),
            (
                "clang: error: unsupported argument 'x' to option '-fother='",
                Some("-fother="),
            ),
            ("a.c:1:1: error: unknown type name 'x'", None),
        ];
        for (line, expected) in cases {
            assert_eq!(unknown_option(line), expected, "{line}");
        }
    }

    #[test]
    fn only_what_is_said_about_the_source_is_taken() {
        let line = "-O2 -g3 -flto -Wall -Werror -DX=1 -I inc -march=native -fno-tree-vectorize \
                    -fsanitize=address --coverage -MD -MF x.d -std=gnu89 -c a.c -o a.o -pipe";
        let recipe = Recipe {
            arguments: line.split_whitespace().map(str::to_string).collect(),
            source: "a.c".into(),
            ..Recipe::default()
        };
        let expected = "-DX=1 -I inc -march=native -std=gnu89 -O1 -g -Wno-everything \
                        -fno-color-diagnostics";
        assert_eq!(words(&recipe).join(" "), expected);
    }
}
