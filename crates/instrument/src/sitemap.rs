//! Collects the sites of a unit while it is instrumented.

use nearmiss_abi::check::Kind;
use nearmiss_abi::site::{LOCAL_BITS, SiteId};
use nearmiss_sites::{Loop, Site, SiteKind, Unit};
use rustc_hash::FxHashMap;

use crate::llvm::Value;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, if known.
    pub file: Option<String>,
    /// The line, 0 if unknown.
    pub line: u32,
    /// The column, 0 if unknown.
    pub column: u32,
}

impl Place {
    /// The place of an instruction.
    pub fn of(instruction: Value) -> Place {
        let (file, line, column) = instruction.place();
        Place { file, line, column }
    }
}

/// The growing site map.
#[derive(Debug)]
pub struct SiteMap {
    unit: Unit,
    files: FxHashMap<String, u32>,
    functions: FxHashMap<String, u32>,
    /// The function of each line, if it is one: inlining moves code away from its function.
    homes: FxHashMap<(String, u32), Option<u32>>,
    function: u32,
}

impl SiteMap {
    /// An empty map of the unit with this hash, which defines `functions`.
    pub fn new(hash: u64, source: &str, directory: &str, functions: &[Value]) -> SiteMap {
        let unit = Unit {
            hash,
            source: source.into(),
            directory: directory.into(),
            ..Unit::default()
        };
        let (files, names, homes) = Default::default();
        let mut map = SiteMap {
            unit,
            files,
            functions: names,
            homes,
            function: 0,
        };
        map.file(source);
        for function in functions {
            map.remember_lines(*function);
        }
        map
    }

    /// Which files are test code, by their absolute names.
    pub fn set_test_files(&mut self, files: Vec<String>) {
        self.unit.test_files = files;
    }

    /// Whether the unit has functions in assembly.
    pub fn set_assembly(&mut self, has_assembly: bool) {
        self.unit.has_assembly = has_assembly;
    }

    fn remember_lines(&mut self, function: Value) {
        let number = self.function_number(&function.name());
        for instruction in function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
        {
            let place = Place::of(instruction);
            if let Some(file) = place.file {
                let home = self.homes.entry((file, place.line)).or_insert(Some(number));
                if *home != Some(number) {
                    *home = None;
                }
            }
        }
    }

    /// What follows lies in the function of this name, unless its line says otherwise.
    pub fn enter_function(&mut self, name: &str) {
        self.function = self.function_number(name);
    }

    fn function_number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.functions.get(name) {
            return number;
        }
        let number = self.unit.functions.len() as u32;
        self.unit.functions.push(name.into());
        self.functions.insert(name.into(), number);
        number
    }

    /// Adds a site; its number.
    pub fn add(&mut self, kind: SiteKind, place: &Place, in_loop: Option<Loop>) -> SiteId {
        let local = self.unit.sites.len() as u32;
        if local >> LOCAL_BITS != 0 {
            return SiteId::NONE;
        }
        let file = match &place.file {
            Some(file) => self.file(file),
            None => 0,
        };
        let (line, column) = (place.line, place.column);
        let named = place.file.clone().map(|file| (file, line));
        let home = named.and_then(|line| self.homes.get(&line).copied().flatten());
        self.unit.sites.push(Site {
            kind,
            file,
            function: home.unwrap_or(self.function),
            line,
            column,
            in_loop,
        });
        SiteId::new(self.unit.hash, local)
    }

    /// Adds a check.
    pub fn add_check(&mut self, kind: Kind, message: &str, place: &Place) -> SiteId {
        self.add(
            SiteKind::Check {
                kind: kind as u8,
                message: message.into(),
            },
            place,
            None,
        )
    }

    /// The number of a file.
    pub fn file(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.files.get(name) {
            return index;
        }
        let index = self.unit.files.len() as u32;
        self.unit.files.push(name.into());
        self.files.insert(name.into(), index);
        index
    }

    /// The finished map.
    pub fn finish(self) -> Unit {
        self.unit
    }
}
