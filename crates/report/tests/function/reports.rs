//! Reports about the functions of `tests/function/c`, as an exploration would make them.

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_results::{
    Block, Coverage, Covered, Finding, FunctionReport, Infeasible, Memory, Note, PathFigures,
    PathTest, Role, Status, Step, Test, VERSION, Value, Variable, Verdict,
};

use crate::samples::{block, integer, integers, pointer, variable};

fn report(file: &str, function: &str, prototype: &str, tests: Vec<PathTest>) -> FunctionReport {
    FunctionReport {
        version: VERSION,
        function: function.into(),
        file: file.into(),
        prototype: prototype.into(),
        mode: "late".into(),
        cover: "paths".into(),
        tests,
        ..FunctionReport::default()
    }
}

fn test(number: usize, before: Memory, after: Option<Memory>) -> PathTest {
    PathTest {
        before,
        after,
        rows: format!("\x05\0\0\0\0\0\0\0\x04\0\0\0input{number:04}").into_bytes(),
        ..crate::samples::test(number)
    }
}

fn parameter(name: &str, ctype: &str, value: Value) -> Variable {
    variable(name, Role::Parameter, ctype, value)
}

fn result(ctype: &str, value: Value) -> Variable {
    variable("result", Role::Result, ctype, value)
}

fn constant(name: &str, element: &str, content: Value) -> Block {
    Block {
        constant: true,
        ..block(name, element, content)
    }
}

fn step(line: u32, way: &str) -> Step {
    Step {
        file: "merge.c".into(),
        line,
        column: 12,
        way: way.into(),
    }
}

/// Arrays: with several elements, with none, with many, one for two parameters.
pub fn merge() -> FunctionReport {
    let prototype = "void merge(const int *t1, int n1, const int *t2, int n2, int *t3)";
    let memory = |t1: &[i128], t2: &[i128], t3: &[i128]| Memory {
        variables: vec![
            parameter("t1", "const int *", pointer(0, 0)),
            parameter("n1", "int", integer(t1.len() as i128)),
            parameter("t2", "const int *", pointer(1, 0)),
            parameter("n2", "int", integer(t2.len() as i128)),
            parameter("t3", "int *", pointer(2, 0)),
        ],
        blocks: vec![
            constant("t1", "const int", integers(t1)),
            constant("t2", "const int", integers(t2)),
            block("t3", "int", integers(t3)),
        ],
    };
    let one = |number, t1: &[i128], t2: &[i128], t3: &[i128]| {
        let before = memory(t1, t2, &vec![0; t3.len()]);
        let mut test = test(number, before, Some(memory(t1, t2, t3)));
        test.verdict = Verdict::Pass;
        test
    };
    let mut alias = one(4, &[7], &[], &[7]);
    for memory in std::iter::once(&mut alias.before).chain(&mut alias.after) {
        memory.variables[2].value = pointer(0, 1);
    }
    let smallest = i128::from(i32::MIN);
    let many: Vec<i128> = (0..40).map(|number| number * 1000).collect();
    let tests = vec![
        one(1, &[], &[], &[]),
        one(2, &[1, 2], &[smallest], &[smallest, 1, 2]),
        one(3, &many, &[], &many),
        alias,
    ];
    FunctionReport {
        precondition: Some("merge_pre".into()),
        oracle: Some("check_merge".into()),
        infeasible: vec![
            Infeasible {
                path: vec![step(7, "true"), step(8, "false"), step(9, "false")],
                condition: "t1[0] > t1[1]".into(),
                precondition: true,
            },
            Infeasible {
                path: vec![step(7, "true")],
                condition: "n1 < 0 \u{1b}[2J".into(),
                precondition: false,
            },
        ],
        figures: PathFigures {
            paths: 4,
            infeasible: 2,
            runs: 6,
            diverged: 1,
            precondition_calls: 12,
            precondition_paths: 3,
            questions: 30,
            solved: 9,
            seconds: 0.25,
            run_seconds: 0.01,
            solver_seconds: 0.2,
            ..PathFigures::default()
        },
        coverage: Some(Coverage {
            lines: Covered {
                covered: 9,
                total: 10,
            },
            branches: Covered {
                covered: 8,
                total: 8,
            },
            mcdc: Covered::default(),
        }),
        ..report("merge.c", "merge", prototype, tests)
    }
}

fn node(value: i128, next: Value) -> Value {
    let members = vec![("value".into(), integer(value)), ("next".into(), next)];
    Value::Array(vec![Value::Structure(members)])
}

