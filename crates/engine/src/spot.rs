//! A site as a place in the source.

use nearmiss_abi::check::Kind;
use nearmiss_abi::site::SiteId;
use nearmiss_sites::{SiteKind, Sites};

/// A place in the source, with what is checked there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// What goes wrong there.
    pub kind: Kind,
    /// The source file.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The site, where the place is unknown: then only the number tells two apart.
    pub number: Option<u64>,
}

/// A check as the site map has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Where, and what goes wrong.
    pub spot: Spot,
    /// The function.
    pub function: String,
    /// What is checked, for a person.
    pub message: String,
}

/// The check at a site, if the site is known and a check.
pub fn check(sites: &Sites, id: SiteId) -> Option<Check> {
    let (unit, site) = sites.get(id)?;
    let (kind, message) = site.check()?;
    Some(Check {
        spot: Spot {
            kind,
            file: unit
                .files
                .get(site.file as usize)
                .cloned()
                .unwrap_or_default(),
            line: site.line,
            column: site.column,
            number: (site.line == 0).then_some(id.0),
        },
        function: unit
            .functions
            .get(site.function as usize)
            .cloned()
            .unwrap_or_default(),
        message: message.to_string(),
    })
}

/// File, line and called function of any site; empty where unknown.
pub fn place(sites: &Sites, id: SiteId) -> (String, u32, String) {
    let Some((unit, site)) = sites.get(id) else {
        return Default::default();
    };
    let file = unit
        .files
        .get(site.file as usize)
        .cloned()
        .unwrap_or_default();
    let callee = match &site.kind {
        SiteKind::Call(name) => name.clone(),
        _ => String::new(),
    };
    (file, site.line, callee)
}
