//! What a program records: terms, events, notes, whatever happens to it.

mod support;

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::trace::{STATE_EXITED, STATE_RUNNING};
use support::{Runner, compile, directory};

/// The ways to link a program.
const LINKS: &[&[&str]] = &[
    &["-no-pie", "-fno-pie"],
    &["-pie", "-fPIE"],
    &["-static", "-fno-pie"],
    &["-static-pie", "-fPIE"],
    &["-pie", "-fPIE", "-fuse-ld=lld-19", "-Wl,--gc-sections"],
];

/// The byte behind an argument of two bytes.
const OPEN_END: &str = "ite(ult(2, length), argv[1][2], 0)";

#[test]
fn a_program_records_the_same_however_it_is_linked() {
    for link in LINKS {
        let place = directory("basic");
        let program = compile(&place, "basic.c", "basic", true, link);
        let plain = Runner::new(&program).args(&["ab"]).stdin(b"hello\n").run();
        assert_eq!(plain.output.status.code(), Some(3), "{}", plain.text);
        assert!(plain.labels.values().all(|&label| label == 0));

        let run = Runner::new(&program)
            .args(&["ab"])
            .stdin(b"hello\n")
            .record(&place)
            .run();
        assert_eq!(run.output.status.code(), Some(3), "{link:?}\n{}", run.text);
        let trace = run.trace();
        assert_eq!(trace.header.state, STATE_EXITED);
        assert_eq!(trace.header.exit_status, 3);
        assert_eq!(trace.header.stopped, 0);
        assert_eq!(trace.channel_name(0), "argv[1]");
        assert_eq!(trace.channel_content(0), b"ab");
        // The length of the argument is a channel of its own.
        assert_eq!(trace.channel_name(2), "stdin");
        for (name, drawn) in [
            ("h", "stdin[0]"),
            ("end", "concrete"),
            ("a", "argv[1][0]"),
            ("zero", OPEN_END),
            ("program", "concrete"),
            (
                "word",
                "concat(stdin[3], concat(stdin[2], concat(stdin[1], stdin[0])))",
            ),
            ("sum", "add(zext(stdin[0]), 5)"),
            ("copy", "add(zext(stdin[0]), 5)"),
            ("masked", "concrete"),
            ("stale", "concrete"),
            (
                "wide",
                "extract(add(zext(stdin[0]), 36893488147419103233), 64)",
            ),
            ("chosen", "ite(eq(stdin[0], 120), stdin[0], 3)"),
        ] {
            assert_eq!(run.term(name), drawn, "{name}");
        }
        assert_eq!(trace.drawn(EventKind::Branch), ["eq(stdin[0], 120) 0"]);
        assert_eq!(trace.drawn(EventKind::Check), ["ult(stdin[0], 120) 1"]);
        assert_eq!(trace.drawn(EventKind::Concretized), ["stdin[0] 1"]);
        assert_eq!(trace.events.len(), 5);
        assert_eq!(trace.noted(NoteKind::Address), 1);
        assert_eq!(trace.noted(NoteKind::Float), 1);
        // The stale copy, and a load of the test of registers.
        assert_eq!(trace.noted(NoteKind::Overwritten), 2);
        let path = trace.bytes(trace.header.program_offset, trace.header.program_size);
        assert_eq!(path, program.to_str().unwrap().as_bytes());
    }
}

#[test]
fn a_killed_program_leaves_a_valid_trace() {
    let place = directory("killed");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    for delay in [0.003, 0.01, 0.05, 0.2] {
        let script = format!("timeout -s KILL {delay} {} loop", program.display());
        let run = Runner::new("sh")
            .args(&["-c", &script])
            .record(&place)
            .run();
        // A file that exists is whole, even if the process was killed before `main`.
        for trace in &run.traces {
            assert_eq!(trace.header.state, STATE_RUNNING);
        }
        if delay > 0.1 {
            let trace = run.trace();
            assert!(trace.terms.len() > 1000, "{}", trace.terms.len());
            assert!(trace.events.len() > 1000);
        }
    }
}

#[test]
fn at_a_limit_the_program_goes_on_without_a_recording() {
    let place = directory("limits");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    for limit in ["terms=500", "events=100", "terms=2", "events=1,terms=3"] {
        let run = Runner::new(&program)
            .args(&["finish"])
            .env("NEARMISS_OPTIONS", limit)
            .record(&place)
            .run()
            .succeeded();
        let trace = run.trace();
        assert_eq!(trace.header.stopped, 1, "{limit}");
        assert_eq!(trace.noted(NoteKind::Limit), 1, "{limit}");
        assert!(run.text.contains("mask=0"), "{}", run.text);
    }
}

