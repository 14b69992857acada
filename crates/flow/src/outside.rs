//! What a function depends on that is no argument of it: variables of static storage, and functions of the C
//! library that answer by what is outside of the program.

use std::collections::{BTreeSet, HashMap, HashSet};

use nearmiss_abi::model::PREFIX;
use nearmiss_sites::flow::{FlowCall, FunctionFlow, UnitFlow};

use crate::callbacks;

/// Functions whose answer is the system's: files, environment, clocks, processes, memory that may be used up.
const ASKS: &[&str] = &[
    "accept",
    "access",
    "aligned_alloc",
    "calloc",
    "clock",
    "clock_gettime",
    "clock_getres",
    "connect",
    "creat",
    "dlopen",
    "dlsym",
    "drand48",
    "fdopen",
    "fgetc",
    "fgets",
    "fopen",
    "fork",
    "fread",
    "freopen",
    "fscanf",
    "fstat",
    "ftime",
    "getaddrinfo",
    "getc",
    "getchar",
    "getcwd",
    "getdelim",
    "getegid",
    "getentropy",
    "getenv",
    "geteuid",
    "getgid",
    "getgrgid",
    "getgrnam",
    "gethostbyname",
    "gethostname",
    "getline",
    "getlogin",
    "getpgrp",
    "getpid",
    "getppid",
    "getpwnam",
    "getpwuid",
    "getrandom",
    "getrlimit",
    "getrusage",
    "gettimeofday",
    "getuid",
    "getw",
    "glob",
    "ioctl",
    "isatty",
    "localtime",
    "localtime_r",
    "lrand48",
    "lseek",
    "lstat",
    "malloc",
    "memalign",
    "mkdir",
    "mkstemp",
    "mktime",
    "mmap",
    "mrand48",
    "nl_langinfo",
    "open",
    "openat",
    "opendir",
    "pipe",
    "poll",
    "popen",
    "posix_memalign",
    "pread",
    "read",
    "readdir",
    "readlink",
    "readv",
    "realloc",
    "reallocarray",
    "realpath",
    "recv",
    "recvfrom",
    "recvmsg",
    "rand",
    "random",
    "rename",
    "rmdir",
    "scandir",
    "scanf",
    "secure_getenv",
    "select",
    "setlocale",
    "shm_open",
    "socket",
    "stat",
    "strdup",
    "strndup",
    "syscall",
    "sysconf",
    "sysinfo",
    "system",
    "tempnam",
    "time",
    "times",
    "tmpfile",
    "tmpnam",
    "ttyname",
    "uname",
    "unlink",
    "valloc",
    "vfscanf",
    "vscanf",
    "wait",
    "waitpid",
    "write",
];

/// What a function and all that it may call depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Variables of static storage that are read, and that something may change.
    pub variables: BTreeSet<String>,
    /// Functions that ask the system.
    pub functions: BTreeSet<String>,
}

impl Outside {
    /// What `function` depends on, wherever its calls may lead.
    pub fn of(units: &[UnitFlow], function: &str) -> Outside {
        let bodies = Bodies::of(units);
        let is_model = |body: &&(usize, &FunctionFlow)| body.1.name.starts_with(PREFIX);
        let models: HashSet<usize> = bodies.all.iter().filter(is_model).map(|it| it.0).collect();
        let mut outside = Outside::default();
        let mut seen = HashSet::new();
        let mut work: Vec<usize> = bodies.named(function, None).collect();
        while let Some(number) = work.pop() {
            if !seen.insert(number) {
                continue;
            }
            let (unit, body) = bodies.all[number];
            outside.variables.extend(body.reads.iter().cloned());
            for call in body.blocks.iter().flat_map(|block| &block.calls) {
                match call {
                    FlowCall::Named(name) => {
                        let before = work.len();
                        work.extend(bodies.named(name, Some(unit)));
                        let is_body = work.len() > before && !name.starts_with(PREFIX);
                        // What a model asks on its way is not what the program asks.
                        let is_used = || {
                            !models.contains(&unit) && body.answers.contains(name) && is_open(name)
                        };
                        if !is_body && (work.len() == before && asks(name) || is_used()) {
                            outside.functions.insert(callbacks::unmodelled(name).into());
                        }
                    }
                    FlowCall::Pointer(ty) => work.extend(bodies.of_type(ty)),
                    FlowCall::Mark(_) => {}
                }
            }
        }
        outside
    }
}

/// Whether a function of the C library, also by a name that a header gives it, asks the system.
fn asks(name: &str) -> bool {
    let plain = callbacks::unmodelled(name);
    let plain = plain
        .trim_start_matches("__isoc99_")
        .trim_start_matches("__");
    let plain = plain.strip_suffix("_chk").unwrap_or(plain);
    let plain = plain.strip_suffix("64").unwrap_or(plain);
    ASKS.contains(&plain)
}

