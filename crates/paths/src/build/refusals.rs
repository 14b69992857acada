//! Allocations that fail: which of the first ones do is an input.
//!
//! The files are compiled with other names for the functions that allocate; the harness has functions of these names,
//! which look at the input before they allocate.

use std::fs;
use std::path::PathBuf;

use super::compile::Compiler;
use super::error::BuildError;

/// The variable that says it: a byte that is not 0 for each allocation that fails.
pub const REFUSED: &str = "nearmiss_refused";
/// The allocations that may fail.
pub const MOST_REFUSED: usize = 8;
/// What allocates.
pub const ALLOCATING: [&str; 4] = ["malloc", "calloc", "realloc", "strdup"];

/// The words that give them other names.
pub fn words() -> impl Iterator<Item = String> {
    ALLOCATING
        .iter()
        .map(|name| format!("-D{name}=nearmiss_{name}"))
}

/// Writes the file with the functions of these names.
pub fn write(compiler: &Compiler) -> Result<PathBuf, BuildError> {
    let path = compiler.directory.join("refusals.c");
    let mut text = String::new();
    for name in ALLOCATING {
        text += &format!("#undef {name}\n");
    }
    text += "extern void *malloc(__SIZE_TYPE__);\n\
             extern void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);\n\
             extern void *realloc(void *, __SIZE_TYPE__);\n\
             extern char *strdup(const char *);\n";
    text += &format!(
        "unsigned char {REFUSED}[{MOST_REFUSED}];\n\
         static unsigned nm_harness_allocations;\n\
         int nm_harness_is_refused(void)\n{{\n\
         \x20   return nm_harness_allocations < {MOST_REFUSED}u && {REFUSED}[nm_harness_allocations++] != 0;\n}}\n"
    );
    text += "\
void *nearmiss_malloc(__SIZE_TYPE__ size)
{
    return nm_harness_is_refused() ? (void *)0 : malloc(size);
}
void *nearmiss_calloc(__SIZE_TYPE__ count, __SIZE_TYPE__ size)
{
    return nm_harness_is_refused() ? (void *)0 : calloc(count, size);
}
void *nearmiss_realloc(void *block, __SIZE_TYPE__ size)
{
    return nm_harness_is_refused() ? (void *)0 : realloc(block, size);
}
char *nearmiss_strdup(const char *text)
{
    return nm_harness_is_refused() ? (char *)0 : strdup(text);
}
";
    fs::write(&path, text).map_err(|error| BuildError::File(path.clone(), error))?;
    Ok(path)
}
