//! Where labels come from and how they move: streams, descriptors, memory, calls, the harness.

mod support;

use nearmiss_abi::channel::{ChannelKind, ChannelRow, PIECE_LINE, PIECE_WHOLE};
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::NoteKind;
use support::{Run, Runner, compile, directory};

const CONTENT: &[u8] = b"first line\nsecond\n\0zero\nrest";

fn check(run: &Run, expected: &[(&str, &str)]) {
    for (name, drawn) in expected {
        assert_eq!(run.term(name), *drawn, "{name}\n{}", run.text);
    }
}

#[test]
fn streams_know_where_they_stand() {
    let place = directory("streams");
    let program = compile(&place, "streams.c", "streams", true, &[]);
    let file = place.join("f");
    std::fs::write(&file, CONTENT).unwrap();
    let written = place.join("written");
    let args = [file.to_str().unwrap(), written.to_str().unwrap()];
    Runner::new(&program)
        .args(&args)
        .stdin(CONTENT)
        .run()
        .succeeded();
    let run = Runner::new(&program)
        .args(&args)
        .stdin(CONTENT)
        .env("NEARMISS_OPTIONS", "channels=if")
        .record(&place)
        .run()
        .succeeded();
    check(
        &run,
        &[
            ("getc", "zext(f[0])"),
            ("again", "zext(f[1])"),
            ("own", "concrete"),
            ("after-own", "zext(f[2])"),
            ("fgets", "f[3]"),
            ("fgets-end", "f[10]"),
            ("fgets-zero", "ite(ult(8, add(length, 1)), 65, 0)"),
            ("after-scanf", "zext(f[14])"),
            ("getline", "f[15]"),
            ("getline-zero", "f[19]"),
            ("fread", "f[9]"),
            ("rewind", "zext(f[0])"),
            ("partial", "f[21]"),
            ("end", "ite(ult(28, length), zext(f[28]), 4294967295)"),
            ("fdopen", "f[2]"),
            ("getchar", "zext(stdin[0])"),
            ("pipe-fgets", "stdin[2]"),
            ("pipe-after-scanf", "stdin[14]"),
            ("written-here", "concrete"),
        ],
    );
    let trace = run.trace();
    let (lengths, inputs): (Vec<&ChannelRow>, Vec<&ChannelRow>) =
        (trace.channels.iter()).partition(|row| row.kind == ChannelKind::Length as u8);
    assert_eq!(inputs.len(), 2);
    // All of the file, three lines of it (from where each was read on), one of the pipe.
    let pieces: Vec<_> = (lengths.iter())
        .map(|row| (row.index, row.start, row.piece))
        .collect();
    let line = PIECE_LINE;
    assert_eq!(
        pieces,
        [
            (1, 0, PIECE_WHOLE),
            (1, 3, line),
            (1, 15, line),
            (1, 18, line),
            (0, 1, line)
        ]
    );
    assert_eq!(trace.channel_name(1), args[0]);
    assert_eq!(trace.channel_content(1), CONTENT);
    assert_eq!(trace.noted(NoteKind::InputChanged), 0);
}

#[test]
fn only_the_first_part_of_a_large_input_is_symbolic() {
    let place = directory("first-part");
    let program = compile(&place, "streams.c", "streams", true, &[]);
    let file = place.join("f");
    let written = place.join("written");
    std::fs::write(&file, CONTENT).unwrap();
    let run = Runner::new(&program)
        .args(&[file.to_str().unwrap(), written.to_str().unwrap()])
        .stdin(CONTENT)
        .env("NEARMISS_OPTIONS", "input=5,channels=if")
        .record(&place)
        .run()
        .succeeded();
    check(
        &run,
        &[
            ("getc", "zext(f[0])"),
            ("fgets", "f[3]"),
            ("fgets-end", "concrete"),
            ("after-scanf", "concrete"),
            ("rewind", "zext(f[0])"),
        ],
    );
    assert!(run.trace().noted(NoteKind::InputLimit) > 3);
}

