//! A directory with C files, and what is made of them.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_harness::Request;
use nearmiss_paths::build::{Programs, Sources, build};
use tempfile::TempDir;

/// A directory with C files.
pub struct Place {
    root: TempDir,
}

impl Place {
    /// With these files.
    pub fn with(files: &[(&str, &str)]) -> Place {
        let place = Place {
            root: TempDir::new().unwrap(),
        };
        for (name, text) in files {
            let path = place.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        place
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The request to build these files with these words.
    pub fn sources(&self, files: &[&str], flags: &[&str]) -> Sources {
        Sources {
            files: files.iter().map(|name| self.path(name)).collect(),
            flags: flags.iter().map(|word| word.to_string()).collect(),
            compile_commands: None,
            compiler: compiler(),
            marks: Vec::new(),
            wraps: false,
            contracted: Default::default(),
            refuses: false,
            answers: false,
            objects: Default::default(),
        }
    }

    /// Builds these files with these words.
    pub fn build(
        &self,
        files: &[&str],
        flags: &[&str],
        request: Option<&Request>,
    ) -> Result<Programs, String> {
        let built = build(&self.sources(files, flags), request, &self.path("out"));
        built.map_err(|error| error.to_string())
    }

    /// Runs a script in it.
    pub fn shell(&self, script: &str) -> Output {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.root.path())
            .output();
        output.unwrap()
    }
}

/// The compiler that `./nm build` left.
pub fn compiler() -> nearmiss_compile::Config {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let target = variable("CARGO_TARGET_DIR").unwrap_or(root.join("target"));
    let built = variable("NEARMISS_BIN").unwrap_or(target.join("release/nearmiss"));
    let directory = built.parent().unwrap().canonicalize().unwrap();
    nearmiss_compile::Config::from_lookup(&directory, |_| None)
}

/// A request for a function, with nothing else said.
pub fn request(function: &str) -> Request {
    Request {
        function: function.to_string(),
        depth: 2,
        elements: 4,
        ..Request::default()
    }
}

/// The rows of an input with one channel.
pub fn rows(name: &str, content: &[u8]) -> Vec<u8> {
    let mut rows = Vec::new();
    for number in [name.len(), 0, content.len()] {
        rows.extend((number as u32).to_le_bytes());
    }
    rows.extend(name.bytes());
    rows.extend(content);
    rows
}
