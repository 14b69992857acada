//! Programs that are started once and run many times: instrumented ones, and sanitizer twins.

mod support;

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_RESULT};
use nearmiss_abi::server::{MODE_BOTH, MODE_PRECONDITION};
use nearmiss_abi::trace::{STATE_EXITED, STATE_RUNNING};
use nearmiss_server::{Ended, Run, Server};
use nearmiss_trace::RawTrace;
use support::{Build, Place, run, run_endlessly, trace, try_run};

fn branches(trace: &RawTrace) -> usize {
    let branch = EventKind::Branch as u8;
    let events = trace.events.iter();
    events.filter(|event| event.kind == branch).count()
}

const ALL: [Build; 3] = [Build::Recording, Build::Instrumented, Build::Twin];

/// Ends in every way that there is, and leaves everything changed that a run can change.
const WAYS: &str = r#"
static int runs;
static char *kept;
static unsigned constructed;
__attribute__((constructor)) static void construct(void) { constructed++; }
int main(void)
{
    int x = 0;
    nearmiss_symbolic(&x, sizeof x, "x");
    runs++;
    if (kept != NULL)
        return 99;
    kept = strdup("changed");
    setenv("CHANGED", "yes", 1);
    fprintf(stderr, "x is %d\n", x);
    printf("nobody reads this\n");
    nearmiss_result("x", &x, sizeof x);
    nearmiss_result("runs", &runs, sizeof runs);
    nearmiss_result("constructed", &constructed, sizeof constructed);
    if (x == 1)
        abort();
    if (x == 2)
        for (;;)
            ;
    if (x == 3)
        raise(SIGKILL);
    if (x == 4)
        _exit(40);
    if (x == 5)
        exit(50);
    free(kept);
    return x > 100 ? 7 : 0;
}
"#;

/// A run of [`WAYS`].
fn run_way(server: &mut Server, x: i32) -> Run {
    match x {
        2 => run_endlessly(server, x),
        _ => run(server, x),
    }
}

#[test]
fn runs_end_in_every_way_and_know_nothing_of_each_other() {
    for build in ALL {
        let place = Place::new(WAYS, build);
        let mut server = place.serve(build);
        let ways = [
            (0, Some(Ended::Exited(0))),
            (1, Some(Ended::Signal(libc::SIGABRT))),
            (2, None),
            (3, Some(Ended::Signal(libc::SIGKILL))),
            (4, Some(Ended::Exited(40))),
            (5, Some(Ended::Exited(50))),
            (101, Some(Ended::Exited(7))),
        ];
        for (x, ended) in ways.into_iter().cycle().take(2 * ways.len()) {
            let run = run_way(&mut server, x);
            assert_eq!(run.ended, ended, "{x}");
            let expected = [("x", x), ("runs", 1), ("constructed", 1)]
                .map(|(name, value)| (name.to_string(), value.to_le_bytes().to_vec()));
            assert_eq!(run.results, expected);
            let said = String::from_utf8(server.complaints()).unwrap();
            assert!(said.starts_with(&format!("x is {x}\n")), "{said}");
        }
    }
}

#[test]
fn many_runs() {
    for build in ALL {
        let place = Place::new(WAYS, build);
        let mut server = place.serve(build);
        for x in 200..1200 {
            let run = run(&mut server, x);
            assert_eq!(run.ended, Some(Ended::Exited(7)));
            assert_eq!(run.results[0].1, x.to_le_bytes());
        }
    }
}

#[test]
fn each_run_leaves_the_trace_of_a_first_run() {
    let place = Place::new(WAYS, Build::Recording);
    let traces = |inputs: &[i32]| {
        let mut server = place.serve(Build::Recording);
        let mut traces = Vec::new();
        for &x in inputs {
            run_way(&mut server, x);
            traces.push(trace(&server));
        }
        traces
    };
    let inputs = [101, 0, 2, 3, 1, 101];
    for (x, later) in inputs.into_iter().zip(traces(&inputs)) {
        let first = &traces(&[x])[0];
        assert_eq!(first.terms, later.terms, "{x}");
        assert_eq!(first.events, later.events, "{x}");
        assert_eq!(first.notes, later.notes, "{x}");
        assert_eq!(first.channels, later.channels, "{x}");
        assert_eq!(first.blob, later.blob, "{x}");
        let was_killed = [1, 2, 3].contains(&x);
        let state = if was_killed {
            STATE_RUNNING
        } else {
            STATE_EXITED
        };
        assert_eq!(later.header.state, state, "{x}");
        // `abort` behind a condition is a check, and a choice between two values no branch.
        let expected = if was_killed { x as usize - 1 } else { 4 };
        assert_eq!(branches(&later), expected, "{x}");
    }
}

