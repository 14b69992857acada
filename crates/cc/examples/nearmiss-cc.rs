//! The driver alone, for trying it out: `nearmiss-cc -c x.c`.

use std::path::Path;
use std::process::ExitCode;

use nearmiss_cc::{Config, main_with};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let directory =
        std::env::var_os("NEARMISS_HOME").expect("NEARMISS_HOME: where the executables are");
    match Config::from_lookup(Path::new(&directory), |name| std::env::var(name).ok()) {
        Ok(config) => ExitCode::from(main_with(&arguments, &config) as u8),
        Err(_) => ExitCode::from(2),
    }
}
