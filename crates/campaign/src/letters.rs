//! A set of channels in a file: its letters, as in the environment of a process.

use nearmiss_abi::channel::ChannelSet;
use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(set: &ChannelSet, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(set)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChannelSet, D::Error> {
    let letters = String::deserialize(deserializer)?;
    Ok(ChannelSet::parse(letters.as_bytes()))
}
