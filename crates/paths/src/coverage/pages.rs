//! An object that is linked before and behind all others: a page of nothing on both sides of the counters.
//!
//! What else is in the program's data then shares no page with them. And the word by which a program says that it
//! writes its profile itself, not at exit: not in the archive, where it would be found by the twins of programs
//! that have a profile of their own. The object is written here because starting an assembler takes longer than all of it.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};

/// The sections that counters are in, and those of the tables that decisions are in.
const SECTIONS: [&str; 2] = ["__llvm_prf_cnts", "__llvm_prf_bits"];
const PAGE: u64 = 4096;
/// Only its name matters.
const OWN_PROFILE: &str = "__llvm_profile_runtime";

/// The object file.
pub fn object_file() -> Vec<u8> {
    let mut file = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    for name in SECTIONS {
        let section = file.add_section(Vec::new(), name.into(), SectionKind::Data);
        file.append_section_data(section, &[0; PAGE as usize], PAGE);
    }
    let data = file.section_id(StandardSection::Data);
    let symbol = file.add_symbol(Symbol {
        name: OWN_PROFILE.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Data,
        scope: SymbolScope::Dynamic,
        weak: true,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    file.add_symbol_data(symbol, data, &[0; 4], 4);
    let stack = file.add_section(Vec::new(), ".note.GNU-stack".into(), SectionKind::Other);
    // Without it a linker would make the stack executable.
    file.section_mut(stack).flags = SectionFlags::Elf { sh_flags: 0 };
    file.write().expect("a few sections make an object")
}
