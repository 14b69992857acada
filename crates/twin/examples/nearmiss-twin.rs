//! Builds a twin by hand: `nearmiss-twin PROGRAM DIRECTORY [LIBRARY…]`, with the archives in
//! `NEARMISS_HOME`. Compiled units are kept in `units` beside DIRECTORY.

use std::path::{Path, PathBuf};

use nearmiss_twin::{Config, Judge, TwinError, build, inspect};

fn main() {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [program, directory, libraries @ ..] = arguments.as_slice() else {
        eprintln!("usage: nearmiss-twin PROGRAM DIRECTORY [LIBRARY…]");
        std::process::exit(2);
    };
    if let Err(error) = run(program, directory, libraries) {
        eprintln!("nearmiss-twin: {error}");
        std::process::exit(2);
    }
}

fn run(program: &Path, directory: &Path, libraries: &[PathBuf]) -> Result<(), TwinError> {
    let config = Config {
        clang: "clang-19".into(),
        library_directory: std::env::var_os("NEARMISS_HOME").unwrap_or_default().into(),
        // Beside it, so that twins built side by side share their units.
        units: directory.with_file_name("units"),
        jobs: 2,
        quick: false,
    };
    let info = inspect(program, libraries)?;
    println!(
        "{} units, linked with {:?}",
        info.sites.units().count(),
        info.link.arguments
    );
    let twin = build(program, libraries, Judge::Address, directory, &config)?;
    println!("{} {:?}", twin.program.display(), twin.library_path);
    Ok(())
}
