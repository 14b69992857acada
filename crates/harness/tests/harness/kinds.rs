//! All kinds of parameters: the harness compiles, runs, and says what was there.

use crate::workbench::{Workbench, numbers as shown, request};
use nearmiss_harness::{Plan, Request};

/// One kind of input: a file with a function `f`, rules, how the first input and its results are shown.
struct Kind {
    name: &'static str,
    text: &'static str,
    rules: &'static str,
    before: &'static str,
    after: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "numbers of all widths",
        text: "int f(signed char a, unsigned short b, int c, unsigned long d, _Bool e, __int128 g)\n\
               { return a + b + c + (int)d + e + (int)g + 9; }",
        rules: "range a = -3..-2; range d = 5..6",
        before: "a: -2; b: 0; c: 0; d: 5; e: 0; g: 0",
        after: "a: -2; b: 0; c: 0; d: 5; e: 0; g: 0; result: 12",
    },
    Kind {
        name: "floating point",
        text: "double f(float a, double b, long double c) { return a + b + c + 1.0; }",
        rules: "",
        before: "a: f4:0; b: f8:0; c: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
        after: "a: f4:0; b: f8:0; c: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]; result: f8:3ff0000000000000",
    },
    Kind {
        name: "an enumeration with gaps",
        text: "enum e { A = 3, B = 7 }; enum e f(enum e x) { return x == A ? B : A; }",
        rules: "",
        before: "x: A",
        after: "x: A; result: B",
    },
    Kind {
        name: "structures by value, nested, with arrays and bit-fields",
        text: "struct in { short a[2][2]; unsigned b : 3, c : 7; int d : 4; };\n\
               typedef struct { struct in in; char t; union { char u; long v; }; } out;\n\
               out f(const out x) { out y = x; y.in.a[1][0] = 5; y.in.c = 100; y.in.d = -2; y.v = 9; return y; }",
        rules: "range x.in.b = 6..7; range x.in.d = -8..-3; range x.in.a = 2..3",
        before: "x: {in={a=[[2,2],[2,2]],b=6,c=0,d=-3},t=0,={v=0}}",
        after: "x: {in={a=[[2,2],[2,2]],b=6,c=0,d=-3},t=0,={v=0}}; result: {in={a=[[2,2],[5,2]],b=6,c=100,d=-2},t=0,={v=9}}",
    },
    Kind {
        name: "a pointer to one, written",
        text: "void f(int *p) { *p = 42; }",
        rules: "",
        before: "p: &0; #0 p [0]",
        after: "p: &0; #0 p [42]",
    },
    Kind {
        name: "a pointer to many, counted by a parameter",
        text: "int f(int *t, const int n) { t[n - 1] = 3; return t[0]; }",
        rules: "size t = n; range n = 2..3",
        before: "t: &0; n: 2; #0 t [0,0]",
        after: "t: &0; n: 2; result: 0; #0 t [0,3]",
    },
    Kind {
        name: "const and volatile memory",
        text: "int f(const volatile short *const t, volatile int *u) { *u = t[1]; return 1; }",
        rules: "size t = 2; range t = 4..5",
        before: "t: &0; u: &1; #0 t [4,4]; #1 u [0]",
        after: "t: &0; u: &1; result: 1; #0 t [4,4]; #1 u [4]",
    },
    Kind {
        name: "a count of its own, of an expression",
        text: "long f(long *t, int *u, int n, int m) { u[n * m] = 1; return t[1]; }",
        rules: "size t = 2..5; size u = n*m+1; range n = 2",
        before: "t: &0; u: &1; n: 2; m: 1; #0 t [0,0]; #1 u [0,0,0]",
        after: "t: &0; u: &1; n: 2; m: 1; result: 0; #0 t [0,0]; #1 u [0,0,1]",
    },
    Kind {
        name: "a string",
        text: "int f(char *s, const char *t) { s[0] = 0; return t[0]; }",
        rules: "string t = 3; range t = 'a'..'c'; size s = 2",
        before: "s: &0; t: &1; #0 s [0,0]; #1 t \"\"",
        after: "s: &0; t: &1; result: 0; #0 s [0,0]; #1 t \"\"",
    },
    Kind {
        name: "null, and what another pointer has",
        text: "int *f(int *p, int *q, int *r) { if (q) *q = 1; return r; }",
        rules: "null p; alias q = p; null q; alias r = q; alias r = p",
        before: "p: &0; q: &1; r: &2; #0 p [0]; #1 q [0]; #2 r [0]",
        after: "p: &0; q: &1; r: &2; result: &2; #0 p [0]; #1 q [1]; #2 r [0]",
    },
    Kind {
        name: "a list",
        text: "struct n { int v; struct n *next; }; struct n *f(struct n *l) { l->v = 1; return l->next; }",
        rules: "",
        before: "l: &0; #0 l [{v=0,next=NULL}]",
        after: "l: &0; result: NULL; #0 l [{v=1,next=NULL}]",
    },
    Kind {
        name: "strings in an array",
        text: "char *f(int argc, char **argv) { return argv[argc - 1]; }",
        rules: "size argv = argc; range argc = 2; string argv[] = 2",
        before: "argc: 2; argv: &0; #0 argv [&1,&2]; #1 argv[0] \"\"; #2 argv[1] \"\"",
        after: "argc: 2; argv: &0; result: &2; #0 argv [&1,&2]; #1 argv[0] \"\"; #2 argv[1] \"\"",
    },
    Kind {
        name: "functions",
        text: "typedef int compare(const void *, const void *);\n\
               struct pair { int a; long b; };\n\
               struct ops { long (*read)(struct ops *, char *, int); void (*close)(void); struct pair (*two)(); };\n\
               int f(compare *c, struct ops *o, int old()) { o->close(); o->read(o, 0, 1);\n\
               return c(0, 0) + c(0, 0) + c(0, 0) + c(0, 0) + old(1, 2) + (int)o->two().b; }",
        rules: "range c() = 3..4; range o->two()[].b = 20",
        before: "c: stub_c; o: &0; old: stub_old; stub_c: [3,3,3]; stub_old: [0,0,0]; stub_o_read: [0,0,0]; \
                 stub_o_close: []; stub_o_two: [{a=0,b=20},{a=0,b=20},{a=0,b=20}]; \
                 #0 o [{read=stub_o_read,close=stub_o_close,two=stub_o_two}]",
        after: "c: stub_c; o: &0; old: stub_old; result: 32; \
                #0 o [{read=stub_o_read,close=stub_o_close,two=stub_o_two}]",
    },
    Kind {
        name: "memory without a type",
        text: "struct hidden; int f(void *p, const void *q, struct hidden *h, int n)\n\
               { ((char *)p)[n] = 1; return ((char *)q)[1]; }",
        rules: "size p = n+1; size q = 2; null h; range n = 1..2",
        before: "p: &0; q: &1; h: NULL; n: 1; #0 p [0,0]; #1 q [0,0]",
        after: "p: &0; q: &1; h: NULL; n: 1; result: 0; #0 p [0,1]; #1 q [0,0]",
    },
    Kind {
        name: "old style",
        text: "int f(a, b, c, d) int a; char b; float c; short *d; { *d = 3; return a + b + 5; }",
        rules: "",
        before: "a: 0; b: 0; c: f4:0; d: &0; #0 d [0]",
        after: "a: 0; b: 0; c: f4:0; d: &0; result: 5; #0 d [3]",
    },
    Kind {
        name: "memory that is freed, memory that is made",
        text: "#include <stdlib.h>\n#include <string.h>\n\
               char *f(char *p, int *q) { free(q); return strdup(\"made\"); }",
        rules: "string p = 1",
        before: "p: &0; q: &1; #0 p \"\"; #1 q [0]",
        after: "p: &0; q: &1; result: &2; #0 p \"\"; #1 q freed [0]; #2 result \"made\"",
    },
    Kind {
        name: "arrays of any length, in a structure and beside it",
        text: "struct bag { int n; struct { short a, b; } items[]; }; struct sub { char c; struct bag bag; };\n\
               int f(struct bag *bag, struct sub *sub) { bag->items[1].b = 7; return bag->n + sub->bag.n; }",
        rules: "size bag->items = n; range bag->n = 2..3; size sub->bag.items = 1",
        before: "bag: &0; sub: &1; #0 bag [{n=2,items=[{a=0,b=0},{a=0,b=0}]}]; \
                 #1 sub [{c=0,bag={n=0,items=[{a=0,b=0}]}}]",
        after: "bag: &0; sub: &1; result: 2; #0 bag [{n=2,items=[{a=0,b=0},{a=0,b=7}]}]; \
                #1 sub [{c=0,bag={n=0,items=[{a=0,b=0}]}}]",
    },
    Kind {
        name: "a file with a main, and words that mean something else",
        text: "#define f(x) g(x)\n#define int long\nstatic inline int (f)(int n) { return n + 1; }\n\
               int main(void) { return 0; }",
        rules: "",
        before: "n: 0",
        after: "n: 0; result: 1",
    },
];

