//! Source lines for the stack traces of a twin.
//!
//! AddressSanitizer would start a symbolizer of its own for each report, which takes many times
//! as long as the run itself. Here one symbolizer serves all reports. It reads the twin's own
//! modules and the C library only: what else a report names may be the program's invention.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use nearmiss_sandbox::StandIn;
use nearmiss_twin::TwinProgram;

use crate::complaint::REPORT;

/// What turns addresses into source lines.
const SYMBOLIZERS: [&str; 3] = [
    "/usr/bin/llvm-symbolizer-19",
    "/usr/lib/llvm-19/bin/llvm-symbolizer",
    "/usr/bin/llvm-symbolizer",
];

/// The symbolizer of this machine.
pub fn symbolizer() -> Option<&'static str> {
    let mut known = SYMBOLIZERS.into_iter();
    known.find(|path| Path::new(path).exists())
}

/// A report with source lines in its stack traces, as AddressSanitizer itself would print them.
/// Modules go by the paths that they stood in for.
pub fn symbolize(report: Vec<u8>, twin: &TwinProgram, stand_ins: &[StandIn]) -> Vec<u8> {
    let text = String::from_utf8_lossy(&report);
    let signs = ["ERROR: AddressSanitizer", ": runtime error: ", REPORT];
    if !signs.iter().any(|sign| text.contains(sign)) {
        return report;
    }
    let program = fs::canonicalize(&twin.program).unwrap_or_else(|_| twin.program.clone());
    let is_own = |module: &str| {
        let module = Path::new(module);
        let libraries = twin.library_path.as_ref();
        module == program || libraries.is_some_and(|directory| module.starts_with(directory))
    };
    let mut lines = Lines::default();
    for line in text.lines() {
        lines.add(line, |spot| match file_of(spot.module, stand_ins) {
            Some(file) => ask(Spot {
                module: &file,
                ..spot
            }),
            None if is_own(spot.module) => ask(spot),
            // Its names say whether a signal was sent.
            None if is_libc(spot.module) => without_places(ask(spot), spot),
            None => Vec::new(),
        });
    }
    lines.text.into_bytes()
}

/// Whether a module is the system's C library.
fn is_libc(module: &str) -> bool {
    let module = Path::new(module);
    let is_system = ["/lib", "/lib64", "/usr/lib"]
        .iter()
        .any(|place| module.starts_with(place));
    is_system && module.file_name().is_some_and(|name| name == "libc.so.6")
}

/// Functions alone: the lines of the system's sources are no places of the program.
fn without_places(frames: Vec<Frame>, spot: Spot) -> Vec<Frame> {
    let module = format!("({}+0x{})", spot.module, spot.offset);
    let functions = frames.into_iter().map(|(function, _)| function);
    functions
        .map(|function| (function, module.clone()))
        .collect()
}

/// An address within a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot<'a> {
    module: &'a str,
    offset: &'a str,
}

impl<'a> Spot<'a> {
    /// The first `(/module+0x12)` of a line, and what is before it.
    fn find(line: &'a str) -> Option<(&'a str, Spot<'a>)> {
        let (before, after) = line.split_once(" (/")?;
        let start = line.len() - after.len() - 1;
        let (name, _) = line[start..].split_once(')')?;
        let (module, offset) = name.rsplit_once("+0x")?;
        Some((before, Spot { module, offset }))
    }
}

/// A function and its place, of which an address may have several: inlined ones first.
type Frame = (String, String);

/// The lines of the new report.
#[derive(Default)]
struct Lines {
    text: String,
    /// How many frames the stack trace has so far.
    frames: usize,
}

