//! Short forms as they are shown.

use super::*;
use crate::function::samples::{block, integer, integers, pointer, variable};

fn shown(memory: &Memory) -> String {
    let mut short = Short::new(memory, Detail::Brief);
    let parts = memory.variables.iter().map(|it| short.variable(it));
    parts.collect::<Vec<_>>().join(" ")
}

fn parameter(name: &str, ctype: &str, value: Value) -> Variable {
    variable(name, Role::Parameter, ctype, value)
}

#[test]
fn arrays_and_aliases() {
    let memory = Memory {
        variables: vec![
            parameter("t1", "int *", pointer(0, 0)),
            parameter("t2", "int *", pointer(0, 1)),
            parameter("n1", "int", integer(2)),
            parameter("p", "int *", Value::Null),
        ],
        blocks: vec![block("t1", "int", integers(&[1, 2]))],
    };
    assert_eq!(shown(&memory), "t1={1,2} t2=t1+1 n1=2 p=NULL");
}

#[test]
fn lists_have_arrows_and_cycles_end() {
    let node = |value, next| {
        let members = vec![("value".into(), integer(value)), ("next".into(), next)];
        Value::Array(vec![Value::Structure(members)])
    };
    let mut memory = Memory {
        variables: vec![parameter("list", "struct node *", pointer(0, 0))],
        blocks: vec![
            block("list", "struct node", node(3, pointer(1, 0))),
            block("list->next", "struct node", node(5, Value::Null)),
        ],
    };
    assert_eq!(shown(&memory), "list={3 → {5 → NULL}}");
    memory.blocks[1].content = node(5, pointer(0, 0));
    assert_eq!(shown(&memory), "list={3 → {5 → list}}");
}

#[test]
fn trees_show_what_hangs_on_them() {
    let tree = |key, left, right| {
        let members = [("key", integer(key)), ("left", left), ("right", right)];
        let members = members.map(|(name, value)| (name.to_string(), value));
        Value::Array(vec![Value::Structure(members.into())])
    };
    let memory = Memory {
        variables: vec![parameter("root", "struct tree *", pointer(0, 0))],
        blocks: vec![
            block("root", "struct tree", tree(4, Value::Null, pointer(1, 0))),
            block(
                "root->right",
                "struct tree",
                tree(6, Value::Null, Value::Null),
            ),
        ],
    };
    assert_eq!(shown(&memory), "root={4 right={6}}");
}

#[test]
fn long_values_are_cut() {
    let numbers: Vec<i128> = (0..100).collect();
    let memory = Memory {
        variables: vec![
            parameter("a", "int *", pointer(0, 0)),
            parameter("z", "int *", pointer(1, 0)),
            parameter("s", "char *", pointer(2, 0)),
        ],
        blocks: vec![
            block("a", "int", integers(&numbers)),
            block("z", "int", integers(&[0; 50])),
            block("s", "char", Value::Text(vec![b'x'; 60])),
        ],
    };
    let text = shown(&memory);
    assert!(text.contains("10,11,… 88 more}"), "{text}");
    assert!(text.contains("z={0×50}"), "{text}");
    assert!(text.ends_with("xx\"… 12 more"), "{text}");
    let mut full = Short::new(&memory, Detail::Full);
    assert!(full.variable(&memory.variables[0]).ends_with(",98,99}"));
}

#[test]
fn text_is_escaped_and_characters_are_shown() {
    let memory = Memory {
        variables: vec![
            parameter("s", "char *", pointer(0, 0)),
            parameter("c", "char", integer(b'a'.into())),
            parameter("d", "char", integer(-1)),
            parameter("x\x1b", "int", integer(1)),
        ],
        blocks: vec![block("s", "char", Value::Text(b"a\"\x1b".to_vec()))],
    };
    assert_eq!(shown(&memory), r#"s="a\"\x1b" c='a' d=-1 x\u{1b}=1"#);
}
