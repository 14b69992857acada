//! A site as a place in the source.

use nearmiss_abi::check::{CONTRACT_PREFIX, Kind, contracted};
use nearmiss_abi::site::SiteId;
use nearmiss_results::Frame;
use nearmiss_sites::{Site, SiteKind, Sites, Unit};

use crate::complaint::{Complaint, Place, same_file};

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

/// The check at a site, if the site is known and a check, or a memory access or call of which
/// the event says what can go wrong there (`failure`).
pub fn check(sites: &Sites, id: SiteId, failure: Option<Kind>) -> Option<Check> {
    let (unit, site) = sites.get(id)?;
    let function = unit.function_of(site);
    if function.starts_with(CONTRACT_PREFIX) && failure != Some(Kind::Precondition) {
        // The code of a contract looks before it reads.
        return None;
    }
    let (kind, message) = match (site.check(), failure) {
        (Some((kind, message)), None) => (kind, message.to_string()),
        (_, Some(kind)) => (kind, message(kind, &site.kind)),
        (None, None) => return None,
    };
    Some(Check {
        spot: Spot {
            kind,
            file: unit.file_of(site).into(),
            line: site.line,
            column: site.column,
            number: (site.line == 0).then_some(id.0),
        },
        function: contracted(function).unwrap_or(function).into(),
        message,
    })
}

/// What goes wrong at an access or a call, for a person.
fn message(kind: Kind, site: &SiteKind) -> String {
    if kind == Kind::Precondition {
        return "the contract of the function can be violated".into();
    }
    let SiteKind::Call(name) = site else {
        let words = match kind {
            Kind::OutOfBoundsRead => "read outside its object",
            Kind::OutOfBoundsWrite => "write outside its object",
            Kind::NullDereference => "access through a null pointer",
            Kind::UseAfterFree => "access to freed memory",
            Kind::DoubleFree => "memory is freed twice",
            Kind::InvalidFree => "free of what was never allocated",
            other => other.name(),
        };
        return words.to_string();
    };
    let words = match kind {
        Kind::OutOfBoundsRead => "reads outside its source",
        Kind::OutOfBoundsWrite => "writes outside its destination",
        Kind::NullDereference => "is given a null pointer",
        Kind::UseAfterFree => "uses freed memory",
        Kind::DoubleFree => "frees memory twice",
        Kind::InvalidFree => "frees what was never allocated",
        other => other.name(),
    };
    match name.as_str() {
        "" => format!("the called function {words}"),
        name => format!("{name} {words}"),
    }
}

/// The words of other tools' harnesses, `klee_abort` and the like.
const WORDS: &str = "libc/harness.c";

/// What a complaint is about and its innermost place in the program's own sources, named as the
/// site map does. Of a failing word of a harness that is its call: two calls are two failures.
pub fn of_complaint(sites: &Sites, complaint: &Complaint) -> Option<(Kind, Place)> {
    type IsSame = fn(&str, &str) -> bool;
    let in_unit = |place: &Place, unit: &Unit, is_same: IsSame| -> Option<(Kind, Place)> {
        let is_it = |file: &String| is_same(file, &place.file);
        let file = unit.files.iter().position(is_it)?;
        let mut found = Place {
            file: unit.files[file].clone(),
            ..place.clone()
        };
        let here = unit.sites.iter().filter(|site| {
            (site.file as usize, site.line) == (file, place.line)
                && (place.column == 0 || site.column == place.column)
        });
        // What sanitizers leave open is settled by the check at that place.
        let mut kinds = here.clone().filter_map(|site| site.check());
        let kind = kinds.find(|(kind, _)| complaint.kinds.contains(kind));
        let kind = kind.map_or(*complaint.kinds.first()?, |(kind, _)| kind);
        if let Some(site) = here.clone().next().filter(|_| found.function.is_empty()) {
            found.function = unit.function_of(site).into();
        }
        Some((kind, found))
    };
    // A program may have a `string.c` of its own beside the models': its very name comes first.
    let names: [IsSame; 2] = [|one, other| one == other, same_file];
    let in_program = |place| {
        let with = |is_same| sites.units().find_map(|unit| in_unit(place, unit, is_same));
        names.into_iter().find_map(with)
    };
    let is_word = |place: &&Place| same_file(&place.file, WORDS);
    let (words, own): (Vec<_>, Vec<_>) = complaint.places.iter().partition(is_word);
    let mut places = own.into_iter().chain(words);
    let (place, found) = places.find_map(|place| Some((place, in_program(place)?)))?;
    // What goes wrong in test code is no failure of the code under test.
    (!sites.is_test_file(&place.file)).then_some(found)
}

