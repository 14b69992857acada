//! How a program was linked, kept in the program itself: its sanitizer twin is linked alike.

use std::path::{Path, PathBuf};

use nearmiss_abi::site::{LINK_SECTION, SITES_SECTION};
use nearmiss_sites::frame;
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, FileFlags, SectionFlags, SectionKind, elf};

use crate::config::Language;
use crate::plan::{Link, LinkArgument};

/// The record of a link in `directory`. `uninstrumented` gives the source of a compilation
/// that had to do without instrumentation.
pub fn record(
    link: &Link,
    directory: &Path,
    language: Language,
    uninstrumented: &dyn Fn(usize) -> Option<String>,
) -> nearmiss_sites::Link {
    let absolute = |path: &str| match directory.join(path).into_os_string().into_string() {
        Ok(path) => path,
        // The directory is no text: relative to it the path is one.
        Err(_) => path.to_string(),
    };
    let mut arguments = Vec::new();
    if language == Language::Cplusplus {
        // clang then links what clang++ would.
        arguments.push("--driver-mode=g++".to_string());
    }
    for argument in &link.arguments {
        match argument {
            LinkArgument::Option(words) => arguments.extend(words.iter().cloned()),
            LinkArgument::Path(name, path) => arguments.push(format!("{name}{}", absolute(path))),
            LinkArgument::Source(path) => arguments.push(absolute(path)),
            LinkArgument::Linked(path) => {
                if !is_instrumented_object(&directory.join(path)) {
                    arguments.push(absolute(path));
                }
            }
            LinkArgument::Compiled(number) => {
                if let Some(source) = uninstrumented(*number) {
                    let words = ["-x", "c", &absolute(&source), "-x", "none"];
                    arguments.extend(words.map(str::to_string));
                }
            }
            LinkArgument::Silent(_) => {}
        }
    }
    nearmiss_sites::Link {
        directory: nearmiss_sites::Link::text_of(directory),
        arguments,
        shared: link.shared,
    }
}

/// What the command names to be linked without instrumentation: C sources, and object files. What is
/// in archives and libraries is not looked at here.
pub fn uninstrumented(
    link: &Link,
    directory: &Path,
    uninstrumented: &dyn Fn(usize) -> Option<String>,
) -> Vec<String> {
    let is_object = |path: &str| Path::new(path).extension().is_some_and(|end| end == "o");
    // Standard input cannot be read a second time.
    let is_c = |path: &str| path.ends_with(".c") || path == "-";
    let is_plain = |path: &str| is_object(path) && !is_instrumented_object(&directory.join(path));
    let name = |argument: &LinkArgument| match argument {
        LinkArgument::Source(path) => Some(path.clone()).filter(|path| is_c(path)),
        LinkArgument::Linked(path) => Some(path.clone()).filter(|path| is_plain(path)),
        LinkArgument::Compiled(number) => uninstrumented(*number),
        _ => None,
    };
    link.arguments.iter().filter_map(name).collect()
}

/// Whether this is an object file (not an archive or library) with a site map.
fn is_instrumented_object(path: &Path) -> bool {
    use object::{Object, ObjectKind};
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let Ok(file) = object::read::elf::ElfFile64::<Endianness>::parse(&*bytes) else {
        return false;
    };
    file.kind() == ObjectKind::Relocatable && file.section_by_name(SITES_SECTION).is_some()
}

/// An object file with the record. The section takes no memory in the program and survives
/// `--gc-sections`.
pub fn object_file(link: &nearmiss_sites::Link) -> Vec<u8> {
    let mut file = Object::new(
        BinaryFormat::Elf,
        Architecture::X86_64,
        object::Endianness::Little,
    );
    // Without that name of an operating system, linkers do not look at the flag below.
    file.flags = FileFlags::Elf {
        os_abi: elf::ELFOSABI_GNU,
        abi_version: 0,
        e_flags: 0,
    };
    let mut add = |name: &str, flags: u32, bytes: &[u8]| {
        let section = file.add_section(Vec::new(), name.into(), SectionKind::Other);
        file.section_mut(section).flags = SectionFlags::Elf {
            sh_flags: u64::from(flags),
        };
        file.append_section_data(section, bytes, 1);
    };
    add(LINK_SECTION, elf::SHF_GNU_RETAIN, &frame::write(link));
    // Without it a linker would make the stack executable.
    add(".note.GNU-stack", 0, &[]);
    file.write().expect("two sections make an object")
}

/// The archives that are linked into a program, in order.
pub fn archives(directory: &Path) -> Vec<PathBuf> {
    let models = directory.join(crate::config::MODELS_ARCHIVE);
    let runtime = directory.join(crate::config::RUNTIME_ARCHIVE);
    // The models are compiled by this driver itself: at that time they do not exist.
    models
        .exists()
        .then_some(models)
        .into_iter()
        .chain([runtime])
        .collect()
}
