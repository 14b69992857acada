//! The rows of an input: the content of each named channel (`nearmiss_abi::environment::REPLAY`).

/// What a channel holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name that the program gave it.
    pub name: String,
    /// Which of the calls with this name, from 0.
    pub index: u32,
    /// The bytes.
    pub content: Vec<u8>,
}

/// Reads rows; what is damaged ends them.
pub fn read(mut bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    while let Some((row, rest)) = first(bytes) {
        rows.push(row);
        bytes = rest;
    }
    rows
}

/// `u32 name size, u32 index, u32 content size, name, content`, little-endian.
fn first(bytes: &[u8]) -> Option<(Row, &[u8])> {
    let (name_size, bytes) = number(bytes)?;
    let (index, bytes) = number(bytes)?;
    let (content_size, bytes) = number(bytes)?;
    let (name, bytes) = bytes.split_at_checked(usize::try_from(name_size).ok()?)?;
    let (content, bytes) = bytes.split_at_checked(usize::try_from(content_size).ok()?)?;
    let row = Row {
        name: String::from_utf8_lossy(name).into_owned(),
        index,
        content: content.to_vec(),
    };
    Some((row, bytes))
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, index: u32, content: &[u8]) -> Vec<u8> {
        let sizes = [name.len() as u32, index, content.len() as u32];
        let mut bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        bytes.extend(name.bytes().chain(content.iter().copied()));
        bytes
    }

    #[test]
    fn rows_come_back_and_a_damaged_one_ends_them() {
        let mut bytes = written("x", 0, b"abc");
        bytes.extend(written("x", 1, b""));
        let rows = read(&bytes);
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].name.as_str(), rows[0].content.as_slice()),
            ("x", &b"abc"[..])
        );
        assert_eq!((rows[1].index, rows[1].content.len()), (1, 0));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).len() < 2);
        }
    }
}
