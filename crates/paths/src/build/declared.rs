//! What a file uses and does not define, from clang's IR, which knows what an object file does not say.

use std::collections::BTreeSet;
use std::fs;

use super::compile::Compiler;
use super::source::Source;
use super::unit::Variable;

/// What a file uses and does not define.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Functions.
    pub functions: BTreeSet<String>,
    /// Variables whose size is known.
    pub variables: Vec<Variable>,
}

impl Declared {
    /// Of this file. One that does not compile says nothing.
    pub fn by(source: &Source, compiler: &Compiler) -> Declared {
        let output = compiler.directory.join("declared.ll");
        let options = ["-O0", "-S", "-emit-llvm"];
        let compiled = compiler.plain(source, &source.path, &options, &output);
        let text = compiled.map_or(String::new(), |()| {
            fs::read_to_string(&output).unwrap_or_default()
        });
        Declared::read(&text)
    }

    fn read(text: &str) -> Declared {
        let mut declared = Declared::default();
        let opaque: BTreeSet<&str> = (text.lines())
            .filter_map(|line| line.strip_suffix(" = type opaque"))
            .collect();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("declare ") {
                let name = rest.split_once('@').and_then(|(_, it)| it.split_once('('));
                declared.functions.extend(name.map(|(name, _)| plain(name)));
            } else if let Some((name, rest)) = external(line)
                && has_size(rest, &opaque)
            {
                declared.variables.push(Variable {
                    name: plain(name),
                    thread_local: rest.contains("thread_local"),
                });
            }
        }
        declared
    }
}

/// `@name = external global i32, align 4`
fn external(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('@')?.split_once(" = ")?;
    let is_external = rest.starts_with("external ") || rest.starts_with("extern_weak ");
    is_external.then_some((name, rest))
}

/// Whether the type behind `global` or `constant` is neither an array of no length nor an incomplete
/// structure.
fn has_size(rest: &str, opaque: &BTreeSet<&str>) -> bool {
    let parts = ["global ", "constant "];
    let of = parts.iter().find_map(|word| Some(rest.split_once(word)?.1));
    of.is_some_and(|of| {
        let name = of.split(',').next().unwrap_or(of);
        !of.starts_with("[0 x ") && !opaque.contains(name.trim())
    })
}

fn plain(name: &str) -> String {
    name.trim_matches('"').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_told_apart() {
        let text = "%struct.hidden = type opaque\n%struct.known = type { i32 }\n\
                    @here = global i32 0, align 4\n\
                    @level = external global i32, align 4\n\
                    @limits = external constant [4 x i32], align 16\n\
                    @open = external global [0 x i32], align 4\n\
                    @own = external thread_local global i32, align 4\n\
                    @known = external global %struct.known, align 4\n\
                    @hidden = external global %struct.hidden, align 1\n\
                    declare i32 @print(ptr noundef, ...) #1\n";
        let declared = Declared::read(text);
        let functions: Vec<&String> = declared.functions.iter().collect();
        assert_eq!(functions, ["print"]);
        let variables: Vec<(&str, bool)> = (declared.variables.iter())
            .map(|it| (it.name.as_str(), it.thread_local))
            .collect();
        let expected = [
            ("level", false),
            ("limits", false),
            ("own", true),
            ("known", false),
        ];
        assert_eq!(variables, expected);
    }
}
