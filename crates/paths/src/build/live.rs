//! What the function under test may really need: of a real file, most code is for other purposes.
//!
//! The files are compiled once more, plainly, each function and variable in a section of its own, and
//! linked without what cannot be reached: the linker then misses only what may be needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::link::Recipe;
use super::missing::undefined as names;
use super::source::Source;
use super::tool::{self, ToolError, word};

const APART: [&str; 3] = ["-O0", "-ffunction-sections", "-fdata-sections"];
/// The harness's own functions, for programs that do not record.
const REPLAY_ARCHIVE: &str = "libnearmiss_replay.a";

/// The names that code needs that may run, and that no file defines.
pub fn undefined(recipe: &Recipe) -> Result<BTreeSet<String>, ToolError> {
    let directory = &recipe.compiler.directory;
    let mut subject = recipe.source.clone();
    subject.words.extend(recipe.words.iter().cloned());
    let mut objects = vec![compile(recipe, &subject, &recipe.input, "live.o")?];
    for (index, source) in recipe.files.sources.iter().enumerate() {
        let name = format!("live-{index}.o");
        objects.push(compile(recipe, source, &source.path, &name)?);
    }
    let mut words = vec!["-Wl,--gc-sections".to_string()];
    words.extend(recipe.link_words(&objects, &directory.join("live")));
    let libraries = &recipe.compiler.config.library_directory;
    words.push(word(&libraries.join(REPLAY_ARCHIVE)));
    let said = tool::run(&recipe.compiler.config.clang, &words, directory)?;
    Ok(names(&said.messages))
}

fn compile(
    recipe: &Recipe,
    source: &Source,
    input: &Path,
    name: &str,
) -> Result<PathBuf, ToolError> {
    let object = recipe.compiler.directory.join(name);
    recipe.compiler.plain(source, input, &APART, &object)?;
    Ok(object)
}
