//! The options of clang's command line that a compiler wrapper must know: one row each.
//!
//! A wrapper need not know every option, only those that take the next word as their value
//! (or it would take that word for an input) and those that do not belong to the front end.
//! What is not in the table starts with `-`, stands alone and is for the front end.

/// How an option and its value are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The word is the whole option.
    Alone,
    /// The value follows in the same word.
    Joined,
    /// The value is the next word.
    Separate,
    /// The value follows in the same word or, if nothing does, is the next word.
    Either,
}

/// Whom an option is for, or what it changes in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A file.
    Input,
    /// `-c`.
    Compile,
    /// `-o`.
    Output,
    /// `-x`.
    Language,
    /// The front end only.
    Front,
    /// The front end and code generation.
    Code,
    /// As `Code`; names the machine.
    Target,
    /// As `Code`, for the instrumented program only: its twin has an own level.
    Optimise,
    /// As `Code`, for the instrumented program only: what debug information is wanted.
    Debug,
    /// Code generation only.
    Assembler,
    /// The linker only.
    Link,
    /// The linker only; a directory or file to find again later.
    LinkPath,
    /// The linker only; a library, so that there is something to link.
    Library,
    /// `-shared`.
    Shared,
    /// `-r`.
    Relocatable,
    /// Asks for a file of dependencies beside the compilation.
    Dependencies,
    /// Names the file of dependencies.
    DependencyFile,
    /// Names the target in the file of dependencies.
    DependencyTarget,
    /// Any other detail of dependencies.
    DependencyDetail,
    /// Has no meaning, or a bad one, for code that is to be instrumented.
    Dropped,
    /// Put aside, everywhere and with a word about it: the twin has sanitizers of its own, and no
    /// program can have both.
    Aside,
    /// Asks for files beside the object; see `beside`.
    Temporaries,
    /// The sources of this command are compiled without instrumentation.
    Plain,
    /// The whole command is clang's: nothing that could be instrumented comes out of it.
    Stop,
}

