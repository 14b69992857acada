//! What a program says about itself, and the shared libraries that it loads.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nearmiss_campaign::Capsule;
use nearmiss_sites::{Link, Sites};
use nearmiss_twin::TwinError;

use crate::contracts::LIBRARY_PATH;
use crate::error::EngineError;

/// An instrumented program.
#[derive(Debug)]
pub struct Program {
    /// The site maps of all its units and libraries.
    pub sites: Sites,
    /// Its shared libraries that are not part of the system.
    pub libraries: Vec<PathBuf>,
    /// Objects, sources and members of archives that it was linked of without instrumentation.
    pub uninstrumented: Vec<String>,
}

/// Looks at a program and its libraries without running it.
pub fn inspect(
    program: &Path,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Result<Program, EngineError> {
    let variables = loader_variables(environment, directory);
    inspect_with(program, &libraries(program, &variables, directory))
}

/// Whether a program is as the user's compiler made it: what is looked at is its recorder.
pub fn is_plain(program: &Path, environment: &[(OsString, OsString)], directory: &Path) -> bool {
    let variables = loader_variables(environment, directory);
    nearmiss_twin::can_be_recorded(program, &libraries(program, &variables, directory))
}

/// Looks at a program that loads these libraries, without running it.
pub fn inspect_with(program: &Path, libraries: &[PathBuf]) -> Result<Program, EngineError> {
    if !program.is_file() {
        return Err(EngineError::NoSuchProgram(program.to_path_buf()));
    }
    if nearmiss_twin::can_be_recorded(program, libraries) {
        return Ok(Program {
            sites: Sites::default(),
            libraries: libraries.to_vec(),
            uninstrumented: Vec::new(),
        });
    }
    let info = nearmiss_twin::inspect(program, libraries).map_err(|error| match error {
        TwinError::NotInstrumented(_) if nearmiss_twin::keeps_link(program) => {
            EngineError::Program(
                program.to_path_buf(),
                "no part of it, nor of its libraries, is C that nearmiss cc compiled".into(),
            )
        }
        TwinError::NotInstrumented(_) => EngineError::NotInstrumented(program.to_path_buf()),
        TwinError::NotElf(_) => EngineError::Program(
            program.to_path_buf(),
            "not a 64-bit ELF program: give the program itself, not a script around it".into(),
        ),
        TwinError::Frame(path, error) => EngineError::Program(path, error.to_string()),
        other => EngineError::Program(program.to_path_buf(), other.to_string()),
    })?;
    let refusal = nearmiss_twin::refusal(program).into_iter().collect();
    let parts = [
        refusal,
        uninstrumented(&info.link),
        info.plain_members,
        in_assembly(&info.sites),
    ];
    Ok(Program {
        sites: info.sites,
        libraries: info.libraries,
        uninstrumented: parts.concat(),
    })
}

/// The functions in assembly of units that are otherwise in C.
fn in_assembly(sites: &Sites) -> Vec<String> {
    let units = sites.units().filter(|unit| unit.has_assembly);
    let mut names: Vec<String> = units
        .map(|unit| format!("the assembly of {}", unit.source))
        .collect();
    names.sort();
    names
}

/// What a link records by name has no instrumentation: options and archives aside, that is
/// code of the program's own, in C or in assembly.
fn uninstrumented(link: &Link) -> Vec<String> {
    let is_code = |word: &&String| {
        let name = Path::new(word).extension().and_then(|name| name.to_str());
        !word.starts_with('-') && matches!(name, Some("o" | "c" | "s" | "S" | "sx"))
    };
    let shown = |word: &String| {
        let refusal = nearmiss_twin::refusal(Path::new(word));
        refusal.unwrap_or_else(|| word.clone())
    };
    link.arguments.iter().filter(is_code).map(shown).collect()
}

/// The libraries of a kept execution's program that are instrumented: where some run in the place of others, those.
pub fn libraries_of(capsule: &Capsule) -> Vec<PathBuf> {
    let variables = loader_variables(&capsule.environment, &capsule.directory);
    let loaded = libraries(&capsule.program, &variables, &capsule.directory);
    let stand_in = |path: PathBuf| {
        let canonical = path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut stand_ins = capsule.stand_ins.iter();
        let found = stand_ins.find(|stand_in| stand_in.path == canonical);
        found.map_or(path, |stand_in| stand_in.file.clone())
    };
    loaded.into_iter().map(stand_in).collect()
}

/// Directories of the system's own libraries.
const SYSTEM_LIBRARIES: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

/// The variables that may decide which libraries are loaded by a program that runs in `directory`; places that they
/// name from there are absolute.
pub fn loader_variables(
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Vec<(OsString, OsString)> {
    let is_read = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"LD_") || name == b"GLIBC_TUNABLES"
    };
    let read = environment.iter().filter(|(name, _)| is_read(name));
    let absolute = |(name, value): &(OsString, OsString)| {
        let value = match name == LIBRARY_PATH {
            true => absolute_places(value, directory),
            false => value.clone(),
        };
        (name.clone(), value)
    };
    read.map(absolute).collect()
}

