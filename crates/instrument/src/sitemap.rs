//! Collects the sites of a unit while it is instrumented.

use nearmiss_abi::check::Kind;
use nearmiss_abi::site::{LOCAL_BITS, SiteId};
use nearmiss_sites::{Site, SiteKind, Unit};
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
        let (line, column) = instruction.place();
        Place {
            file: instruction.source_file(),
            line,
            column,
        }
    }
}

/// The growing site map.
#[derive(Debug)]
pub struct SiteMap {
    unit: Unit,
    files: FxHashMap<String, u32>,
    function: u32,
}

impl SiteMap {
    /// An empty map of the unit with this hash.
    pub fn new(hash: u64, source: &str, directory: &str) -> SiteMap {
        let unit = Unit {
            hash,
            source: source.into(),
            directory: directory.into(),
            ..Unit::default()
        };
        let mut map = SiteMap {
            unit,
            files: FxHashMap::default(),
            function: 0,
        };
        map.file(source);
        map
    }

    /// What follows lies in the function of this name.
    pub fn enter_function(&mut self, name: &str) {
        self.function = self.unit.functions.len() as u32;
        self.unit.functions.push(name.into());
    }

    /// Adds a site; its number.
    pub fn add(&mut self, kind: SiteKind, place: &Place) -> SiteId {
        let local = self.unit.sites.len() as u32;
        if local >> LOCAL_BITS != 0 {
            return SiteId::NONE;
        }
        let file = match &place.file {
            Some(file) => self.file(file),
            None => 0,
        };
        let (line, column) = (place.line, place.column);
        self.unit.sites.push(Site {
            kind,
            file,
            function: self.function,
            line,
            column,
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
        )
    }

    fn file(&mut self, name: &str) -> u32 {
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
