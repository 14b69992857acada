//! Reports about the functions of `tests/function/c`, as an exploration would make them.

mod lists;
mod others;
mod shapes;

use nearmiss_results::{
    Block, Coverage, Covered, FunctionReport, Infeasible, Memory, PathFigures, PathTest, Role,
    Step, VERSION, Value, Variable, Verdict,
};

pub use lists::{last, pop, push};
pub use others::{calls, text};
pub use shapes::shapes;

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
            uncovered: Vec::new(),
        }),
        ..report("merge.c", "merge", prototype, tests)
    }
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