/// Lists: empty, with an end, with a cycle.
pub fn last() -> FunctionReport {
    let list = |list: Value, nodes: &[(i128, Value)]| {
        let name = |number: usize| format!("list{}", "->next".repeat(number));
        let nodes = nodes.iter().enumerate().map(|(number, (value, next))| {
            block(&name(number), "struct node", node(*value, next.clone()))
        });
        Memory {
            variables: vec![parameter("list", "struct node *", list)],
            blocks: nodes.collect(),
        }
    };
    let with = |mut memory: Memory, value: Value| {
        memory.variables.push(result("struct node *", value));
        Some(memory)
    };
    let two = |value, next| list(pointer(0, 0), &[(value, pointer(1, 0)), (5, next)]);
    let tests = vec![
        test(
            1,
            list(Value::Null, &[]),
            with(list(Value::Null, &[]), Value::Null),
        ),
        test(
            2,
            two(3, Value::Null),
            with(two(-3, Value::Null), pointer(1, 0)),
        ),
        test(
            3,
            two(3, pointer(0, 0)),
            with(two(-3, pointer(0, 0)), pointer(1, 0)),
        ),
    ];
    report(
        "list.c",
        "last",
        "struct node *last(struct node *list)",
        tests,
    )
}

fn head(pointer: Value) -> Block {
    block("list", "struct node *", Value::Array(vec![pointer]))
}

/// A function that makes memory.
pub fn push() -> FunctionReport {
    let before = Memory {
        variables: vec![
            parameter("list", "struct node **", pointer(0, 0)),
            parameter("value", "int", integer(9)),
        ],
        blocks: vec![
            head(pointer(1, 0)),
            block("*list", "struct node", node(4, Value::Null)),
        ],
    };
    let mut after = before.clone();
    after.blocks[0] = head(pointer(2, 0));
    after
        .blocks
        .push(block("result", "struct node", node(9, pointer(1, 0))));
    after.variables.push(result("struct node *", pointer(2, 0)));
    let prototype = "struct node *push(struct node **list, int value)";
    report(
        "list.c",
        "push",
        prototype,
        vec![test(1, before, Some(after))],
    )
}

/// A function that frees memory.
pub fn pop() -> FunctionReport {
    let parameters = vec![parameter("list", "struct node **", pointer(0, 0))];
    let empty = Memory {
        variables: parameters.clone(),
        blocks: vec![head(Value::Null)],
    };
    let mut empty_after = empty.clone();
    empty_after.variables.push(result("int", integer(-1)));
    let before = Memory {
        variables: parameters,
        blocks: vec![
            head(pointer(1, 0)),
            block("*list", "struct node", node(4, pointer(2, 0))),
            block("(*list)->next", "struct node", node(6, Value::Null)),
        ],
    };
    let mut after = before.clone();
    after.blocks[0] = head(pointer(2, 0));
    after.blocks[1].freed = true;
    after.variables.push(result("int", integer(4)));
    let tests = vec![
        test(1, empty, Some(empty_after)),
        test(2, before, Some(after)),
    ];
    report("list.c", "pop", "int pop(struct node **list)", tests)
}

fn double(value: f64) -> Value {
    Value::Float {
        size: 8,
        bits: value.to_bits(),
    }
}

fn single(value: f32) -> Value {
    Value::Float {
        size: 4,
        bits: value.to_bits().into(),
    }
}

fn enumerator(value: i128, name: &str) -> Value {
    Value::Integer {
        value,
        name: Some(name.into()),
    }
}

fn shape(color: Value, x: f64, flags: i128) -> Value {
    let point = |x, y| Value::Structure(vec![("x".into(), double(x)), ("y".into(), double(y))]);
    let radius = Value::Structure(vec![("radius".into(), single(f32::INFINITY))]);
    Value::Structure(vec![
        ("color".into(), color),
        ("filled".into(), integer(1)),
        ("flags".into(), integer(flags)),
        (
            "corners".into(),
            Value::Array(vec![point(x, -0.0), point(f64::NAN, 1e300)]),
        ),
        (String::new(), radius),
        ("name".into(), pointer(0, 0)),
        ("wide".into(), integer(-(1 << 100))),
        // One and a half: ten bytes of sixteen.
        (
            "weight".into(),
            Value::Bytes(vec![0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f]),
        ),
    ])
}

/// Structures by value, unions, enumerations, floating-point numbers, bit-fields, globals.
pub fn shapes() -> FunctionReport {
    let statistics = |total: i128, last: i128| {
        Value::Structure(vec![
            ("total".into(), integer(total)),
            ("history".into(), integers(&[0, last, 0, 0, 0, 0, 0, 0])),
        ])
    };
    let global = |name: &str, ctype: &str, value| variable(name, Role::Global, ctype, value);
    let blocks = vec![constant(
        "shape.name",
        "const char",
        Value::Text(b"a \"box\" ??/ */".to_vec()),
    )];
    let before = Memory {
        variables: vec![
            parameter(
                "shape",
                "struct shape",
                shape(enumerator(5, "GREEN"), 0.5, 6),
            ),
            parameter("color", "enum color", enumerator(6, "BLUE")),
            parameter("by", "float", single(0.25)),
            parameter("letter", "char", integer(b'a'.into())),
            global("moved", "int", integer(3)),
            global("statistics", "struct (unnamed)", statistics(0, 0)),
        ],
        blocks: blocks.clone(),
    };
    let after = Memory {
        variables: vec![
            global("moved", "int", integer(3)),
            global(
                "statistics",
                "struct (unnamed)",
                statistics(u64::MAX.into(), 97),
            ),
            result("struct shape", shape(enumerator(6, "BLUE"), 0.75, 7)),
        ],
        blocks,
    };
    let prototype =
        "struct shape move(struct shape shape, enum color color, float by, char letter)";
    report(
        "shapes.c",
        "move",
        prototype,
        vec![test(1, before, Some(after))],
    )
}

