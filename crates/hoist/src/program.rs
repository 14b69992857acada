//! A program whose functions are looked at: its debug information, and variants of it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_flow::Outside;
use nearmiss_harness::Unit;
use nearmiss_harness::entry::Definition;
use nearmiss_sites::rewrite::{EntryCheck, Rewrite, absolute};
use nearmiss_twin::{Judge, TwinProgram, Variant};

/// A program and where things are built.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// The instrumented libraries that it loads.
    pub libraries: &'a [PathBuf],
    /// The compiler.
    pub compiler: &'a nearmiss_compile::Config,
    /// A directory for what is built.
    pub directory: &'a Path,
}

impl Subject<'_> {
    /// The debug information of the program and its libraries: their own, or that of their twins, which always have some.
    pub fn debug_information(&self) -> Result<Unit, String> {
        if let Ok(unit) = self.read(self.program, self.libraries)
            && self.tells_of_program(&unit)
        {
            return Ok(unit);
        }
        let directory = self.directory.join("twin");
        let config = self.workshop();
        let judge = Judge::Address;
        let twin = nearmiss_twin::build(self.program, self.libraries, judge, &directory, &config)
            .map_err(|error| error.to_string())?;
        let library = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            directory.join("lib").join(name)
        };
        let libraries: Vec<PathBuf> = self.libraries.iter().map(library).collect();
        self.read(&twin.program, &libraries)
    }

    /// Whether debug information is of the program's own sources, and not only of what it is linked with.
    fn tells_of_program(&self, unit: &Unit) -> bool {
        let Ok(info) = nearmiss_twin::inspect(self.program, self.libraries) else {
            return false;
        };
        let sources: HashSet<String> = (info.sites.units())
            .map(|unit| absolute(&unit.directory, &unit.source))
            .collect();
        let is_own = |it: &Definition| {
            let file = it.place.as_ref().map(|(file, _)| absolute("/", file));
            file.is_some_and(|file| sources.contains(&file))
        };
        unit.definitions().iter().any(is_own)
    }

    fn read(&self, program: &Path, libraries: &[PathBuf]) -> Result<Unit, String> {
        let bytes =
            |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let mut unit = Unit::read(&bytes(program)?).map_err(|error| error.to_string())?;
        for library in libraries {
            // What a library without debug information has is not known.
            let _ = unit.add(&bytes(library)?);
        }
        Ok(unit)
    }

    /// The globals that a function and all it calls read.
    pub fn globals(&self, functions: &[Definition]) -> Vec<Vec<String>> {
        let flows = nearmiss_twin::flows_of(self.program, self.libraries).unwrap_or_default();
        let of = |function: &Definition| Outside::of(&flows, &function.name).variables;
        let globals = functions.iter().map(of);
        globals.map(|names| names.into_iter().collect()).collect()
    }

    /// The sanitizer twin of a variant of the program.
    pub fn twin_of(&self, variant: &TwinProgram, directory: &Path) -> Result<TwinProgram, String> {
        let libraries = self.libraries_of(variant);
        let config = self.workshop();
        nearmiss_twin::build(
            &variant.program,
            &libraries,
            Judge::Address,
            directory,
            &config,
        )
        .map_err(|error| error.to_string())
    }

    /// The libraries of a variant of the program.
    pub fn libraries_of(&self, variant: &TwinProgram) -> Vec<PathBuf> {
        let Some(directory) = &variant.library_path else {
            return Vec::new();
        };
        let in_variant = |path: &PathBuf| directory.join(path.file_name().unwrap_or_default());
        self.libraries.iter().map(in_variant).collect()
    }

    fn workshop(&self) -> nearmiss_twin::Config {
        nearmiss_twin::Config {
            clang: self.compiler.clang.clone(),
            library_directory: self.compiler.library_directory.clone(),
            units: self.directory.join("units"),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            quick: false,
        }
    }

    /// Builds a variant whose functions call those of a C file, of this name, when they are entered.
    pub fn variant(
        &self,
        name: &str,
        source: &str,
        checks: Vec<EntryCheck>,
    ) -> Result<TwinProgram, String> {
        let directory = self.directory.join(name);
        let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&directory).map_err(|error| named(&directory, error))?;
        let file = directory.join(format!("{name}.c"));
        fs::write(&file, source).map_err(|error| named(&file, error))?;
        let file = file.canonicalize().map_err(|error| named(&file, error))?;
        let rewrite = Rewrite {
            checks,
            ..Rewrite::default()
        };
        let variant = Variant {
            rewrite: &rewrite,
            replaced: &[],
            sources: &[file],
            compiler: self.compiler,
        };
        let config = self.workshop();
        nearmiss_twin::build_variant(self.program, self.libraries, &variant, &directory, &config)
            .map_err(|error| error.to_string())
    }
}

/// The call at the entry of a function.
pub fn entry(function: &Definition, globals: &[String], check: String) -> EntryCheck {
    let file = function.place.as_ref().map(|(file, _)| absolute("/", file));
    EntryCheck {
        function: function.name.clone(),
        file: file.unwrap_or_default(),
        parameters: function.parameters.len(),
        globals: globals.to_vec(),
        check,
        ..EntryCheck::default()
    }
}

/// A file as a person in this directory would name it.
pub fn shown(file: &str, directory: &Path) -> String {
    let file = absolute("/", file);
    let inner = Path::new(&file).strip_prefix(directory).ok();
    inner.map_or(file.clone(), |inner| inner.to_string_lossy().into_owned())
}
