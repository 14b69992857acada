//! What the first run of a program got by chance, as later runs are given it again: see
//! [`nearmiss_abi::chance`].

use std::collections::BTreeMap;
use std::fmt::Write;

use nearmiss_abi::chance::MOST_BYTES;
use nearmiss_capture::Captured;
use serde::{Deserialize, Serialize};

/// Clocks, random numbers and process numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chance {
    /// The number of the process; 0: unknown.
    pub process: u32,
    /// The streams, as the environment variable has them.
    pub streams: String,
}

impl Chance {
    /// What a captured process got.
    pub fn of(captured: &Captured) -> Chance {
        let mut streams: BTreeMap<(&str, u32), String> = BTreeMap::new();
        let mut size = 0;
        for one in &captured.chance {
            size += one.bytes.len();
            if size > MOST_BYTES {
                break;
            }
            let digits = streams.entry((&one.name, one.process)).or_default();
            for byte in &one.bytes {
                let _ = write!(digits, "{byte:02x}");
            }
        }
        let rows = streams.into_iter();
        let rows = rows.map(|((name, process), digits)| format!("{name}:{process}={digits}"));
        Chance {
            process: captured.pid,
            streams: rows.collect::<Vec<String>>().join(";"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_capture::{Chance as Row, Stdin};

    #[test]
    fn values_of_one_function_are_one_stream() {
        let row = |process, name: &str, bytes: &[u8]| Row {
            process,
            name: name.into(),
            bytes: bytes.to_vec(),
        };
        let test = Captured {
            pid: 77,
            parent: 1,
            umask: 0o22,
            program: "/bin/prog".into(),
            directory: "/".into(),
            arguments: vec!["prog".into()],
            environment: Vec::new(),
            stdin: Stdin::Null,
            paths: Vec::new(),
            losses: Vec::new(),
            ended: Some(0),
            chance: vec![
                row(0, "time", &[1, 0xff]),
                row(0, "getrandom", &[9]),
                row(1, "time", &[3]),
                row(0, "time", &[2]),
            ],
        };
        let chance = Chance::of(&test);
        assert_eq!(chance.process, 77);
        assert_eq!(chance.streams, "getrandom:0=09;time:0=01ff02;time:1=03");
    }
}
