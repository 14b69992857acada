//! Site number to place, function and kind: what each object file says about itself.
//!
//! The compiler describes every translation unit by a [`Unit`] and what its sanitizer twin is
//! made of by a [`Twin`]; a program or shared library says by a [`Link`] how it was linked.
//! Each is a [`frame`]d blob in a section of its own; the linker lays the blobs of all units
//! one after the other, so archives, partial links and the final link need no help.

pub mod flow;
pub mod frame;
pub mod program;
pub mod recipe;
pub mod rewrite;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::check::Kind;
use nearmiss_abi::site::SiteId;
use serde::{Deserialize, Serialize};

/// The site map of one translation unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Hash of the unit's code; part of its site numbers.
    pub hash: u64,
    /// The source file as named on the command line.
    pub source: String,
    /// The directory it was compiled in.
    pub directory: String,
    /// Names that sites refer to.
    pub files: Vec<String>,
    /// Functions that sites refer to.
    pub functions: Vec<String>,
    /// The sites, by their number within the unit.
    pub sites: Vec<Site>,
    /// Whether it has functions in assembly beside those in C, which nothing follows.
    pub has_assembly: bool,
    /// The files of the program that are test code, in a variant that knows ([`rewrite::Boundary`]).
    pub test_files: Vec<String>,
}

impl Unit {
    /// The file that a site of this unit is in; empty if it is unknown.
    pub fn file_of(&self, site: &Site) -> &str {
        self.files.get(site.file as usize).map_or("", |file| file)
    }

    /// The function that it is in, likewise.
    pub fn function_of(&self, site: &Site) -> &str {
        let function = self.functions.get(site.function as usize);
        function.map_or("", |function| function)
    }
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// What happens there.
    pub kind: SiteKind,
    /// Index into [`Unit::files`].
    pub file: u32,
    /// Index into [`Unit::functions`].
    pub function: u32,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The innermost loop that a branch or switch lies in.
    pub in_loop: Option<Loop>,
}

/// A loop, as a branch or switch in it sees it. Code that was inlined is part of the function that
/// it was inlined into, and so are its loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// Its number within the function: outer loops have smaller ones.
    pub number: u32,
    /// The number of the loop around it.
    pub parent: Option<u32>,
    /// How many loops the site lies in.
    pub depth: u32,
    /// Which ways stay in it: of a branch 0 is false and 1 true, of a switch they are the numbers of
    /// the targets.
    pub stays: Vec<bool>,
}

impl Loop {
    /// Whether the site decides if there is another turn: some way leaves the loop.
    pub fn is_left(&self) -> bool {
        self.stays.contains(&false)
    }

    /// Whether a way stays in the loop.
    pub fn stays(&self, choice: u64) -> bool {
        let choice = usize::try_from(choice).ok();
        choice.is_none_or(|choice| self.stays.get(choice) != Some(&false))
    }
}

/// What happens at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteKind {
    /// A branch with two ways.
    Branch,
    /// A switch: the values of its cases, each with the number of its target; values that are
    /// not listed go to `default`.
    Switch {
        /// Value and target.
        cases: Vec<(u64, u32)>,
        /// Target of all other values.
        default: u32,
    },
    /// A check.
    Check {
        /// Code of the [`Kind`] of failure.
        kind: u8,
        /// What is checked, for a person: the asserted expression, or the operation and type.
        message: String,
    },
    /// A call of the named function ("" if through a pointer).
    Call(String),
    /// A memory access.
    Access,
    /// Anything else that notes are made of.
    Other,
}

impl Site {
    /// The kind of failure, if this is a check.
    pub fn check(&self) -> Option<(Kind, &str)> {
        match &self.kind {
            SiteKind::Check { kind, message } => Some((Kind::from_code(*kind)?, message)),
            _ => None,
        }
    }
}

/// What the sanitizer twin of one translation unit is compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The unit it belongs to.
    pub unit: u64,
    /// LLVM bitcode: clang's inserted checks in it, functions marked for AddressSanitizer, not
    /// yet optimised or instrumented.
    pub bitcode: Vec<u8>,
    /// The code-generation options of the user's command (`-fPIC`, `-march=…`).
    pub options: Vec<String>,
    /// clang's arguments that made the bitcode of the source, but for the output's: in [`Unit::directory`] they
    /// make it once more, of a source with additions.
    pub command: Vec<String>,
    /// Whether allocations stay that clang leaves out where it optimises.
    pub keeps_allocations: bool,
}

/// How a program or shared library was linked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The directory of the command: see [`Link::directory`].
    pub directory: String,
    /// The link command's arguments without the compiler, the output, the instrumented objects
    /// and nearmiss's own additions; paths are absolute, unless that is no text.
    pub arguments: Vec<String>,
    /// Whether the result is a shared library.
    pub shared: bool,
}

/// Starts the name of a directory that is no text: its bytes follow, as hexadecimal digits.
const NO_TEXT: char = '\0';

impl Link {
    /// A directory as a text, also if its name is none.
    pub fn text_of(directory: &Path) -> String {
        match directory.to_str() {
            Some(text) => text.to_string(),
            None => {
                let bytes = directory.as_os_str().as_bytes().iter();
                let digits = bytes.map(|byte| format!("{byte:02x}"));
                std::iter::once(NO_TEXT.to_string()).chain(digits).collect()
            }
        }
    }

    /// The directory of the command.
    pub fn directory(&self) -> PathBuf {
        let Some(digits) = self.directory.strip_prefix(NO_TEXT) else {
            return PathBuf::from(&self.directory);
        };
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.filter_map(|pair| {
            let digits = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        PathBuf::from(OsString::from_vec(bytes.collect()))
    }
}

/// The site maps of a program and its libraries, by site number.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    units: std::collections::HashMap<u64, Unit>,
}

impl Sites {
    /// Adds the map of a unit.
    pub fn add(&mut self, unit: Unit) {
        self.units.insert(unit.hash, unit);
    }

    /// Whether no unit is known: the program is not instrumented.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether a file is test code, by the name that debug information has for it.
    pub fn is_test_file(&self, file: &str) -> bool {
        // `../tests/a.c`, as builds in a directory of their own say: those of test code are whole.
        let file = file.rsplit_once("../").map_or(file, |(_, rest)| rest);
        let is_it = |test: &String| test == file || Path::new(test).ends_with(file);
        let mut units = self.units.values();
        !file.is_empty() && units.any(|unit| unit.test_files.iter().any(is_it))
    }

    /// Every unit, in no particular order.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.units.values()
    }

    /// The site with this number, and its unit.
    pub fn get(&self, id: SiteId) -> Option<(&Unit, &Site)> {
        let unit = self.units.get(&id.unit())?;
        Some((unit, unit.sites.get(id.local() as usize)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_names_that_go_up() {
        let unit = Unit {
            test_files: vec!["/p/tests/a.c".to_string()],
            ..Unit::default()
        };
        let sites = Sites {
            units: [(1, unit)].into_iter().collect(),
        };
        let is_test = |file: &str| sites.is_test_file(file);
        assert!(
            is_test("../tests/a.c") && is_test("/p/build/../tests/a.c") && is_test("tests/a.c")
        );
        assert!(!is_test("../src/a.c") && !is_test("../a.h") && !is_test(".."));
    }

    #[test]
    fn directories_need_not_be_texts() {
        for bytes in [&b"/home/me"[..], b"/b\xfcro/x", b"/\xff"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let link = Link {
                directory: Link::text_of(&path),
                ..Link::default()
            };
            assert_eq!(link.directory(), path);
        }
    }
}