/// Strings, a result that points into one, a failure, a run that ended, a result that is rejected.
pub fn text() -> FunctionReport {
    let memory = |s: &str, stop: &str, bytes: Value| Memory {
        variables: vec![
            parameter("s", "char *", pointer(0, 0)),
            parameter("stop", "const char *", pointer(1, 0)),
            parameter("bytes", "unsigned char *", bytes),
        ],
        blocks: vec![
            block("s", "char", Value::Text(s.into())),
            constant("stop", "const char", Value::Text(stop.into())),
        ],
    };
    let with = |mut memory: Memory, index: u64| {
        memory.variables.push(result("char *", pointer(0, index)));
        Some(memory)
    };
    let mut alias = test(
        2,
        memory("x\x01y\x7f", "", pointer(0, 3)),
        with(memory("X\x01Y\u{83}", "", pointer(0, 3)), 4),
    );
    if let Some(after) = &mut alias.after {
        after.blocks[0].content = Value::Text(b"X\x01Y\x83".to_vec());
    }
    let mut fails = test(3, memory("", "!", Value::Null), None);
    fails.verdict = Verdict::Failure("NM-1".into());
    let mut ended = test(4, memory("loop */ \x1b", "", Value::Null), None);
    ended.verdict = Verdict::Ended("no end after 1 s".into());
    let mut rejected = test(
        5,
        memory("a", "", Value::Null),
        with(memory("B", "", Value::Null), 1),
    );
    rejected.verdict = Verdict::Fail;
    let first = test(
        1,
        memory("ab,c", ",", Value::Null),
        with(memory("AB,c", ",", Value::Null), 2),
    );
    let finding = Finding {
        id: "NM-1".into(),
        kind: Kind::Assertion,
        status: Status::Confirmed,
        file: "text.c".into(),
        line: 13,
        column: 5,
        function: "upper".into(),
        distance: 0,
        tests: 1,
        test: Test::default(),
        input: Default::default(),
        changes: Vec::new(),
        lengths: Vec::new(),
        message: "Assertion `stop[0] != '!'' failed.".into(),
        replay: "nearmiss replay NM-1".into(),
    };
    FunctionReport {
        oracle: Some("check_upper".into()),
        findings: vec![finding],
        incomplete: vec!["3 partial paths were left at the bound of 4 iterations".into()],
        notes: vec![Note {
            kind: NoteKind::ALL[0],
            file: "text.c".into(),
            line: 8,
            callee: String::new(),
            count: 2,
        }],
        ..report(
            "text.c",
            "upper",
            "char *upper(char *s, const char *stop, unsigned char *bytes)",
            vec![first, alias, fails, ended, rejected],
        )
    }
}

/// Functions that are given, in a structure; memory without a type.
pub fn calls() -> FunctionReport {
    let members = vec![
        ("next".into(), Value::Function("operations->next".into())),
        ("done".into(), Value::Function("operations->done".into())),
    ];
    let stub = |name: &str, ctype: &str, values: &[i128]| {
        variable(name, Role::Stub, ctype, integers(values))
    };
    let done = "void (const char *, int (*)(void))";
    let before = |values: &[i128]| Memory {
        variables: vec![
            parameter("operations", "const struct operations *", pointer(0, 0)),
            parameter("context", "void *", pointer(1, 0)),
            parameter("most", "int", integer(5)),
            stub("operations->next", "int (void *)", values),
            stub("operations->done", done, &[]),
        ],
        blocks: vec![
            constant(
                "operations",
                "const struct operations",
                Value::Array(vec![Value::Structure(members.clone())]),
            ),
            block("context", "unsigned char", Value::Bytes(vec![1, 2, 255])),
        ],
    };
    let one = |number, values: &[i128], sum| {
        let mut after = before(values);
        after.variables.push(result("int", integer(sum)));
        test(number, before(values), Some(after))
    };
    let tests = vec![one(1, &[3, 4, -1], 7), one(2, &[-2], 0), one(3, &[1], 5)];
    let prototype = "int drain(const struct operations *operations, void *context, int most)";
    report("calls.c", "drain", prototype, tests)
}

/// Two paths of a function that counts its calls: it gives back 1 in each fresh process.
pub fn state() -> FunctionReport {
    let one = |number, by| {
        let before = Memory {
            variables: vec![parameter("by", "int", integer(by))],
            blocks: Vec::new(),
        };
        let mut after = before.clone();
        after.variables.push(result("int", integer(1 + by)));
        test(number, before, Some(after))
    };
    report(
        "state.c",
        "next",
        "int next(int by)",
        vec![one(1, 0), one(2, 5)],
    )
}

/// Every report.
pub fn all() -> Vec<FunctionReport> {
    vec![merge(), last(), push(), pop(), shapes(), text(), calls()]
}
