//! A command line, read: its arguments in order, each with its role, and what they say.

use crate::config::Language;
use crate::options::{self, Role};

/// An option with its value, or an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What it is for.
    pub role: Role,
    /// The words as given: one, or two where the value stands apart.
    pub words: Vec<String>,
    /// The value, or "".
    pub value: String,
    /// For an input: what it is.
    pub input: Option<Input>,
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// What becomes of it.
    pub kind: InputKind,
    /// The language given by `-x`, if one was.
    pub language: Option<String>,
}

/// What becomes of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// C: compiled with instrumentation.
    Instrumented,
    /// A source in another language: compiled by clang alone.
    Plain,
    /// An object, archive or library: for the linker.
    Linked,
}

impl Argument {
    /// Whether this is a source to compile with instrumentation.
    pub fn is_instrumented(&self) -> bool {
        self.is_input(InputKind::Instrumented)
    }

    /// Whether this is an input of this kind.
    pub fn is_input(&self, kind: InputKind) -> bool {
        self.input.as_ref().is_some_and(|input| input.kind == kind)
    }
}

/// A command line, read.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// Whether the whole command is clang's.
    pub stop: bool,
}

impl Command {
    /// Reads the words after the compiler's name.
    pub fn parse(words: &[String], language: Language) -> Command {
        let mut command = Command::default();
        let mut rest = words.iter();
        let mut only_inputs = false;
        while let Some(word) = rest.next() {
            if word == "--" && !only_inputs {
                only_inputs = true;
                continue;
            }
            let word = match only_inputs && word.starts_with('-') {
                true => format!("./{word}"),
                false => word.clone(),
            };
            let found = options::find(&word);
            let mut argument = Argument {
                role: found.role,
                value: found.joined.unwrap_or("").to_string(),
                words: vec![word.clone()],
                input: None,
            };
            if found.takes_next {
                match rest.next() {
                    Some(next) => {
                        argument.words.push(next.clone());
                        argument.value = next.clone();
                    }
                    // clang says what is missing.
                    None => command.stop = true,
                }
            }
            command.arguments.push(argument);
        }
        command.classify_inputs(language);
        command.stop |= command.is_for_clang_alone();
        command
    }

    fn classify_inputs(&mut self, language: Language) {
        let plain = self.has(Role::Plain);
        let mut given: Option<String> = None;
        for argument in &mut self.arguments {
            match argument.role {
                Role::Language => {
                    given = Some(argument.value.clone()).filter(|value| value != "none");
                }
                Role::Input => {
                    let name = &argument.words[0];
                    let kind = match input_kind(name, given.as_deref(), language) {
                        InputKind::Instrumented if plain => InputKind::Plain,
                        kind => kind,
                    };
                    argument.input = Some(Input {
                        kind,
                        language: given.clone().filter(|_| kind != InputKind::Linked),
                    });
                }
                _ => {}
            }
        }
    }

    fn is_for_clang_alone(&self) -> bool {
        let sources = self.sources().count();
        let instrumented = self.inputs(InputKind::Instrumented).count();
        let nothing_to_link =
            self.inputs(InputKind::Linked).count() == 0 && !self.has(Role::Library);
        self.has(Role::Stop)
            || self.names_another_machine()
            || self.asks_the_linker_only()
            || self.sources().any(is_header)
            || (sources == 0 && nothing_to_link)
            // What is put aside must not be in an object that is linked without it.
            || (self.compile_only() && instrumented == 0 && !self.has(Role::Aside))
            // clang refuses that with a message of its own.
            || (self.compile_only() && sources > 1 && self.output().is_some())
    }

    fn names_another_machine(&self) -> bool {
        let ours = |triple: &str| triple.starts_with("x86_64") && triple.contains("linux");
        self.with(Role::Target)
            .any(|argument| !ours(&argument.value))
    }

    fn asks_the_linker_only(&self) -> bool {
        let questions = ["-Wl,--version", "-Wl,-v", "-Wl,-V", "-Wl,--help"];
        self.with(Role::Link)
            .any(|argument| questions.contains(&argument.words[0].as_str()))
    }