#[test]
fn phases_are_marked_and_modes_are_told() {
    let source = r#"
        int main(void)
        {
            unsigned x = 0, mode = __nm_mode();
            nearmiss_symbolic(&x, sizeof x, "x");
            nearmiss_result("mode", &mode, sizeof mode);
            __nm_mark(2);
            unsigned long plain = __nm_concrete(x + 1ul);
            if (plain > 10)
                plain = 0;
            __nm_mark(4);
            nearmiss_result("plain", &plain, x & 8);
            return 0;
        }"#;
    for build in ALL {
        let place = Place::new(source, build);
        let mut server = place.serve(build);
        for mode in [MODE_PRECONDITION, MODE_BOTH] {
            let run = try_run(&mut server, 8, mode).unwrap();
            assert_eq!(run.results[0].1, mode.to_le_bytes());
            assert_eq!(run.results[1].1, 9u64.to_le_bytes());
        }
        if build == Build::Recording {
            let trace = trace(&server);
            let marks: Vec<_> = trace
                .events
                .iter()
                .map(|event| (event.kind, event.aux))
                .collect();
            let mark = EventKind::Mark as u8;
            assert_eq!(marks, [(mark, PHASE_FUNCTION), (mark, PHASE_RESULT)]);
            assert_eq!(trace.notes, []);
        }
    }
}

#[test]
fn a_child_of_a_run_records_nothing_and_ends_with_it() {
    let source = r#"
        int main(void)
        {
            int x = 0;
            nearmiss_symbolic(&x, sizeof x, "x");
            if (fork() == 0) {
                if (x > 1)
                    x++;
                pause();
            }
            if (x > 2)
                return 1;
            return 0;
        }"#;
    let place = Place::new(source, Build::Recording);
    let mut server = place.serve(Build::Recording);
    for _ in 0..400 {
        assert_eq!(run(&mut server, 5).ended, Some(Ended::Exited(1)));
    }
    assert_eq!(branches(&trace(&server)), 1);
}

#[test]
fn a_run_may_execute_the_program_again() {
    let source = r#"
        int main(int argc, char **argv)
        {
            int x = 0;
            nearmiss_symbolic(&x, sizeof x, "x");
            if (argc > 1)
                return 77;
            char *arguments[] = {argv[0], "again", NULL};
            if (x == 1)
                execv(argv[0], arguments);
            return 0;
        }"#;
    for build in ALL {
        let place = Place::new(source, build);
        let mut server = place.serve(build);
        assert_eq!(run(&mut server, 0).ended, Some(Ended::Exited(0)));
        assert_eq!(run(&mut server, 1).ended, Some(Ended::Exited(77)));
        assert_eq!(run(&mut server, 0).ended, Some(Ended::Exited(0)));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new(
        "__attribute__((constructor)) static void end(void) { \
             fprintf(stderr, \"no\\n\"); _exit(3); }\nint main(void) { return 0; }",
        Build::Recording,
    );
    let settings = place.settings(Build::Recording);
    let error = Server::start(&support::sandbox(), settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the program ended before its time: exit 3 no"
    );

    let kills = "int main(void) { int x = 0; nearmiss_symbolic(&x, sizeof x, \"x\"); \
                 if (x) kill(getppid(), SIGKILL); return 6; }";
    let place = Place::new(kills, Build::Instrumented);
    let mut server = place.serve(Build::Instrumented);
    let error = try_run(&mut server, 1, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the program ended before its time: signal 9"
    );
    assert_eq!(run(&mut server, 0).ended, Some(Ended::Exited(6)));
}

#[test]
fn a_run_that_uses_up_too_much_ends_alone() {
    let source = r#"
        int main(void)
        {
            int x = 0;
            nearmiss_symbolic(&x, sizeof x, "x");
            nearmiss_result("x", &x, sizeof x);
            while (x == 1)
                fork();
            return 5;
        }"#;
    let place = Place::new(source, Build::Recording);
    let mut server = place.serve(Build::Recording);
    for (x, ended) in [
        (0, Some(Ended::Exited(5))),
        (1, None),
        (0, Some(Ended::Exited(5))),
    ] {
        let run = match ended {
            None => run_endlessly(&mut server, x),
            _ => run(&mut server, x),
        };
        assert_eq!(run.ended, ended);
        assert_eq!(run.results[0].1, x.to_le_bytes());
        assert_eq!(trace(&server).channels.len(), 1);
    }
}

#[test]
fn results_that_do_not_fit_are_left_out() {
    let source = r#"
        int main(void)
        {
            static char large[700 << 10];
            nearmiss_result("first", large, sizeof large);
            nearmiss_result("second", large, sizeof large);
            nearmiss_result("third", "abc", 3);
            return 0;
        }"#;
    for build in ALL {
        let place = Place::new(source, build);
        let mut server = place.serve(build);
        let names = run(&mut server, 0)
            .results
            .into_iter()
            .map(|(name, _)| name);
        assert_eq!(names.collect::<Vec<_>>(), ["first", "third"]);
    }
}

#[test]
fn without_a_server_the_words_mean_nothing() {
    for build in ALL {
        let place = Place::new(WAYS, build);
        let status = std::process::Command::new(place.path("program")).output();
        assert_eq!(status.unwrap().status.code(), Some(0));
    }
}

#[test]
fn a_server_may_go_to_another_thread() {
    let place = Place::new(WAYS, Build::Instrumented);
    let mut server = place.serve(Build::Instrumented);
    let ended = std::thread::spawn(move || run(&mut server, 0).ended);
    assert_eq!(ended.join().unwrap(), Some(Ended::Exited(0)));
}
