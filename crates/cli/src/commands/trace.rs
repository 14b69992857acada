//! `nearmiss trace dump`.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nearmiss_trace::RawTrace;

/// Prints a trace, with places if its program is still there.
pub fn dump(file: &Path) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let raw = RawTrace::open(file).map_err(|error| failed(&error))?;
    let program = Path::new(OsStr::from_bytes(raw.program()));
    let sites = nearmiss_twin::sites_of(program);
    let mut out = BufWriter::new(io::stdout().lock());
    let written = nearmiss_trace::dump::dump(&raw, &sites, &mut out).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}