/// Whether the answer of a function that no unit has depends on more than what it is given.
fn is_open(name: &str) -> bool {
    let plain = callbacks::unmodelled(name);
    let is_ours = OURS.iter().any(|prefix| plain.starts_with(prefix));
    !is_ours && !nearmiss_abi::library::answers_by_arguments(plain)
}

/// What the names of functions begin with that are ours, of other tools' harnesses, or the compiler's.
const OURS: &[&str] = &[
    "__nm_",
    "nearmiss_",
    "nm_",
    "klee_",
    "__VERIFIER_",
    "__asan_",
    "__sanitizer_",
    "llvm.",
];

/// The functions of all units.
pub(crate) struct Bodies<'a> {
    /// Each with the number of its unit.
    pub all: Vec<(usize, &'a FunctionFlow)>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Functions whose address another unit takes.
    pointed: HashSet<&'a str>,
}

impl<'a> Bodies<'a> {
    pub fn of(units: &'a [UnitFlow]) -> Bodies<'a> {
        let all: Vec<(usize, &FunctionFlow)> = (units.iter().enumerate())
            .flat_map(|(unit, flow)| flow.functions.iter().map(move |body| (unit, body)))
            .collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, (_, body)) in all.iter().enumerate() {
            by_name.entry(&body.name).or_default().push(number);
        }
        let pointed = units.iter().flat_map(|unit| &unit.pointed);
        Bodies {
            all,
            by_name,
            pointed: pointed.map(String::as_str).collect(),
        }
    }

    /// The functions that a name may stand for in a unit, or anywhere.
    pub fn named(&self, name: &str, unit: Option<usize>) -> impl Iterator<Item = usize> {
        let numbers = self.by_name.get(name).into_iter().flatten().copied();
        numbers.filter(move |number| {
            let (home, body) = self.all[*number];
            !body.is_local || unit.is_none_or(|unit| unit == home)
        })
    }

    /// Whether a unit defines it.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Functions of this type that calls through pointers may lead to.
    pub fn of_type(&self, ty: &str) -> impl Iterator<Item = usize> {
        let bodies = self.all.iter().enumerate();
        let alike = bodies.filter(move |(_, (_, body))| {
            body.of_type == ty && (body.is_pointed || self.pointed.contains(body.name.as_str()))
        });
        alike.map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_sites::flow::FlowBlock;

    fn body(name: &str, reads: &[&str], calls: &[FlowCall]) -> FunctionFlow {
        FunctionFlow {
            name: name.into(),
            reads: reads.iter().map(|name| name.to_string()).collect(),
            blocks: vec![FlowBlock {
                calls: calls.to_vec(),
                ..FlowBlock::default()
            }],
            ..FunctionFlow::default()
        }
    }

    fn unit(functions: Vec<FunctionFlow>) -> UnitFlow {
        UnitFlow {
            unit: 1,
            functions,
            ..UnitFlow::default()
        }
    }

    fn named(name: &str) -> FlowCall {
        FlowCall::Named(name.into())
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn calls_are_followed_by_name_and_by_type() {
        let mut pointed = body("pointed", &["c"], &[named("__nm_model_getenv")]);
        pointed.of_type = "i32 (i32)".into();
        let functions = vec![
            body(
                "f",
                &["a"],
                &[named("g"), FlowCall::Pointer("i32 (i32)".into())],
            ),
            body(
                "g",
                &["b"],
                &[named("strlen"), named("fopen64"), named("f")],
            ),
            body("apart", &["d"], &[named("time")]),
            pointed,
        ];
        let taker = UnitFlow {
            unit: 2,
            pointed: vec!["pointed".into()],
            ..UnitFlow::default()
        };
        let units = [unit(functions), taker];
        let outside = Outside::of(&units, "f");
        assert_eq!(outside.variables, set(&["a", "b", "c"]));
        assert!(outside.functions.contains("fopen64"));
        assert!(!outside.functions.contains("time"));
        assert_eq!(outside.functions.len(), 2);
    }

    #[test]
    fn answers_that_are_looked_at_may_be_others() {
        let mut f = body("f", &[], &[named("fclose"), named("puts"), named("strlen")]);
        f.answers = vec!["fclose".into(), "strlen".into()];
        assert_eq!(
            Outside::of(&[unit(vec![f])], "f").functions,
            set(&["fclose"])
        );
    }

    #[test]
    fn what_the_program_defines_asks_by_its_own_code() {
        let functions = vec![
            body("f", &[], &[named("malloc")]),
            body("malloc", &["pool"], &[]),
        ];
        let units = [unit(functions)];
        let outside = Outside::of(&units, "f");
        assert_eq!(
            (outside.variables, outside.functions),
            (set(&["pool"]), set(&[]))
        );
    }
}
