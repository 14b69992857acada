//! Carrying out a plan.

use std::io::Write;
use std::path::Path;

use crate::config::Config;
use crate::link::wrap_main;
use crate::plan::{Compilation, Instrumented, Link, LinkArgument, Word, temporary};
use crate::version_script;
use nearmiss_cc::process::{self, Failure, Tool, trouble};

/// The ending of the file that `nearmiss-instrument` makes for a unit with a huge function.
const HUGE: &str = "huge";

/// A plan being carried out.
pub struct Build<'a> {
    config: &'a Config,
    /// For temporary files.
    temporary: &'a Path,
    /// The directory of the command.
    directory: &'a Path,
    /// Where messages go.
    messages: &'a mut dyn Write,
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
            messages,
        }
    }

    /// Compiles every source, then links.
    pub fn run(
        &mut self,
        compilations: &[Compilation],
        link: Option<&Link>,
    ) -> Result<(), Failure> {
        for compilation in compilations {
            match compilation {
                Compilation::Plain(words) => self.clang(words)?,
                Compilation::Instrumented(job) => self.compile(job)?,
            }
        }
        link.map_or(Ok(()), |link| self.link(link))
    }

    fn compile(&mut self, job: &Instrumented) -> Result<(), Failure> {
        self.clang(&job.front_end)?;
        let limit = self.config.instrument_limit;
        let instrument = self.tool(&self.config.instrument, self.instrument_arguments(job));
        if let Err(failure) = instrument.run_limited(limit, self.config.verbose) {
            self.say(&format!(
                "error: {} cannot be instrumented: {failure}",
                job.source
            ));
            return Err(failure);
        }
        let mut code = self.expand(&job.code);
        if Path::new(&self.temporary_path(&temporary(job.number, HUGE))).exists() {
            code.extend(crate::compile::HUGE_CODE.map(str::to_string));
        }
        self.tool(&self.config.clang, code)
            .run_limited(limit, self.config.verbose)
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
        if self.config.keeps_allocations {
            arguments.push("--keep-allocations".to_string());
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

    fn link(&mut self, link: &Link) -> Result<(), Failure> {
        let mut arguments = self.link_arguments(link);
        if link.runtime {
            arguments = self.admit_hooks(arguments)?;
            arguments.extend(self.link_additions(link)?);
        }
        self.run_heard(self.config.compiler(), arguments)
    }

    fn link_arguments(&self, link: &Link) -> Vec<String> {
        let words = |argument: &LinkArgument| match argument {
            LinkArgument::Words(words) => words.clone(),
            LinkArgument::Compiled(number) => vec![self.temporary_path(&temporary(*number, "o"))],
        };
        link.arguments.iter().flat_map(words).collect()
    }

    /// Gives the linker version scripts that do not hide our hooks.
    fn admit_hooks(&self, arguments: Vec<String>) -> Result<Vec<String>, Failure> {
        version_script::admit_hooks_in_link(arguments, self.directory, self.temporary)
            .map_err(|error| trouble(self.temporary, &error))
    }

    /// The runtime and the record of the link. Hooks are visible to shared libraries, so that
    /// a program and its libraries share one runtime.
    fn link_additions(&self, link: &Link) -> Result<Vec<String>, Failure> {
        let language = self.config.language;
        let record = nearmiss_cc::link::record(&link.record, self.directory, language);
        // Not by a name that ends with `.o`: libtool looks at a link's command line for objects that all links need.
        let file = self.temporary.join("link-record");
        std::fs::write(&file, crate::object_file(&record))
            .map_err(|error| trouble(&file, &error))?;

        let archives = crate::archives(&self.config.library_directory);
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
        self.run_heard(&self.config.clang, self.expand(words))
    }

    /// Runs a tool; what it says is told.
    fn run_heard(&mut self, program: &'a Path, arguments: Vec<String>) -> Result<(), Failure> {
        let tool = self.tool(program, arguments).shortened(self.temporary)?;
        tool.run_heard(self.messages)?.0
    }

    fn tool(&self, program: &'a Path, arguments: Vec<String>) -> Tool<'a> {
        Tool::new(program, arguments)
            .in_directory(self.directory)
            .in_english(true)
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
        process::say(self.messages, text);
    }
}
