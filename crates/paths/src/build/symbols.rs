//! What an object file defines and needs.

use std::collections::BTreeSet;
use std::path::Path;

use nearmiss_abi::site::SITES_SECTION;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags, SymbolKind, elf};

/// The functions that an object defines, static ones too.
pub fn functions(bytes: &[u8]) -> BTreeSet<String> {
    defined(bytes, &[SymbolKind::Text])
}

/// The variables that an object defines, static ones too.
pub fn variables(bytes: &[u8]) -> BTreeSet<String> {
    defined(bytes, &[SymbolKind::Data, SymbolKind::Tls])
}

fn defined(bytes: &[u8], kinds: &[SymbolKind]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return BTreeSet::new();
    };
    file.symbols()
        .filter(|symbol| symbol.is_definition() && kinds.contains(&symbol.kind()))
        .filter_map(|symbol| symbol.name().ok().map(str::to_string))
        .collect()
}

/// The functions and variables that other objects can use.
pub fn exported(bytes: &[u8]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return BTreeSet::new();
    };
    file.symbols()
        .filter(|symbol| (symbol.is_definition() || symbol.is_common()) && symbol.is_global())
        .filter_map(|symbol| symbol.name().ok().map(str::to_string))
        .collect()
}

/// Names that an object calls without defining them: those are functions for sure.
pub fn called(bytes: &[u8]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return BTreeSet::new();
    };
    let mut names = BTreeSet::new();
    for section in file.sections() {
        for (_, relocation) in section.relocations() {
            let is_call = matches!(
                relocation.flags(),
                RelocationFlags::Elf {
                    r_type: elf::R_X86_64_PLT32
                }
            );
            if let (true, object::RelocationTarget::Symbol(index)) = (is_call, relocation.target())
                && let Ok(symbol) = file.symbol_by_index(index)
                && symbol.is_undefined()
                && let Ok(name) = symbol.name()
            {
                names.insert(name.to_string());
            }
        }
    }
    names
}

/// Whether the object was compiled with instrumentation.
pub fn is_instrumented(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    ElfFile64::<Endianness>::parse(&*bytes)
        .is_ok_and(|file| file.section_by_name(SITES_SECTION).is_some())
}
