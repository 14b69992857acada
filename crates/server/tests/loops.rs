//! What a path says about loops and recursion: which branch keeps a loop going, and in which
//! activation of its function it was.

mod support;

use std::collections::BTreeSet;

use nearmiss_sites::{Loop, Sites};
use nearmiss_trace::{Event, RecordedPath};
use support::{Build, Place, run, trace};

/// Lines matter: see the tests.
const SOURCE: &str = r#"
static int turns(int n)
{
    int s = 0;
    while (s < n) {
        for (int i = 0; i < n; i++)
            s++;
        if (n == 7)
            break;
    }
    return s;
}
static int down(int n)
{
    if (n < 1)
        return 0;
    return down(n - 1) + 1;
}
static int letters(unsigned n)
{
    for (;;) {
        switch (n) {
        case 0: return 1;
        case 1: case 2: break;
        default: n -= 2;
        }
        n--;
    }
}
int main(void)
{
    int x = 0;
    nearmiss_symbolic(&x, sizeof x, "x");
    return turns(x) + down(x) + letters(x);
}
"#;

struct Program {
    path: RecordedPath,
    sites: Sites,
}

impl Program {
    fn run(x: i32) -> Program {
        let place = Place::new(SOURCE, Build::Recording);
        let sites = nearmiss_twin::inspect(&place.path("program"), &[])
            .expect("sites")
            .sites;
        let mut server = place.serve(Build::Recording);
        run(&mut server, x);
        let (_, path) = RecordedPath::read_alone(&trace(&server), &sites, None);
        Program { path, sites }
    }

    /// The events of a line, each with its loop.
    fn of_line(&self, line: u32) -> Vec<(Event, Option<Loop>)> {
        let events = self.path.events.iter().filter_map(|event| {
            let (_, site) = self.sites.get(event.site)?;
            (site.line == line).then(|| (*event, site.in_loop.clone()))
        });
        events.collect()
    }

    /// Whether each event of a line stayed in its loop, and the loop.
    fn turns(&self, line: u32) -> (Vec<bool>, Loop) {
        let events = self.of_line(line);
        let found = events[0].1.clone().expect("a loop");
        assert!(
            events
                .iter()
                .all(|(_, other)| other.as_ref() == Some(&found))
        );
        let stays = events.iter().map(|(event, _)| found.stays(event.choice));
        (stays.collect(), found)
    }
}

#[test]
fn a_branch_says_which_way_stays_in_its_loop() {
    let program = Program::run(2);
    let (outer_turns, outer) = program.turns(5);
    let (inner_turns, inner) = program.turns(6);
    let (break_turns, around_break) = program.turns(8);
    assert_eq!(outer_turns, [true, false]);
    assert_eq!(inner_turns, [true, true, false]);
    assert_eq!(break_turns, [true]);
    assert_eq!((outer.depth, outer.parent), (1, None));
    assert_eq!((inner.depth, inner.parent), (2, Some(outer.number)));
    assert_eq!(around_break.number, outer.number);
    assert!(outer.is_left() && inner.is_left() && around_break.is_left());
    assert_eq!(Program::run(7).turns(8).0, [false]);
}

#[test]
fn a_switch_says_which_of_its_targets_stay() {
    let program = Program::run(4);
    let (turns, found) = program.turns(22);
    assert_eq!(turns, [true, true, false]);
    assert_eq!(found.stays.iter().filter(|stays| !**stays).count(), 1);
}

#[test]
fn activations_have_frames_of_their_own() {
    let program = Program::run(3);
    let frames: Vec<u16> = (program.of_line(15).iter())
        .map(|(event, found)| {
            assert_eq!(*found, None, "recursion is no loop");
            event.frame
        })
        .collect();
    assert_eq!(frames.len(), 4);
    assert_eq!(frames.iter().collect::<BTreeSet<_>>().len(), 4);
    let in_turns = [5, 6, 8].map(|line| program.of_line(line));
    let frames: BTreeSet<u16> = (in_turns.iter().flatten())
        .map(|(event, _)| event.frame)
        .collect();
    assert_eq!(frames.len(), 1);
}
