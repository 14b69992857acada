//! What is looked at: functions that a header declares, and that are there in object form; or those of a C file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nearmiss_harness::{PROBE_FLAGS, Prototype, Unit};
use serde_json::Value;

use crate::InferError;

/// Where the function is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A header declares it: `string.h`.
    Header(String),
    /// A C file defines it.
    Source(PathBuf),
}

/// Where functions are, and how programs with them are built.
#[derive(Clone, Debug)]
pub struct Subject {
    /// A header or a file.
    pub origin: Origin,
    /// The compiler.
    pub clang: PathBuf,
    /// Words for the compiler.
    pub flags: Vec<String>,
    /// Objects, archives, libraries.
    pub linked: Vec<String>,
}

impl Subject {
    /// As the user named it.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Header(header) => header.clone(),
            Origin::Source(path) => path.display().to_string(),
        }
    }

    /// The lines that bring the function into a C file. All that the system's library has is declared.
    pub fn include(&self) -> String {
        match &self.origin {
            Origin::Header(header) => {
                let guard = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n";
                // Of headers that are not complete by themselves.
                format!("{guard}#include <stddef.h>\n#include <stdio.h>\n#include <{header}>\n")
            }
            Origin::Source(path) => format!(
                "#define main nearmiss_main_of_file\n#include \"{}\"\n#undef main\n",
                absolute(path).display()
            ),
        }
    }

    /// What the compiler watches over where there is source.
    pub fn checks(&self) -> &'static [&'static str] {
        match self.origin {
            Origin::Header(_) => &[],
            Origin::Source(_) => &[
                "-fsanitize=undefined",
                "-fno-sanitize=alignment,null,function,pointer-overflow",
                "-fsanitize-trap=undefined",
            ],
        }
    }

    /// The prototypes of all functions, by their order in the header or file.
    pub fn prototypes(&self, directory: &Path) -> Result<Vec<Prototype>, InferError> {
        match &self.origin {
            Origin::Source(path) => {
                let object = self.compile(&absolute(path), directory)?;
                let unit = read(&object)?;
                let names = unit.functions();
                Ok(names
                    .iter()
                    .filter_map(|name| unit.prototype(name))
                    .collect())
            }
            Origin::Header(header) => self.declared(header, directory),
        }
    }

    /// Debug information has no names of parameters that are only declared: so functions are written that have the
    /// same parameters, by what clang's syntax tree says of them.
    fn declared(&self, header: &str, directory: &Path) -> Result<Vec<Prototype>, InferError> {
        let unit = directory.join("header.c");
        write(&unit, &self.include())?;
        let mut command = Command::new(&self.clang);
        command
            .args(&self.flags)
            .args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"]);
        let said = command.arg(&unit).stdin(Stdio::null()).output();
        let said = said.map_err(|error| InferError::Io(self.clang.clone(), error))?;
        if !said.status.success() {
            return Err(InferError::NotBuilt(
                String::from_utf8_lossy(&said.stderr).into_owned(),
            ));
        }
        let tree: Value = serde_json::from_slice(&said.stdout)
            .map_err(|error| InferError::NotBuilt(format!("clang's syntax tree: {error}")))?;
        let functions = functions(&tree, &self.headers(header, &unit)?);
        let mut text = self.include();
        for (index, function) in functions.iter().enumerate() {
            text += &function.probe(index);
        }
        let probe = directory.join("probe.c");
        write(&probe, &text)?;
        let unit = read(&self.compile(&probe, directory)?)?;
        let mut found = Vec::new();
        for (index, function) in functions.iter().enumerate() {
            let Some(mut prototype) = unit.prototype(&format!("nearmiss_probe_{index}")) else {
                continue;
            };
            prototype.function.clone_from(&function.name);
            prototype.variadic = function.variadic;
            prototype.declaration = prototype
                .declaration
                .replace(&format!("nearmiss_probe_{index}"), &function.name);
            found.push(prototype);
        }
        Ok(found)
    }

    /// The text of a header and of those that belong to it.
    pub(crate) fn headers(&self, header: &str, unit: &Path) -> Result<String, InferError> {
        let mut command = Command::new(&self.clang);
        let said = command
            .args(&self.flags)
            .arg("-M")
            .arg(unit)
            .stdin(Stdio::null())
            .output();
        let said = said.map_err(|error| InferError::Io(self.clang.clone(), error))?;
        let rule = String::from_utf8_lossy(&said.stdout).into_owned();
        let texts = family(&rule, header).into_iter().map(fs::read);
        let texts = texts
            .flatten()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(texts.collect())
    }

    fn compile(&self, file: &Path, directory: &Path) -> Result<Vec<u8>, InferError> {
        let output = directory.join("probe.o");
        let mut command = Command::new(&self.clang);
        command
            .args(&self.flags)
            .args(PROBE_FLAGS)
            .arg("-c")
            .arg(file)
            .arg("-o")
            .arg(&output);
        let said = command.stdin(Stdio::null()).output();
        let said = said.map_err(|error| InferError::Io(self.clang.clone(), error))?;
        if !said.status.success() {
            return Err(InferError::NotBuilt(
                String::from_utf8_lossy(&said.stderr).into_owned(),
            ));
        }
        fs::read(&output).map_err(|error| InferError::Io(output, error))
    }
}

