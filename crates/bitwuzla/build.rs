//! Compiles Bitwuzla from the sources in the crate `bitwuzla-sys`, against the CaDiCaL of the
//! crate `cadical`. Cargo has fetched both as ordinary dependencies; nothing is downloaded
//! here. The system has to have GMP and symfpu (Debian: libgmp-dev, libsymfpu-dev).

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "build/locate.rs"]
mod locate;

/// Parts of Bitwuzla that we leave out: its program, its parsers (but for a part that its printer uses), other bindings, and the
/// SAT solvers that are not there.
const LEFT_OUT: &[&str] = &[
    "main",
    "parser/btor2",
    "parser/smt2/parser.cpp",
    "api/python",
    "api/c/parser.cpp",
    "api/cpp/parser.cpp",
    "sat/cryptominisat.cpp",
    "sat/kissat.cpp",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=CLIPPY_ARGS");
    if env::var_os("CLIPPY_ARGS").is_some() {
        // Lints link nothing: compiling the solver once more would take longer than all of them.
        return;
    }
    let bitwuzla = locate::package("bitwuzla-sys", "0.8.0").join("bitwuzla");
    let cadical = locate::package("cadical", "0.1.16").join("cadical");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (stamp, made_of) = (out.join("made-of"), made_of(&bitwuzla, &cadical));
    if !fs::read_to_string(&stamp).is_ok_and(|found| found == made_of) {
        compile(&bitwuzla, &cadical, &out);
        fs::write(&stamp, made_of).expect("OUT_DIR can be written");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=nearmiss_bitwuzla");
    println!("cargo:rustc-link-lib=stdc++");
    println!("cargo:rustc-link-lib=gmp");
}

/// What the library in OUT_DIR depends on. Cargo runs this again after each run of the linter, whose environment differs:
/// compiling takes minutes, and nothing has changed.
fn made_of(bitwuzla: &Path, cadical: &Path) -> String {
    let ours = ["build.rs", "build/locate.rs", "shim/cadical.cpp"];
    let ours = ours.map(|file| fs::read_to_string(file).expect("our own sources can be read"));
    let compiler = env::var("CXX").unwrap_or_default();
    let paths = format!(
        "{}\n{}\n{compiler}\n",
        bitwuzla.display(),
        cadical.display()
    );
    paths + &ours.concat()
}

fn compile(bitwuzla: &Path, cadical: &Path, out: &Path) {
    let sources = bitwuzla.join("src");
    write_config(&sources.join("config.h.in"), &out.join("config.h"));
    let mut files = Vec::new();
    collect(&sources, &sources, &mut files);
    files.sort();
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .cargo_metadata(false)
        .define("NDEBUG", None)
        .define("HAVE_RUSAGE", None)
        .include(bitwuzla.join("include"))
        .include(&sources)
        .include(sources.join("lib"))
        .include(cadical.join("src"))
        .include(out)
        .files(files)
        .file("shim/cadical.cpp")
        .compile("nearmiss_bitwuzla");
}

/// Every C++ file under `directory` that is not left out.
fn collect(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        let inside = path.strip_prefix(root).expect("paths are under the root");
        if LEFT_OUT.iter().any(|part| inside == Path::new(part)) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "cpp") {
            files.push(path);
        }
    }
}

/// Fills in Bitwuzla's template of a configuration header; its texts are shown by nobody.
fn write_config(template: &Path, target: &Path) {
    let mut text = fs::read_to_string(template).expect("Bitwuzla's config.h.in is there");
    for (name, value) in [
        ("is_debug_build", "false"),
        ("is_dev_version", "false"),
        ("is_git_version", "false"),
        ("git_id", ""),
        ("version", "0.8.0"),
        ("license", "MIT"),
        ("os", ""),
        ("cc", ""),
        ("cxx", ""),
    ] {
        text = text.replace(&format!("@{name}@"), value);
    }
    fs::write(target, text).expect("OUT_DIR can be written");
}
