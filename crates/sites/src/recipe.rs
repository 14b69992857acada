//! The recipe of a unit: the command and the sources that its object was compiled from.
//!
//! The user's compiler makes the object; nearmiss compiles the same unit once more from its recipe, for recordings
//! and for sanitizer twins, when an analysis asks for it. By then sources may have changed or be gone, so a recipe
//! holds their contents, but for those of the system's headers.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use siphasher::sip::SipHasher13;

use crate::Link;

/// A unit's command and sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The directory of the command: see [`Recipe::directory`].
    pub directory: String,
    /// The compiler: its name or path, and words before the arguments.
    pub compiler: Vec<String>,
    /// The arguments, with response files replaced by their words.
    pub arguments: Vec<String>,
    /// The source, as the arguments name it.
    pub source: String,
    /// The files that the compiler read, the source first.
    pub files: Vec<SourceFile>,
}

/// A file that the compiler read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path, absolute or from the directory of the command.
    pub path: String,
    /// A digest of its content.
    pub digest: u64,
    /// Its content; none of a system header, or where the user wants no sources kept.
    pub content: Option<Bytes>,
}

/// Bytes that are written as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Recipe {
    /// The directory of the command.
    pub fn directory(&self) -> PathBuf {
        let link = Link {
            directory: self.directory.clone(),
            ..Link::default()
        };
        link.directory()
    }

    /// The absolute path of a file.
    pub fn path_of(&self, file: &SourceFile) -> PathBuf {
        self.directory().join(&file.path)
    }
}

impl SourceFile {
    /// The file at `path`, with a content.
    pub fn of(path: &str, content: Vec<u8>) -> SourceFile {
        SourceFile {
            path: path.to_string(),
            digest: digest(&content),
            content: Some(Bytes(content)),
        }
    }

    /// Whether the file on the disk is the one that was compiled.
    pub fn is_on_disk(&self, path: &Path) -> bool {
        std::fs::read(path).is_ok_and(|content| digest(&content) == self.digest)
    }
}

/// A digest of a file's content.
pub fn digest(content: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(content);
    hasher.finish()
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

struct BytesVisitor;

impl serde::de::Visitor<'_> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
        Ok(Bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;

    #[test]
    fn recipes_round_trip() {
        let recipe = Recipe {
            directory: "/home/me".into(),
            compiler: vec!["gcc".into()],
            arguments: vec!["-c".into(), "a.c".into()],
            source: "a.c".into(),
            files: vec![SourceFile::of("a.c", b"int a\xff;".to_vec())],
        };
        let read = frame::read_all::<Recipe>(&frame::write(&recipe));
        assert_eq!(read, Ok(vec![recipe.clone()]));
        assert_eq!(recipe.path_of(&recipe.files[0]), Path::new("/home/me/a.c"));
    }
}
