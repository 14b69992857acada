//! The programs that tests run, and where the places of targets are in them.

use std::path::{Path, PathBuf};

use nearmiss_campaign::Capsule;
use nearmiss_engine::reach::{LineKey, Search};
use nearmiss_paths::build::MarkPlace;
use nearmiss_sites::flow::UnitFlow;
use nearmiss_sites::{Twin, Unit};
use nearmiss_twin::TwinError;

/// A program of the tests, and what it is made of.
pub struct Program {
    /// Its file.
    pub file: PathBuf,
    /// The instrumented libraries that it loads.
    pub libraries: Vec<PathBuf>,
    /// Its units.
    pub units: Vec<(Unit, Twin)>,
    /// Their control flow.
    pub flows: Vec<UnitFlow>,
}

impl Program {
    /// A line of a file, as its units number it.
    pub fn lines(&self, file: &Path, line: u32) -> Vec<LineKey> {
        let units = self.units.iter();
        units
            .flat_map(|(unit, _)| {
                let files = (0..).zip(&unit.files);
                let named = files.filter(|(_, name)| is_named(unit, name, file));
                named.map(|(number, _)| (unit.hash, number, line))
            })
            .collect()
    }
}

/// The programs of the tests.
pub struct Programs(Vec<Program>);

impl Programs {
    /// Those of the tests, in their order.
    pub fn read(search: &Search) -> Result<Programs, String> {
        let read = |capsule: &Capsule| -> Result<Program, String> {
            let libraries = nearmiss_engine::reach::libraries(capsule);
            let failed = |error: TwinError| error.to_string();
            Ok(Program {
                file: capsule.program.clone(),
                units: nearmiss_twin::kept_units(&capsule.program, &libraries).map_err(failed)?,
                flows: nearmiss_twin::flows_of(&capsule.program, &libraries).map_err(failed)?,
                libraries,
            })
        };
        let programs = search.programs().into_iter().map(read);
        Ok(Programs(programs.collect::<Result<_, _>>()?))
    }

    /// The programs that have a place: the first, if that cannot be said without looking at sources.
    pub fn with(&self, place: &MarkPlace) -> Vec<&Program> {
        let has = |program: &&Program| match place {
            MarkPlace::Line(file, _) => program.units.iter().any(|(unit, _)| has_file(unit, file)),
            MarkPlace::Name(name) | MarkPlace::Label(name, _) => {
                let mut functions = program.flows.iter().flat_map(|flow| &flow.functions);
                functions.any(|function| function.name == *name)
            }
        };
        let found: Vec<&Program> = self.0.iter().filter(has).collect();
        match place {
            MarkPlace::Name(_) if found.is_empty() => self.0.iter().take(1).collect(),
            _ => found,
        }
    }

    /// Of some lines those that have code in a program; of several in the same blocks the first.
    pub fn with_code(&self, lines: Vec<(PathBuf, u32)>) -> Vec<MarkPlace> {
        let mut places = Vec::new();
        let mut known: Vec<Vec<(u64, usize, usize)>> = Vec::new();
        for (file, line) in lines {
            let blocks = self.blocks(&file, line);
            if !blocks.is_empty() && !known.contains(&blocks) {
                known.push(blocks);
                places.push(MarkPlace::Line(file, line));
            }
        }
        places
    }

    /// The blocks that have code of a line: unit, function, block.
    fn blocks(&self, file: &Path, line: u32) -> Vec<(u64, usize, usize)> {
        let mut blocks = Vec::new();
        for program in &self.0 {
            let keys = program.lines(file, line);
            for flow in &program.flows {
                let is_here = |it: &(u32, u32)| keys.contains(&(flow.unit, it.0, it.1));
                for (function, content) in flow.functions.iter().enumerate() {
                    for (block, content) in content.blocks.iter().enumerate() {
                        if content.lines.iter().any(is_here) {
                            blocks.push((flow.unit, function, block));
                        }
                    }
                }
            }
        }
        blocks.sort_unstable();
        blocks
    }
}

fn has_file(unit: &Unit, file: &Path) -> bool {
    let mut names = unit.files.iter().chain([&unit.source]);
    names.any(|name| is_named(unit, name, file))
}

/// Whether a file of a unit is the one that a user names.
fn is_named(unit: &Unit, name: &str, file: &Path) -> bool {
    let full = Path::new(&unit.directory).join(name);
    let whole = |path: &Path| path.canonicalize().ok();
    let same = || whole(&full).is_some() && whole(&full) == whole(file);
    full == file || full.ends_with(file) || same()
}
