//! The attributes of `nearmiss.h` say what rules say.

use crate::workbench::{Workbench, numbers, request};

const TEXT: &str = r#"
#include <nearmiss.h>
#define MOST 5
struct text {
    char *bytes NEARMISS_COUNT(length + 1);
    int length NEARMISS_RANGE(2, MOST);
    char *name NEARMISS_STRING(3);
    struct text *other NEARMISS_NULLABLE;
    struct text *never NEARMISS_NONNULL;
};
int limit NEARMISS_RANGE(7, 9);
int f(const int *t NEARMISS_COUNT(n) NEARMISS_RANGE(-4, -3), int n NEARMISS_RANGE(1, MOST),
      struct text *text, void *raw NEARMISS_COUNT(2 * n) NEARMISS_NULLABLE)
{
    return t[0] + text->bytes[text->length] + limit + (raw != 0);
}
"#;

#[test]
fn attributes_of_parameters_members_and_globals_are_rules() {
    let bench = Workbench::new(&[("file.c", TEXT)]);
    let mut wanted = request("f", "");
    wanted.globals = vec!["limit".into()];
    wanted.depth = 1;
    let plan = bench.plan(&wanted).expect("a plan");
    let staging = plan.first_input();
    let given = numbers(&plan.decode(&staging));
    assert_eq!(
        given,
        "t: &0; n: 1; text: &1; raw: &2; limit: 7; #0 t [-3]; \
         #1 text [{bytes=&3,length=2,name=&4,other=NULL,never=NULL}]; #2 raw [0,0]; \
         #3 text->bytes [0,0,0]; #4 text->name \"\""
    );
    bench.build(&plan, &["-fsanitize=address,undefined"]);
    let outcome = bench.run(&staging, 0);
    let after = numbers(&outcome.memory(&plan, &staging));
    assert!(after.contains("result: 5"), "{after}");
}

#[test]
fn a_stub_may_be_said_to_write() {
    let text = "#include <nearmiss.h>\n\
                int f(int (*get)(int *) NEARMISS_WRITES, void (*put)(int *), void (*tell)(const int *))\n\
                { int n = 1; return get(&n) + n; }";
    let bench = Workbench::new(&[("file.c", text)]);
    let plan = bench.plan(&request("f", "")).expect("a plan");
    let given = numbers(&plan.decode(&plan.first_input()));
    assert!(
        given.contains("stub_get.argument1: [[0],[0],[0]]"),
        "{given}"
    );
    // Of the others one could.
    let notes = plan.notes().join("; ");
    assert!(notes.contains("`--stub put=writes`"), "{notes}");
    assert_eq!(notes.matches("is a stub").count(), 1, "{notes}");
}

#[test]
fn a_rule_of_the_command_line_wins() {
    let bench = Workbench::new(&[("file.c", TEXT)]);
    let mut wanted = request(
        "f",
        "range n = 3; size text.bytes = 9; null raw = no; size raw = 1; null text.other = no",
    );
    wanted.depth = 2;
    let plan = bench.plan(&wanted).expect("a plan");
    let given = numbers(&plan.decode(&plan.first_input()));
    assert!(given.contains("n: 3"), "{given}");
    assert!(given.contains("#2 raw [0]"), "{given}");
    assert!(given.contains("text->bytes [0,0,0,0,0,0,0,0,0]"), "{given}");
    assert!(given.contains("other=&"), "{given}");
}

#[test]
fn members_are_named_by_their_structure_or_by_the_way_to_them() {
    let text = "struct buffer { int length; char *bytes; };\nint f(struct buffer *b, struct buffer c) { return b->length; }";
    let bench = Workbench::new(&[("file.c", text)]);
    for rules in [
        "size buffer.bytes = buffer.length; range buffer.length = 2",
        "size bytes = length; range length = 2",
        "size b.bytes = b.length; size c.bytes = c.length; range b.length = 2; range c.length = 2",
        "size b->bytes = b->length; size c.bytes = length; range b->length = 2; range length = 2",
    ] {
        let plan = bench.plan(&request("f", rules)).expect(rules);
        let given = numbers(&plan.decode(&plan.first_input()));
        assert_eq!(given.matches("[0,0]").count(), 2, "{given}");
    }
}

#[test]
fn both_versions_of_the_debug_information_are_read() {
    use nearmiss_harness::Unit;
    let bench = Workbench::new(&[("file.c", TEXT)]);
    let mut shown = Vec::new();
    for version in ["-gdwarf-4", "-gdwarf-5", "-gdwarf-3"] {
        let unit = Unit::read(&bench.object("file.c", &[version])).expect("debug information");
        let plan = unit.plan(&request("f", "")).expect("a plan");
        shown.push((plan.prototype(), numbers(&plan.decode(&plan.first_input()))));
    }
    assert_eq!(shown[0], shown[1]);
    assert_eq!(shown[2], shown[1]);
    assert_eq!(
        shown[0].0,
        "int f(const int *t, int n, struct text *text, void *raw)"
    );
}
