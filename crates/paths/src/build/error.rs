//! Why there is no program to run: what is wrong, and what would help.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_harness::HarnessError;
use nearmiss_twin::TwinError;

use super::fuzzer;
use super::marks::MarkError;
use super::tool::ToolError;

/// Why a program could not be built.
#[derive(Debug)]
pub enum BuildError {
    // What the user asks for cannot be done.
    /// A file that was given is not there.
    NoSuchFile(PathBuf),
    /// A file, or a directory that it lies in, has a name that is not UTF-8.
    NotUtf8(PathBuf),
    /// A file that was given is of no kind that can be used.
    UnknownKind(PathBuf),
    /// None of the files is a source.
    NoSource,
    /// The file of `--compile-commands` is something else.
    CompileCommands(PathBuf, serde_json::Error),
    /// `main` was chosen as the function.
    MainIsNoFunction,
    /// No file defines the function.
    NoFunction {
        /// The files that were given.
        files: Vec<PathBuf>,
        /// What was asked for.
        function: String,
        /// What may have been meant.
        similar: Vec<String>,
    },
    /// No function was chosen, and the files bring no harness.
    NothingToExplore(Vec<FileFunctions>),
    /// A stub was asked for of what a file defines.
    StubIsDefined {
        /// The function.
        function: String,
        /// The file that has it.
        file: PathBuf,
    },
    /// The inputs are so many that a harness would be too long.
    TooManyInputs {
        /// The function.
        function: String,
        /// How large they are in all.
        bytes: usize,
    },
    /// There can be no harness as it was asked for.
    Harness(HarnessError),
    /// A mark cannot be set.
    Mark(MarkError),

    // The user's files.
    /// A source does not compile.
    Refused(PathBuf, ToolError),
    /// Sources compile, but not as one.
    Together(ToolError),
    /// C cannot include a file of this name.
    StrangeName(PathBuf),
    /// A fuzz target's parameters have no names.
    UnnamedParameters(PathBuf),
    /// No file defines variables that a foreign harness needs.
    UndefinedVariables {
        /// The variables.
        variables: Vec<String>,
        /// Files beside the given ones that seem to define them.
        homes: Vec<PathBuf>,
    },
    /// clang's static analyser does not do its work on a file.
    Analyzer(PathBuf, ToolError),
    /// The linker refuses.
    Link(String),

    // The machine.
    /// There is no current directory.
    CurrentDirectory(io::Error),
    /// A file or directory could not be used.
    File(PathBuf, io::Error),
    /// A tool is not there, or failed at what does not depend on the user's files.
    Tool(ToolError),

    // A limit or an error of nearmiss.
    /// The harness that was written does not compile.
    OwnHarness(ToolError),
    /// The stubs that were written do not compile.
    OwnStubs(ToolError),
    /// Every attempt to link needs more stubs.
    EverMoreMissing,
    /// The file with the function compiles only without instrumentation.
    NotInstrumented(PathBuf),
    /// There is no twin of the program.
    Twin(TwinError),
    /// The program that checks contracts could not be built.
    Contracts(String),
}

impl From<MarkError> for BuildError {
    fn from(error: MarkError) -> BuildError {
        BuildError::Mark(error)
    }
}

