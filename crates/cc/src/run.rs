//! Carrying out a plan.

use std::io::Write;
use std::path::Path;

use nearmiss_abi::hook::ABI_SYMBOL;

use crate::config::Config;
use crate::frames::FrameSearch;
use crate::link::wrap_main;
use crate::plan::{Compilation, Instrumented, Link, LinkArgument, Word, temporary};
use crate::process::{Failure, Tool, trouble};
use crate::{record, version_script};

/// The ending of the file that `nearmiss-instrument` makes for a unit with a huge function.
const HUGE: &str = "huge";

/// A plan being carried out.
pub struct Build<'a> {
    config: &'a Config,
    /// For temporary files.
    temporary: &'a Path,
    /// The directory of the command.
    directory: &'a Path,
    /// The compilations that had to do without instrumentation, and their sources.
    uninstrumented: Vec<(usize, String)>,
    /// Where messages go.
    messages: &'a mut dyn Write,
    /// Whether what clang says goes there too, and not to our standard error.
    hears_clang: bool,
}

impl<'a> Build<'a> {
    /// Prepares to work in `directory`, with temporary files in `temporary`.
    pub fn new(
        config: &'a Config,
        directory: &'a Path,
        temporary: &'a Path,
        messages: &'a mut dyn Write,
    ) -> Build<'a> {
        Build {
            config,
            temporary,
            directory,
            uninstrumented: Vec::new(),
            messages,
            hears_clang: false,
        }
    }

    /// All that clang says becomes part of the messages.
    pub fn hearing_clang(mut self) -> Build<'a> {
        self.hears_clang = true;
        self
    }

    /// Compiles every source, as clang does even if one has errors, then links.
    pub fn run(
        &mut self,
        compilations: &[Compilation],
        link: Option<&Link>,
    ) -> Result<(), Failure> {
        let mut result = Ok(());
        for compilation in compilations {
            match self.compile(compilation) {
                Err(failure @ Failure::Status(_)) => result = Err(failure),
                other => other?,
            }
        }
        result?;
        link.map_or(Ok(()), |link| self.link(link))
    }

    fn compile(&mut self, compilation: &Compilation) -> Result<(), Failure> {
        match compilation {
            Compilation::Plain(words) => self.clang(words),
            Compilation::Instrumented(job) => self.compile_instrumented(job),
        }
    }

    fn compile_instrumented(&mut self, job: &Instrumented) -> Result<(), Failure> {
        if let Err(failure) = self.clang(&job.front_end) {
            self.remove(&job.object);
            return Err(failure);
        }
        for words in &job.beside {
            let again = self.tool(&self.config.clang, self.expand(words));
            // The front end has found nothing wrong with the source, and code is not wanted.
            let _ = again.run_limited(self.config.instrument_limit, self.config.verbose);
        }
        let compiled = match self.instrument(job) {
            Ok(()) => Ok(()),
            Err(failure @ (Failure::Status(_) | Failure::Timeout)) => {
                self.compile_plain(job, &failure)
            }
            Err(failure @ Failure::Signal(_)) if crate::signals::caught().is_none() => {
                self.compile_plain(job, &failure)
            }
            Err(failure) => Err(failure),
        };
        match compiled {
            Ok(()) if job.to_stdout => self.write_out(&job.object),
            other => other,
        }
    }

    /// Writes an object to standard output.
    fn write_out(&self, object: &Word) -> Result<(), Failure> {
        let path = (self.directory).join(self.expand(std::slice::from_ref(object)).remove(0));
        let bytes = std::fs::read(&path).map_err(|error| trouble(&path, &error))?;
        let mut output = std::io::stdout();
        let written = output.write_all(&bytes).and_then(|()| output.flush());
        written.map_err(|error| trouble(Path::new("standard output"), &error))
    }

    /// As clang does, leaves no old object after an error.
    fn remove(&self, object: &Word) {
        let path = (self.directory).join(self.expand(std::slice::from_ref(object)).remove(0));
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            // If it stays, nothing is worse than before.
            let _ = std::fs::remove_file(&path);
        }
    }

    /// Instruments and makes code: what may fail for reasons of our own. Frames of code that is not
    /// optimised are looked at, and made smaller where they are too large.
    fn instrument(&self, job: &Instrumented) -> Result<(), Failure> {
        let wanted = FrameSearch::new(job, self.temporary).filter(|_| !self.config.fine);
        let Some(mut frames) = wanted else {
            return self.make_code(job, &[], &[]);
        };
        loop {
            self.make_code(
                job,
                &frames.instrument_arguments(),
                &frames.code_arguments(),
            )?;
            if !frames.wants_another() {
                return Ok(());
            }
        }
    }

    /// One try, with these arguments for the two tools beside the usual ones.
    fn make_code(
        &self,
        job: &Instrumented,
        instrument_more: &[String],
        code_more: &[String],
    ) -> Result<(), Failure> {
        let limit = self.config.instrument_limit;
        let loud = self.config.verbose;
        let arguments = [instrument_more, &self.instrument_arguments(job)].concat();
        self.tool(&self.config.instrument, arguments)
            .run_limited(limit, loud)?;
        let mut code = self.expand(&job.code);
        if Path::new(&self.temporary_path(&temporary(job.number, HUGE))).exists() {
            code.extend(crate::compile::HUGE_CODE.map(str::to_string));
        }
        code.extend(code_more.iter().cloned());
        self.tool(&self.config.clang, code).run_limited(limit, loud)
    }

    fn instrument_arguments(&self, job: &Instrumented) -> Vec<String> {
        let file = |suffix: &str| self.temporary_path(&temporary(job.number, suffix));
        let named = [
            ("--input", file("bc")),
            ("--output", file("instrumented.bc")),
            ("--sites", file("sites")),
            ("--twin", file("twin")),
            ("--huge", file(HUGE)),
            ("--source", job.source.clone()),
            ("--directory", self.directory.to_string_lossy().into_owned()),
        ];
        let mut arguments: Vec<String> = named
            .into_iter()
            .flat_map(|(name, value)| [name.to_string(), value])
            .collect();
        if job.keep_debug {
            arguments.push("--keep-debug".to_string());
        }
        if job.optimised {
            arguments.push("--optimised".to_string());
        }
        if self.config.choices_are_branches {
            arguments.push("--choices-are-branches".to_string());
        }
        if self.config.fine {
            arguments.push("--fine".to_string());
        }
        arguments.extend(["--command".to_string(), job.again.len().to_string()]);
        arguments.extend(job.again.iter().cloned());
        arguments.push("--options".to_string());
        arguments.extend(job.twin_options.iter().cloned());
        arguments
    }

    fn compile_plain(&mut self, job: &Instrumented, failure: &Failure) -> Result<(), Failure> {
        self.uninstrumented.push((job.number, job.source.clone()));
        if self.config.verbose {
            self.say(&format!(
                "{} is compiled without instrumentation: {failure}",
                job.source
            ));
        }
        self.clang(&job.plain)
    }

    fn link(&mut self, link: &Link) -> Result<(), Failure> {
        let mut arguments = self.link_arguments(link);
        if !link.runtime {
            return self.compiler(arguments)?.run();
        }
        arguments = self.admit_hooks(arguments)?;
        arguments.extend(self.link_additions(link)?);
        self.say_what_is_missing(link);
        let tool = self.compiler(arguments)?;
        let (result, heard) = tool.run_heard(self.messages)?;
        if result.is_err() && mentions_other_version(&heard) {
            self.say("an object was compiled by another version of nearmiss: rebuild it");
        }
        result
    }

    /// What was put aside, and what the program has in it without instrumentation: one line each,
    /// where the program is made.
    fn say_what_is_missing(&mut self, link: &Link) {
        if !link.aside.is_empty() {
            let is_sanitizer = |word: &String| word.starts_with("-fsanitize");
            let why = match link.aside.iter().any(is_sanitizer) {
                true => " (sanitizers are in the twin)",
                false => "",
            };
            self.say(&format!("put aside: {}{why}", link.aside.join(" ")));
        }
        if !link.counters.is_empty() {
            let words = link.counters.join(" ");
            self.say(&format!("no counters are in instrumented code: {words}"));
        }
        let names = record::uninstrumented(link, self.directory, &|number| self.source(number));
        if !names.is_empty() {
            self.say(&format!("without instrumentation: {}", names.join(", ")));
        }
    }

    /// The source of a compilation that had to do without instrumentation.
    fn source(&self, number: usize) -> Option<String> {
        let mut found = self.uninstrumented.iter();
        let found = found.find(|(other, _)| *other == number);
        found.map(|(_, source)| source.clone())
    }

    fn link_arguments(&self, link: &Link) -> Vec<String> {
        let mut arguments = Vec::new();
        for argument in &link.arguments {
            match argument {
                LinkArgument::Option(words) | LinkArgument::Silent(words) => {
                    arguments.extend(words.iter().cloned())
                }
                LinkArgument::Path(name, path) => arguments.push(format!("{name}{path}")),
                LinkArgument::Linked(path) | LinkArgument::Source(path) => {
                    arguments.push(path.clone())
                }
                LinkArgument::Compiled(number) => {
                    arguments.push(self.temporary_path(&temporary(*number, "o")))
                }
            }
        }
        arguments
    }

    /// Gives the linker version scripts that do not hide our hooks.
    fn admit_hooks(&self, arguments: Vec<String>) -> Result<Vec<String>, Failure> {
        version_script::admit_hooks_in_link(arguments, self.directory, self.temporary)
            .map_err(|error| trouble(self.temporary, &error))
    }

    /// The runtime and the record of the link. Hooks are visible to shared libraries, so that
    /// a program and its libraries share one runtime.
    fn link_additions(&self, link: &Link) -> Result<Vec<String>, Failure> {
        let uninstrumented = |number| self.source(number);
        let record = record::record(link, self.directory, self.config.language, &uninstrumented);
        // Not by a name that ends with `.o`: libtool looks at a link's command line for objects that all links need.
        let file = self.temporary.join("link-record");
        std::fs::write(&file, record::object_file(&record))
            .map_err(|error| trouble(&file, &error))?;

        let archives = record::archives(&self.config.library_directory);
        if let Some(missing) = archives.iter().find(|archive| !archive.exists()) {
            return Err(Failure::Missing(missing.clone()));
        }
        let mut words = vec![file.to_string_lossy().into_owned()];
        // A static program has none to share with; position-independent, it would find its
        // thread's words by a relocation for which it is too early at its start.
        if !link.is_static {
            words.push("-Wl,--export-dynamic-symbol=__nm_*".to_string());
        }
        if !link.shared {
            // The engine may have the program stop before `main` (`libc/main.c`).
            let own = self.link_arguments(link);
            words.extend(wrap_main(&own).map(str::to_string));
        }
        words.push("-Wl,--start-group".to_string());
        words.extend(
            archives
                .iter()
                .map(|archive| archive.to_string_lossy().into_owned()),
        );
        words.push("-Wl,--end-group".to_string());
        if link.names_libc {
            words.push("-lc".to_string());
        }
        Ok(words)
    }

    fn clang(&mut self, words: &[Word]) -> Result<(), Failure> {
        let clang =
            (self.tool(&self.config.clang, self.expand(words))).shortened(self.temporary)?;
        match self.hears_clang {
            true => clang.run_heard(self.messages)?.0,
            false => clang.run(),
        }
    }

    fn compiler(&self, arguments: Vec<String>) -> Result<Tool<'a>, Failure> {
        (self.tool(self.config.compiler(), arguments)).shortened(self.temporary)
    }

    fn tool(&self, program: &'a Path, arguments: Vec<String>) -> Tool<'a> {
        Tool::new(program, arguments)
            .in_directory(self.directory)
            .in_english(self.hears_clang)
    }

    fn expand(&self, words: &[Word]) -> Vec<String> {
        let expand = |word: &Word| match word {
            Word::Text(text) => text.clone(),
            Word::Temporary(name) => self.temporary_path(name),
        };
        words.iter().map(expand).collect()
    }

    fn temporary_path(&self, name: &str) -> String {
        self.temporary.join(name).to_string_lossy().into_owned()
    }

    fn say(&mut self, text: &str) {
        say(self.messages, text);
    }
}

/// Writes one line that starts with our name.
pub fn say(messages: &mut dyn Write, text: &str) {
    // There is nobody else to tell that nobody listens.
    let _ = writeln!(messages, "nearmiss: {text}");
}

/// Whether the linker misses the symbol that only a runtime of the same ABI has.
fn mentions_other_version(errors: &[u8]) -> bool {
    let prefix = ABI_SYMBOL.trim_end_matches(|last: char| last.is_ascii_digit());
    let text = String::from_utf8_lossy(errors);
    text.lines()
        .any(|line| line.contains("undefined") && line.contains(prefix))
}