#[test]
fn without_address_space_it_runs_and_says_so() {
    let place = directory("ulimit");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    for limit in ["-v 4000000", "-f 1000"] {
        let script = format!("ulimit {limit} && exec {} finish", program.display());
        let run = Runner::new("sh")
            .args(&["-c", &script])
            .record(&place)
            .run()
            .succeeded();
        let trace = run.trace();
        assert_eq!(trace.header.stopped, 1);
        assert_eq!(trace.noted(NoteKind::Limit), 1);
        assert!(run.text.contains("mask=0"), "{}", run.text);
    }
}

#[test]
fn a_full_disk_stops_the_recording_only() {
    let place = directory("disk");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    let small = place.join("small");
    std::fs::create_dir_all(&small).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1200k", "none"])
        .arg(&small)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: a full disk (cannot mount a small tmpfs here)");
        return;
    }
    let run = Runner::new(&program).args(&["finish"]).record(&small).run();
    let status = std::process::Command::new("umount").arg(&small).status();
    assert!(status.unwrap().success());
    let run = run.succeeded();
    let trace = run.trace();
    assert_eq!(trace.header.stopped, 1);
    assert_eq!(trace.noted(NoteKind::Disk), 1);
    assert!(trace.terms.len() > 5000, "{}", trace.terms.len());
}

#[test]
fn a_directory_that_is_not_there_is_no_reason_to_fail() {
    let place = directory("nowhere");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    let run = Runner::new(&program)
        .args(&["finish"])
        .env("NEARMISS_RECORD", "/nonexistent/directory")
        .run()
        .succeeded();
    assert!(run.text.contains("mask=0"));
}

#[test]
fn a_forked_child_is_not_recorded() {
    let place = directory("fork");
    let program = compile(&place, "processes.c", "processes", true, &[]);
    let run = Runner::new(&program)
        .args(&["fork"])
        .stdin(b"xyz")
        .record(&place)
        .run()
        .succeeded();
    let trace = run.trace();
    assert_eq!(trace.noted(NoteKind::Fork), 1);
    assert_eq!(trace.drawn(EventKind::Branch), ["eq(stdin[0], 120) 1"]);
}

#[test]
fn after_exec_a_new_trace_starts() {
    let place = directory("exec");
    let program = compile(&place, "processes.c", "processes", true, &[]);
    let run = Runner::new(&program)
        .args(&["exec"])
        .stdin(b"xyz")
        .record(&place)
        .run()
        .succeeded();
    assert_eq!(run.traces.len(), 2);
    let states: Vec<_> = run.traces.iter().map(|trace| trace.header.state).collect();
    assert!(states.contains(&STATE_RUNNING) && states.contains(&STATE_EXITED));
    assert_eq!(run.traces[0].header.pid, run.traces[1].header.pid);
}

#[test]
fn threads_share_one_trace() {
    let place = directory("threads");
    let program = compile(&place, "processes.c", "processes", true, &[]);
    let run = Runner::new(&program)
        .args(&["threads"])
        .stdin(b"xyz")
        .record(&place)
        .run()
        .succeeded();
    let trace = run.trace();
    assert_eq!(trace.events.len(), 4 * 20_000);
    assert!(trace.terms.len() > 20_000);
}

#[test]
fn signal_handlers_inside_the_runtime_do_no_harm() {
    let place = directory("signals");
    let program = compile(&place, "processes.c", "processes", true, &[]);
    let run = Runner::new(&program)
        .args(&["signals"])
        .stdin(b"xyz")
        .record(&place)
        .run()
        .succeeded();
    assert!(run.trace().noted(NoteKind::Signal) > 0);
}

#[test]
fn a_closed_descriptor_stops_the_recording_and_harms_no_other_file() {
    let place = directory("closed");
    let program = compile(&place, "endless.c", "endless", true, &[]);
    let victim = place.join("victim");
    let run = Runner::new(&program)
        .args(&["close", victim.to_str().unwrap()])
        .record(&place)
        .run()
        .succeeded();
    assert_eq!(run.trace().noted(NoteKind::Closed), 1);
    assert_eq!(std::fs::metadata(victim).unwrap().len(), 0);
}
