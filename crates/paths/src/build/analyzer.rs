//! Static analysers: clang's own is run for the user, and what any of them says is found in the files.

use std::fs;
use std::path::{Path, PathBuf};

use super::compile::Compiler;
use super::error::BuildError;
use super::look::Looker;
use super::marks::{self, MarkPlace, TargetMark, places};
use super::source::Files;
use super::tool::{self, Said, word, words};
use super::{DIRECTORY, Sources};

/// Runs clang's static analyser on every C file; gives a file in SARIF for each.
pub fn analyze(sources: &Sources, directory: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let (compiler, files) = prepare(sources, directory)?;
    let mut reports = Vec::new();
    for (number, source) in files.sources.iter().enumerate() {
        let output = compiler.directory.join(format!("analyzed-{number}.sarif"));
        let mut all = compiler.words(source);
        all.extend(words(["--analyze", "-Qunused-arguments", "-Xclang"]));
        all.extend([
            "-analyzer-output=sarif".to_string(),
            word(&source.path),
            "-o".to_string(),
            word(&output),
        ]);
        tool::run(&compiler.config.clang, &all, &source.directory)
            .and_then(Said::checked)
            .map_err(|error| BuildError::Analyzer(source.name.clone(), error))?;
        reports.push(output);
    }
    Ok(reports)
}

/// Of the places that an analyser's path passes, in their order, those that can be marked in the files.
pub fn steps(
    sources: &Sources,
    directory: &Path,
    places: &[(PathBuf, u32)],
) -> Result<Vec<TargetMark>, BuildError> {
    let (compiler, mut files) = prepare(sources, directory)?;
    let is_given = |file: &Path| {
        let full = file.canonicalize().ok();
        let mut sources = files.sources.iter();
        sources.any(|source| full.is_some() && source.path.canonicalize().ok() == full)
    };
    let steps = places.iter().filter(|(file, _)| is_given(file));
    let steps = steps.map(|(file, line)| TargetMark {
        place: MarkPlace::Line(file.clone(), *line),
        when: None,
        number: 0,
        slot: None,
    });
    let steps = steps.collect();
    marks::placeable(&compiler, &mut files, steps)
}

/// The function that a line of a file lies in, if it is one of the C files.
pub fn function_at(
    sources: &Sources,
    directory: &Path,
    file: &Path,
    line: u32,
) -> Result<Option<String>, BuildError> {
    let (compiler, mut files) = prepare(sources, directory)?;
    let full = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let is_it = |path: &Path| path.canonicalize().is_ok_and(|path| path == full);
    let mut places = files.sources.iter();
    let Some(index) = places.position(|source| is_it(&source.path)) else {
        return Ok(None);
    };
    let text = marks::read(&files.sources[index].path)?;
    let mut looker = Looker::new(&compiler, files.sources.len());
    let looked = looker.look(&mut files.sources, index)?;
    let has_line = |name: &&String| {
        let lines = places::body_lines(&text, name);
        lines.is_some_and(|(first, last)| (first..=last).contains(&line))
    };
    Ok(looked.functions.iter().find(has_line).cloned())
}

fn prepare(sources: &Sources, directory: &Path) -> Result<(Compiler, Files), BuildError> {
    let here = std::env::current_dir().map_err(BuildError::CurrentDirectory)?;
    let directory = here.join(directory).join(DIRECTORY);
    fs::create_dir_all(&directory).map_err(|error| BuildError::File(directory.clone(), error))?;
    let compiler = Compiler {
        config: sources.compiler.clone(),
        directory,
        objects: sources.objects.clone(),
    };
    Ok((compiler, Files::sort(sources, &here)?))
}
