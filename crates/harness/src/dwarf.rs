//! Reads debug information: every entry with the few attributes that matter here.
//!
//! Objects that are not linked yet have relocations in their debug sections; they are applied
//! first, all sections being at address 0.

use std::borrow::Cow;
use std::collections::HashMap;

use gimli::{AttributeValue, EndianSlice, LittleEndian};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use crate::HarnessError;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// An entry of the debug information.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub tag: u16,
    pub name: Option<String>,
    /// The entry with the type: an index into the list of all entries.
    pub of: Option<usize>,
    pub size: Option<u64>,
    pub encoding: u64,
    /// How many elements.
    pub count: Option<u64>,
    pub offset: u64,
    pub bit_size: Option<u64>,
    /// Bits from the start of the record.
    pub bit_offset: Option<u64>,
    /// Bits from the most significant one of the storage unit: DWARF 3.
    pub old_bit_offset: Option<u64>,
    pub number: Option<i128>,
    /// A constant that is a text.
    pub text: Option<String>,
    pub declaration: bool,
    pub prototyped: bool,
    pub external: bool,
    /// Whether it lies at a fixed address.
    pub is_static: bool,
    /// Where it is declared: the file, with the directory of the compiler before it, and the line.
    pub declared: Option<(String, u32)>,
    /// An entry that says more.
    pub specification: Option<usize>,
    pub children: Vec<usize>,
    pub parent: Option<usize>,
}

/// All entries of an object, in their order.
pub(crate) fn entries(object: &[u8]) -> Result<Vec<Entry>, HarnessError> {
    let file = object::File::parse(object)
        .map_err(|error| HarnessError(format!("not an object file: {error}")))?;
    let sections = gimli::DwarfSections::load(|id| section(&file, id.name()))?;
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
    let entries =
        read(&dwarf).map_err(|error| HarnessError(format!("debug information: {error}")))?;
    if entries.is_empty() {
        return Err(HarnessError("no debug information: compile with -g".into()));
    }
    Ok(entries)
}

/// A section's bytes, relocated.
fn section<'a>(file: &object::File<'a>, name: &str) -> Result<Cow<'a, [u8]>, HarnessError> {
    let Some(section) = file.section_by_name(name) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let bytes = section
        .uncompressed_data()
        .map_err(|error| HarnessError(format!("{name}: {error}")))?;
    let mut relocations = section.relocations().peekable();
    if relocations.peek().is_none() {
        return Ok(bytes);
    }
    let mut bytes = bytes.into_owned();
    for (offset, relocation) in relocations {
        let RelocationTarget::Symbol(symbol) = relocation.target() else {
            continue;
        };
        let address = file.symbol_by_index(symbol).map_or(0, |s| s.address());
        let value = address
            .wrapping_add_signed(relocation.addend())
            .to_le_bytes();
        let size = usize::from(relocation.size() / 8).min(8);
        let place = bytes.get_mut(offset as usize..offset as usize + size);
        if let Some(place) = place {
            place.copy_from_slice(&value[..size]);
        }
    }
    Ok(Cow::Owned(bytes))
}

fn read(dwarf: &gimli::Dwarf<Slice<'_>>) -> gimli::Result<Vec<Entry>> {
    let mut all = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        if is_ours(&unit)? {
            continue;
        }
        let mut cursor = unit.entries();
        let mut ancestors: Vec<usize> = Vec::new();
        let mut depth = 0isize;
        while let Some((delta, entry)) = cursor.next_dfs()? {
            depth += delta;
            ancestors.truncate(depth as usize);
            let place = entry.offset().to_unit_section_offset(&unit);
            places.insert(section_offset(place), all.len());
            let mut new = attributes(dwarf, &unit, entry)?;
            new.parent = ancestors.last().copied();
            if let Some(parent) = new.parent {
                let number = all.len();
                let parent: &mut Entry = &mut all[parent];
                parent.children.push(number);
            }
            ancestors.push(all.len());
            all.push(new);
        }
    }
    for entry in &mut all {
        entry.of = entry.of.and_then(|place| places.get(&place).copied());
        let more = entry.specification;
        entry.specification = more.and_then(|place| places.get(&place).copied());
    }
    Ok(all)
}

