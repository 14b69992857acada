//! Links: the record that a program keeps of its own, and what a link gets beside the user's words.

use std::path::Path;

use nearmiss_abi::site::{LINK_SECTION, RECIPE_SECTION, SITES_SECTION};
use nearmiss_sites::{frame, recipe::Recipe};
use object::write::Object;
use object::{Architecture, BinaryFormat, FileFlags, SectionFlags, SectionKind, elf};

use crate::command::{Argument, Command, InputKind};
use crate::config::{Config, Language};
use crate::elf::is_object_with;
use crate::options::Role;

/// The capture library; beside it lies the list of the functions that are captured, as words of a linker.
const CAPTURE: &str = "libnearmiss_capture.a";
/// The library that has the words of harnesses.
const WORDS: &str = "libnearmiss_words.a";

/// Sections of objects that are compiled once more.
const COMPILED_AGAIN: [&str; 2] = [RECIPE_SECTION, SITES_SECTION];

/// The record of a link in `directory`: objects that are compiled once more, from a recipe or from the bitcode that they
/// keep, are left out.
pub fn record(command: &Command, directory: &Path, language: Language) -> nearmiss_sites::Link {
    let mut arguments = Vec::new();
    if language == Language::Cplusplus {
        // clang then links what clang++ would.
        arguments.push("--driver-mode=g++".to_string());
    }
    for argument in &command.arguments {
        arguments.extend(recorded(argument, directory));
    }
    nearmiss_sites::Link {
        directory: nearmiss_sites::Link::text_of(directory),
        arguments,
        shared: command.has(Role::Shared),
    }
}

/// The words of a link's record for an argument.
fn recorded(argument: &Argument, directory: &Path) -> Vec<String> {
    let absolute = |path: &str| match directory.join(path).into_os_string().into_string() {
        Ok(path) => path,
        // The directory is no text: relative to it the path is one.
        Err(_) => path.to_string(),
    };
    let word = argument.words[0].as_str();
    match (argument.role, &argument.input) {
        (Role::Input, Some(input)) => match (input.kind, &input.language) {
            (InputKind::Instrumented, _) => Vec::new(),
            (InputKind::Linked, _) if is_object_with(&directory.join(word), &COMPILED_AGAIN) => {
                Vec::new()
            }
            (InputKind::Plain, Some(language)) => {
                let words = ["-x", language, &absolute(word), "-x", "none"];
                words.map(str::to_string).to_vec()
            }
            _ => vec![absolute(word)],
        },
        (Role::LinkPath, _) => vec![format!("{}{}", &word[..2], absolute(&argument.value))],
        (
            Role::Language
            | Role::Output
            | Role::Aside
            | Role::Temporaries
            | Role::Dropped
            | Role::Dependencies
            | Role::DependencyFile
            | Role::DependencyTarget
            | Role::DependencyDetail,
            _,
        ) => Vec::new(),
        _ => argument.words.clone(),
    }
}

/// An object file with the record of a link and the recipes of sources that it compiles on the way.
pub fn object_file(link: &nearmiss_sites::Link, recipes: &[Recipe]) -> Vec<u8> {
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
    // It survives `--gc-sections`.
    add(LINK_SECTION, elf::SHF_GNU_RETAIN, &frame::write(link));
    if !recipes.is_empty() {
        let recipes: Vec<u8> = recipes.iter().flat_map(frame::write).collect();
        add(RECIPE_SECTION, elf::SHF_GNU_RETAIN, &recipes);
    }
    // Without it a linker would make the stack executable.
    add(".note.GNU-stack", 0, &[]);
    file.write().expect("a few sections make an object")
}

/// The words by which a link takes the object with its record.
pub fn record_words(command: &Command, record: &Path) -> Vec<String> {
    let file = record.to_string_lossy().into_owned();
    match command.has(Role::Language) {
        true => vec!["-x".to_string(), "none".to_string(), file],
        false => vec![file],
    }
}

/// The words that a link gets behind the user's own: the object with its record, and the capture library.
pub fn additions(command: &Command, record: &Path, config: &Config) -> Vec<String> {
    let mut words = record_words(command, record);
    if !has_libc(command) {
        return words;
    }
    let harness = config.library_directory.join(WORDS);
    if harness.exists() {
        words.push(harness.to_string_lossy().into_owned());
    }
    let library = config.library_directory.join(CAPTURE);
    if library.exists() {
        words.extend(captures(command, &library, config.language));
    }
    if names_libc(command) {
        words.push("-lc".to_string());
    }
    words
}

/// The words by which a link takes the capture library (docs/architecture.md, "By the linker"): the system's archives
/// call functions that are captured, too.
fn captures(command: &Command, library: &Path, language: Language) -> Vec<String> {
    let text = library.to_string_lossy();
    let list = format!("-Wl,@{}", library.with_extension("wrap").to_string_lossy());
    let has = |words: &[&str]| {
        let mut all = command
            .arguments
            .iter()
            .map(|argument| argument.words[0].as_str());
        all.any(|word| words.contains(&word))
    };
    let is_static = has(&["-static", "--static", "-static-pie"]);
    let is_cplusplus = language == Language::Cplusplus;
    let is_lld = command.with(Role::Link).any(|argument| {
        argument.words[0].starts_with("-fuse-ld=") && argument.value.contains("lld")
    });
    let is_sanitized = command.with(Role::Aside).next().is_some();
    let how = match () {
        () if is_lld && (is_static || is_sanitized) => {
            let whole = library.with_file_name("libnearmiss_capture_whole.a");
            format!(
                "-Wl,--whole-archive,{},--no-whole-archive",
                whole.to_string_lossy()
            )
        }
        () if is_static && is_cplusplus => {
            format!("-Wl,--start-group,{text},-lstdc++,-lm,-lc,-lgcc,-lgcc_eh,--end-group")
        }
        () if is_static => format!("-Wl,--start-group,{text},-lc,--end-group"),
        () if is_cplusplus && has(&["-static-libstdc++"]) => {
            format!("-Wl,--start-group,{text},-Bstatic,-lstdc++,-Bdynamic,--end-group")
        }
        () => text.into_owned(),
    };
    vec![list, how]
}

/// Whether the program has a C library.
fn has_libc(command: &Command) -> bool {
    !stands_alone(command) || names_libc(command)
}

/// Whether the user's words stand for all libraries.
fn stands_alone(command: &Command) -> bool {
    let bare = ["-nostdlib", "-nodefaultlibs", "-nolibc"];
    let mut words = command.arguments.iter().map(|argument| &argument.words[0]);
    words.any(|word| bare.contains(&word.as_str()))
}

/// Whether libc must be named again behind the capture library.
fn names_libc(command: &Command) -> bool {
    stands_alone(command)
        && command
            .with(Role::Library)
            .any(|library| library.value == "c")
}