/// The call chain of a complaint, innermost first, with files named as the site map does.
pub fn stack(sites: &Sites, complaint: &Complaint) -> Vec<Frame> {
    let known = |place: &Place| {
        let mut files = sites.units().flat_map(|unit| &unit.files);
        files.find(|file| same_file(file, &place.file)).cloned()
    };
    let frame = |place: &Place| Frame {
        function: place.function.clone(),
        file: known(place).unwrap_or_else(|| place.file.clone()),
        line: place.line,
        column: place.column,
    };
    complaint.stack.iter().map(frame).collect()
}

/// File, line and called function of any site; empty where unknown.
pub fn place(sites: &Sites, id: SiteId) -> (String, u32, String) {
    let Some((unit, site)) = sites.get(id) else {
        return Default::default();
    };
    let callee = match &site.kind {
        SiteKind::Call(name) => name.clone(),
        _ => String::new(),
    };
    (unit.file_of(site).into(), site.line, callee)
}

/// The last call of a named function that stands before a site in its function: file, line, name.
pub fn call_before(sites: &Sites, id: SiteId) -> Option<(String, u32, String)> {
    let (unit, site) = sites.get(id)?;
    let is_before = |one: &&Site| {
        let names = matches!(&one.kind, SiteKind::Call(name) if !name.is_empty());
        let is_near = (one.file, one.function) == (site.file, site.function);
        names && is_near && (one.line, one.column) < (site.line, site.column)
    };
    let calls = unit.sites.iter().filter(is_before);
    let last = calls.max_by_key(|one| (one.line, one.column))?;
    let SiteKind::Call(name) = &last.kind else {
        return None;
    };
    Some((unit.file_of(last).into(), last.line, name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_sites::Unit;

    #[test]
    fn events_say_what_sites_do_not() {
        let site = |kind| Site {
            kind,
            file: 0,
            function: 0,
            line: 3,
            column: 5,
            in_loop: None,
        };
        let mut sites = Sites::default();
        sites.add(Unit {
            hash: 1,
            files: vec!["a.c".into()],
            functions: vec!["main".into()],
            sites: vec![
                site(SiteKind::Access),
                site(SiteKind::Call("strcpy".into())),
                site(SiteKind::Check {
                    kind: Kind::Assertion as u8,
                    message: "n < 4".into(),
                }),
            ],
            ..Unit::default()
        });
        let says = |local, failure| {
            let check = check(&sites, SiteId::new(1, local), failure)?;
            Some((check.spot.kind, check.message))
        };
        let write = Some(Kind::OutOfBoundsWrite);
        assert_eq!(says(0, None), None);
        assert_eq!(
            says(0, write),
            Some((Kind::OutOfBoundsWrite, "write outside its object".into()))
        );
        assert_eq!(
            says(1, write).unwrap().1,
            "strcpy writes outside its destination"
        );
        assert_eq!(says(2, None), Some((Kind::Assertion, "n < 4".into())));
        assert_eq!(says(9, write), None);
        let complaint = |line| Complaint {
            kinds: vec![Kind::Abort, Kind::Assertion],
            places: vec![
                Place {
                    file: "/usr/lib/other.c".into(),
                    line: 7,
                    ..Place::default()
                },
                Place {
                    file: "/home/me/a.c".into(),
                    line,
                    ..Place::default()
                },
            ],
            stack: Vec::new(),
            object: String::new(),
            text: String::new(),
            is_precise: false,
        };
        let (kind, place) = of_complaint(&sites, &complaint(3)).unwrap();
        assert_eq!((kind, place.file.as_str()), (Kind::Assertion, "a.c"));
        assert_eq!(place.function, "main");
        let (kind, place) = of_complaint(&sites, &complaint(4)).unwrap();
        assert_eq!(
            (kind, place.line, place.function.as_str()),
            (Kind::Abort, 4, "")
        );
    }
}
