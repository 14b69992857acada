//! Building one twin or variant: compiling its units, linking them as the original was linked.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_abi::site::{LINK_SECTION, TWIN_SECTION};
use nearmiss_sites::{Link, Twin, Unit};

use crate::arguments::{self, Argument};
use crate::image::Image;
use crate::variant::{Variant, admit_hooks};
use crate::{Config, Judge, TwinError, archive, hash, jobs, memory, tool};

/// The harness functions for the twin.
const REPLAY_ARCHIVE: &str = "libnearmiss_replay.a";
/// What in it puts arguments and variables where AddressSanitizer sees their bounds.
const STRINGS_APART: &str = "__nm_strings_apart";
/// The functions through which a program reads pipes and sockets (`libc/flow.c` replaces the
/// bytes by those of an invented input), and those whose answers differ from run to run
/// (`libc/chance.c` gives those of the first run again). And `fread`, of which AddressSanitizer sees
/// whole items only (`libc/flow.c`).
const WRAPPED: &[&str] = &[
    "close",
    "dup",
    "dup2",
    "pipe",
    "pipe2",
    "socket",
    "socketpair",
    "accept",
    "accept4",
    "read",
    "recv",
    "recvfrom",
    "time",
    "clock_gettime",
    "gettimeofday",
    "timespec_get",
    "clock",
    "times",
    "getrusage",
    "sysinfo",
    "getloadavg",
    "getppid",
    "getrandom",
    "getentropy",
    "arc4random",
    "arc4random_buf",
    "arc4random_uniform",
    "syscall",
    "fork",
    "open",
    "open64",
    "fopen",
    "fopen64",
    "fdopen",
    "fread",
    "getc",
    "fgetc",
];

/// A function of `libc/unwritten.c`: that file's functions take the place of those that only count (`libc/blocks.c`).
const UNWRITTEN: &str = "__wrap_malloc";
/// Functions that make a block larger, which the twin counts (`libc/blocks.c`).
const ENLARGING: &[&str] = &["realloc", "reallocarray"];

impl Judge {
    /// What every compilation and link of a twin has. An argument that was never written fails nothing
    /// unless the function looks at it; clang would have it reported at the call.
    fn sanitizers(self) -> &'static [&'static str] {
        match self {
            Judge::Address => &["-fsanitize=address,undefined"],
            Judge::Memory => &[
                "-fsanitize=memory,undefined",
                "-fsanitize-memory-track-origins",
                "-fno-sanitize-memory-param-retval",
            ],
        }
    }

    /// How a unit is optimised behind its sanitizer: not at all behind MemorySanitizer, which must see
    /// every store. The optimiser makes one of a call of `__memset_chk`, also where it must not know libc.
    /// Two calls of `abort` in a function stay two: a merged one has no line.
    fn optimiser(self) -> &'static [&'static str] {
        match self {
            Judge::Address => &["-O1", "-mllvm", "-enable-tail-merge=0"],
            Judge::Memory => &["-O0"],
        }
    }

    /// The functions that a twin is linked with `--wrap` for.
    fn wrapped(self) -> Vec<&'static str> {
        let more = match self {
            Judge::Address => ENLARGING,
            Judge::Memory => memory::WRAPPED,
        };
        WRAPPED.iter().chain(more).copied().collect()
    }
}

/// What is built of a program.
#[derive(Clone, Copy)]
pub enum Product<'a> {
    /// A twin.
    Twin(Judge),
    /// The program itself, rewritten and instrumented once more.
    Variant(&'a Variant<'a>),
}

impl Product<'_> {
    /// Names how units are compiled and linked.
    fn name(self) -> String {
        match self {
            Product::Twin(judge) => {
                let options = [judge.sanitizers(), judge.optimiser()].concat();
                format!("{}\n{}", options.join("\n"), judge.wrapped().join("\n"))
            }
            Product::Variant(variant) => variant.name(),
        }
    }

    /// Names what is compiled in place of units.
    fn replaced_name(self) -> String {
        match self {
            Product::Twin(_) => String::new(),
            Product::Variant(variant) => variant.replaced_name(),
        }
    }
}

/// Where twins and variants are built.
pub struct Workshop<'a> {
    pub config: &'a Config,
    /// What is built.
    pub product: Product<'a>,
    /// The directory for everything that is built.
    pub directory: PathBuf,
    /// Shared libraries and their twins.
    pub libraries: Vec<(PathBuf, PathBuf)>,
}

