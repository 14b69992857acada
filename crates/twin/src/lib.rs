//! The ASan+UBSan twin of an instrumented program, its MSan twin, and variants of the program itself, built on demand.
//!
//! The twin is the judge of every finding: the same program, not instrumented, under clang's
//! sanitizers. An instrumented program carries the bitcode of its units from before the
//! instrumentation, and a record of how it was linked; from both the twin is built when it is
//! first needed, and again only when one of them has changed. So is a *variant*: the program once more, its units
//! rewritten before they are instrumented. It is an instrumented program like any other, and has twins of its own.

mod archive;
mod arguments;
mod claims;
mod error;
mod hash;
mod image;
mod jobs;
mod memory;
mod recorder;
mod tool;
mod variant;
mod workshop;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_sites::flow::UnitFlow;
use nearmiss_sites::{Link, Sites, Twin, Unit};

use arguments::Argument;
pub use error::TwinError;
use image::Image;
pub use image::dynamic_symbols;
pub use memory::WRITES_NOTHING;
pub use recorder::{Recorder, build_recorder, can_be_recorded, has_recipes, keeps_link, refusal};
pub use variant::Variant;
pub use workshop::QUICK_LINKER;
use workshop::{Product, Workshop};

/// Where the tools are.
#[derive(Clone, Debug)]
pub struct Config {
    /// The C compiler.
    pub clang: PathBuf,
    /// Where `libnearmiss_replay.a` is.
    pub library_directory: PathBuf,
    /// Where compiled units are kept, by what they are made of: programs and threads that share
    /// this directory compile what they have in common once.
    pub units: PathBuf,
    /// How many units are compiled at a time.
    pub jobs: usize,
    /// Whether building is to be quick rather than what is built: for small functions.
    pub quick: bool,
}

/// The sanitizers that judge a program. No program can have both: each keeps a shadow of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// AddressSanitizer: accesses outside of objects. The twin.
    Address,
    /// MemorySanitizer: reads of what was never written. The memory twin.
    Memory,
}

/// A twin, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwinProgram {
    /// The program.
    pub program: PathBuf,
    /// The directory that must come first in `LD_LIBRARY_PATH`, where the twins of shared
    /// libraries are; none if there are no such libraries.
    pub library_path: Option<PathBuf>,
}

/// What a program and its libraries say about themselves.
#[derive(Clone, Debug)]
pub struct ProgramInfo {
    /// The site maps of all units.
    pub sites: Sites,
    /// How the program was linked.
    pub link: Link,
    /// Members of archives that are part of the program without instrumentation.
    pub plain_members: Vec<String>,
    /// Those of the given libraries that are instrumented.
    pub libraries: Vec<PathBuf>,
    /// Whether the program itself is instrumented, not only a library.
    pub instrumented: bool,
}

/// Reads what a program and the shared libraries it loads say about themselves. It is an error
/// if none of them is instrumented.
pub fn inspect(program: &Path, libraries: &[PathBuf]) -> Result<ProgramInfo, TwinError> {
    let image = Image::read(program)?;
    let mut info = ProgramInfo {
        sites: Sites::default(),
        plain_members: plain_members(&image)?,
        link: image.link()?,
        libraries: Vec::new(),
        instrumented: image.is_instrumented(),
    };
    image
        .units()?
        .into_iter()
        .for_each(|unit| info.sites.add(unit));
    for path in libraries {
        let library = Image::read(path)?;
        if library.is_instrumented() {
            library
                .units()?
                .into_iter()
                .for_each(|unit| info.sites.add(unit));
            info.libraries.push(path.clone());
        }
    }
    match info.sites.is_empty() {
        true => Err(TwinError::NotInstrumented(program.to_path_buf())),
        false => Ok(info),
    }
}

/// The members of archives of the link that the program has without instrumentation. Of a stripped program
/// it may have any of them.
fn plain_members(image: &Image) -> Result<Vec<String>, TwinError> {
    let link = image.link()?;
    let arguments = arguments::read(&link.arguments);
    let arguments = arguments::resolve(arguments, &link.directory());
    let defined: HashSet<&[u8]> = image.functions().into_iter().collect();
    let is_part = |functions: &[&[u8]]| {
        defined.is_empty() || functions.iter().any(|name| defined.contains(name))
    };
    let members = arguments.into_iter().flat_map(|argument| match argument {
        Argument::File(path) if path.extension().is_some_and(|end| end == "a") => {
            archive::plain_members(&path, is_part)
        }
        _ => Vec::new(),
    });
    Ok(members.collect())
}

