//! A program under test: its site maps, and its twin once that is needed.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use nearmiss_abi::check::Kind;
use nearmiss_campaign::Capsule;
use nearmiss_campaign::store::make_private_part;
use nearmiss_results::Uninitialised;
use nearmiss_sites::rewrite::Rewrite;
use nearmiss_twin::{Judge, TwinError, TwinProgram, Variant};
use siphasher::sip::SipHasher13;

use crate::Config;
use crate::error::{EngineError, TrialError};
use crate::program::{self, Program};
use crate::recorders::Recorders;
use crate::worker::Shared;

/// A program under test.
#[derive(Debug)]
pub struct Subject {
    /// Its file.
    pub file: PathBuf,
    /// What it says about itself.
    pub program: Program,
    twin: OnceLock<Result<TwinProgram, TrialError>>,
    memory_twin: OnceLock<Result<TwinProgram, TrialError>>,
}

impl Subject {
    /// Looks at a program that loads these libraries, without running it.
    fn inspect(file: &Path, libraries: &[PathBuf]) -> Result<Subject, EngineError> {
        Ok(Subject {
            file: file.to_path_buf(),
            program: program::inspect_with(file, libraries)?,
            twin: OnceLock::new(),
            memory_twin: OnceLock::new(),
        })
    }

    /// Its sanitizer twin, built when it is asked for first; or why there is none.
    pub fn twin(&self, shared: &Shared) -> Result<&TwinProgram, TrialError> {
        let built = (self.twin).get_or_init(|| self.build(shared, Judge::Address));
        built.as_ref().map_err(Clone::clone)
    }

    /// Its memory twin, built when it is asked for first; or why there is none.
    pub fn memory_twin(&self, shared: &Shared) -> Result<&TwinProgram, TrialError> {
        let built = self.memory_twin.get_or_init(|| {
            let wanted = shared.config.checks.as_ref();
            if wanted.is_some_and(|kinds| !kinds.contains(&Kind::UninitialisedRead)) {
                return Err(TrialError::Unwanted);
            }
            if let Some(object) = self.program.uninstrumented.first() {
                return Err(TrialError::NotInstrumented(object.clone()));
            }
            self.build(shared, Judge::Memory)
        });
        built.as_ref().map_err(Clone::clone)
    }

    fn build(&self, shared: &Shared, judge: Judge) -> Result<TwinProgram, TrialError> {
        let (config, root) = (shared.config, shared.campaign.root());
        shared.tally.builds.add(1);
        let twin = build_twin(config, root, &self.file, &self.program.libraries, judge);
        shared.tally.builds.remove(1);
        twin
    }

    /// Whether reads of memory that was never written were looked for, as far as the program is concerned.
    pub fn uninitialised(&self) -> Uninitialised {
        match self.memory_twin.get() {
            None => Uninitialised::default(),
            Some(Ok(_)) => Uninitialised {
                looked_for: true,
                refused: Vec::new(),
            },
            Some(Err(why)) => Uninitialised {
                looked_for: false,
                refused: vec![why.to_string()],
            },
        }
    }

    /// A name for the program and its libraries as they are on the disk now.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        for file in std::iter::once(&self.file).chain(&self.program.libraries) {
            file.hash(&mut hasher);
            let found = std::fs::metadata(file);
            found
                .as_ref()
                .map_or(0, |found| found.len())
                .hash(&mut hasher);
            let modified = found.and_then(|found| found.modified());
            modified.ok().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Why failures cannot be confirmed, if a twin was wanted and could not be built.
    pub fn unconfirmable(&self) -> Option<String> {
        let why = self.twin.get()?.as_ref().err()?;
        Some(why.to_string())
    }
}

/// Builds a twin of a program below a campaign's directory.
pub fn build_twin(
    config: &Config,
    campaign: &Path,
    program: &Path,
    libraries: &[PathBuf],
    judge: Judge,
) -> Result<TwinProgram, TrialError> {
    let twin = workshop(&config.compiler, campaign);
    // Programs of one name in different places are different programs.
    let of_judge = match judge {
        Judge::Address => "",
        Judge::Memory => MEMORY,
    };
    let twins = campaign.join("twins");
    let refused = |error| TrialError::NotBuilt(judge, Arc::new(error));
    make_private_part(&twins).map_err(|error| refused(TwinError::File(twins.clone(), error)))?;
    let directory = twins.join(of_judge);
    let directory = directory.join(twin_name(program, libraries));
    nearmiss_twin::build(program, libraries, judge, &directory, &twin).map_err(refused)
}

/// How twins and variants of a campaign's programs are built.
pub fn workshop(compiler: &nearmiss_compile::Config, campaign: &Path) -> nearmiss_twin::Config {
    nearmiss_twin::Config {
        clang: compiler.clang.clone(),
        library_directory: compiler.library_directory.clone(),
        units: campaign.join("twins").join("units"),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        quick: false,
    }
}

