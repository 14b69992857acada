//! Blocks that a function frees where the recording cannot see it (through a pointer to `free`, or in
//! code without instrumentation): the twin's allocator knows.

use nearmiss_harness::{INPUT, Plan};
use nearmiss_results::PathTest;

/// What a run of the twin handed over.
pub type Rows = Vec<(String, Vec<u8>)>;

/// Marks what the twin says was freed: a test that is written must neither look at it nor have it on
/// its stack.
pub fn mark(tests: &mut [PathTest], plan: &Plan, by_twin: &[(usize, Rows)]) {
    for (number, rows) in by_twin {
        let Some(test) = tests.get_mut(number - 1) else {
            continue;
        };
        let (Some(after), Some(staging)) = (&mut test.after, staging(&test.rows)) else {
            continue;
        };
        let twin = plan.decode_results(staging, rows);
        for (block, seen) in after.blocks.iter_mut().zip(twin.blocks) {
            if seen.freed {
                *block = seen;
            }
        }
    }
}

/// The staging among the rows of a test's input.
fn staging(mut rows: &[u8]) -> Option<&[u8]> {
    loop {
        let (sizes, rest) = rows.split_first_chunk::<12>()?;
        let size = |at: usize| {
            let bytes = sizes[at..at + 4].try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let (name, rest) = rest.split_at_checked(size(0)?)?;
        let (content, rest) = rest.split_at_checked(size(8)?)?;
        if name == INPUT.as_bytes() {
            return Some(content);
        }
        rows = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_staging_is_found_among_rows() {
        let rows = b"\x01\0\0\0\0\0\0\0\x02\0\0\0xab\x05\0\0\0\0\0\0\0\x03\0\0\0inputcde";
        assert_eq!(staging(rows), Some(&b"cde"[..]));
        assert_eq!(staging(&rows[..20]), None);
        assert_eq!(staging(b""), None);
    }
}
