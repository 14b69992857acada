//! The environment of a capsule: large, and the same for many.

use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nearmiss_sandbox::words;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::store::write_atomically;

/// Names and values, in order. Copies share them; a capsule that is kept refers to the file that
/// they are kept in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Kept", into = "Kept")]
pub struct Environment {
    variables: Arc<Variables>,
    file: Option<PathBuf>,
}

/// Names and values.
type Variables = Vec<(OsString, OsString)>;

/// An environment in a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kept {
    File(#[serde(with = "words::path")] PathBuf),
    Variables(#[serde(with = "words::pairs")] Variables),
}

impl From<Variables> for Environment {
    fn from(variables: Variables) -> Environment {
        Environment {
            variables: Arc::new(variables),
            file: None,
        }
    }
}

impl Deref for Environment {
    type Target = [(OsString, OsString)];

    fn deref(&self) -> &Self::Target {
        &self.variables
    }
}

impl Environment {
    /// The value of a variable becomes another; a new one is added.
    pub fn set(&mut self, name: OsString, value: OsString) {
        self.file = None;
        let variables = Arc::make_mut(&mut self.variables);
        match variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => variables.push((name, value)),
        }
    }

    /// Where it is kept.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Keeps it in a directory with others, under a name that says what it is. Nobody else can
    /// read it: there may be secrets in it.
    pub fn keep_in(&mut self, directory: &Path) -> io::Result<()> {
        let mut hasher = SipHasher13::new();
        self.variables.hash(&mut hasher);
        let path = directory.join(format!("{:016x}.json", hasher.finish()));
        if !path.exists() {
            fs::create_dir_all(directory)?;
            let text = serde_json::to_vec(&Kept::Variables(self.variables.to_vec()))?;
            write_atomically(&path, &text)?;
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        }
        self.file = Some(path);
        Ok(())
    }

    /// The same variables, to be kept with whoever refers to them.
    pub fn inline(&self) -> Environment {
        Environment {
            variables: self.variables.clone(),
            file: None,
        }
    }
}

impl From<Environment> for Kept {
    fn from(environment: Environment) -> Kept {
        match environment.file {
            Some(file) => Kept::File(file),
            None => Kept::Variables(environment.variables.to_vec()),
        }
    }
}

impl TryFrom<Kept> for Environment {
    type Error = String;

    fn try_from(kept: Kept) -> Result<Environment, String> {
        let file = match kept {
            Kept::Variables(variables) => return Ok(variables.into()),
            Kept::File(file) => file,
        };
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = fs::read(&file).map_err(|error| failed(&error))?;
        match serde_json::from_slice(&text).map_err(|error| failed(&error))? {
            Kept::Variables(variables) => Ok(Environment {
                variables: Arc::new(variables),
                file: Some(file),
            }),
            Kept::File(_) => Err(failed(&"a file of variables was expected")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_once_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let variables: Variables = vec![("HOME".into(), "/me".into())];
        let mut one = Environment::from(variables.clone());
        let mut other = Environment::from(variables);
        one.keep_in(directory.path()).unwrap();
        other.keep_in(directory.path()).unwrap();
        assert_eq!(one.file(), other.file());
        let text = serde_json::to_string(&one).unwrap();
        assert!(!text.contains("HOME"), "{text}");
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), one);
        one.set("HOME".into(), "/you".into());
        let text = serde_json::to_string(&one).unwrap();
        assert!(text.contains("/you"), "{text}");
        let back: Environment = serde_json::from_str(&text).unwrap();
        assert_eq!(back[..], one[..]);
        assert_eq!(other[0].1, "/me", "copies are not changed");
    }
}