/// A list of directories, each as it is seen from `directory`. An empty one is `directory` itself.
fn absolute_places(list: &OsStr, directory: &Path) -> OsString {
    let places = list
        .as_bytes()
        .split(|byte| matches!(byte, b':' | b';'))
        .map(|place| match place.first() {
            Some(b'/' | b'$') => place.to_vec(),
            _ => directory
                .join(OsStr::from_bytes(place))
                .into_os_string()
                .into_vec(),
        });
    OsString::from_vec(places.collect::<Vec<_>>().join(&b':'))
}

/// The instrumented libraries that a program loads with these variables in `directory`, as its dynamic loader says. A
/// program without a loader has no libraries, and must not be asked: it would simply run.
pub fn libraries(
    program: &Path,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Vec<PathBuf> {
    if !has_loader(program) {
        return Vec::new();
    }
    let mut loader = Command::new(program);
    // Its own directory may have been a temporary one.
    if directory.is_dir() {
        loader.current_dir(directory);
    }
    let output = loader
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(library_of_line)
        .filter(|path| {
            !SYSTEM_LIBRARIES
                .iter()
                .any(|prefix| path.starts_with(prefix))
        })
        .map(|path| directory.join(path))
        .filter(|path| may_be_instrumented(path))
        .collect()
}

/// Whether a library has site maps, or cannot be read, which is then an error of the program.
fn may_be_instrumented(library: &Path) -> bool {
    let inspected = nearmiss_twin::inspect(library, &[]);
    nearmiss_twin::has_recipes(library) || !matches!(inspected, Err(TwinError::NotInstrumented(_)))
}

/// `libx.so => /home/me/libx.so (0x00007f…)`, or `/home/me/libx.so (0x00007f…)` of one that is named by its path; the
/// path may be seen from the program's directory.
fn library_of_line(line: &str) -> Option<&str> {
    let place = line
        .split_once("=> ")
        .map_or(line.trim(), |(_, place)| place);
    let (path, _) = place.rsplit_once(" (0x")?;
    path.contains('/').then_some(path)
}

/// Whether an ELF file has a program header of type `PT_INTERP`.
fn has_loader(program: &Path) -> bool {
    const PT_INTERP: u32 = 3;
    let Ok(bytes) = fs::read(program) else {
        return false;
    };
    let number = |at: usize, size: usize| -> Option<u64> {
        let digits = bytes.get(at..at.checked_add(size)?)?;
        Some(
            digits
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
        )
    };
    let headers = || -> Option<bool> {
        let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let is_interpreter = |index: u64| {
            let at = usize::try_from(start.checked_add(index * size)?).ok()?;
            Some(number(at, 4)? == u64::from(PT_INTERP))
        };
        Some((0..count).any(|index| is_interpreter(index) == Some(true)))
    };
    bytes.starts_with(b"\x7fELF\x02\x01") && headers().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_loader() {
        let cases = [
            ("\tlinux-vdso.so.1 (0x00007ffd)", None),
            (
                "\tlibx.so => /home/me/a b/libx.so (0x00007f2a)",
                Some("/home/me/a b/libx.so"),
            ),
            ("\tlibx.so => not found", None),
            ("\t/home/me/libx.so (0x00007f2a)", Some("/home/me/libx.so")),
            ("\tlibx.so => ./libx.so (0x00007f2a)", Some("./libx.so")),
        ];
        for (line, expected) in cases {
            assert_eq!(library_of_line(line), expected);
        }
    }

    #[test]
    fn places_of_the_loader_are_absolute() {
        let seen = |list: &str| {
            let variables = [(LIBRARY_PATH.into(), list.into())];
            let read = loader_variables(&variables, Path::new("/home/me"));
            read[0].1.to_str().unwrap().to_string()
        };
        assert_eq!(seen("/a:$ORIGIN/b"), "/a:$ORIGIN/b");
        assert_eq!(seen("lib:/a"), "/home/me/lib:/a");
        assert_eq!(seen(".;"), "/home/me/.:/home/me/");
    }

    #[test]
    fn programs_that_are_none_of_ours() {
        let root = Path::new("/");
        let refusal = |path: &str| inspect(Path::new(path), &[], root).unwrap_err().to_string();
        assert_eq!(refusal("/no/such"), "/no/such: no such program");
        assert!(
            refusal("/bin/ls").contains("rebuild it with CC"),
            "{}",
            refusal("/bin/ls")
        );
        assert!(refusal("/etc/passwd").contains("not a 64-bit ELF"));
        assert!(has_loader(Path::new("/bin/ls")) && !has_loader(Path::new("/etc/passwd")));
    }
}
