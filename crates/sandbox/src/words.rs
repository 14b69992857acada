//! Words of a command line or an environment, and names of files, in JSON: text where they are text,
//! else their bytes.
//! (Serde's own form is a list of numbers, five times as long; environments of test suites have
//! hundreds of kilobytes.)

use std::ffi::{OsStr, OsString};
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

fn write(word: &OsStr) -> Written<'_> {
    match word.to_str() {
        Some(text) => Written::Text(text),
        None => Written::Bytes(word.as_bytes()),
    }
}

fn read(word: Read) -> OsString {
    match word {
        Read::Text(text) => text.into(),
        Read::Bytes(bytes) => OsString::from_vec(bytes),
    }
}

/// A list of words.
pub mod list {
    use super::*;

    /// For serde.
    pub fn serialize<S: Serializer>(words: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(words.iter().map(|word| write(word)))
    }

    /// For serde.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<OsString>, D::Error> {
        let words = Vec::<Read>::deserialize(from)?;
        Ok(words.into_iter().map(read).collect())
    }
}

/// The name of a file.
pub mod path {
    use super::*;

    /// For serde.
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        write(path.as_os_str()).serialize(to)
    }

    /// For serde.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<PathBuf, D::Error> {
        Read::deserialize(from).map(|word| read(word).into())
    }
}

/// The name of a file, if there is one.
pub mod optional_path {
    use super::*;

    /// For serde.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        let path = path.as_ref();
        path.map(|path| write(path.as_os_str())).serialize(to)
    }

    /// For serde.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        let word = Option::<Read>::deserialize(from)?;
        Ok(word.map(|word| read(word).into()))
    }
}

/// Names of files.
pub mod paths {
    use super::*;

    /// For serde.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| write(path.as_os_str())))
    }

    /// For serde.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let words = Vec::<Read>::deserialize(from)?;
        Ok(words.into_iter().map(|word| read(word).into()).collect())
    }
}

/// A list of pairs of words.
pub mod pairs {
    use super::*;

    /// For serde.
    pub fn serialize<S: Serializer>(
        pairs: &[(OsString, OsString)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(pairs.iter().map(|(one, other)| (write(one), write(other))))
    }

    /// For serde.
    pub fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Vec<(OsString, OsString)>, D::Error> {
        let pairs = Vec::<(Read, Read)>::deserialize(from)?;
        let read_both = |(one, other)| (read(one), read(other));
        Ok(pairs.into_iter().map(read_both).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        #[serde(with = "list")]
        words: Vec<OsString>,
        #[serde(with = "pairs")]
        pairs: Vec<(OsString, OsString)>,
        #[serde(with = "path")]
        path: PathBuf,
        #[serde(with = "optional_path")]
        optional: Option<PathBuf>,
        #[serde(with = "paths")]
        paths: Vec<PathBuf>,
    }

    #[test]
    fn words_come_back_as_they_were() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'"']);
        let sample = Sample {
            words: vec!["plain".into(), "\"\u{7f}é\n".into(), odd.clone()],
            pairs: vec![("NAME".into(), odd.clone()), ("EMPTY".into(), "".into())],
            path: odd.clone().into(),
            optional: Some(odd.clone().into()),
            paths: vec!["/plain".into(), odd.into()],
        };
        let text = serde_json::to_string(&sample).unwrap();
        assert!(text.contains(r#"["plain","#) && text.contains("[97,255,34]"));
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
    }
}