impl Workshop<'_> {
    /// Builds the twin of `image` as `output`, unless that is up to date.
    pub fn build(&self, image: &Image, output: &Path) -> Result<(), TwinError> {
        let link = image.link()?;
        let arguments = self.link_arguments(&link)?;
        if matches!(self.product, Product::Twin(Judge::Memory))
            && let Some(why) = memory::refusal_of_link(&arguments, &self.libraries)
        {
            return Err(TwinError::Unfit(why));
        }
        let key = self.key(image, &arguments)?;
        let key_file = output.with_added_extension("key");
        if is_whole(output, &key_file, &key) {
            return Ok(());
        }
        let mut units = image.twins()?;
        if let Product::Variant(variant) = self.product {
            variant.replace(&mut units);
            self.build_variant(variant, image, &units, &arguments, output)?;
            return seal(output, &key_file, &key);
        }
        let objects = self.compile(&units)?;
        if self.link(&link, &objects, &arguments, output).is_err() {
            // What is kept may be damaged: once more, from nothing.
            for object in &objects {
                let _ = fs::remove_file(object);
            }
            let objects = self.compile(&units)?;
            let arguments = self.with_unlinked(&link, &units, arguments)?;
            self.link(&link, &objects, &arguments, output)?;
        }
        seal(output, &key_file, &key)
    }

    /// Compiles and links a variant.
    fn build_variant(
        &self,
        variant: &Variant<'_>,
        image: &Image,
        kept: &[Twin],
        arguments: &[Argument],
        output: &Path,
    ) -> Result<(), TwinError> {
        let units: Vec<Unit> = image.units()?;
        // They come with the archives again.
        let own = crate::own_units(&self.config.library_directory);
        let kept: Vec<Twin> = (kept.iter())
            .filter(|unit| !own.contains(&unit.unit))
            .cloned()
            .collect();
        let objects = self.compile_each(&kept, |unit, object| {
            let source = units.iter().find(|it| it.hash == unit.unit);
            variant.compile(source.unwrap_or(&Unit::default()), unit, object)
        })?;
        let link = Link {
            arguments: (arguments::words(arguments).iter())
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            ..image.link()?
        };
        let mut words: Vec<OsString> = objects.iter().map(|object| text(object)).collect();
        words.extend(arguments::words(arguments));
        words.extend(self.library_option());
        variant.link(&link, words, &self.directory, output)
    }

    /// The arguments with an archive behind them of what the program did not take from its archives: the
    /// optimiser may have removed the only call, which the twin still has.
    fn with_unlinked(
        &self,
        link: &Link,
        units: &[Twin],
        mut arguments: Vec<Argument>,
    ) -> Result<Vec<Argument>, TwinError> {
        let written = arguments::read(&link.arguments);
        let mut unlinked: Vec<Twin> = Vec::new();
        for argument in arguments::resolve(written, &link.directory()) {
            if let Argument::File(path) = argument
                && path.extension().is_some_and(|extension| extension == "a")
            {
                unlinked.extend(archive::twins(&path)?);
            }
        }
        unlinked.retain(|twin| !units.iter().any(|unit| unit.unit == twin.unit));
        if !unlinked.is_empty() {
            let objects = self.compile(&unlinked)?;
            let directory = self.directory.join("archives").join("unlinked");
            arguments.push(Argument::File(archive::write(&objects, &directory)?));
        }
        Ok(arguments)
    }

    /// Makes sure that MemorySanitizer knows who writes to the program's memory: `image` is of the program
    /// or of one of its libraries, `program` the program's twin.
    pub fn look_through(&self, image: &Image, program: &Path) -> Result<(), TwinError> {
        let units = image.twins()?;
        let objects = self.objects(&units)?;
        let wrapped = match (image.link()?.shared, self.product) {
            (false, Product::Twin(judge)) => judge.wrapped(),
            _ => Vec::new(),
        };
        let libraries = self.libraries.iter().map(|(_, twin)| twin.clone());
        let images: Vec<PathBuf> = libraries.chain([program.to_path_buf()]).collect();
        match memory::unknown_function(&objects, &images, &wrapped)? {
            Some(name) => Err(TwinError::Unfit(format!(
                "MemorySanitizer does not know what {name} writes"
            ))),
            None => Ok(()),
        }
    }

    /// Names how units are compiled and linked.
    fn product_name(&self) -> String {
        let quick = if self.config.quick { "quick\n" } else { "" };
        format!("{quick}{}", self.product.name())
    }

    /// Names everything that the twin is made of.
    fn key(&self, image: &Image, arguments: &[Argument]) -> Result<String, TwinError> {
        let words = arguments::words(arguments).join(OsStr::new("\n"));
        let files = arguments.iter().filter_map(|argument| match argument {
            Argument::File(path) => Some(path.clone()),
            _ => None,
        });
        let stamps: Vec<String> = files
            .chain(self.replay_archive())
            .map(|path| stamp(&path))
            .collect();
        Ok(hash::name(&[
            self.product_name().as_bytes(),
            self.product.replaced_name().as_bytes(),
            self.config.clang.as_os_str().as_encoded_bytes(),
            image.section(TWIN_SECTION)?,
            image.section(LINK_SECTION)?,
            words.as_encoded_bytes(),
            stamps.join("\n").as_bytes(),
        ]))
    }

    /// Where the units are, compiled.
    fn objects(&self, units: &[Twin]) -> Result<Vec<PathBuf>, TwinError> {
        let directory = &self.config.units;
        fs::create_dir_all(directory).map_err(|error| TwinError::file(directory, error))?;
        let directory = directory
            .canonicalize()
            .map_err(|error| TwinError::file(directory, error))?;
        let names = units.iter().map(|unit| self.object_name(unit));
        Ok(names.map(|name| directory.join(name)).collect())
    }

    /// Compiles every unit of a twin; gives the objects.
    fn compile(&self, units: &[Twin]) -> Result<Vec<PathBuf>, TwinError> {
        self.compile_each(units, |unit, object| self.compile_unit(unit, object))
    }

    /// Compiles every unit, some at a time; gives the objects.
    fn compile_each(
        &self,
        units: &[Twin],
        compile: impl Fn(&Twin, &Path) -> Result<(), TwinError> + Sync,
    ) -> Result<Vec<PathBuf>, TwinError> {
        let objects = self.objects(units)?;
        let items: Vec<(PathBuf, &Twin)> = objects.iter().cloned().zip(units).collect();
        jobs::each(self.config.jobs, &items, |(object, unit)| {
            jobs::once(object, |unfinished| compile(unit, unfinished))
        })?;
        Ok(objects)
    }

    fn object_name(&self, unit: &Twin) -> String {
        let clang = self.config.clang.as_os_str().as_encoded_bytes();
        let product = self.product_name();
        let options = unit.options.join("\n");
        let name = hash::name(&[clang, product.as_bytes(), &unit.bitcode, options.as_bytes()]);
        format!("{name}.o")
    }

    fn compile_unit(&self, unit: &Twin, object: &Path) -> Result<(), TwinError> {
        let Product::Twin(judge) = self.product else {
            unreachable!("variants compile their units themselves");
        };
        let (bitcode, guarded) = (
            object.with_extension("bc"),
            object.with_extension("guarded.bc"),
        );
        fs::write(&bitcode, &unit.bitcode).map_err(|error| TwinError::file(&bitcode, error))?;
        // The sanitizer first: the optimiser removes a store that nobody reads, but not a
        // check of its address, and makes what it likes of memory that was never written.
        let first = [&["-O0", "-emit-llvm"], judge.sanitizers()].concat();
        let result = match self.config.quick {
            true => self.clang(unit, &quick_options(judge), &bitcode, object),
            false => self
                .clang(unit, &first, &bitcode, &guarded)
                .and_then(|()| self.clang(unit, judge.optimiser(), &guarded, object)),
        };
        for file in [bitcode, guarded] {
            let _ = fs::remove_file(file);
        }
        result
    }

    fn clang(
        &self,
        unit: &Twin,
        options: &[&str],
        from: &Path,
        to: &Path,
    ) -> Result<(), TwinError> {
        let mut words: Vec<OsString> = options.iter().map(OsString::from).collect();
        words.extend(unit.options.iter().map(OsString::from));
        words.extend(["-Qunused-arguments", "-Wno-everything", "-c"].map(OsString::from));
        words.extend([text(from), "-o".into(), text(to)]);
        tool::run(
            &self.config.clang,
            words,
            &self.directory,
            "compile the sanitizer twin",
        )
    }

    /// The recorded arguments with everything instrumented taken out or replaced.
    fn link_arguments(&self, link: &Link) -> Result<Vec<Argument>, TwinError> {
        let arguments = arguments::resolve(arguments::read(&link.arguments), &link.directory());
        let replace = |argument| match argument {
            Argument::File(path) => {
                archive::of_link(&path, &self.libraries, &self.directory).map(Argument::File)
            }
            other => Ok(other),
        };
        arguments.into_iter().map(replace).collect()
    }

    fn link(
        &self,
        link: &Link,
        objects: &[PathBuf],
        arguments: &[Argument],
        output: &Path,
    ) -> Result<(), TwinError> {
        let Product::Twin(judge) = self.product else {
            unreachable!("variants are linked by themselves");
        };
        let unfinished = output.with_added_extension(format!("{}.tmp", std::process::id()));
        let options = [judge.sanitizers(), &["-Qunused-arguments", "-w"]].concat();
        let mut words: Vec<OsString> = options.iter().map(OsString::from).collect();
        words.extend(objects.iter().map(|object| text(object)));
        words.extend(arguments::words(arguments));
        if let Some(archive) = self.replay_archive() {
            if !link.shared {
                words.push(format!("-Wl,-u,{STRINGS_APART}").into());
                if judge == Judge::Memory {
                    words.push(format!("-Wl,-u,{UNWRITTEN}").into());
                }
                let wrapped = judge.wrapped();
                words.extend((wrapped.iter()).map(|name| format!("-Wl,--wrap={name}").into()));
                let more = nearmiss_compile::wrap_main(&words);
                words.extend(more.map(OsString::from));
            }
            words.push(text(&archive));
        }
        let linked_in = link.directory();
        let directory = Some(linked_in.as_path()).filter(|path| path.is_dir());
        let directory = directory.unwrap_or(&self.directory);
        if link.shared {
            // A program and its libraries share what replays an input.
            words = admit_hooks(words, directory, output)?;
            words.push("-Wl,--export-dynamic-symbol=__nm_*".into());
        }
        // First in the list, so that an old-style RPATH of the program does not win.
        words.splice(0..0, self.library_option());
        words.extend(["-o".into(), text(&unfinished)]);
        self.run_linker(words, directory)?;
        fs::rename(&unfinished, output).map_err(|error| TwinError::file(output, error))
    }

    fn run_linker(&self, words: Vec<OsString>, directory: &Path) -> Result<(), TwinError> {
        let run = |words| {
            let what = "link the sanitizer twin";
            tool::run(&self.config.clang, words, directory, what)
        };
        if self.config.quick {
            let more = QUICK_LINKER.map(OsString::from);
            // It may not be there, and another one may understand what it does not.
            if run(words.iter().cloned().chain(more).collect()).is_ok() {
                return Ok(());
            }
        }
        run(words)
    }

    /// Where the loader finds the libraries that were built with the program.
    fn library_option(&self) -> Option<OsString> {
        let mut option = OsString::from("-Wl,-rpath,");
        option.push(self.directory.join("lib"));
        (!self.libraries.is_empty()).then_some(option)
    }

    fn replay_archive(&self) -> Option<PathBuf> {
        Some(self.config.library_directory.join(REPLAY_ARCHIVE)).filter(|path| path.exists())
    }
}