/// A row: the option's name, how it is spelled and what it is for.
type Row = (&'static str, Shape, Role);

use Role::*;
use Shape::{Alone, Either, Joined, Separate};

/// Every option that is not simply one word for the front end.
const ROWS: &[Row] = &[
    // What the command does.
    ("-c", Alone, Compile),
    ("--compile", Alone, Compile),
    ("-o", Either, Output),
    ("--output", Separate, Output),
    ("--output=", Joined, Output),
    ("-x", Either, Language),
    ("--language", Separate, Language),
    ("--language=", Joined, Language),
    // Commands that are clang's own business.
    ("-E", Alone, Stop),
    ("--preprocess", Alone, Stop),
    ("-S", Alone, Stop),
    ("--assemble", Alone, Stop),
    ("-M", Alone, Stop),
    ("-MM", Alone, Stop),
    ("--dependencies", Alone, Stop),
    ("--user-dependencies", Alone, Stop),
    ("-fsyntax-only", Alone, Stop),
    ("-emit-llvm", Alone, Stop),
    ("-emit-ast", Alone, Stop),
    ("--precompile", Alone, Stop),
    ("--analyze", Alone, Stop),
    ("-###", Alone, Stop),
    ("--version", Alone, Stop),
    ("--help", Joined, Stop),
    ("-help", Alone, Stop),
    ("-dumpmachine", Alone, Stop),
    ("-dumpversion", Alone, Stop),
    ("-dumpspecs", Alone, Stop),
    ("-print-", Joined, Stop),
    ("--print-", Joined, Stop),
    ("--autocomplete=", Joined, Stop),
    ("-cc1", Joined, Stop),
    // Other machines.
    ("-m32", Alone, Stop),
    ("-m16", Alone, Stop),
    ("-mx32", Alone, Stop),
    ("-arch", Separate, Stop),
    // Sanitizers, and files of steps that are not clang's here.
    ("-fsanitize=", Joined, Aside),
    ("-fsanitize-", Joined, Aside),
    ("-fno-sanitize=", Joined, Aside),
    ("-fno-sanitize-", Joined, Aside),
    ("-save-temps", Alone, Temporaries),
    ("--save-temps", Alone, Temporaries),
    ("-save-temps=", Joined, Temporaries),
    // Code that has no libc around it.
    ("-ffreestanding", Alone, Plain),
    ("-nostdinc", Alone, Plain),
    ("-mcmodel=kernel", Alone, Plain),
    ("-mkernel", Alone, Plain),
    // Link-time optimisation would come after us; counters would be instrumented too.
    ("-flto", Joined, Dropped),
    ("-ffat-lto-objects", Alone, Dropped),
    ("-fwhole-program-vtables", Alone, Dropped),
    ("-fembed-bitcode", Joined, Dropped),
    ("--coverage", Alone, Dropped),
    ("-coverage", Alone, Dropped),
    ("-ftest-coverage", Alone, Dropped),
    ("-fprofile-", Joined, Dropped),
    ("-fcs-profile-", Joined, Dropped),
    ("-fcoverage-mapping", Alone, Dropped),
    ("-gsplit-dwarf", Joined, Dropped),
    // Dependencies.
    ("-MD", Alone, Dependencies),
    ("-MMD", Alone, Dependencies),
    ("--write-dependencies", Alone, Dependencies),
    ("--write-user-dependencies", Alone, Dependencies),
    ("-Wp,-MD", Joined, Dependencies),
    ("-Wp,-MMD", Joined, Dependencies),
    ("-MF", Either, DependencyFile),
    ("-MT", Either, DependencyTarget),
    ("-MQ", Either, DependencyTarget),
    ("-MJ", Either, DependencyDetail),
    ("-MG", Alone, DependencyDetail),
    ("-MP", Alone, DependencyDetail),
    ("-MV", Alone, DependencyDetail),
    // The front end, with a value.
    ("-D", Either, Front),
    ("-U", Either, Front),
    ("-I", Either, Front),
    ("-F", Either, Front),
    ("-A", Either, Front),
    ("-include", Either, Front),
    ("-include-pch", Separate, Front),
    ("-imacros", Either, Front),
    ("-isystem", Either, Front),
    ("-isystem-after", Either, Front),
    ("-cxx-isystem", Either, Front),
    ("-c-isystem", Either, Front),
    ("-idirafter", Either, Front),
    ("-iquote", Either, Front),
    ("-iprefix", Either, Front),
    ("-iwithprefix", Either, Front),
    ("-iwithprefixbefore", Either, Front),
    ("-iwithsysroot", Either, Front),
    ("-isysroot", Either, Front),
    ("-ivfsoverlay", Either, Front),
    ("--include", Separate, Front),
    ("--include-directory", Separate, Front),
    ("--define-macro", Separate, Front),
    ("--undefine-macro", Separate, Front),
    ("--sysroot", Separate, Front),
    ("--param", Separate, Front),
    ("--config", Separate, Front),
    ("-Xclang", Separate, Front),
    ("-Xpreprocessor", Separate, Front),
    ("-Xanalyzer", Separate, Front),
    ("-working-directory", Separate, Front),
    ("-serialize-diagnostics", Separate, Front),
    ("--serialize-diagnostics", Separate, Front),
    ("-dumpdir", Separate, Front),
    ("-undef", Alone, Front),
    // Code generation.
    ("-O", Joined, Optimise),
    ("--optimize", Joined, Optimise),
    ("-g", Joined, Debug),
    ("-m", Joined, Code),
    ("-mllvm", Separate, Code),
    ("-target", Separate, Target),
    ("--target=", Joined, Target),
    ("-B", Either, Code),
    ("-pthread", Alone, Code),
    ("-fPIC", Alone, Code),
    ("-fpic", Alone, Code),
    ("-fPIE", Alone, Code),
    ("-fpie", Alone, Code),
    ("-fno-PIC", Alone, Code),
    ("-fno-pic", Alone, Code),
    ("-fno-PIE", Alone, Code),
    ("-fno-pie", Alone, Code),
    ("-fplt", Alone, Code),
    ("-fno-plt", Alone, Code),
    ("-fcommon", Alone, Code),
    ("-fno-common", Alone, Code),
    ("-fsemantic-interposition", Alone, Code),
    ("-fno-semantic-interposition", Alone, Code),
    ("-ffunction-sections", Alone, Code),
    ("-fno-function-sections", Alone, Code),
    ("-fdata-sections", Alone, Code),
    ("-fno-data-sections", Alone, Code),
    ("-funique-section-names", Alone, Code),
    ("-fno-unique-section-names", Alone, Code),
    ("-fstack-size-section", Alone, Code),
    ("-fomit-frame-pointer", Alone, Code),
    ("-fno-omit-frame-pointer", Alone, Code),
    ("-fasynchronous-unwind-tables", Alone, Code),
    ("-fno-asynchronous-unwind-tables", Alone, Code),
    ("-funwind-tables", Alone, Code),
    ("-fno-unwind-tables", Alone, Code),
    ("-fexceptions", Alone, Code),
    ("-fno-exceptions", Alone, Code),
    ("-femulated-tls", Alone, Code),
    ("-fno-emulated-tls", Alone, Code),
    ("-ftls-model=", Joined, Code),
    ("-fcf-protection", Joined, Code),
    ("-ffast-math", Alone, Code),
    ("-fno-fast-math", Alone, Code),
    ("-ffp-contract=", Joined, Code),
    ("-ffp-model=", Joined, Code),
    ("-fdenormal-fp-math=", Joined, Code),
    ("-fno-jump-tables", Alone, Code),
    ("-fzero-call-used-regs=", Joined, Code),
    ("-fstack-clash-protection", Alone, Code),
    ("-fno-integrated-as", Alone, Code),
    ("-fintegrated-as", Alone, Code),
    ("-fno-addrsig", Alone, Code),
    ("-faddrsig", Alone, Code),
    ("-Wa,", Joined, Assembler),
    ("-Xassembler", Separate, Assembler),
    ("-gz", Joined, Assembler),
    // The linker.
    ("-l", Either, Library),
    ("-L", Either, LinkPath),
    ("-T", Either, LinkPath),
    ("-Wl,", Joined, Link),
    ("-Xlinker", Separate, Link),
    ("-shared", Alone, Shared),
    ("--shared", Alone, Shared),
    ("-r", Alone, Relocatable),
    ("-static", Alone, Link),
    ("--static", Alone, Link),
    ("-static-pie", Alone, Link),
    ("-static-libgcc", Alone, Link),
    ("-static-libstdc++", Alone, Link),
    ("-shared-libgcc", Alone, Link),
    ("-pie", Alone, Link),
    ("-no-pie", Alone, Link),
    ("-nopie", Alone, Link),
    ("-rdynamic", Alone, Link),
    ("-s", Alone, Link),
    ("-symbolic", Alone, Link),
    ("-nostdlib", Alone, Link),
    ("-nostartfiles", Alone, Link),
    ("-nodefaultlibs", Alone, Link),
    ("-nolibc", Alone, Link),
    ("-u", Either, Link),
    ("-z", Either, Link),
    ("-e", Separate, Link),
    ("-rpath", Separate, Link),
    ("-framework", Separate, Link),
    ("-fuse-ld=", Joined, Link),
    ("--ld-path=", Joined, Link),
];

/// What a word of the command line starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// What it is for.
    pub role: Role,
    /// Its value if that stands in the same word.
    pub joined: Option<&'a str>,
    /// Whether the next word is its value.
    pub takes_next: bool,
}

