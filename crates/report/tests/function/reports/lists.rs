//! Lists: empty, with an end, with a cycle; memory that a function makes or frees.

use nearmiss_results::{Block, FunctionReport, Memory, Value};

use super::{parameter, report, result, test};
use crate::samples::{block, integer, pointer};

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