/// Without an optimiser there is one step.
fn quick_options(judge: Judge) -> Vec<&'static str> {
    [&["-O0"], judge.sanitizers()].concat()
}

/// The linker of clang's own LLVM, where it is: it reads AddressSanitizer's runtime in a third of the time, and ours in half.
pub const QUICK_LINKER: [&str; 2] = ["-fuse-ld=lld", "-Wl,--threads=1,-O0"];

/// Says that what was built is whole.
pub fn seal(output: &Path, key_file: &Path, key: &str) -> Result<(), TwinError> {
    let size = size_of(output).unwrap_or(0);
    let written = fs::write(key_file, format!("{key} {size}"));
    written.map_err(|error| TwinError::file(key_file, error))
}

/// Whether a twin is what its key says, all of it.
pub fn is_whole(twin: &Path, key_file: &Path, key: &str) -> bool {
    let expected = size_of(twin).map(|size| format!("{key} {size}"));
    expected.is_some() && fs::read_to_string(key_file).ok() == expected
}

fn size_of(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|found| found.len())
}

fn text(path: &Path) -> OsString {
    path.as_os_str().to_os_string()
}

/// Changes when the file does.
pub fn stamp(path: &Path) -> String {
    let found = fs::metadata(path).ok();
    let modified = found.as_ref().and_then(|found| found.modified().ok());
    format!(
        "{} {:?} {modified:?}",
        path.display(),
        found.map(|found| found.len())
    )
}
