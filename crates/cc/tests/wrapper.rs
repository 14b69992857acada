//! The wrapper leaves the files, messages and statuses of the compiler that it wraps: each command line is run by both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_abi::site::{LINK_SECTION, RECIPE_SECTION};
use nearmiss_cc::{Config, Language, main_with};
use nearmiss_sites::frame;
use nearmiss_sites::recipe::Recipe;
use object::{Object, ObjectSection, SectionFlags};
use tempfile::TempDir;

/// The words of the wrapper's command line, in the process that is it.
const ARGUMENTS: &str = "WRAPPER_ARGUMENTS";
/// The compiler that it wraps.
const COMPILER: &str = "WRAPPER_COMPILER";

/// Not a test: the wrapper itself, in a process of its own.
#[test]
fn as_wrapper() {
    let Some(words) = std::env::var_os(ARGUMENTS) else {
        return;
    };
    let words = words.into_string().unwrap();
    let words = words.split('\x1f').filter(|word| !word.is_empty());
    let words: Vec<OsString> = words.map(OsString::from).collect();
    let config = Config {
        compiler: vec![std::env::var(COMPILER).unwrap()],
        language: Language::C,
        library_directory: PathBuf::from("/nowhere"),
        variables: Vec::new(),
        keeps_sources: true,
    };
    std::process::exit(main_with(&words, &config));
}

const FILES: [(&str, &str); 10] = [
    (
        "a.c",
        "#include \"inc/a.h\"\n#include <stdio.h>\nint f(int);\nint main(void) { return f(A); }\n",
    ),
    ("b.c", "int f(int x) { return x - 7; }\n"),
    ("inc/a.h", "#define A 7\n"),
    ("bad.c", "int main(void) { return 0 }\n"),
    ("warns.c", "static int unused(void) { return 1; }\nint x;\n"),
    (
        "broken_link.c",
        "int g(void);\nint main(void) { return g(); }\n",
    ),
    ("s.s", ".globl s\ns: ret\n"),
    ("c.cc", "extern \"C\" int f(int x) { return x; }\n"),
    ("words", "-DX=1 -c b.c\n"),
    ("o/keep", ""),
];

/// Two directories with the same files, one for the wrapper and one for the compiler alone.
struct Places {
    root: TempDir,
    compiler: &'static str,
}

impl Places {
    fn new(compiler: &'static str) -> Places {
        let root = tempfile::tempdir().unwrap();
        for side in ["ours", "theirs", "tmp"] {
            for (name, text) in FILES {
                let path = root.path().join(side).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                if side != "tmp" {
                    fs::write(path, text).unwrap();
                }
            }
        }
        Places { root, compiler }
    }

    fn side(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs a command line in one of the directories, as if both had the same name.
    fn run(&self, side: &str, words: &[&str]) -> Output {
        let mut command = match side {
            "ours" => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command
                    .args(["as_wrapper", "--exact", "--nocapture", "--quiet"])
                    .env(ARGUMENTS, words.join("\x1f"))
                    .env(COMPILER, self.compiler);
                command
            }
            _ => {
                let mut command = Command::new(self.compiler);
                command.args(words);
                command
            }
        };
        let temporary = self.side("tmp");
        command
            .current_dir(self.side(side))
            .env("TMPDIR", &temporary);
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// Runs a command line on both sides, which must agree on all that a build can see.
    fn both(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let (ours, theirs) = (self.run("ours", &words), self.run("theirs", &words));
        assert_eq!(ours.status.code(), theirs.status.code(), "{line}: {ours:?}");
        assert_eq!(said(&ours.stderr), said(&theirs.stderr), "{line}");
        assert_eq!(self.files("ours"), self.files("theirs"), "{line}");
    }

    /// The files of a side, and what of each must be the same.
    fn files(&self, side: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let root = self.side(side);
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => directories.push(path),
                    false => {
                        let content = comparable(&fs::read(&path).unwrap());
                        files.insert(path.strip_prefix(&root).unwrap().into(), content);
                    }
                }
            }
        }
        files
    }
}

