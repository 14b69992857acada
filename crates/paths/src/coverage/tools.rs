//! `llvm-profdata` and `llvm-cov`: the numbers that are told are theirs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

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
    pub fn merge(&self, raw: &[u8]) -> Result<(), String> {
        let file = self.directory.join("merged.profraw");
        fs::write(&file, raw).map_err(|error| format!("{}: {error}", file.display()))?;
        let output = self.profile();
        let words = ["merge", &word(&file), "-o", &word(&output)].map(str::to_string);
        self.run(&self.profdata, &words).map(|_| ())
    }

    /// What `llvm-cov` makes of the merged profile.
    pub fn export(&self) -> Result<Value, String> {
        let output = self.run(&self.cov, &self.export_words(&[]))?;
        serde_json::from_slice(&output).map_err(|error| format!("llvm-cov: {error}"))
    }

    /// The same for lcov's tools, for this file only.
    pub fn lcov(&self, file: &Path) -> Result<String, String> {
        let words = self.export_words(&["-format=lcov", "--sources", &word(file)]);
        let output = self.run(&self.cov, &words)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    fn export_words(&self, options: &[&str]) -> Vec<String> {
        let profile = format!("-instr-profile={}", word(&self.profile()));
        let mut words = vec!["export".to_string(), word(&self.program), profile];
        words.extend(options.iter().map(|option| option.to_string()));
        words
    }

    fn profile(&self) -> PathBuf {
        self.directory.join("merged.profdata")
    }

    fn run(&self, program: &Path, words: &[String]) -> Result<Vec<u8>, String> {
        let said = tool::run(program, words, &self.directory)?;
        match said.done {
            true => Ok(said.output),
            false => Err(format!("{}: {}", program.display(), said.messages.trim())),
        }
    }
}