fn read(object: &[u8]) -> Result<Unit, InferError> {
    Unit::read(object).map_err(|error| InferError::NotBuilt(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), InferError> {
    fs::write(path, text).map_err(|error| InferError::Io(path.to_path_buf(), error))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A function that a header declares.
struct FunctionDeclaration {
    name: String,
    result: String,
    parameters: Vec<(String, String)>,
    variadic: bool,
}

impl FunctionDeclaration {
    /// A function with the same parameters.
    fn probe(&self, index: usize) -> String {
        let one = |(name, of): &(String, String)| format!("__typeof__({of}) {name}");
        let parameters: Vec<String> = self.parameters.iter().map(one).collect();
        let parameters = if parameters.is_empty() {
            "void".into()
        } else {
            parameters.join(", ")
        };
        let result = &self.result;
        format!(
            "__typeof__({result}) nearmiss_probe_{index}({parameters}) {{ __builtin_trap(); }}\n"
        )
    }
}

/// The functions of a syntax tree that these texts name, comments aside.
fn functions(tree: &Value, headers: &str) -> Vec<FunctionDeclaration> {
    let headers = code(headers);
    let names = names_in(&headers);
    let mut found: Vec<FunctionDeclaration> = Vec::new();
    for node in tree["inner"].as_array().into_iter().flatten() {
        let is_function = node["kind"] == "FunctionDecl";
        let Some(function) = is_function.then(|| function(node)).flatten() else {
            continue;
        };
        let is_public = !function.name.starts_with('_') && names.contains(function.name.as_str());
        // Functions that the compiler knows by itself are declared before, without names.
        let is_own = node["isImplicit"] != true;
        let earlier = found.iter().any(|other| other.name == function.name);
        if is_public && is_own && !earlier {
            found.push(function);
        }
    }
    found
}

/// A text without comments.
fn code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        kept += before;
        let end = match comment.as_bytes().get(1) {
            Some(b'*') => comment[2..].find("*/").map(|end| end + 4),
            Some(b'/') => comment.find('\n'),
            _ => {
                kept.push('/');
                Some(1)
            }
        };
        rest = &comment[end.unwrap_or(comment.len())..];
    }
    kept + rest
}

/// The names in a text. Not only those that a bracket follows: `int f OF((int n));`
fn names_in(text: &str) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).collect()
}

/// The files of a rule for make that belong to a header: `string.h` passes on `strings.h`.
fn family<'a>(rule: &'a str, header: &str) -> Vec<&'a Path> {
    let stem = header.trim_end_matches(".h");
    // With `-I.` a header's name has no directory.
    let belongs = |word: &&str| {
        *word == header
            || word.ends_with(&format!("/{header}"))
            || word.contains(&format!("/{stem}"))
    };
    let words = rule.split_whitespace().filter(|word| *word != "\\");
    words.filter(belongs).map(Path::new).collect()
}

fn function(node: &Value) -> Option<FunctionDeclaration> {
    let of = node["type"]["qualType"].as_str()?;
    let start = of.find('(')?;
    // What gives back a pointer to functions is written around its parameters.
    let result = (!of[start..].starts_with("(*")).then(|| of[..start].trim().to_string())?;
    let mut parameters = Vec::new();
    for (index, inner) in node["inner"].as_array().into_iter().flatten().enumerate() {
        if inner["kind"] != "ParmVarDecl" {
            continue;
        }
        let name = inner["name"].as_str().unwrap_or("").trim_start_matches('_');
        let name = match name {
            "" => format!("argument{}", index + 1),
            // Words of C that a header hides behind underscores.
            "restrict" | "register" | "default" | "int" => format!("{name}_"),
            name => name.to_string(),
        };
        parameters.push((name, inner["type"]["qualType"].as_str()?.to_string()));
    }
    Some(FunctionDeclaration {
        name: node["name"].as_str()?.to_string(),
        result,
        parameters,
        variadic: of.contains("..."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_comment_names_is_not_declared() {
        let text = "int f(int); /* like fopen(name) */\nint g(int a); // execve(2)\nint h(int), x = 4 / 2;";
        let code = code(text);
        let names = names_in(&code);
        assert!(["f", "g", "h"].iter().all(|name| names.contains(name)));
        assert!(!names.contains("fopen") && !names.contains("execve"));
    }
}