/// Whether a unit is of the runtime, which every instrumented program has in it: that is not in C.
fn is_ours(unit: &gimli::Unit<Slice<'_>>) -> gimli::Result<bool> {
    let mut entries = unit.entries();
    let Some((_, root)) = entries.next_dfs()? else {
        return Ok(false);
    };
    let language = root.attr_value(gimli::DW_AT_language)?;
    Ok(language == Some(AttributeValue::Language(gimli::DW_LANG_Rust)))
}

fn section_offset(offset: gimli::UnitSectionOffset) -> usize {
    match offset {
        gimli::UnitSectionOffset::DebugInfoOffset(offset) => offset.0,
        gimli::UnitSectionOffset::DebugTypesOffset(offset) => offset.0,
    }
}

fn attributes(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    entry: &gimli::DebuggingInformationEntry<'_, '_, Slice<'_>>,
) -> gimli::Result<Entry> {
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let reference = |value| match value {
        AttributeValue::UnitRef(offset) => {
            Some(section_offset(offset.to_unit_section_offset(unit)))
        }
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    };
    let flag = |value| value != AttributeValue::Flag(false);
    let mut new = Entry {
        tag: entry.tag().0,
        ..Entry::default()
    };
    let (mut file, mut line) = (None, 0);
    let mut attributes = entry.attrs();
    while let Some(attribute) = attributes.next()? {
        let value = attribute.value();
        match attribute.name() {
            gimli::DW_AT_name => new.name = text(value),
            gimli::DW_AT_type => new.of = reference(value),
            gimli::DW_AT_byte_size => new.size = attribute.udata_value(),
            gimli::DW_AT_encoding => new.encoding = encoding(&value),
            gimli::DW_AT_count => new.count = attribute.udata_value(),
            gimli::DW_AT_upper_bound => {
                new.count = attribute.udata_value().map(|last| last.wrapping_add(1))
            }
            gimli::DW_AT_data_member_location => new.offset = attribute.udata_value().unwrap_or(0),
            gimli::DW_AT_bit_size => new.bit_size = attribute.udata_value(),
            gimli::DW_AT_data_bit_offset => new.bit_offset = attribute.udata_value(),
            gimli::DW_AT_bit_offset => new.old_bit_offset = attribute.udata_value(),
            gimli::DW_AT_const_value => {
                new.number = number(&value);
                new.text = text(value);
            }
            gimli::DW_AT_decl_file => file = declaring_file(dwarf, unit, &value),
            gimli::DW_AT_decl_line => line = attribute.udata_value().unwrap_or(0) as u32,
            gimli::DW_AT_declaration => new.declaration = flag(value),
            gimli::DW_AT_prototyped => new.prototyped = flag(value),
            gimli::DW_AT_external => new.external = flag(value),
            gimli::DW_AT_location => new.is_static = is_address(&value),
            gimli::DW_AT_specification | gimli::DW_AT_abstract_origin => {
                new.specification = reference(value);
            }
            _ => {}
        }
    }
    new.declared = file.map(|file| (file, line));
    Ok(new)
}

/// The file that an entry is declared in, with its directories.
fn declaring_file(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    value: &AttributeValue<Slice<'_>>,
) -> Option<String> {
    let AttributeValue::FileIndex(index) = value else {
        return None;
    };
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(*index)?;
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let mut path = std::path::PathBuf::from(unit.comp_dir?.to_string_lossy().into_owned());
    path.extend(file.directory(header).and_then(text));
    path.push(text(file.path_name())?);
    Some(path.to_string_lossy().into_owned())
}

/// Whether a location begins with an address.
fn is_address(value: &AttributeValue<Slice<'_>>) -> bool {
    let AttributeValue::Exprloc(expression) = value else {
        return false;
    };
    let first = expression.0.first().map(|byte| gimli::DwOp(*byte));
    matches!(first, Some(gimli::DW_OP_addr | gimli::DW_OP_addrx))
}

fn encoding(value: &AttributeValue<Slice<'_>>) -> u64 {
    match value {
        AttributeValue::Encoding(encoding) => u64::from(encoding.0),
        other => other.udata_value().unwrap_or(0),
    }
}

fn number(value: &AttributeValue<Slice<'_>>) -> Option<i128> {
    match value {
        AttributeValue::Sdata(number) => Some(i128::from(*number)),
        AttributeValue::Udata(number) => Some(i128::from(*number)),
        other => other.udata_value().map(i128::from),
    }
}