impl Lines {
    fn add(&mut self, line: &str, ask: impl FnOnce(Spot) -> Vec<Frame>) {
        let is_frame = line.trim_start().starts_with('#');
        if !is_frame || line.trim_start().starts_with("#0 ") {
            self.frames = 0;
        }
        let spot = Spot::find(line);
        if let (true, Some((before, spot))) = (is_frame, spot) {
            let address = before.split_whitespace().nth(1).unwrap_or_default();
            let mut frames = ask(spot);
            if frames.is_empty() {
                frames.push((
                    String::new(),
                    format!("({}+0x{})", spot.module, spot.offset),
                ));
            }
            for (function, place) in frames {
                let name = match function.is_empty() {
                    true => String::new(),
                    false => format!("in {function} "),
                };
                self.push(&format!("    #{} {address} {name}{place}", self.frames));
                self.frames += 1;
            }
        } else if let (true, Some((before, spot))) = (line.starts_with("SUMMARY: "), spot)
            && let Some((function, place)) = ask(spot).first()
        {
            self.push(&format!("{before} {place} in {function}"));
        } else {
            self.push(line);
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The file that lay at the path of a module, if another did.
fn file_of(module: &str, stand_ins: &[StandIn]) -> Option<String> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let module = real(Path::new(module));
    let mut stand_ins = stand_ins.iter();
    let stand_in = stand_ins.find(|stand_in| real(&stand_in.path) == module)?;
    stand_in.file.to_str().map(str::to_string)
}

/// The functions and source lines of an address within a program or library of a run, inlined ones first.
pub fn places_of(module: &str, offset: u64, stand_ins: &[StandIn]) -> Vec<(String, String)> {
    let offset = format!("{offset:x}");
    let file = file_of(module, stand_ins);
    ask(Spot {
        module: file.as_deref().unwrap_or(module),
        offset: &offset,
    })
}

/// The symbolizer that runs, if one does. It ends with its standard input.
static RUNNING: Mutex<Option<Symbolizer>> = Mutex::new(None);

/// Asks the symbolizer; without an answer there are no frames.
fn ask(spot: Spot) -> Vec<Frame> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let changed = fs::metadata(spot.module).and_then(|metadata| metadata.modified());
    let Ok(changed) = changed else {
        return Vec::new();
    };
    if running
        .as_mut()
        .is_some_and(|it| it.is_stale(spot, changed))
    {
        *running = None;
    }
    let answer = match running.as_mut() {
        Some(symbolizer) => symbolizer.ask(spot),
        None => Symbolizer::start().and_then(|new| running.insert(new).ask(spot)),
    };
    let Ok(frames) = answer else {
        *running = None;
        return Vec::new();
    };
    if let Some(symbolizer) = running.as_mut() {
        symbolizer.modules.insert(spot.module.into(), changed);
    }
    frames
}

struct Symbolizer {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The modules that it has read, as they were.
    modules: HashMap<PathBuf, SystemTime>,
}

impl Symbolizer {
    fn start() -> io::Result<Symbolizer> {
        let program = symbolizer().ok_or(io::ErrorKind::NotFound)?;
        let mut process = Command::new(program)
            .args(["--inlines", "--demangle"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let questions = process.stdin.take().ok_or_else(missing)?;
        let answers = process.stdout.take().ok_or_else(missing)?;
        Ok(Symbolizer {
            process,
            questions,
            answers: BufReader::new(answers),
            modules: HashMap::new(),
        })
    }

    fn is_stale(&self, spot: Spot, changed: SystemTime) -> bool {
        let known = self.modules.get(Path::new(spot.module));
        known.is_some_and(|known| *known != changed)
    }

    /// The answer is pairs of lines, function and place, and an empty line.
    fn ask(&mut self, spot: Spot) -> io::Result<Vec<Frame>> {
        if spot.module.contains('"') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        writeln!(self.questions, "CODE \"{}\" 0x{}", spot.module, spot.offset)?;
        let mut frames = Vec::new();
        loop {
            let function = self.line()?;
            if function.is_empty() {
                return Ok(frames);
            }
            let place = self.line()?;
            if function != "??" {
                let place = match place.starts_with("??") {
                    true => format!("({}+0x{})", spot.module, spot.offset),
                    false => place.trim_end_matches(":0").to_string(),
                };
                frames.push((function, place));
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_string()),
        }
    }
}

impl Drop for Symbolizer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_get_their_lines() {
        let report = "WRITE of size 1\n    #0 0x5a  (/a b/t+0x1f) (BuildId: 9)\n    \
                      #1 0x7f  (/lib/c.so+0x2) (BuildId: 8)\n\nallocated by thread T0 here:\n    \
                      #0 0x5b  (/a b/t+0x20) (BuildId: 9)\n\nSUMMARY: AddressSanitizer: \
                      heap-buffer-overflow (/a b/t+0x1f) (BuildId: 9) \n";
        let mut lines = Lines::default();
        for line in report.lines() {
            lines.add(line, |spot| match (spot.module, spot.offset) {
                ("/a b/t", "1f") => vec![
                    ("inner".into(), "/x.c:1:2".into()),
                    ("main".into(), "/x.c:9:3".into()),
                ],
                ("/a b/t", _) => vec![("malloc".into(), "(/a b/t+0x20)".into())],
                _ => Vec::new(),
            });
        }
        assert_eq!(
            lines.text,
            "WRITE of size 1\n    #0 0x5a in inner /x.c:1:2\n    #1 0x5a in main /x.c:9:3\n    \
             #2 0x7f (/lib/c.so+0x2)\n\nallocated by thread T0 here:\n    \
             #0 0x5b in malloc (/a b/t+0x20)\n\nSUMMARY: AddressSanitizer: \
             heap-buffer-overflow /x.c:1:2 in inner\n"
        );
    }
}