/// Messages without the names of temporary files, which differ from run to run.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let word = |word: &str| match word.contains("/tmp/") {
        true => "TEMPORARY".to_string(),
        false => word.to_string(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Of ELF files what is loaded, under which names; all of any other file.
fn comparable(content: &[u8]) -> Vec<u8> {
    let Ok(file) = object::File::parse(content) else {
        return content.to_vec();
    };
    let mut loaded = Vec::new();
    for section in file.sections() {
        let is_loaded = match section.flags() {
            SectionFlags::Elf { sh_flags } => sh_flags & 2 != 0,
            _ => false,
        };
        // A build's number is made of all of the file.
        if is_loaded && !section.name().unwrap().contains("build-id") {
            loaded.extend(section.name().unwrap().bytes());
            loaded.extend(section.uncompressed_data().unwrap().iter());
        }
    }
    loaded
}

const LINES: &[&str] = &[
    "-c a.c",
    "-g -O2 -c a.c -o o/a.o",
    "-c a.c b.c",
    "-c bad.c",
    "-Wall -c warns.c",
    "-Wall -Werror -c warns.c",
    "-c nothing.c",
    "-E a.c",
    "-S a.c",
    "-M a.c",
    "-MD -c a.c",
    "-MMD -MF o/deps -MT target -c a.c",
    "-MD -MP -c a.c -o o/a.o",
    "-Wp,-MD,o/a.d -c a.c",
    "-c s.s",
    "-c c.cc",
    "@words",
    "-save-temps -c b.c",
    "-fsyntax-only a.c",
    "-c -x c /dev/null",
    "a.c b.c -o program",
    "a.c b.c",
    "a.c bad.c -o program",
    "broken_link.c -o program",
    "-shared -fPIC b.c -o libb.so",
    "-c -fPIC b.c -o b.o",
    "-shared b.o -o libb.so",
    "b.o missing.o -o program",
    "-r b.o -o partial.o",
    "a.c partial.o -o program",
    "-c -fsanitize=undefined b.c",
    "-static a.c b.c -o program",
    "-ffunction-sections -Wl,--gc-sections -s a.c b.c -o program",
    "-x c a.c b.c -o program",
    "--version",
    "-dumpversion",
    "",
    "-c",
    "-o",
    "-c a.c -o",
    "-c a.c -funknown-option",
];

#[test]
fn gcc_is_gcc() {
    let places = Places::new("gcc");
    LINES.iter().for_each(|line| places.both(line));
    assert_eq!(places.files("tmp").len(), 0, "temporary files are left");
}

#[test]
fn clang_is_clang() {
    let places = Places::new("clang-19");
    LINES.iter().for_each(|line| places.both(line));
}

fn section(path: &Path, name: &str) -> Option<Vec<u8>> {
    let content = fs::read(path).unwrap();
    let file = object::File::parse(&*content).unwrap();
    let section = file.section_by_name(name)?;
    Some(section.data().unwrap().to_vec())
}

fn recipes(path: &Path) -> Vec<Recipe> {
    let section = section(path, RECIPE_SECTION).unwrap_or_default();
    frame::read_all(&section).unwrap()
}

#[test]
fn objects_and_programs_keep_what_they_were_made_of() {
    let places = Places::new("gcc");
    let ours = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let output = places.run("ours", &words);
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    let file = |name: &str| places.side("ours").join(name);
    ours("-DX=1 -c a.c -o a.o");
    ours("-MMD -c b.c -o b.o");
    let [recipe] = &recipes(&file("a.o"))[..] else {
        panic!("one recipe");
    };
    assert_eq!(recipe.source, "a.c");
    assert_eq!(recipe.arguments, ["-DX=1", "-c", "a.c", "-o", "a.o"]);
    let content = |name: &str| {
        let file = recipe.files.iter().find(|file| file.path == name);
        file.and_then(|file| file.content.as_ref())
            .map(|it| it.0.clone())
    };
    assert_eq!(content("a.c").unwrap(), FILES[0].1.as_bytes());
    assert_eq!(content("inc/a.h").unwrap(), FILES[2].1.as_bytes());
    let is_stdio = |path: &str| path == "/usr/include/stdio.h";
    let header = recipe
        .files
        .iter()
        .find(|file| is_stdio(&file.path))
        .unwrap();
    assert!(header.content.is_none() && header.digest != 0);
    ours("a.o b.o -lm -o program");
    let sources = |path: &Path| -> Vec<String> {
        let recipes = recipes(path).into_iter();
        recipes.map(|recipe| recipe.source).collect()
    };
    assert_eq!(sources(&file("program")), ["a.c", "b.c"]);
    let link = section(&file("program"), LINK_SECTION).unwrap();
    let links: Vec<nearmiss_sites::Link> = frame::read_all(&link).unwrap();
    assert_eq!(links[0].arguments, ["-lm"]);
    // A shared library keeps recipes of its own, and stays what a program is linked with.
    ours("-shared -fPIC b.o -o libb.so");
    ours("a.o libb.so -o with_library");
    let link = section(&file("with_library"), LINK_SECTION).unwrap();
    let links: Vec<nearmiss_sites::Link> = frame::read_all(&link).unwrap();
    let library = file("libb.so").to_str().unwrap().to_string();
    assert_eq!(links[0].arguments, [library]);
    assert_eq!(sources(&file("with_library")), ["a.c"]);
    ours("a.c b.c -o at_once");
    let mut at_once = sources(&file("at_once"));
    at_once.sort();
    assert_eq!(at_once, ["a.c", "b.c"]);
    ours("--no-source -c a.c -o secret.o");
    let secret = &recipes(&file("secret.o"))[0];
    assert!(secret.files.iter().all(|file| file.content.is_none()));
    // Two builds give the same bytes.
    let first = fs::read(file("a.o")).unwrap();
    ours("-DX=1 -c a.c -o a.o");
    assert_eq!(first, fs::read(file("a.o")).unwrap());
}