fn plan_of(kind: &Kind, bench: &Workbench) -> Plan {
    let planned = bench.plan(&request("f", kind.rules));
    planned.unwrap_or_else(|error| panic!("{}: {error}", kind.name))
}

#[test]
fn every_kind_of_parameter_is_built_and_shown() {
    for kind in KINDS {
        let bench = Workbench::new(&[("file.c", kind.text)]);
        let plan = plan_of(kind, &bench);
        let staging = plan.first_input();
        assert_eq!(shown(&plan.decode(&staging)), kind.before, "{}", kind.name);
        for words in [
            &["-std=gnu11", "-O2"][..],
            &[
                "-std=gnu17",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
            ],
        ] {
            bench.build(&plan, words);
            let outcome = bench.run(&staging, 0);
            let sanitized = words.len() > 2;
            if kind.after.contains("freed") && !sanitized {
                continue;
            }
            let after = shown(&outcome.memory(&plan, &staging));
            assert_eq!(after, kind.after, "{} {words:?}", kind.name);
        }
    }
}

#[test]
fn a_harness_needs_no_input() {
    let bench = Workbench::new(&[("file.c", "int f(void) { return 3; }")]);
    let plan = bench
        .plan(&Request {
            function: "f".into(),
            ..Request::default()
        })
        .expect("a plan");
    bench.build(&plan, &[]);
    let outcome = bench.run(&[0], 0);
    assert_eq!(shown(&outcome.memory(&plan, &[])), "result: 3");
    assert_eq!(plan.prototype(), "int f(void)");
}