#[test]
fn descriptors_and_memory() {
    let place = directory("models");
    let program = compile(&place, "models.c", "models", true, &[]);
    let file = place.join("f");
    std::fs::write(&file, CONTENT).unwrap();
    let args = [file.to_str().unwrap()];
    let input = b"0123456789abcdef";
    Runner::new(&program)
        .args(&args)
        .stdin(input)
        .run()
        .succeeded();
    let run = Runner::new(&program)
        .args(&args)
        .stdin(input)
        .record(&place)
        .run()
        .succeeded();
    check(
        &run,
        &[
            ("read", "f[3]"),
            ("seek-dup", "f[10]"),
            ("pread", "f[2]"),
            ("readv", "f[17]"),
            ("mmap", "f[5]"),
            ("mmap-end", "concrete"),
            ("zero", "concrete"),
            ("memcpy", "stdin[1]"),
            ("memmove", "stdin[1]"),
            ("memmove-last", "stdin[9]"),
            ("realloc", "stdin[1]"),
            ("memset", "stdin[1]"),
            ("memset-zero", "concrete"),
        ],
    );
    let trace = run.trace();
    // The file's name is an argument.
    assert_eq!(trace.noted(NoteKind::FileName), 1);
    // A symbolic size is not fixed, but probed.
    let limit = 1 << 30;
    let probe = format!("ule(zext(stdin[0]), {limit}) 1");
    assert_eq!(trace.drawn(EventKind::Probe), [probe]);
    assert_eq!(trace.drawn(EventKind::Concretized).len(), 0);
    let is_probe = |event: &&Event| event.kind == EventKind::Probe as u8;
    let probe = trace.events.iter().find(is_probe);
    assert_eq!(probe.map(|event| event.site), Some(4711));
}

#[test]
fn calls_tables_and_the_harness() {
    let place = directory("calls");
    let program = compile(&place, "calls.c", "calls", true, &[]);
    let run = Runner::new(&program).record(&place).run();
    assert_eq!(run.output.status.code(), Some(5), "{}", run.text);
    check(
        &run,
        &[
            ("first", "name[0]"),
            ("va3", "concrete"),
            ("va4", "zext(name[0])"),
            ("va5", "concrete"),
            ("va7", "concrete"),
            ("va9", "zext(name[0])"),
            ("va10", "concrete"),
        ],
    );
    let trace = run.trace();
    assert_eq!(run.term("table"), "read0(zext(name[0]))");
    assert_eq!(run.labels["table"], run.labels["table-again"]);
    let twice = "add(zext(name[0]), zext(name[0]))";
    assert_eq!(run.term("ctype"), format!("read1(add({twice}, 256))"));
    assert_eq!(trace.snapshots.len(), 2);
    assert_eq!(trace.snapshots[1].size, 768);
    // What is fixed already is not lost again.
    assert_eq!(trace.noted(NoteKind::Address), 1);
    assert_eq!(trace.noted(NoteKind::Call), 1);
    assert_eq!(trace.drawn(EventKind::Concretized).len(), 1);
    assert_eq!(trace.drawn(EventKind::Assume), ["ult(name[0], 10) 1"]);
    assert_eq!(trace.channels[1].index, 0);
    assert_eq!(trace.channels[2].index, 1);
    assert_eq!(trace.channel_content(1), [7, 2, 3, 4]);
}

#[test]
fn named_input_is_replayed_with_and_without_a_recording() {
    let place = directory("replay");
    let program = compile(&place, "calls.c", "calls", true, &[]);
    let mut rows = Vec::new();
    for (index, content) in [(0u32, &[9u8][..]), (1, &[5, 0, 0, 0, 77])] {
        rows.extend(4u32.to_le_bytes());
        rows.extend(index.to_le_bytes());
        rows.extend((content.len() as u32).to_le_bytes());
        rows.extend(b"name");
        rows.extend(content);
    }
    let file = place.join("replay");
    std::fs::write(&file, &rows).unwrap();
    let plain = Runner::new(&program).env("NEARMISS_REPLAY", &file).run();
    assert!(plain.text.contains("content=9\n") && plain.text.contains("second=5\n"));
    let run = Runner::new(&program)
        .env("NEARMISS_REPLAY", &file)
        .record(&place)
        .run();
    assert!(run.text.contains("content=9\n") && run.text.contains("second=5\n"));
    assert_eq!(run.trace().channel_content(1), [9, 2, 3, 4]);

    // An assumption that does not hold ends the run, without a word.
    rows[16] = 200;
    std::fs::write(&file, &rows).unwrap();
    let run = Runner::new(&program)
        .env("NEARMISS_REPLAY", &file)
        .record(&place)
        .run()
        .succeeded();
    assert!(!run.text.contains("after"));
    assert_eq!(run.trace().drawn(EventKind::Assume), ["ult(name[0], 10) 0"]);
}

