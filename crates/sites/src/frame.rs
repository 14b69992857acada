//! How blobs lie in an ELF section.
//!
//! ```text
//!  0          8            12            16           20
//!  | magic u64 | abi u32    | size u32    | raw u32    | size bytes: lz4 of postcard |
//! ```
//!
//! A reader passes over zero bytes between blobs (a linker may pad). Anything else that is
//! not a frame is an error: an object of another nearmiss version, or a damaged file.

use std::fmt;

use nearmiss_abi::ABI_VERSION;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Starts every frame: "NMFRAME1".
const MAGIC: [u8; 8] = *b"NMFRAME1";
const HEADER: usize = 20;

/// Why a section could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Written by a nearmiss with another ABI version.
    Version(u32),
    /// Not what a nearmiss wrote.
    Damaged,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::Version(found) => write!(
                f,
                "built by a nearmiss with ABI version {found}, this one has {ABI_VERSION}: rebuild the program"
            ),
            FrameError::Damaged => {
                write!(f, "its nearmiss section is damaged: rebuild the program")
            }
        }
    }
}

impl std::error::Error for FrameError {}

/// Frames one value.
pub fn write<T: Serialize>(value: &T) -> Vec<u8> {
    let raw = postcard::to_stdvec(value).expect("plain data serialises");
    let packed = lz4_flex::block::compress(&raw);
    let mut bytes = Vec::with_capacity(HEADER + packed.len());
    bytes.extend(MAGIC);
    for word in [ABI_VERSION, packed.len() as u32, raw.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(packed);
    bytes
}

/// Reads all values of a section.
pub fn read_all<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<Vec<T>, FrameError> {
    let mut values = Vec::new();
    loop {
        let padding = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes = &bytes[padding..];
        if bytes.is_empty() {
            return Ok(values);
        }
        let (value, rest) = read_one(bytes)?;
        values.push(value);
        bytes = rest;
    }
}

fn read_one<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), FrameError> {
    let header = bytes.get(..HEADER).ok_or(FrameError::Damaged)?;
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if header[..8] != MAGIC {
        return Err(FrameError::Damaged);
    }
    if word(8) != ABI_VERSION {
        return Err(FrameError::Version(word(8)));
    }
    let end = HEADER + word(12) as usize;
    let packed = bytes.get(HEADER..end).ok_or(FrameError::Damaged)?;
    let raw =
        lz4_flex::block::decompress(packed, word(16) as usize).map_err(|_| FrameError::Damaged)?;
    let value = postcard::from_bytes(&raw).map_err(|_| FrameError::Damaged)?;
    Ok((value, &bytes[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_round_trip_with_padding() {
        let mut bytes = write(&"one".to_string());
        bytes.extend([0; 7]);
        bytes.extend(write(&"two".to_string()));
        assert_eq!(
            read_all::<String>(&bytes),
            Ok(vec!["one".into(), "two".into()])
        );
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = write(&vec![7u64; 100]);
        for end in 1..bytes.len() {
            assert!(read_all::<Vec<u64>>(&bytes[..end]).is_err(), "{end}");
        }
        let mut other = bytes.clone();
        other[8] = 99;
        assert_eq!(read_all::<Vec<u64>>(&other), Err(FrameError::Version(99)));
        assert_eq!(read_all::<u64>(b"garbage"), Err(FrameError::Damaged));
    }
}