/// The functions that a file defines, in its order.
#[derive(Debug)]
pub struct FileFunctions {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Their names.
    pub functions: Vec<String>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoSuchFile(name) => write!(f, "{}: there is no such file", name.display()),
            BuildError::NotUtf8(path) => write!(
                f,
                "{}: explore needs names in UTF-8, of the file and of its directories",
                path.display()
            ),
            BuildError::UnknownKind(name) => write!(f, "{}: {UNKNOWN_KIND}", name.display()),
            BuildError::NoSource => write!(f, "no C file is given"),
            BuildError::CompileCommands(path, error) => {
                write!(f, "{} is no list of commands: {error}", path.display())
            }
            BuildError::MainIsNoFunction => write!(f, "{MAIN_IS_NO_FUNCTION}"),
            BuildError::NoFunction {
                files,
                function,
                similar,
            } => write_no_function(f, files, function, similar),
            BuildError::NothingToExplore(files) => write_nothing_to_explore(f, files),
            BuildError::StubIsDefined { function, file } => {
                let file = file.display();
                write!(f, "--stub {function}: {file} defines it; {STUBS_ARE}")
            }
            BuildError::TooManyInputs { function, bytes } => {
                write!(f, "{function} has inputs of {bytes} bytes in all: {FEWER}")
            }
            BuildError::Harness(error) => error.fmt(f),
            BuildError::Mark(error) => error.fmt(f),
            BuildError::Refused(name, error) => write_refused(f, name, error),
            BuildError::Together(error) => {
                write!(f, "the files do not compile together:\n{error}")
            }
            BuildError::StrangeName(name) => write!(f, "{}: {STRANGE_NAME}", name.display()),
            BuildError::UnnamedParameters(path) => {
                let target = fuzzer::TARGET;
                let path = path.display();
                write!(f, "{path}: the parameters of {target} have no names")
            }
            BuildError::UndefinedVariables { variables, homes } => {
                write_undefined(f, variables, homes)
            }
            BuildError::Analyzer(name, error) => {
                write!(f, "{}: clang does not analyse it:\n{error}", name.display())
            }
            BuildError::Link(messages) => write!(f, "the program cannot be linked:\n{messages}"),
            BuildError::CurrentDirectory(error) => write!(f, "current directory: {error}"),
            BuildError::File(path, error) => write!(f, "{}: {error}", path.display()),
            BuildError::Tool(error) => error.fmt(f),
            BuildError::OwnHarness(error) => write!(f, "the harness does not compile:\n{error}"),
            BuildError::OwnStubs(error) => write!(f, "the stubs of missing functions: {error}"),
            BuildError::EverMoreMissing => write!(f, "{EVER_MORE_MISSING}"),
            BuildError::NotInstrumented(name) => {
                write!(f, "{} {NOT_INSTRUMENTED}", name.display())
            }
            BuildError::Contracts(why) => {
                write!(
                    f,
                    "the program that checks contracts could not be built: {why} (--no-contracts)"
                )
            }
            BuildError::Twin(error) => {
                write!(f, "its sanitizer twin could not be built: {error}")
            }
        }
    }
}

impl std::error::Error for BuildError {}

impl From<ToolError> for BuildError {
    fn from(error: ToolError) -> BuildError {
        BuildError::Tool(error)
    }
}

impl From<HarnessError> for BuildError {
    fn from(error: HarnessError) -> BuildError {
        BuildError::Harness(error)
    }
}

const UNKNOWN_KIND: &str = "neither a C file nor an object, an archive or a shared library";
const MAIN_IS_NO_FUNCTION: &str = "main cannot be called with invented arguments: explore the functions \
                                   that it calls, or try its inputs with `nearmiss run`";
const STUBS_ARE: &str =
    "only pointers to functions and functions that no given file defines can be stubs";
const FEWER: &str = "fewer with a smaller --depth or --elements, or without what a pointer points to \
                     (--null)";
const STRANGE_NAME: &str = "C has no way to include a file of this name";
const EVER_MORE_MISSING: &str = "the program cannot be linked: ever more functions are missing";
const NOT_INSTRUMENTED: &str =
    "could not be instrumented: see what `nearmiss cc` says of it with NEARMISS_VERBOSE=1";
const HEADER_HINT: &str = "\nName the directory of the header behind `--`: `-- -Iinclude`, or give \
                           `--compile-commands` the list that the build system writes.";

fn write_no_function(
    f: &mut fmt::Formatter<'_>,
    files: &[PathBuf],
    function: &str,
    similar: &[String],
) -> fmt::Result {
    let files = names(files).join(", ");
    write!(f, "{files} defines no function {function}")?;
    match similar {
        [] => Ok(()),
        names => write!(f, "; there is {}", names.join(", ")),
    }
}

fn write_nothing_to_explore(f: &mut fmt::Formatter<'_>, files: &[FileFunctions]) -> fmt::Result {
    let target = fuzzer::TARGET;
    write!(
        f,
        "there is neither a main nor {target}: choose a function with --function"
    )?;
    for FileFunctions { file, functions } in files {
        let functions = match &functions[..] {
            [] => "no function of its own".to_string(),
            names => names.join(", "),
        };
        write!(f, "\n{} has {functions}", file.display())?;
    }
    Ok(())
}

/// What clang itself says of a file, and what may help.
fn write_refused(f: &mut fmt::Formatter<'_>, name: &Path, error: &ToolError) -> fmt::Result {
    let messages = error.to_string();
    let hint = if messages.contains("file not found") {
        HEADER_HINT
    } else {
        ""
    };
    let (name, messages) = (name.display(), messages.trim_end());
    write!(f, "{name} does not compile:\n{messages}{hint}")
}

fn write_undefined(
    f: &mut fmt::Formatter<'_>,
    variables: &[String],
    homes: &[PathBuf],
) -> fmt::Result {
    let plural = if variables.len() == 1 { "" } else { "s" };
    let variables = variables.join(", ");
    write!(
        f,
        "no given file defines the variable{plural} {variables}: "
    )?;
    match homes {
        [] => write!(f, "give the C file, object or archive that does as well"),
        homes => write!(f, "give also {}", names(homes).join(" ")),
    }
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect()
}
