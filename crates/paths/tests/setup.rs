//! What a harness does before the function is called decides nothing: paths are the function's own.

mod support;

use std::fs;
use std::process::Command;

use nearmiss_abi::environment::{RECORD, REPLAY};
use nearmiss_abi::event::{Event, EventKind, PHASE_SETUP};
use nearmiss_harness::{INPUT, Request, Rule, RuleKind};
use nearmiss_trace::RawTrace;
use support::{Place, request, rows};

/// Every kind of input at once.
const FUNCTION: &str = r#"
enum colour { RED = 1, GREEN = 20, BLUE = 300 };
struct node { int value; enum colour colour; struct node *left, *right; unsigned flags : 3, rest : 9; };
struct bag { short count; struct node items[]; };
union either { char letters[3]; double number; };
int limit;
int f(signed char a, _Bool b, enum colour c, float d, struct node by_value, union either u,
      int *one, int *many, int n, long *own, const char *text, char **words, int m,
      int *maybe, int *alias, struct node *tree, struct bag *bag, void *raw,
      int (*call)(int, char *), int matrix[][3])
{
    return a + b + c + (int)d + by_value.value + u.letters[0] + one[0] + n + (n ? many[n - 1] : 0) + (int)own[0]
        + text[0] + (m ? words[0][0] : 0) + (maybe ? *maybe : 0) + *alias + (tree->left ? 1 : 0)
        + bag->count + ((char *)raw)[1] + call(1, 0) + matrix[1][2] + limit;
}
int f_pre(int n, const int *many) { return n == 0 || many[0] < 9; }
int check(int result, const int *old_many, struct node *tree) { return result != 99; }
"#;

const RULES: &str = "size many = n\nsize own = 1..3\nsize words = m\nstring words[] = 2\nrange text = 'a'..'z'\n\
    null maybe\nalias alias = one\nalias alias = many\nsize bag->items = count\nrange bag->count = 0..2\n\
    size raw = n+2\nnull call\nsize matrix = 2\nrange matrix = -9..9\nnull tree\nrange by_value.flags = 1..5\n";

/// What was recorded of a run in a mode.
fn recorded(place: &Place, program: &str, staging: &[u8]) -> Vec<Event> {
    let (traces, replay) = (place.path("traces"), place.path("replay"));
    let _ = fs::remove_dir_all(&traces);
    fs::create_dir(&traces).unwrap();
    fs::write(&replay, rows(INPUT, staging)).unwrap();
    let status = Command::new(program)
        .env(RECORD, &traces)
        .env(REPLAY, &replay)
        .status()
        .unwrap();
    assert!(status.success(), "{status:?}");
    let trace = fs::read_dir(&traces).unwrap().next().unwrap().unwrap();
    let trace = RawTrace::open(&trace.path()).unwrap();
    trace.events.clone()
}

fn rule(line: &str) -> Rule {
    let (word, rest) = line.trim().split_once(' ').unwrap();
    let kind = RuleKind::ALL.into_iter().find(|kind| kind.word() == word);
    Rule::parse(kind.unwrap(), rest).unwrap()
}

#[test]
fn the_setup_has_no_branches() {
    let place = Place::with(&[("f.c", FUNCTION)]);
    let wanted = Request {
        rules: RULES.lines().map(rule).collect(),
        globals: vec!["limit".into()],
        precondition: Some("f_pre".into()),
        oracle: Some("check".into()),
        requirements: vec!["forall i in 0..n: many[i] != 7".into()],
        ..request("f")
    };
    for flags in [&["-O0"][..], &["-O2"]] {
        let programs = place.build(&["f.c"], flags, Some(&wanted)).unwrap();
        let program = programs.recording.display().to_string();
        let staging = programs.plan.as_ref().unwrap().first_input();
        let events = recorded(&place, &program, &staging);
        let is_mark = |event: &&Event| event.kind == EventKind::Mark as u8;
        let ends = |event: &Event| is_mark(&event) && event.aux != PHASE_SETUP;
        let end = events.iter().position(ends).expect("the function begins");
        let kinds = events[..end]
            .iter()
            .map(|event| EventKind::from_code(event.kind).unwrap());
        let decisions: Vec<EventKind> = kinds
            .filter(|kind| {
                use EventKind::{Branch, CheckFailed, Concretized, Switch};
                matches!(kind, Branch | Switch | Concretized | CheckFailed)
            })
            .collect();
        assert_eq!(decisions, [], "{flags:?}");
        let assumed = events[..end]
            .iter()
            .filter(|e| e.kind == EventKind::Assume as u8);
        assert!(assumed.count() > 20);
        let later = events[end..]
            .iter()
            .filter(|e| e.kind == EventKind::Branch as u8);
        assert!(later.count() > 3, "the function's own branches are there");
    }
}
