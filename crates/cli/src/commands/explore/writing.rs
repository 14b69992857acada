//! What `explore` writes: tests, inputs in the forms of other tools. Files of the user's are left
//! alone: that is looked at before any work is done, and once more when there is something to write.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_report::function::Framework as TestFramework;
use nearmiss_report::function::files::{self, Format, Options};
use nearmiss_results::FunctionReport;

use super::results;
use crate::arguments::{ExploreArguments, Framework, ResultArguments};
use crate::{environment, output};

/// Complains of files that are not ours, and of places that are none, before any work is done.
pub fn refuse_to_overwrite(arguments: &ResultArguments) -> Result<(), String> {
    for path in arguments
        .tests
        .iter()
        .flat_map(|path| tests_at(path, arguments.framework))
    {
        refuse_if_not(&path, files::is_ours)?;
    }
    if let Some(path) = &arguments.output {
        refuse_if_not(path, results::is_report)?;
    }
    if let Some(path) = &arguments.lcov {
        refuse_if_not(path, is_lcov)?;
    }
    for directory in directories(arguments).map(|(directory, _)| directory) {
        if directory.exists() && !directory.is_dir() {
            return Err(format!("{} is no directory", directory.display()));
        }
    }
    Ok(())
}

/// What stands for the test's name in files for lcov, at their beginning.
const LCOV_HEAD: &[u8] = b"TN:nearmiss_explore\n";

fn is_lcov(bytes: &[u8]) -> bool {
    bytes.starts_with(LCOV_HEAD)
}

fn refuse_if_not(path: &Path, is_ours: fn(&[u8]) -> bool) -> Result<(), String> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        return Err(format!(
            "{}: there is no directory {}",
            path.display(),
            directory.display()
        ));
    }
    match fs::read(path) {
        Ok(bytes) if !is_ours(&bytes) => Err(not_ours(path)),
        Err(error) if path.exists() => Err(format!("{}: {error}", path.display())),
        _ => Ok(()),
    }
}

fn not_ours(path: &Path) -> String {
    format!(
        "{} was not written by nearmiss, so it is not written over: remove it, or choose another name",
        path.display()
    )
}

/// The C file, and the one that GoogleTest needs beside it.
fn tests_at(path: &Path, framework: Framework) -> Vec<PathBuf> {
    match framework {
        Framework::Gtest => vec![path.to_path_buf(), path.with_extension("cc")],
        _ => vec![path.to_path_buf()],
    }
}

/// The directories with inputs, and what goes there.
fn directories(arguments: &ResultArguments) -> impl Iterator<Item = (&PathBuf, Format)> {
    let all = [
        (&arguments.ktest, Format::Ktest),
        (&arguments.test_comp, Format::TestComp),
        (&arguments.corpus, Format::Corpus),
    ];
    let named = all.into_iter();
    named.filter_map(|(directory, format)| Some((directory.as_ref()?, format)))
}

/// Writes everything that the flags name. `report_text` is for `--output`; `directory` is where the
/// exploration has left what it made.
pub fn write(
    report: &FunctionReport,
    report_text: Option<String>,
    directory: &Path,
    arguments: &ExploreArguments,
) -> Result<(), String> {
    let results = &arguments.common.results;
    if let (Some(path), Some(text)) = (&results.output, report_text) {
        refuse_if_not(path, results::is_report)?;
        write_file(path, text.as_bytes())?;
    }
    let tell = |path: &Path| {
        if !arguments.common.quiet {
            output::complain(&format!("wrote {}", path.display()));
        }
    };
    if let Some(path) = &results.tests {
        write_tests(report, path, arguments)?;
        tell(path);
    }
    if let Some(path) = &results.lcov {
        write_lcov(path, directory)?;
        tell(path);
    }
    for (directory, format) in directories(results) {
        write_inputs(report, directory, format, arguments)?;
        tell(directory);
    }
    Ok(())
}

fn write_tests(
    report: &FunctionReport,
    path: &Path,
    arguments: &ExploreArguments,
) -> Result<(), String> {
    let framework = TestFramework::from(arguments.common.results.framework);
    let directory = path.parent().unwrap_or(Path::new(""));
    let options = Options {
        stem: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        ..options(report, directory, arguments)?
    };
    let made = files::files(report, Format::C(framework), &options);
    let paths = tests_at(path, arguments.common.results.framework);
    for (path, file) in paths.iter().zip(made) {
        replace(path, &file.bytes)?;
    }
    Ok(())
}

fn write_lcov(path: &Path, directory: &Path) -> Result<(), String> {
    refuse_if_not(path, is_lcov)?;
    let counted = fs::read(directory.join(nearmiss_paths::LCOV));
    let counted = counted.map_err(|_| format!("{}: nothing was counted", path.display()))?;
    write_file(path, &[LCOV_HEAD, &counted].concat())
}

fn write_inputs(
    report: &FunctionReport,
    directory: &Path,
    format: Format,
    arguments: &ExploreArguments,
) -> Result<(), String> {
    let options = options(report, directory, arguments)?;
    let made = files::files(report, format, &options);
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    remove_old(directory)?;
    for file in made {
        replace(&directory.join(&file.name), &file.bytes)?;
    }
    Ok(())
}

/// Tests of an earlier exploration that are not among those of this one would only mislead.
fn remove_old(directory: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && fs::read(&path).is_ok_and(|bytes| files::is_ours(&bytes)) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    match fs::read(path) {
        Ok(old) if !files::may_replace(&old, bytes) => Err(not_ours(path)),
        _ => write_file(path, bytes),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a report does not say: where the source is, seen from where the tests are.
fn options(
    report: &FunctionReport,
    directory: &Path,
    arguments: &ExploreArguments,
) -> Result<Options, String> {
    let here = environment::directory()?;
    let clean = |path: &Path| {
        let path = here.join(path);
        path.canonicalize().unwrap_or(path)
    };
    let from = clean(directory);
    let seen = |file: &Path| files::relative(&from, &clean(file));
    let source = Path::new(&report.file);
    let others = arguments.files.iter().filter(|file| *file != source);
    let flags = arguments.common.flags.iter().cloned();
    Ok(Options {
        source: seen(source),
        stem: String::new(),
        flags: flags.chain(others.map(|file| seen(file))).collect(),
        source_hash: fs::read(source).map_or(String::new(), |content| files::digest(&content)),
        created: environment::now(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_not_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine.c");
        assert!(
            refuse_if_not(&path, files::is_ours).is_ok(),
            "not there yet"
        );
        fs::write(&path, "int main(void) { return 0; }\n").unwrap();
        let said = refuse_if_not(&path, files::is_ours).unwrap_err();
        assert!(
            said.contains("mine.c was not written by nearmiss"),
            "{said}"
        );
        assert!(replace(&path, b"new").is_err());
        fs::write(&path, format!("/* {}: x */\n", files::MARKER)).unwrap();
        assert!(replace(&path, b"new").is_ok());
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_needs_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nowhere/tests.c");
        let said = refuse_if_not(&path, files::is_ours).unwrap_err();
        assert!(said.contains("there is no directory"), "{said}");
        assert!(refuse_if_not(Path::new("tests.c"), files::is_ours).is_ok());
    }

    #[test]
    fn old_tests_go_and_other_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        fs::write(place("mine.xml"), "<?xml version=\"1.0\"?><a/>").unwrap();
        fs::write(place("old.c"), format!("/* {}: x */\n", files::MARKER)).unwrap();
        remove_old(directory.path()).unwrap();
        assert!(place("mine.xml").exists() && !place("old.c").exists());
    }
}
