//! Processes that make many runs, with their memory put back in between.

mod support;

use nearmiss_server::{Ended, Run, Server};
use support::{Build, Place, run, run_endlessly, run_fresh, trace};

const ALL: [Build; 3] = [Build::Recording, Build::Instrumented, Build::Twin];

/// Changes whatever memory a run can change, and tells what it found there; fails in several ways.
const CHANGES: &str = r#"
#include <sys/mman.h>
static char *page;
__attribute__((constructor)) static void map(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static int runs = 1;
static char zeros[100000], text[] = "a b c";
static _Thread_local int of_thread;
static char *kept;
int main(int count, char **arguments, char **variables)
{
    int x = 0, process = getpid(), depth[20000];
    nearmiss_symbolic(&x, sizeof x, "x");
    char *block = malloc(100), *large = calloc(1, 3000);
    int found[] = {runs++, zeros[x * 17 % 100000]++, of_thread++, kept != NULL, large[7], count,
                   arguments[0][0], variables != NULL && variables[0] ? variables[0][0] : 0};
    if (x > 5)
        zeros[x] = x;
    kept = strcpy(block, "kept");
    memset(large, x, 3000);
    memset(depth, x, sizeof depth);
    arguments[0][0] = 'X';
    if (variables != NULL && variables[0])
        variables[0][0] = 'Y';
    nearmiss_result("found", found, sizeof found);
    nearmiss_result("block", &block, sizeof block);
    nearmiss_result("token", strtok(runs == 2 ? text : NULL, " "), 1);
    nearmiss_result("process", &process, sizeof process);
    nearmiss_result("depth", &depth[x], sizeof *depth);
    if (x == 1)
        abort();
    if (x == 2)
        for (;;)
            ;
    if (x == 3)
        *(volatile int *)8 = 1;
    if (x == 4)
        exit(50);
    if (x == 5)
        fprintf(stderr, "a complaint\n");
    if (x == 6)
        free(malloc(10 << 20));
    if (x == 7)
        munmap(page, 4096);
    if (x == 150)
        block[x - 50] = 1;
    if (x == 151)
        fprintf(stderr, "a complaint\n");
    if (x == 152)
        large = calloc(1, 300000);
    for (int i = 0; x == 153 && i < 100; i++)
        memset(malloc(5000), x, 5000);
    return x > 100 ? 7 : 0;
}
"#;

fn process(run: &Run) -> &[u8] {
    run.result("process").expect("a number")
}

/// What a run told, but for which process it was.
fn told(run: &Run) -> Vec<(String, Vec<u8>)> {
    let results = run.results.iter().cloned();
    results.filter(|(name, _)| name != "process").collect()
}

#[test]
fn memory_is_put_back() {
    for build in ALL {
        let place = Place::new(CHANGES, build);
        let mut server = place.serve_restarting(build);
        let first = run(&mut server, 20);
        let mut same = 0;
        for x in 8..150 {
            let again = run(&mut server, x);
            let status = if x > 100 { 7 } else { 0 };
            assert_eq!(again.ended, Some(Ended::Exited(status)));
            same += usize::from(process(&again) == process(&first));
            let fresh = run_fresh(&mut server, x);
            assert_ne!(process(&again), process(&fresh));
            assert_eq!(told(&again), told(&fresh), "{x}");
            assert_eq!(told(&again)[0], told(&first)[0], "{x}");
        }
        assert_eq!(same, 1, "a fresh run ends the process before it");
    }
}

/// Also behind a sanitizer's report, a complaint, and where memory was mapped.
#[test]
fn one_process_makes_many_runs() {
    for build in ALL {
        let place = Place::new(CHANGES, build);
        let mut server = place.serve_restarting(build);
        let first = run(&mut server, 20);
        for x in 21..1000 {
            let again = run(&mut server, x);
            assert_eq!(process(&again), process(&first), "{x}");
            assert_eq!(told(&again)[..3], told(&first)[..3], "{x}");
            let complains = x == 151 || x == 150 && build == Build::Twin;
            assert_eq!(server.complaints().is_empty(), !complains, "{x}");
        }
    }
}

#[test]
fn what_does_not_end_as_usual_ends_as_in_a_fresh_process() {
    for build in ALL {
        let [place, beside] = [0, 1].map(|_| Place::new(CHANGES, build));
        let (mut server, mut forked) = (place.serve_restarting(build), beside.serve(build));
        let ask = |server: &mut Server, x: i32| {
            let run = match x {
                2 => run_endlessly(server, x),
                _ => run(server, x),
            };
            (run.ended, told(&run)[0].clone(), server.complaints())
        };
        for x in [0, 1, 8, 2, 9, 3, 4, 5, 10, 6, 7, 11, 7, 12] {
            let (ended, found, said) = ask(&mut server, x);
            let expected = ask(&mut forked, x);
            assert_eq!((ended, found), (expected.0, expected.1), "{x}");
            assert_eq!(said.is_empty(), expected.2.is_empty(), "{x}");
        }
    }
}

#[test]
fn each_run_leaves_the_trace_of_a_fresh_one() {
    let place = Place::new(CHANGES, Build::Recording);
    let mut server = place.serve_restarting(Build::Recording);
    run(&mut server, 20);
    for x in [8, 200, 9, 3000] {
        run(&mut server, x);
        let again = trace(&server);
        run_fresh(&mut server, x);
        assert!(again.is_same(&trace(&server)), "{x}");
        run(&mut server, x + 1);
        assert!(!again.is_same(&trace(&server)), "{x}");
    }
}

#[test]
fn what_is_no_memory_shows() {
    const LEAKS: &str = r#"
int main(void)
{
    int x = 0, copy = dup(0);
    nearmiss_symbolic(&x, sizeof x, "x");
    nearmiss_result("copy", &copy, sizeof copy);
    return x > copy;
}
"#;
    let place = Place::new(LEAKS, Build::Recording);
    let mut server = place.serve_restarting(Build::Recording);
    run(&mut server, 1);
    let again = run(&mut server, 1);
    let fresh = run_fresh(&mut server, 1);
    assert_ne!(
        again.results, fresh.results,
        "the comparison of both sees it"
    );
}

/// A process that lost a mapping ends behind its answer, while the next request may come: neither is lost.
#[test]
fn a_process_that_ends_behind_its_answer_takes_no_request_with_it() {
    for build in ALL {
        let place = Place::new(CHANGES, build);
        let mut server = place.serve_restarting(build);
        for round in 0..100 {
            for x in [7, 20, 21, 22, 23, 24] {
                let run = run(&mut server, x);
                assert_eq!(run.ended, Some(Ended::Exited(0)), "{x}, round {round}");
            }
        }
    }
}
