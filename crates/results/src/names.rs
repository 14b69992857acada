//! How the words of `abi` and plain bytes are written in JSON.

/// Bytes as a string of hexadecimal digits.
pub mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the digits.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }

    /// Reads the digits.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let digits = String::deserialize(deserializer)?;
        parse(&digits).ok_or_else(|| D::Error::custom("expected pairs of hexadecimal digits"))
    }

    fn parse(digits: &str) -> Option<Vec<u8>> {
        if !digits.len().is_multiple_of(2) {
            return None;
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|value| value as u8);
        digits
            .as_bytes()
            .chunks(2)
            .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
            .collect()
    }
}

/// The name of a file: text where it is text, else its bytes.
pub mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Text(&'a str),
        Bytes(&'a [u8]),
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read {
        Text(String),
        Bytes(Vec<u8>),
    }

    fn write(path: &Path) -> Written<'_> {
        match path.to_str() {
            Some(text) => Written::Text(text),
            None => Written::Bytes(path.as_os_str().as_bytes()),
        }
    }

    fn read(word: Read) -> PathBuf {
        match word {
            Read::Text(text) => text.into(),
            Read::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }

    /// Writes it.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        write(path).serialize(serializer)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Read::deserialize(deserializer).map(read)
    }

    /// The name of a file, if there is one.
    pub mod optional {
        use super::*;

        /// Writes it.
        pub fn serialize<S: Serializer>(
            path: &Option<PathBuf>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            path.as_deref().map(write).serialize(serializer)
        }

        /// Reads it.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<PathBuf>, D::Error> {
            Ok(Option::<Read>::deserialize(deserializer)?.map(read))
        }
    }
}

/// A kind of failure by its name.
pub mod kind {
    use nearmiss_abi::check::Kind;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the name.
    pub fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    /// Reads the name.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        let name = String::deserialize(deserializer)?;
        Kind::from_name(&name).ok_or_else(|| D::Error::custom("not a kind of failure"))
    }
}

/// A kind of note by its name.
pub mod note {
    use nearmiss_abi::note::NoteKind;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the name.
    pub fn serialize<S: Serializer>(kind: &NoteKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    /// Reads the name.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NoteKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        NoteKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| D::Error::custom("not a kind of note"))
    }
}
