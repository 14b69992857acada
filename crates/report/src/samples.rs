//! Results for the tests of this crate.

use std::collections::BTreeMap;

use nearmiss_abi::check::Kind;
use nearmiss_results::{Finding, Status, Test};

/// A finding of which nothing is known.
pub fn finding() -> Finding {
    Finding {
        id: "NM-1".into(),
        kind: Kind::Assertion,
        status: Status::Confirmed,
        file: "x.c".into(),
        line: 1,
        column: 1,
        function: "main".into(),
        distance: 0,
        tests: 1,
        leads: Vec::new(),
        stack: Vec::new(),
        object: String::new(),
        test: Test::default(),
        input: BTreeMap::new(),
        changes: Vec::new(),
        lengths: Vec::new(),
        repeated: Vec::new(),
        message: String::new(),
        replay: "nearmiss replay NM-1".into(),
        your_build: String::new(),
    }
}
