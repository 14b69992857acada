//! `llvm-profdata` and `llvm-cov`: the numbers of the report are theirs.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::CoverageError;
use crate::build::tool::{self, word};

/// LLVM's tools, and the files that they read.
#[derive(Clone, Debug)]
pub struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
    /// The program that counts.
    program: PathBuf,
    /// Where files are written.
    directory: PathBuf,
}

impl Tools {
    /// The tools that belong to this clang.
    pub fn beside(clang: &Path, program: &Path, directory: &Path) -> Tools {
        let name = clang.file_name().unwrap_or_default().to_string_lossy();
        let tool = |tool: &str| clang.with_file_name(name.replacen("clang", tool, 1));
        Tools {
            profdata: tool("llvm-profdata"),
            cov: tool("llvm-cov"),
            program: program.to_path_buf(),
            directory: directory.to_path_buf(),
        }
    }

    /// Makes the profile that `llvm-cov` reads of what the program left.
    pub fn merge(&self, raw: &[u8]) -> Result<(), CoverageError> {
        let file = self.directory.join("merged.profraw");
        fs::write(&file, raw).map_err(|error| CoverageError::File(file.clone(), error))?;
        let output = self.profile();
        let words = ["merge", &word(&file), "-o", &word(&output)].map(str::to_string);
        self.run(&self.profdata, &words).map(|_| ())
    }

    /// The merged profile for lcov's tools.
    pub fn lcov(&self) -> Result<String, CoverageError> {
        let words = [
            "export",
            &word(&self.program),
            &format!("-instr-profile={}", word(&self.profile())),
            "-format=lcov",
        ];
        let output = self.run(&self.cov, &words.map(str::to_string))?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    fn profile(&self) -> PathBuf {
        self.directory.join("merged.profdata")
    }

    fn run(&self, program: &Path, words: &[String]) -> Result<Vec<u8>, CoverageError> {
        let said = tool::run(program, words, &self.directory).map_err(CoverageError::NoTool)?;
        match said.done {
            true => Ok(said.output),
            false => Err(CoverageError::Tool(program.into(), said.messages)),
        }
    }
}