    /// The arguments with this role.
    pub fn with(&self, role: Role) -> impl DoubleEndedIterator<Item = &Argument> {
        self.arguments
            .iter()
            .filter(move |argument| argument.role == role)
    }

    /// Whether there is an argument with this role.
    pub fn has(&self, role: Role) -> bool {
        self.with(role).next().is_some()
    }

    /// The inputs of this kind.
    pub fn inputs(&self, kind: InputKind) -> impl Iterator<Item = &Argument> {
        self.arguments
            .iter()
            .filter(move |argument| argument.is_input(kind))
    }

    /// The inputs that are compiled.
    pub fn sources(&self) -> impl Iterator<Item = &Argument> {
        self.arguments
            .iter()
            .filter(|argument| argument.is_instrumented() || argument.is_input(InputKind::Plain))
    }

    /// Whether objects are wanted, not a program.
    pub fn compile_only(&self) -> bool {
        self.has(Role::Compile)
    }

    /// The file that `-o` names.
    pub fn output(&self) -> Option<&str> {
        self.with(Role::Output)
            .next_back()
            .map(|argument| argument.value.as_str())
    }

    /// Whether clang optimises.
    pub fn optimises(&self) -> bool {
        let level = self.with(Role::Optimise).next_back();
        level.is_some_and(|argument| argument.words[0] != "-O0")
    }

    /// Whether the user wants debug information.
    pub fn debugs(&self) -> bool {
        // `-gcolumn-info` and its like are details that ask for nothing.
        let asks = |word: &str| {
            let what = word.trim_start_matches("-g");
            what.is_empty()
                || what.starts_with(|first: char| first.is_ascii_digit())
                || ["gdb", "dwarf", "line", "mlt", "lldb", "full", "limited"]
                    .iter()
                    .any(|known| what.starts_with(known))
        };
        let last = self
            .with(Role::Debug)
            .map(|argument| argument.words[0].as_str())
            .rfind(|word| asks(word));
        last.is_some_and(|word| word != "-g0" && word != "-ggdb0")
    }

    /// Whether the program asks for signed arithmetic that wraps around.
    pub fn overflow_wraps(&self) -> bool {
        let wraps = |word: &str| match word {
            "-fwrapv" | "-fno-strict-overflow" => Some(true),
            "-fno-wrapv" | "-fstrict-overflow" => Some(false),
            _ => None,
        };
        let last = self
            .arguments
            .iter()
            .rev()
            .find_map(|argument| wraps(&argument.words[0]));
        last.unwrap_or(false)
    }
}

/// Whether clang makes a precompiled header of it.
fn is_header(source: &Argument) -> bool {
    let given = source
        .input
        .as_ref()
        .and_then(|input| input.language.as_deref());
    let by_name = || ["h", "H", "hh", "hpp", "hxx"].contains(&extension(&source.words[0]));
    given.map_or_else(by_name, |language| language.ends_with("-header"))
}

fn input_kind(name: &str, given: Option<&str>, language: Language) -> InputKind {
    match given {
        // Standard input can be read only once: there would be no second try without
        // instrumentation.
        _ if name == "-" => InputKind::Plain,
        Some("c" | "cpp-output") => InputKind::Instrumented,
        Some(_) => InputKind::Plain,
        None => kind_by_extension(name, language),
    }
}

/// Extensions of sources that clang compiles and we do not instrument.
const PLAIN_EXTENSIONS: &[&str] = &[
    "C", "CC", "CPP", "CXX", "c++", "cc", "cp", "cpp", "cxx", "ii", "m", "mm", "M", "mi", "mii",
    "s", "S", "sx", "asm", "ll", "bc", "h", "H", "hh", "hpp", "hxx", "cu", "cl",
];

fn kind_by_extension(name: &str, language: Language) -> InputKind {
    match (extension(name), language) {
        ("c", Language::C) | ("i", _) => InputKind::Instrumented,
        ("c", Language::Cplusplus) => InputKind::Plain,
        _ if PLAIN_EXTENSIONS.contains(&extension(name)) => InputKind::Plain,
        _ => InputKind::Linked,
    }
}

fn extension(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or("", |(_, extension)| extension)
}
