//! What is known about the functions of the C library, as plain data.

use nearmiss_abi::library::{HEADERS, State};
use serde::Serialize;

use crate::VERSION;

/// Every library function that is known.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// [`VERSION`].
    pub version: u32,
    /// The functions by header, state and name.
    pub functions: Vec<LibraryFunction>,
}

/// One of them.
#[derive(Clone, Debug, Serialize)]
pub struct LibraryFunction {
    /// The header that declares it.
    pub header: &'static str,
    /// The name that the linker sees.
    pub name: &'static str,
    /// How calls of it are treated.
    #[serde(serialize_with = "state_name")]
    pub state: State,
}

impl Library {
    /// The table of `abi`.
    pub fn known() -> Library {
        let of_header = |header: &'static nearmiss_abi::library::Header| {
            header.functions().map(|(name, state)| LibraryFunction {
                header: header.name,
                name,
                state,
            })
        };
        let mut functions: Vec<LibraryFunction> = HEADERS.iter().flat_map(of_header).collect();
        functions.sort_by_key(|function| (function.header, function.state, function.name));
        Library {
            version: VERSION,
            functions,
        }
    }

    /// The JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialises");
        text.push('\n');
        text
    }
}

fn state_name<S: serde::Serializer>(state: &State, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_names_header_function_and_state() {
        let json: serde_json::Value = serde_json::from_str(&Library::known().to_json()).unwrap();
        let functions = json["functions"].as_array().unwrap();
        let malloc = functions
            .iter()
            .find(|row| row["name"] == "malloc")
            .unwrap();
        assert_eq!(malloc["header"], "stdlib.h");
        assert_eq!(malloc["state"], "rust");
    }
}
