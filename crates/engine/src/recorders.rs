//! The recorders of a campaign's programs: each test runs by one in the place of the user's program.
//!
//! A recorder's place is known before it is built, so that a test can say what it is run by; it is built when its
//! program is looked at first.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use nearmiss_campaign::store::make_private_part;
use nearmiss_campaign::{Capsule, TestCase};
use nearmiss_sandbox::StandIn;
use nearmiss_twin::{Recorder, TwinError, build_recorder, can_be_recorded, has_recipes};

use crate::Config;
use crate::error::EngineError;
use crate::program::{libraries, loader_variables};
use crate::subject::{twin_name, workshop};

/// The recorders, by their places.
#[derive(Debug)]
pub struct Recorders {
    compiler: nearmiss_compile::Config,
    workshop: nearmiss_twin::Config,
    /// The campaign's directory.
    root: PathBuf,
    promised: Mutex<HashMap<PathBuf, Arc<Promise>>>,
}

/// A program, and the variables that decide on its libraries.
type Loading = (PathBuf, Vec<(OsString, OsString)>);

/// A recorder that is built when it is needed.
#[derive(Debug)]
struct Promise {
    /// The user's program.
    program: PathBuf,
    libraries: Vec<PathBuf>,
    directory: PathBuf,
    built: OnceLock<Result<Recorder, Arc<TwinError>>>,
}

/// The part of a campaign's directory that recorders are in.
const RECORDERS: &str = "recorders";

/// How recorders are built: their units are kept beside them.
fn recorder_workshop(compiler: &nearmiss_compile::Config, root: &Path) -> nearmiss_twin::Config {
    nearmiss_twin::Config {
        units: root.join(RECORDERS).join("units"),
        ..workshop(compiler, root)
    }
}

impl Recorders {
    /// None yet, of the programs of a campaign.
    pub fn new(config: &Config, root: &Path) -> Recorders {
        Recorders {
            compiler: config.compiler.clone(),
            workshop: recorder_workshop(&config.compiler, root),
            root: root.to_path_buf(),
            promised: Mutex::default(),
        }
    }

    /// Has each test be run by its program's recorder.
    pub fn take_over<'a>(&self, tests: impl IntoIterator<Item = &'a mut TestCase>) {
        let mut known: HashMap<Loading, Option<PathBuf>> = HashMap::new();
        for test in tests {
            let directory = &test.capsule.directory;
            let variables = loader_variables(&test.capsule.environment, directory);
            let key = (test.capsule.program.clone(), variables);
            let place = known.entry(key).or_insert_with_key(|(program, variables)| {
                self.promise(program, variables, directory)
            });
            if let Some(place) = place {
                test.capsule.run_by(place.clone());
                test.capsule.stand_ins = self.stand_ins(place);
            }
        }
    }

    /// What runs in the place of the libraries of a program whose recorder is at a place.
    fn stand_ins(&self, place: &Path) -> Vec<StandIn> {
        let promised = self.promised.lock().expect("no thread panics");
        let Some(promise) = promised.get(place) else {
            return Vec::new();
        };
        let stand_in = |path: &PathBuf| {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            let name = nearmiss_twin::library_name(&path).ok()?;
            let file = promise.directory.join("lib").join(name);
            Some(StandIn { path, file })
        };
        promise.libraries.iter().filter_map(stand_in).collect()
    }

    /// The recorders of the libraries of a program whose recorder is at a place, once that is built.
    pub fn libraries_at(&self, place: &Path) -> Option<Vec<PathBuf>> {
        let promised = self.promised.lock().expect("no thread panics");
        let recorder = promised.get(place)?.built.get()?.as_ref().ok()?;
        let libraries = recorder.libraries.iter();
        Some(libraries.map(|(_, recorder)| recorder.clone()).collect())
    }

    /// As [`Recorders::take_over`], and builds all recorders at once.
    pub fn build_all(&self, tests: &mut [TestCase]) -> Result<(), EngineError> {
        self.take_over(tests.iter_mut());
        tests.iter().try_for_each(|test| {
            let failed = |why| EngineError::NoRecorder(test.program().to_path_buf(), why);
            self.build(&test.capsule.program).map_err(failed)
        })
    }

    /// The place of a program's recorder; none if the program keeps no recipes.
    fn promise(
        &self,
        program: &Path,
        variables: &[(OsString, OsString)],
        directory: &Path,
    ) -> Option<PathBuf> {
        let libraries = libraries(program, variables, directory);
        let recorded: Vec<PathBuf> = libraries
            .into_iter()
            .filter(|path| has_recipes(path))
            .collect();
        if !can_be_recorded(program, &recorded) {
            return None;
        }
        let directory = self
            .root
            .join("recorders")
            .join(twin_name(program, &recorded));
        let place = directory.join(program.file_name().unwrap_or_default());
        let promise = Promise {
            program: program.to_path_buf(),
            libraries: recorded,
            directory,
            built: OnceLock::new(),
        };
        let mut promised = self.promised.lock().expect("no thread panics");
        promised
            .entry(place.clone())
            .or_insert_with(|| Arc::new(promise));
        Some(place)
    }

    /// The user's program whose recorder is at a place.
    pub fn program_at(&self, place: &Path) -> Option<PathBuf> {
        let promised = self.promised.lock().expect("no thread panics");
        promised.get(place).map(|promise| promise.program.clone())
    }

    /// Builds what was promised at a place, unless that was done. What is no such place is left alone.
    pub fn build(&self, place: &Path) -> Result<(), Arc<TwinError>> {
        let promise = {
            let promised = self.promised.lock().expect("no thread panics");
            match promised.get(place) {
                Some(promise) => Arc::clone(promise),
                None => return Ok(()),
            }
        };
        let built = promise.built.get_or_init(|| {
            let all = self.root.join(RECORDERS);
            make_private_part(&all).map_err(|error| TwinError::File(all, error))?;
            let Promise {
                program,
                libraries,
                directory,
                ..
            } = &*promise;
            let recorder = build_recorder(
                program,
                libraries,
                directory,
                &self.workshop,
                &self.compiler,
            )?;
            Ok(recorder)
        });
        built.as_ref().map(|_| ()).map_err(Arc::clone)
    }
}

/// The recorder of a program that is run by other means than tests, and the recorders of its libraries; the program
/// itself where it is instrumented. It runs in an environment and a directory; `root` is the campaign's.
pub fn recorder_of(
    program: &Path,
    (environment, runs_in): (&[(OsString, OsString)], &Path),
    compiler: &nearmiss_compile::Config,
    root: &Path,
) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let libraries = libraries(program, &loader_variables(environment, runs_in), runs_in);
    if !can_be_recorded(program, &libraries) {
        return Ok((program.to_path_buf(), libraries));
    }
    let directory = root.join(RECORDERS).join(twin_name(program, &libraries));
    let workshop = recorder_workshop(compiler, root);
    let recorder = build_recorder(program, &libraries, &directory, &workshop, compiler)
        .map_err(|error| error.to_string())?;
    let libraries = recorder.libraries.into_iter().map(|(_, recorder)| recorder);
    Ok((recorder.program, libraries.collect()))
}

/// Builds the recorder of a kept execution anew, if its program has changed since.
pub fn refresh(capsule: &Capsule, config: &Config, root: &Path) -> Result<(), String> {
    let is_recorder = capsule.program.starts_with(root.join(RECORDERS));
    let program = capsule.original();
    let runs_in = (&*capsule.environment, capsule.directory.as_path());
    match is_recorder && program.exists() {
        true => recorder_of(program, runs_in, &config.compiler, root).map(|_| ()),
        false => Ok(()),
    }
}
