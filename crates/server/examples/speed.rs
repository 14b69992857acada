//! How many runs of a small function a second: `speed NEARMISS PROGRAM DIRECTORY [RUNS] [OPTIONS]`.
//!
//! PROGRAM has an input `x` of four bytes. It is served from DIRECTORY, once recording (unless
//! OPTIONS is `none`) and each of its traces read, once only run.

use std::time::{Duration, Instant};

use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Request, Server, Settings};
use nearmiss_trace::RawTrace;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, nearmiss, program, directory, rest @ ..] = words.as_slice() else {
        panic!("usage: speed NEARMISS PROGRAM DIRECTORY [RUNS] [OPTIONS]");
    };
    let runs = rest
        .first()
        .map_or(2000, |runs| runs.parse().expect("a number"));
    let options = rest.get(1).map_or("channels=n", String::as_str);
    let sandbox = Sandbox::confined(vec![nearmiss.into(), "__sandbox".into()]);
    let start = Instant::now();
    let settings = Settings {
        program: program.into(),
        environment: vec![("ASAN_OPTIONS".into(), "detect_leaks=0".into())],
        record: (options != "none").then(|| options.into()),
        directory: directory.into(),
        working_directory: "/tmp".into(),
        restarts: Some(1),
    };
    let mut server = Server::start(&sandbox, settings).expect("a server");
    println!("ready after {:.1?}", start.elapsed());
    measure("run", runs, |x| run(&mut server, x));
    if server.trace_file().is_some() {
        let mut records = (0, 0);
        measure("run and read", runs, |x| {
            run(&mut server, x);
            let trace = server.trace_file().expect("a trace");
            let trace = RawTrace::open(trace).expect("a valid trace");
            records = (trace.terms.len(), trace.events.len());
        });
        println!(
            "the last trace has {} terms, {} events",
            records.0, records.1
        );
    }
}

fn run(server: &mut Server, x: u32) {
    let mut rows = Vec::new();
    for number in [1u32, 0, 4] {
        rows.extend(number.to_le_bytes());
    }
    rows.push(b'x');
    rows.extend(x.to_le_bytes());
    let request = Request {
        mode: 0,
        rows: &rows,
        time: Duration::from_secs(2),
        fresh: false,
    };
    server.run(&request).expect("an answer");
}

fn measure(what: &str, runs: u32, mut work: impl FnMut(u32)) {
    let start = Instant::now();
    (0..runs).for_each(&mut work);
    let time = start.elapsed();
    let rate = f64::from(runs) / time.as_secs_f64();
    println!("{what}: {:.1?} each, {rate:.0} a second", time / runs);
}
