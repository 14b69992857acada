//! One translation unit from bitcode to bitcode.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use nearmiss_abi::site::{FLOW_SECTION, SITES_SECTION, TWIN_SECTION, UNIT_BITS};
use nearmiss_sites::frame;
use rustc_hash::{FxHashSet, FxHasher};

use crate::assembly;
use crate::context::Context;
use crate::elision;
use crate::flow::Flow;
use crate::function;
use crate::globals;
use crate::huge;
use crate::llvm::{Module, Value};
use crate::models;
use crate::pointers;
use crate::regions::Grain;
use crate::reports;
use crate::rewrite;
use crate::sitemap::SiteMap;
use crate::twin;

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Bitcode of clang's front end.
    pub input: PathBuf,
    /// Where the instrumented bitcode goes.
    pub output: PathBuf,
    /// Where the framed site map goes; it must live until code is generated.
    pub sites: PathBuf,
    /// Where the framed twin goes; likewise.
    pub twin: PathBuf,
    /// The source file as named on the command line.
    pub source: String,
    /// The directory of the command.
    pub directory: String,
    /// clang's arguments that made the input.
    pub command: Vec<String>,
    /// Code-generation options for the twin.
    pub options: Vec<String>,
    /// Where the unit is told as a `nearmiss_sites::program`; nothing is instrumented then.
    pub program: Option<PathBuf>,
    /// Whether a selection of clang's front end is a decision of the path.
    pub choices_are_branches: bool,
    /// Whether the user asked for optimisation.
    pub optimised: bool,
    /// Whether allocations stay that clang leaves out where it optimises.
    pub keep_allocations: bool,
    /// Whether the user asked for debug information.
    pub keep_debug: bool,
    /// Where regions end.
    pub grain: Grain,
    /// How the unit is rewritten first, if it is (`nearmiss_sites::rewrite`).
    pub rewrite: Option<PathBuf>,
    /// The file that is made if code generation must be spared, for the sake of a huge function.
    pub huge: Option<PathBuf>,
}

impl Request {
    fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|word| word == name)
    }
}

/// Before instrumentation, where the user asks for no optimisation: only variables into registers. A
/// value that is computed twice need not be kept, nor its label, and frames stay small. This and the
/// next are for all but huge functions.
const BEFORE_SMALL_FRAMES: &str = "always-inline,function(sroa<preserve-cfg>)";

/// The same where the user asks for some: small functions into their callers (an instrumented
/// call costs more than a plain one), and what is plain to see. Nothing that turns branches into
/// selections or moves checks (see docs/architecture.md).
const BEFORE_OPTIMISED: &str = "function(sroa<preserve-cfg>,early-cse),cgscc(inline),\
                      function(sroa<preserve-cfg>,early-cse<memssa>,lower-constant-intrinsics,early-cse)";

/// Then what a huge function cannot do without.
const BEFORE_AT_LEAST: &str = "always-inline,function(lower-constant-intrinsics)";

/// After it: the data of clang's reports, which nothing refers to any more, goes.
const AFTER: &str = "always-inline,function(simplifycfg),globaldce";

/// Then, where the user asks for optimisation, and but for huge functions: cheap clean-up; most of the work is code generation.
const AFTER_OPTIMISED: &str = "function(instcombine<no-verify-fixpoint>,early-cse<memssa>,\
                     jump-threading,simplifycfg),globaldce";

/// Instruments one unit.
pub fn instrument(request: &Request) -> Result<(), String> {
    let (input, rewritten) = rewrite::apply(request)?;
    let request = &Request {
        input,
        ..request.clone()
    };
    let module = Module::read(&request.input)?;
    let hash = unit_hash(
        &std::fs::read(&request.input).map_err(|error| error.to_string())?,
        &request.directory,
    );
    twin::write(hash, request)?;
    let mut sites = SiteMap::new(
        hash,
        &request.source,
        &request.directory,
        &defined_functions(&module),
    );
    sites.set_assembly(has_assembly(&module));
    sites.set_test_files(rewritten.boundary.map_or(Vec::new(), |it| it.test_files));
    prepare(&module, request)?;
    let flow = Flow::new(hash, &module);
    let mut context = Context::new(module, sites, flow);
    context.choices_are_branches = request.choices_are_branches;
    instrument_functions(&mut context, request.grain);
    reports::none_left(&context.module)?;
    context
        .module
        .verify()
        .map_err(|message| format!("instrumentation broke the module: {message}"))?;
    run_after(&context.module, request.grain)?;
    // Now it is known which variables are left.
    globals::list(
        &context,
        request.has_option("-fdata-sections"),
        request.grain,
    );
    write(context, request)
}

