//! What an instrumented program or shared library says about itself.

use std::path::{Path, PathBuf};

use nearmiss_abi::model;
use nearmiss_abi::site::{FLOW_SECTION, LINK_SECTION, RECIPE_SECTION, SITES_SECTION, TWIN_SECTION};
use nearmiss_sites::flow::UnitFlow;
use nearmiss_sites::recipe::Recipe;
use nearmiss_sites::{Link, Twin, Unit, frame};
use object::read::elf::{Dyn, ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, elf};
use serde::de::DeserializeOwned;

use crate::TwinError;

/// The names of a program's dynamic symbols; `None` if it has none, or is no program at all.
pub fn dynamic_symbols(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let names = file.dynamic_symbols();
    let names: Vec<&[u8]> = names.filter_map(|one| one.name_bytes().ok()).collect();
    (!names.is_empty()).then_some(names)
}

/// A program or shared library, read.
pub struct Image {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Image {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Image, TwinError> {
        let bytes = std::fs::read(path).map_err(|error| TwinError::file(path, error))?;
        let image = Image {
            path: path.to_path_buf(),
            bytes,
        };
        image.elf()?;
        Ok(image)
    }

    fn elf(&self) -> Result<ElfFile64<'_, Endianness>, TwinError> {
        ElfFile64::parse(&*self.bytes).map_err(|_| TwinError::NotElf(self.path.clone()))
    }

    /// The bytes of a section; none if there is no such section.
    pub fn section(&self, name: &str) -> Result<&[u8], TwinError> {
        let file = self.elf()?;
        let Some(section) = file.section_by_name(name) else {
            return Ok(&[]);
        };
        section
            .data()
            .map_err(|_| TwinError::NotElf(self.path.clone()))
    }

    fn values<T: DeserializeOwned>(&self, section: &str) -> Result<Vec<T>, TwinError> {
        frame::read_all(self.section(section)?)
            .map_err(|error| TwinError::Frame(self.path.clone(), error))
    }

    /// Whether it has a site map.
    pub fn is_instrumented(&self) -> bool {
        self.section(SITES_SECTION)
            .is_ok_and(|bytes| !bytes.is_empty())
    }

    /// The site maps of its units.
    pub fn units(&self) -> Result<Vec<Unit>, TwinError> {
        self.values(SITES_SECTION)
    }

    /// The recipes of its units.
    pub fn recipes(&self) -> Result<Vec<Recipe>, TwinError> {
        let mut recipes: Vec<Recipe> = Vec::new();
        for recipe in self.values(RECIPE_SECTION)? {
            // Where the program is optimised at its link, the link keeps what its objects do.
            if !recipes.contains(&recipe) {
                recipes.push(recipe);
            }
        }
        Ok(recipes)
    }

    /// The control flow of its units.
    pub fn flows(&self) -> Result<Vec<UnitFlow>, TwinError> {
        self.values(FLOW_SECTION)
    }

    /// What the twins of its units are compiled from. Our own models of libc functions are
    /// left out: the twin calls libc itself.
    pub fn twins(&self) -> Result<Vec<Twin>, TwinError> {
        let units = self.units()?;
        let models: Vec<u64> = units
            .iter()
            .filter(|unit| is_model(unit))
            .map(|unit| unit.hash)
            .collect();
        let mut twins: Vec<Twin> = self.values(TWIN_SECTION)?;
        twins.retain(|twin| !models.contains(&twin.unit));
        Ok(twins)
    }

    /// The names of the functions that it defines; none if they were stripped.
    pub fn functions(&self) -> Vec<&[u8]> {
        functions(&self.bytes)
    }

    /// How it was linked.
    pub fn link(&self) -> Result<Link, TwinError> {
        let mut links: Vec<Link> = self.values(LINK_SECTION)?;
        // Without a record (linked by other means) it is linked of its units alone.
        Ok(links.pop().unwrap_or_default())
    }

    /// The name by which programs look for this library.
    pub fn library_name(&self) -> String {
        let file_name = || {
            self.path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        self.soname().unwrap_or_else(file_name)
    }

    fn soname(&self) -> Option<String> {
        let endian = Endianness::Little;
        let bytes = &*self.bytes;
        let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
        let sections = header.sections(endian, bytes).ok()?;
        let (entries, strings) = sections.dynamic(endian, bytes).ok()??;
        let strings = sections.strings(endian, bytes, strings).ok()?;
        let entry = entries
            .iter()
            .find(|entry| entry.tag32(endian) == Some(elf::DT_SONAME))?;
        let name = entry.string(endian, strings).ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    }
}

fn is_model(unit: &Unit) -> bool {
    unit.functions
        .iter()
        .any(|function| function.starts_with(model::PREFIX))
}

/// The names of the functions that an object file or program defines for others.
pub fn functions(bytes: &[u8]) -> Vec<&[u8]> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return Vec::new();
    };
    let is_function = |symbol: &object::read::elf::ElfSymbol64<'_, '_, Endianness>| {
        symbol.is_definition() && symbol.is_global() && symbol.kind() != object::SymbolKind::Data
    };
    let functions = file.symbols().filter(is_function);
    functions.filter_map(|one| one.name_bytes().ok()).collect()
}

/// Whether these are the bytes of an object file that is compiled once more: it has a recipe, or a site map.
pub fn is_compiled_again(bytes: &[u8]) -> bool {
    let file = ElfFile64::<Endianness>::parse(bytes);
    let has = |name| {
        file.as_ref()
            .is_ok_and(|file| file.section_by_name(name).is_some())
    };
    has(SITES_SECTION) || has(RECIPE_SECTION)
}

/// The values in a section of an object file; none if it has no such section.
pub fn values_of_object<T: DeserializeOwned>(bytes: &[u8], section: &str) -> Vec<T> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok();
    let section = file.as_ref().and_then(|it| it.section_by_name(section));
    let data = section.and_then(|section| section.data().ok());
    data.and_then(|data| frame::read_all(data).ok())
        .unwrap_or_default()
}
