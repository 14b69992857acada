//! Inputs other than the first: what their bytes choose is what the function gets.

use nearmiss_harness::Plan;

use crate::workbench::{Workbench, numbers, request};

/// A file, rules, what is changed of the first input, what must be there then.
struct Choice {
    text: &'static str,
    rules: &'static str,
    changes: &'static [(&'static str, u8)],
    given: &'static str,
    left: &'static str,
}

const POINTERS: &str = "int *f(int *p, int *q) { if (!p) return q; *p = 1; *q = 2; return q; }";
const RULES: &str = "null p; alias q = p; null q = no";
const LIST: &str = "struct n { int v; struct n *next; char *name; };\n\
    struct n *f(struct n *l) { struct n *last = l; while (last->next) last = last->next;\n\
    last->next = l; l->v = 7; return last; }";
const TEXT: &str = "const char *f(char *s) { while (*s == 'a') s++; return s; }";
const TOLD: &str = "#include <nearmiss.h>\nvoid f(short x) { nearmiss_result(\"seen\", &x, 2); }";
const MADE: &str = "#include <stdlib.h>\nstruct pair { int a; struct pair *b; };\n\
    struct pair *f(struct pair *p, int n)\n\
    { struct pair *r = calloc(n, sizeof *r); r[0].b = p; r[0].a = 4; return r; }";

const WRITES: &str = "int f(int (*get)(int *, char *))\n\
    { int x = 1; char c[2] = {1, 2}; int r = get(&x, c); return r + x + c[1]; }";

const CHOICES: &[Choice] = &[
    Choice {
        text: WRITES,
        rules: "stub get = writes; size get().argument2 = 2",
        changes: &[
            ("get()[0]", 3),
            ("get().argument1[0]", 5),
            ("get().argument2[0][1]", 7),
        ],
        given: "get: stub_get; stub_get: [3,0,0]; stub_get.argument1: [[5],[0],[0]]; \
                stub_get.argument2: [[0,7],[0,0],[0,0]]",
        left: "get: stub_get; result: 15",
    },
    Choice {
        text: POINTERS,
        rules: RULES,
        changes: &[("p.choice", 1)],
        given: "p: NULL; q: &0; #0 q [0]",
        left: "p: NULL; q: &0; result: &0; #0 q [0]",
    },
    Choice {
        text: POINTERS,
        rules: RULES,
        changes: &[("q.choice", 1)],
        given: "p: &0; q: &0; #0 p [0]",
        left: "p: &0; q: &0; result: &0; #0 p [2]",
    },
    Choice {
        text: POINTERS,
        rules: RULES,
        changes: &[("p.choice", 1), ("q.choice", 1), ("*p", 5)],
        given: "p: NULL; q: &0; #0 p [5]",
        left: "p: NULL; q: &0; result: &0; #0 p [5]",
    },
    Choice {
        text: LIST,
        rules: "string name = 1",
        changes: &[
            ("l->next.choice", 0),
            ("l->next->v", 3),
            ("l->next->name[0]", b'x'),
        ],
        given: "l: &0; #0 l [{v=0,next=&1,name=&2}]; #1 l->next [{v=3,next=NULL,name=&3}]; \
                #2 l->name \"\"; #3 l->next->name \"x\"",
        left: "l: &0; result: &1; #0 l [{v=7,next=&1,name=&2}]; #1 l->next [{v=3,next=&0,name=&3}]; \
               #2 l->name \"\"; #3 l->next->name \"x\"",
    },
    Choice {
        text: TEXT,
        rules: "string s = 2; range s = 'a'..'b'",
        changes: &[("s[0]", b'a'), ("s[1]", b'a')],
        given: "s: &0; #0 s \"aa\"",
        left: "s: &0; result: &0+2; #0 s \"aa\"",
    },
    Choice {
        text: TOLD,
        rules: "",
        changes: &[("x", 6)],
        given: "x: 6",
        left: "x: 6; seen: [6, 0]",
    },
    Choice {
        text: MADE,
        rules: "range n = 1..3; null b",
        changes: &[],
        given: "p: &0; n: 1; #0 p [{a=0,b=NULL}]",
        left: "p: &0; n: 1; result: &1; #0 p [{a=0,b=NULL}]; #1 result [{a=4,b=&0}]",
    },
];

#[test]
fn structures_that_lead_to_each_other_are_as_deep_together_as_one_that_leads_to_itself() {
    let text = "struct a; struct b; struct leaf { int x; };\n\
        struct a { struct b *b; struct leaf *leaf; }; struct b { struct a *a; struct b *next; };\n\
        int f(struct a *p) { return p->b == 0; }";
    let bench = Workbench::new(&[("file.c", text)]);
    for (depth, blocks) in [(1, 2), (2, 3), (3, 6)] {
        let mut wanted = request("f", "");
        wanted.depth = depth;
        let plan = bench.plan(&wanted).expect("a plan");
        let memory = plan.decode(&vec![0; plan.input_size()]);
        assert_eq!(memory.blocks.len(), blocks, "{}", numbers(&memory));
    }
}

/// Where in the staging something is.
fn place(plan: &Plan, name: &str) -> usize {
    let found = (0..plan.input_size()).find(|offset| plan.name_of(*offset) == (name.into(), 0));
    found.unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn what_an_input_chooses_is_given_and_shown() {
    for choice in CHOICES {
        let bench = Workbench::new(&[("file.c", choice.text)]);
        let plan = bench.plan(&request("f", choice.rules)).expect(choice.text);
        bench.build(&plan, &["-fsanitize=address,undefined"]);
        let mut staging = plan.first_input();
        for (name, value) in choice.changes {
            staging[place(&plan, name)] = *value;
        }
        let given = numbers(&plan.decode(&staging));
        assert_eq!(given, choice.given, "{}", choice.text);
        let left = bench.run(&staging, 0).memory(&plan, &staging);
        assert_eq!(numbers(&left), choice.left, "{}", choice.text);
    }
}

#[test]
fn an_input_that_breaks_a_rule_ends_the_run() {
    let text = "enum e { A = 2, B = 9 }; int f(enum e e, _Bool b, int n) { return 0; }";
    let bench = Workbench::new(&[("file.c", text)]);
    let mut wanted = request("f", "range n = -3..300");
    wanted.requirements = vec!["n != 5".into()];
    let plan = bench.plan(&wanted).expect("a plan");
    bench.build(&plan, &[]);
    let first = plan.first_input();
    assert_eq!(bench.run(&first, 0).status, Some(0));
    for (name, value, status) in [
        ("e", 9, 0),
        ("e", 3, 77),
        ("b", 1, 0),
        ("b", 2, 77),
        ("n", 255, 0),
        ("n", 5, 77),
    ] {
        let mut staging = first.clone();
        staging[place(&plan, name)] = value;
        let ended = bench.run(&staging, 0).status;
        assert_eq!(ended, Some(status), "{name} {value}");
    }
    let mut staging = first;
    staging[place(&plan, "n")..][..4].copy_from_slice(&301i32.to_le_bytes());
    assert_eq!(bench.run(&staging, 0).status, Some(77));
}