/// Looks up a word: an exact name first, then the longest name it starts with.
pub fn find(word: &str) -> Found<'_> {
    if word == "-" || !word.starts_with('-') {
        return found(Input, Some(word), false);
    }
    let exact = ROWS.iter().find(|(name, _, _)| *name == word);
    if let Some((_, shape, role)) = exact {
        return found(*role, None, matches!(shape, Separate | Either));
    }
    let joined = ROWS
        .iter()
        .filter(|(name, shape, _)| matches!(shape, Joined | Either) && word.starts_with(name));
    match joined.max_by_key(|(name, _, _)| name.len()) {
        Some((name, _, role)) => found(*role, Some(&word[name.len()..]), false),
        None => found(Front, None, false),
    }
}

fn found(role: Role, joined: Option<&str>, takes_next: bool) -> Found<'_> {
    Found {
        role,
        joined,
        takes_next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, (name, _, _)) in ROWS.iter().enumerate() {
            assert!(
                ROWS[..index].iter().all(|(other, _, _)| other != name),
                "{name}"
            );
        }
    }

    #[test]
    fn the_longest_name_wins() {
        let cases = [
            ("-MMDx", Front),
            ("-MFx", DependencyFile),
            ("-mllvm", Code),
            ("-march=native", Code),
            ("-include", Front),
            ("-Ofast", Optimise),
            ("-gz=zlib", Assembler),
            ("-gsplit-dwarf=single", Dropped),
            ("-undef", Front),
            ("-umain", Link),
            ("-rpath", Link),
            ("-rdynamic", Link),
            ("-fprofile-arcs", Dropped),
            ("-fPIC", Code),
            ("-fno-strict-aliasing", Front),
            ("-static-libgcc", Link),
            ("-ofile", Output),
            ("-xc", Language),
            ("-", Input),
            ("a.c", Input),
        ];
        for (word, role) in cases {
            assert_eq!(find(word).role, role, "{word}");
        }
    }
}
