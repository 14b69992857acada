//! Compiles C with clang, makes harnesses of it, and runs them on inputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use nearmiss_harness::{HarnessError, PROBE_FLAGS, Plan, Request, Rule, RuleKind, Unit};
use nearmiss_results::Memory;

/// A directory with a C file in it; gone at the end.
pub struct Workbench {
    directory: PathBuf,
}

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    pub status: Option<i32>,
    pub rows: Vec<(String, Vec<u8>)>,
    pub errors: String,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Workbench {
    pub fn new(files: &[(&str, &str)]) -> Workbench {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("nearmiss-harness-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).expect("a directory");
        for (name, text) in files {
            fs::write(directory.join(name), text).expect("a file");
        }
        Workbench { directory }
    }

    pub fn source(&self) -> PathBuf {
        self.directory.join("file.c")
    }

    fn clang(&self, words: &[&str]) {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let output = Command::new("clang-19")
            .current_dir(&self.directory)
            .arg("-I")
            .arg(include)
            .args(words)
            .output()
            .expect("clang");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "clang {words:?}: {errors}");
    }

    /// The debug information of a file, with further words for clang.
    pub fn object(&self, file: &str, words: &[&str]) -> Vec<u8> {
        let mut all = PROBE_FLAGS.to_vec();
        all.extend(words);
        all.extend(["-Dmain=nearmiss_program_main", "-c", file, "-o", "probe.o"]);
        self.clang(&all);
        fs::read(self.directory.join("probe.o")).expect("an object")
    }

    pub fn plan(&self, request: &Request) -> Result<Plan, HarnessError> {
        let mut unit = Unit::read(&self.object("file.c", &[]))?;
        if self.directory.join("other.c").exists() {
            unit.add(&self.object("other.c", &[]))?;
        }
        unit.plan(request)
    }

    /// Compiles the harness.
    pub fn build(&self, plan: &Plan, words: &[&str]) {
        let harness = plan.harness(&self.source());
        fs::write(self.directory.join("harness.c"), harness).expect("a file");
        let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/harness/runtime.c");
        let mut all = vec!["-w", "-g", "harness.c", runtime, "-o", "program"];
        if self.directory.join("other.c").exists() {
            all.push("other.c");
        }
        all.extend(words);
        self.clang(&all);
    }

    pub fn run(&self, staging: &[u8], mode: u32) -> Outcome {
        fs::write(self.directory.join("input"), staging).expect("a file");
        let output = Command::new(self.directory.join("program"))
            .current_dir(&self.directory)
            .env("WORKBENCH_INPUT", "input")
            .env("WORKBENCH_MODE", mode.to_string())
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .output()
            .expect("a run");
        let text = String::from_utf8(output.stdout).expect("rows");
        Outcome {
            status: output.status.code(),
            rows: text.lines().map(row).collect(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Outcome {
    /// What was there afterwards.
    pub fn memory(&self, plan: &Plan, staging: &[u8]) -> Memory {
        assert_eq!(self.status, Some(0), "{}", self.errors);
        let rows = self.rows.iter().filter(|(name, _)| name != "mark");
        plan.decode_results(staging, &rows.cloned().collect::<Vec<_>>())
    }

    /// The first byte of a row.
    pub fn byte(&self, name: &str) -> Option<u8> {
        let row = self.rows.iter().find(|(row, _)| row == name)?;
        row.1.first().copied()
    }
}

fn row(line: &str) -> (String, Vec<u8>) {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default().to_string();
    let bytes = words.map(|word| u8::from_str_radix(word, 16).expect("a byte"));
    (name, bytes.collect())
}

impl Drop for Workbench {
    fn drop(&mut self) {
        if std::env::var_os("WORKBENCH_KEEP").is_none() {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// A request for a function with rules: `size t = n; null p`.
pub fn request(function: &str, rules: &str) -> Request {
    let rule = |line: &str| {
        let (word, rest) = line.trim().split_once(' ').expect("a word and a rule");
        let kind = RuleKind::ALL.into_iter().find(|kind| kind.word() == word);
        Rule::parse(kind.expect(word), rest).expect(line)
    };
    let lines = rules.split(';').filter(|line| !line.trim().is_empty());
    Request {
        function: function.into(),
        rules: lines.map(rule).collect(),
        ..Request::default()
    }
}

/// Values in a short form.
pub fn numbers(memory: &Memory) -> String {
    use nearmiss_results::Value;
    fn text(value: &Value) -> String {
        match value {
            Value::Integer { value, name: None } => value.to_string(),
            Value::Integer {
                name: Some(name), ..
            } => name.clone(),
            Value::Float { bits, size } => format!("f{size}:{bits:x}"),
            Value::Structure(members) => {
                let members = members
                    .iter()
                    .map(|(name, of)| format!("{name}={}", text(of)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            Value::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(text).collect();
                format!("[{}]", elements.join(","))
            }
            Value::Text(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            Value::Null => "NULL".into(),
            Value::Pointer { block, index: 0 } => format!("&{block}"),
            Value::Pointer { block, index } => format!("&{block}+{index}"),
            Value::Elsewhere => "elsewhere".into(),
            Value::Unset => "unset".into(),
            Value::Function(name) => name.clone(),
            Value::Bytes(bytes) => format!("{bytes:x?}"),
        }
    }
    let variables = memory.variables.iter();
    let variables = variables.map(|v| format!("{}: {}", v.name, text(&v.value)));
    let blocks = memory.blocks.iter().enumerate().map(|(number, block)| {
        let freed = if block.freed { " freed" } else { "" };
        format!("#{number} {}{freed} {}", block.name, text(&block.content))
    });
    variables.chain(blocks).collect::<Vec<_>>().join("; ")
}