#[test]
fn libraries_share_the_runtime_of_the_program() {
    let place = directory("library");
    let library = compile(&place, "library.c", "lib.so", true, &["-shared", "-fPIC"]);
    let args = [library.to_str().unwrap(), "xyz"];
    let plain = compile(&place, "host.c", "plain", false, &[]);
    let export = "-Wl,--export-dynamic-symbol=__nm_*";
    let shared = &["-DINSTRUMENTED", export][..];
    let instrumented = compile(&place, "host.c", "instrumented", true, shared);
    for program in [&plain, &instrumented] {
        Runner::new(program).args(&args).run().succeeded();
        let run = Runner::new(program)
            .args(&args)
            .record(&place)
            .run()
            .succeeded();
        let branches: Vec<_> = run
            .traces
            .iter()
            .flat_map(|trace| trace.drawn(EventKind::Branch))
            .collect();
        let from_library = "eq(argv[2][0], 120) 1";
        if program == &plain {
            // The library's runtime comes and goes with the library.
            assert_eq!(branches, [from_library, from_library]);
        } else {
            run.trace();
            let own = "eq(argv[2][1], 121) 1";
            assert_eq!(branches, [from_library, from_library, own]);
        }
    }
}

#[test]
fn a_library_on_the_command_line_needs_no_option() {
    let place = directory("linked");
    let library = compile(&place, "library.c", "lib.so", true, &["-shared", "-fPIC"]);
    let library = library.to_str().unwrap();
    for linker in ["-fuse-ld=bfd", "-fuse-ld=lld-19"] {
        for pie in ["-pie", "-no-pie"] {
            let options = [library, "-Wl,-rpath,$ORIGIN", linker, pie];
            let program = compile(&place, "linked.c", "linked", true, &options);
            Runner::new(&program).args(&["xyz"]).run().succeeded();
            let run = Runner::new(&program)
                .args(&["xyz"])
                .record(&place)
                .run()
                .succeeded();
            let expected = ["eq(argv[1][0], 120) 1", "eq(argv[1][1], 121) 1"];
            assert_eq!(run.trace().drawn(EventKind::Branch), expected);
        }
    }
}

#[test]
fn a_library_shows_the_interface_and_nothing_else() {
    let place = directory("symbols");
    let library = compile(&place, "library.c", "lib.so", true, &["-shared", "-fPIC"]);
    let output = std::process::Command::new("nm")
        .args(["-D", "--defined-only", "--format=just-symbols"])
        .arg(&library)
        .output()
        .unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let known = |name: &str| {
        name.starts_with("__nm_") || name.starts_with("nearmiss_") || name == "library_work"
    };
    let others: Vec<_> = symbols.lines().filter(|name| !known(name)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(symbols.lines().count() > 80);
}

/// Every row of the table of models that is the runtime's has a symbol in its archive. Models of
/// arc4random need real functions that not every libc has: libc/random.c.
#[test]
fn the_table_of_models_is_complete() {
    use nearmiss_abi::model::{MODELS, Model, PREFIX, Place};
    let archive = std::fs::read(support::archive()).expect("the archive");
    let symbols: std::collections::HashSet<&[u8]> = archive.split(|&byte| byte == 0).collect();
    let is_ours = |model: &&Model| model.place != Place::C && !model.name.starts_with("arc4random");
    for model in MODELS.iter().filter(is_ours) {
        let name = format!("{PREFIX}{}", model.name);
        assert!(symbols.contains(name.as_bytes()), "no model of {name}");
    }
}