/// Runs what comes before instrumentation.
fn prepare(module: &Module, request: &Request) -> Result<(), String> {
    run_before(module, request.grain)?;
    if request.grain == Grain::Short && !request.has_option("-fno-omit-frame-pointer") {
        leave_out_frame_pointers(module);
    }
    if request.optimised && !request.keep_allocations {
        elision::leave_out_unused(module);
    }
    Ok(())
}

fn instrument_functions(context: &mut Context, grain: Grain) {
    let functions = functions_to_instrument(&context.module);
    models::redirect(context);
    pointers::redirect(context, &functions);
    let instrumented: FxHashSet<Value> = functions.into_iter().collect();
    for defined in defined_functions(&context.module) {
        match instrumented.contains(&defined) {
            true => function::instrument(context, defined, huge::grain_of(defined, grain)),
            false => reports::remove_from(defined),
        }
    }
}

/// Writes the instrumented unit, and what it says about itself.
fn write(context: Context, request: &Request) -> Result<(), String> {
    let Context {
        module,
        sites,
        flow,
        ..
    } = context;
    if !request.keep_debug {
        module.strip_debug();
    }
    if huge::unmark(&module)
        && let Some(file) = &request.huge
    {
        write_file(file, &[])?;
    }
    write_file(&request.sites, &frame::write(&sites.finish()))?;
    let flow_file = request.sites.with_extension("flow");
    write_file(&flow_file, &frame::write(&flow.finish()))?;
    for (section, path) in [
        (SITES_SECTION, &request.sites),
        (FLOW_SECTION, &flow_file),
        (TWIN_SECTION, &request.twin),
    ] {
        module.append_assembly(&include_section(section, path));
    }
    module.write(&request.output)
}

/// Prepares a unit, and marks what is huge in it.
fn run_before(module: &Module, grain: Grain) -> Result<(), String> {
    if grain != Grain::Fine {
        huge::mark(module);
    }
    let passes = match grain {
        Grain::Short => BEFORE_SMALL_FRAMES,
        _ => BEFORE_OPTIMISED,
    };
    huge::run_on_others(module, passes)?;
    module.run_passes(BEFORE_AT_LEAST)
}

/// Cleans up. LLVM 19 makes invalid calls when it replaces `__mempcpy_chk`, and what it does to
/// other libc calls is of no use here.
fn run_after(module: &Module, grain: Grain) -> Result<(), String> {
    let set = |allowed| {
        // Asked anew each time: passes may have removed functions.
        for function in defined_functions(module) {
            module.set_library_knowledge(function, allowed);
        }
    };
    set(false);
    module.run_passes(AFTER)?;
    if grain != Grain::Short {
        huge::run_on_others(module, AFTER_OPTIMISED)?;
    }
    set(true);
    Ok(())
}

/// A register that is not saved makes room for a label. Without optimisation clang makes the chain of
/// frames unasked; a function that is profiled (`-pg`) needs it.
fn leave_out_frame_pointers(module: &Module) {
    for function in defined_functions(module) {
        if !function.has_text_attribute("instrument-function-entry-inlined") {
            module.set_text_attribute(function, "frame-pointer", None);
        }
    }
}

/// The functions with a body.
pub fn defined_functions(module: &Module) -> Vec<Value> {
    module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration())
        .collect()
}

/// The index of attributes of a function itself.
const FUNCTION: u32 = u32::MAX;

/// Whether functions of the unit are written in assembly.
fn has_assembly(module: &Module) -> bool {
    let mut functions = defined_functions(module).into_iter();
    functions.any(|function| function.has_attribute(FUNCTION, "naked"))
        || assembly::has_code(&module.assembly())
}

fn functions_to_instrument(module: &Module) -> Vec<Value> {
    let resolvers = module.resolvers();
    let mut functions = defined_functions(module);
    // `available_externally` bodies are copies that never become code.
    functions.retain(|function| {
        !function.has_attribute(FUNCTION, "naked")
            && !resolvers.contains(function)
            && !function.is_elsewhere()
    });
    for function in &functions {
        for attribute in ["memory", "speculatable", "nosync"] {
            function.remove_attribute(attribute);
        }
    }
    functions
}

fn unit_hash(bitcode: &[u8], directory: &str) -> u64 {
    let mut hasher = FxHasher::default();
    bitcode.hash(&mut hasher);
    directory.hash(&mut hasher);
    // The upper bits of this hash are the good ones.
    hasher.finish() >> (64 - UNIT_BITS)
}

/// Writes a file that is included into the object.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Assembly that puts a file into a section of its own that is not loaded.
fn include_section(section: &str, path: &Path) -> String {
    let path = path
        .to_string_lossy()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!(".pushsection {section},\"\",@progbits\n.incbin \"{path}\"\n.popsection\n")
}