/// Builds a variant of a program below a campaign's directory, with these sources beside its own.
pub fn build_variant(
    config: &Config,
    campaign: &Path,
    program: &Path,
    libraries: &[PathBuf],
    rewrite: &Rewrite,
    sources: &[PathBuf],
) -> Result<TwinProgram, TwinError> {
    let variant = Variant {
        replaced: &[],
        rewrite,
        sources,
        compiler: &config.compiler,
    };
    let variants = campaign.join("variants");
    make_private_part(&variants).map_err(|error| TwinError::File(variants.clone(), error))?;
    let directory = variants.join(twin_name(program, libraries));
    let workshop = workshop(&config.compiler, campaign);
    nearmiss_twin::build_variant(program, libraries, &variant, &directory, &workshop)
}

/// Where memory twins are.
const MEMORY: &str = "memory";

/// The name of a program's twin: its own, and a few digits that its path and its libraries make.
pub fn twin_name(program: &Path, libraries: &[PathBuf]) -> OsString {
    let mut hasher = SipHasher13::new();
    program.hash(&mut hasher);
    for library in libraries {
        library.hash(&mut hasher);
    }
    let mut name = program.file_name().unwrap_or_default().to_os_string();
    name.push(format!("-{:08x}", hasher.finish() as u32));
    name
}

/// The programs of a campaign, each looked at once with each set of libraries that it loads.
#[derive(Debug)]
pub struct Subjects {
    recorders: Arc<Recorders>,
    loaded: Mutex<HashMap<Loading, Vec<PathBuf>>>,
    known: Mutex<HashMap<Key, Inspected>>,
}

/// A subject, or why a program cannot be one.
type Inspected = Result<Arc<Subject>, Arc<EngineError>>;
/// What decides on the libraries: the program, and the variables that its loader reads.
type Loading = (PathBuf, Vec<(OsString, OsString)>);
/// What tells subjects apart: the program and its instrumented libraries, since another library has
/// other sites and another twin.
type Key = (PathBuf, Vec<PathBuf>);

impl Subjects {
    /// None yet, of programs that these recorders are of.
    pub fn new(recorders: Arc<Recorders>) -> Subjects {
        Subjects {
            recorders,
            loaded: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// The subject that runs when a capsule's program is started; or why it cannot be one.
    pub fn get(&self, capsule: &Capsule) -> Inspected {
        let file = capsule.program.as_path();
        if let Err(why) = self.recorders.build(file) {
            let name = self.recorders.program_at(file);
            let name = name.unwrap_or_else(|| file.to_path_buf());
            return Err(Arc::new(EngineError::NoRecorder(name, why)));
        }
        let key = self.key(file, &capsule.environment, &capsule.directory);
        let mut known = self.known.lock().expect("no thread panics");
        let entry = known.entry(key).or_insert_with_key(|(file, libraries)| {
            Subject::inspect(file, libraries)
                .map(Arc::new)
                .map_err(Arc::new)
        });
        entry.clone()
    }

    fn key(&self, file: &Path, environment: &[(OsString, OsString)], directory: &Path) -> Key {
        if let Some(libraries) = self.recorders.libraries_at(file) {
            return (file.to_path_buf(), libraries);
        }
        let variables = program::loader_variables(environment, directory);
        let loading = (file.to_path_buf(), variables);
        let mut loaded = self.loaded.lock().expect("no thread panics");
        let libraries = loaded
            .entry(loading)
            .or_insert_with_key(|(file, variables)| program::libraries(file, variables, directory));
        (file.to_path_buf(), libraries.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let variables = variables.iter();
        variables
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn the_loader_is_asked_once_for_each_of_its_variables() {
        let config = crate::analyse::tests::config();
        let recorders = Recorders::new(&config, Path::new("/nowhere"));
        let (subjects, program) = (Subjects::new(Arc::new(recorders)), Path::new("/bin/sh"));
        let loaded = || subjects.loaded.lock().unwrap().len();
        let ask = |variables: &[(&str, &str)], directory: &str| {
            subjects.key(program, &environment(variables), Path::new(directory));
            loaded()
        };
        assert_eq!(ask(&[("HOME", "/a")], "/"), 1);
        assert_eq!(ask(&[("HOME", "/b"), ("OLD_LD_PATH", "x")], "/tmp"), 1);
        assert_eq!(ask(&[("LD_LIBRARY_PATH", "/a")], "/"), 2);
        assert_eq!(ask(&[("LD_LIBRARY_PATH", "/b")], "/"), 3);
        assert_eq!(ask(&[("LD_LIBRARY_PATH", ".")], "/"), 4);
        assert_eq!(ask(&[("LD_LIBRARY_PATH", ".")], "/tmp"), 5);
    }

    #[test]
    fn twins_with_other_libraries_have_other_directories() {
        let program = Path::new("/bin/program");
        let [old, new] = ["/old/lib.so", "/new/lib.so"].map(PathBuf::from);
        let names = [twin_name(program, &[old]), twin_name(program, &[new])];
        assert_ne!(names[0], names[1]);
    }
}