/// The name by which programs look for a shared library.
pub fn library_name(library: &Path) -> Result<String, TwinError> {
    Ok(Image::read(library)?.library_name())
}

/// The site maps of a program, for tools that can do without.
pub fn sites_of(program: &Path) -> Sites {
    inspect(program, &[])
        .map(|info| info.sites)
        .unwrap_or_default()
}

/// The units that our own archives bring into every program.
pub fn own_units(library_directory: &Path) -> HashSet<u64> {
    let archives = nearmiss_compile::archives(library_directory);
    let units = archives.iter().filter_map(|path| archive::twins(path).ok());
    units.flatten().map(|unit| unit.unit).collect()
}

/// The units of a program and its libraries, and what is kept of each: those of which enough is kept to compile
/// them once more.
pub fn kept_units(program: &Path, libraries: &[PathBuf]) -> Result<Vec<(Unit, Twin)>, TwinError> {
    let mut kept = Vec::new();
    for path in std::iter::once(program).chain(libraries.iter().map(PathBuf::as_path)) {
        let image = Image::read(path)?;
        let mut units = image.units()?;
        for twin in image.twins()? {
            if let Some(index) = units.iter().position(|unit| unit.hash == twin.unit)
                && !twin.command.is_empty()
            {
                kept.push((units.swap_remove(index), twin));
            }
        }
    }
    Ok(kept)
}

/// The control flow of all units of a program and its libraries.
pub fn flows_of(program: &Path, libraries: &[PathBuf]) -> Result<Vec<UnitFlow>, TwinError> {
    let mut flows = Image::read(program)?.flows()?;
    for library in libraries {
        flows.extend(Image::read(library)?.flows()?);
    }
    Ok(flows)
}

/// Builds a twin of a program in `directory`, with twins of those of its shared libraries
/// that are instrumented. What is up to date is not built again.
pub fn build(
    program: &Path,
    libraries: &[PathBuf],
    judge: Judge,
    directory: &Path,
    config: &Config,
) -> Result<TwinProgram, TwinError> {
    let product = Product::Twin(judge);
    let built = Built::make(program, libraries, product, &directory.join("twin"), config)?;
    if judge == Judge::Memory {
        let look = |image: &Image| built.workshop.look_through(image, &built.output);
        built.images.iter().try_for_each(look)?;
    }
    Ok(built.finish())
}

/// Builds a variant of a program in `directory`, with variants of those of its shared libraries that are
/// instrumented. What is up to date is not built again.
pub fn build_variant(
    program: &Path,
    libraries: &[PathBuf],
    variant: &Variant<'_>,
    directory: &Path,
    config: &Config,
) -> Result<TwinProgram, TwinError> {
    let output = directory.join(program.file_name().unwrap_or_default());
    let product = Product::Variant(variant);
    Ok(Built::make(program, libraries, product, &output, config)?.finish())
}

/// A program that was built of another's units.
struct Built<'a> {
    workshop: Workshop<'a>,
    /// What it was made of.
    images: Vec<Image>,
    output: PathBuf,
}

impl<'a> Built<'a> {
    fn make(
        program: &Path,
        libraries: &[PathBuf],
        product: Product<'a>,
        output: &Path,
        config: &'a Config,
    ) -> Result<Built<'a>, TwinError> {
        let image = Image::read(program)?;
        let directory = output.parent().unwrap_or(output);
        let library_directory = directory.join("lib");
        fs::create_dir_all(&library_directory)
            .map_err(|error| TwinError::file(directory, error))?;
        let directory = directory
            .canonicalize()
            .map_err(|error| TwinError::file(directory, error))?;
        let output = directory.join(output.file_name().unwrap_or_default());
        let mut workshop = Workshop {
            config,
            product,
            directory,
            libraries: Vec::new(),
        };
        let mut images = Vec::new();
        for path in libraries {
            let library = Image::read(path)?;
            if library.is_instrumented() {
                let twin = workshop.directory.join("lib").join(library.library_name());
                workshop.build(&library, &twin)?;
                let original = path
                    .canonicalize()
                    .map_err(|error| TwinError::file(path, error))?;
                workshop.libraries.push((original, twin));
                images.push(library);
            }
        }
        if images.is_empty() && !image.is_instrumented() {
            return Err(TwinError::NotInstrumented(program.to_path_buf()));
        }
        workshop.build(&image, &output)?;
        images.push(image);
        Ok(Built {
            workshop,
            images,
            output,
        })
    }

    fn finish(self) -> TwinProgram {
        let directory = self.workshop.directory.join("lib");
        TwinProgram {
            program: self.output,
            library_path: (!self.workshop.libraries.is_empty()).then_some(directory),
        }
    }
}
