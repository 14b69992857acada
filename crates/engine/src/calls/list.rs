//! The calls at a boundary, as a run of the variant lists them (`libc/calls.c`).

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

use nearmiss_abi::boundary::{parameter, returned};
use nearmiss_judge::symbolize::places_of;
use nearmiss_results::Zeros;
use nearmiss_sandbox::StandIn;
use siphasher::sip::SipHasher13;

/// Most groups of calls from the same places.
const MOST_ALIKE: usize = 16;
/// Of so many calls one may read the zero behind a text that is given with its length, and none is promised still.
const FEW_ZEROS: u64 = 8;
/// Most calls of one group: they change together.
const MOST_TOGETHER: usize = 8;

/// How lines begin that say what parameters are given: a format; texts with their length; such texts whose zero is read; such
/// texts of several lengths.
const FORMAT: &str = "format\t";
const TEXT: &str = "text\t";
const ZERO: &str = "zero\t";
const SIZES: &str = "sizes\t";
/// How a line begins that says what kind of number a call returned.
const RETURNED: &str = "returned\t";

/// A call from test code into the code under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedCall {
    /// Its number, from 1.
    pub number: u64,
    /// The forks of test code that led to the process that makes it, `FORK.FORK…`.
    pub forks: String,
    /// The function that is called.
    pub function: String,
    /// What its parameters are, two characters each.
    pub kinds: String,
    /// Digests of its numbers and of its name, what kind of number it returned, and which pointers are null.
    pub summary: u64,
    /// What it was given.
    pub values: Vec<u64>,
    /// The function that calls it, and where; empty if that is not known.
    pub caller: String,
    pub file: String,
    pub line: u32,
}

impl ListedCall {
    /// What it was given, as far as numbers say it.
    pub fn arguments(&self) -> Vec<String> {
        let kinds = self.kinds.as_bytes().chunks(2);
        let shown = |(kind, value): (&[u8], &u64)| match (char::from(kind[0]), kind.get(1)) {
            (parameter::NUMBER | parameter::ENUMERATION, Some(b'4')) => (*value as i32).to_string(),
            (parameter::NUMBER, Some(b'8')) => (*value as i64).to_string(),
            (parameter::NUMBER, _) => value.to_string(),
            (parameter::NONE, _) => "…".to_string(),
            _ if *value == 0 => "NULL".to_string(),
            _ => "…".to_string(),
        };
        kinds.zip(&self.values).map(shown).collect()
    }
}

/// A list of calls.
#[derive(Debug, Default)]
pub struct List {
    /// Those that were listed, without a gap from the first on.
    pub calls: Vec<ListedCall>,
    /// Whether the program makes more.
    pub is_cut: bool,
    /// Parameters whose texts the code under test uses as formats, `FUNCTION#PARAMETER`.
    pub formats: Vec<String>,
    /// Parameters that are given texts with their length, and those of which a call reads the zero behind it. In a run that
    /// looks for this once for each such call.
    pub texts: Vec<String>,
    pub zeros: Vec<String>,
    /// Those that are given texts of several lengths.
    pub sized: Vec<String>,
}

impl List {
    /// What tells its calls from others, wherever their memory lies.
    pub fn digest(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        for call in &self.calls {
            let place = (&call.function, &call.caller, &call.file, call.line);
            (place, call.summary, &call.forks).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Parameters whose texts need no zero behind them, and what was seen of it, as far as a run has shown that looked for
    /// it: one that came as far as this. A function that relies on zeros does so in many of its calls.
    pub fn bare(&self, looked: &List) -> Bare {
        let mut bare = Bare::new();
        if looked.calls.len() != self.calls.len() || looked.is_cut != self.is_cut {
            return bare;
        }
        for text in &looked.texts {
            bare.entry(text.clone()).or_default().looked += 1;
        }
        for zero in &looked.zeros {
            bare.entry(zero.clone()).or_default().read += 1;
        }
        bare.retain(|text, zeros| {
            zeros.read * FEW_ZEROS <= zeros.looked && looked.sized.contains(text)
        });
        bare
    }
}

/// Parameters whose texts need no zero, as `FUNCTION#PARAMETER`.
pub type Bare = BTreeMap<String, Zeros>;

/// Where in which function of which file calls come from, by the module and the place that they return to.
type Callers<'t> = HashMap<(&'t str, u64), (String, String, u32)>;

/// Reads a list. What is damaged is left out, with all that follows.
pub fn read(text: &str, stand_ins: &[StandIn]) -> List {
    let mut callers = Callers::default();
    let kinds = [FORMAT, TEXT, ZERO, SIZES];
    let (returned, lines): (Vec<&str>, Vec<&str>) =
        (text.lines()).partition(|line| line.starts_with(RETURNED));
    let (parameters, lines): (Vec<&str>, Vec<&str>) =
        (lines.into_iter()).partition(|line| kinds.iter().any(|kind| line.starts_with(kind)));
    let mut calls: Vec<ListedCall> = (lines.iter())
        .map_while(|it| line(it, &mut callers, stand_ins))
        .collect();
    let mut is_cut = calls.len() < lines.len();
    // Processes that run at the same time are not in order.
    calls.sort_by_key(|call| call.number);
    let is_next = |(index, call): (usize, &ListedCall)| call.number == index as u64 + 1;
    let without_gap = (calls.iter().enumerate()).position(|it| !is_next(it));
    if let Some(gap) = without_gap {
        calls.truncate(gap);
        is_cut = true;
    }
    for (number, kind) in returned.iter().filter_map(|line| returned_kind(line)) {
        if let Some(call) = calls.get_mut((number - 1) as usize) {
            call.summary |= kind << returned::SHIFT;
        }
    }
    let of = |kind: &str| {
        let parameter = |line: &&str| Some(line.strip_prefix(kind)?.replace('\t', "#"));
        parameters.iter().filter_map(parameter).collect()
    };
    List {
        calls,
        is_cut,
        formats: of(FORMAT),
        texts: of(TEXT),
        zeros: of(ZERO),
        sized: of(SIZES),
    }
}

/// The number of a call, from 1, and the kind of what it returned.
fn returned_kind(line: &str) -> Option<(u64, u64)> {
    let (number, kind) = line.strip_prefix(RETURNED)?.split_once('\t')?;
    let (number, kind) = (number.parse().ok()?, kind.parse().ok()?);
    (number > 0 && returned::KINDS.contains(&kind)).then_some((number, kind))
}

fn line<'t>(line: &'t str, callers: &mut Callers<'t>, stand_ins: &[StandIn]) -> Option<ListedCall> {
    let mut words = line.split('\t');
    let number = words.next()?.parse().ok()?;
    let forks = words.next()?.to_string();
    let function = words.next()?.to_string();
    let module = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let kinds = words.next()?.to_string();
    let summary = u64::from_str_radix(words.next()?, 16).ok()?;
    let values = words.map(|word| u64::from_str_radix(word, 16));
    let values = values.collect::<Result<_, _>>().ok()?;
    let caller = callers.entry((module, offset));
    let (caller, file, line) = caller
        .or_insert_with(|| caller_at(module, offset, stand_ins))
        .clone();
    Some(ListedCall {
        number,
        forks,
        function,
        kinds,
        summary,
        values,
        caller,
        file,
        line,
    })
}

/// The function, the file and the line of a call that returns to a place; empty if that is not known.
fn caller_at(module: &str, offset: u64, stand_ins: &[StandIn]) -> (String, String, u32) {
    // The call is before the place that it returns to.
    let places = places_of(module, offset.saturating_sub(1), stand_ins);
    let Some((function, place)) = places.into_iter().next() else {
        return Default::default();
    };
    let mut parts = place.rsplitn(3, ':');
    let _column = parts.next();
    let line = parts.next().and_then(|line| line.parse().ok()).unwrap_or(0);
    let file = parts.next().unwrap_or_default().to_string();
    (function, file, line)
}

/// Calls that one function makes one after another, a few at a time. Groups that are the first from their places come first,
/// and of those that come from the same places there are no more than some: a loop makes thousands.
pub fn groups(calls: &[ListedCall]) -> Vec<&[ListedCall]> {
    let together = |one: &ListedCall, next: &ListedCall| {
        !one.caller.is_empty()
            && (&one.caller, &one.file, &one.forks) == (&next.caller, &next.file, &next.forks)
    };
    let same = calls.chunk_by(together);
    let mut known: HashMap<Vec<(&str, u32)>, usize> = HashMap::new();
    let mut groups: Vec<(usize, &[ListedCall])> = Vec::new();
    for group in same.flat_map(|calls| calls.chunks(MOST_TOGETHER)) {
        let places = group.iter().map(|call| (call.function.as_str(), call.line));
        let before = known.entry(places.collect()).or_default();
        groups.push((*before, group));
        *before += 1;
    }
    groups.retain(|(before, _)| *before < MOST_ALIKE);
    groups.sort_by_key(|(before, _)| *before);
    groups.into_iter().map(|(_, group)| group).collect()
}

/// How many calls there are up to the last one that the same function makes without a gap: then its test is over.
pub fn test_end(calls: &[ListedCall], first: u64) -> usize {
    let from = first as usize - 1;
    let place = |call: &ListedCall| (call.caller.clone(), call.file.clone());
    let same = calls[from..]
        .iter()
        .take_while(|call| place(call) == place(&calls[from]));
    from + same.count()
}

/// How many numbers, and how many pointers to structures and the like, calls were given.
pub fn kept(calls: &[ListedCall]) -> (u64, u64) {
    let (mut numbers, mut structures) = (0, 0);
    for call in calls {
        let kinds = call.kinds.bytes().step_by(2).map(char::from);
        for (kind, value) in kinds.zip(&call.values) {
            let is_number = matches!(kind, parameter::NUMBER | parameter::ENUMERATION);
            numbers += u64::from(is_number);
            structures += u64::from(kind == parameter::OTHER && *value != 0);
        }
    }
    (numbers, structures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> List {
        super::read(text, &[])
    }

    fn call(number: u64, caller: &str) -> ListedCall {
        ListedCall {
            number,
            caller: caller.into(),
            ..ListedCall::default()
        }
    }

    #[test]
    fn calls_of_one_test_are_together() {
        let calls = [
            call(1, "a"),
            call(2, "a"),
            call(3, "b"),
            call(4, ""),
            call(5, ""),
        ];
        let numbers: Vec<Vec<u64>> = (groups(&calls).iter())
            .map(|group| group.iter().map(|call| call.number).collect())
            .collect();
        assert_eq!(numbers, [vec![1, 2], vec![3], vec![4], vec![5]]);
        assert_eq!((test_end(&calls, 1), test_end(&calls, 3)), (2, 3));
        let many: Vec<ListedCall> = (1..=20).map(|number| call(number, "a")).collect();
        let sizes: Vec<usize> = groups(&many).iter().map(|group| group.len()).collect();
        assert_eq!(sizes, [8, 4, 8], "what is not alike comes first");
        let endless: Vec<ListedCall> = (1..=8000).map(|number| call(number, "a")).collect();
        assert_eq!(groups(&endless).len(), MOST_ALIKE);
    }

    #[test]
    fn texts_need_no_zero_if_few_calls_read_one() {
        let call = "1\t\tf\t/nowhere\t10\t\t0\n";
        let list = read(&format!("{call}text\tf\t0\ntext\tf\t2\n"));
        let many = "text\tf\t2\n".repeat(8);
        let once = "text\tf\t0\nsizes\tf\t0\nzero\tf\t0\ntext\tf\t3\n";
        let looked = format!("{once}{call}{many}sizes\tf\t2\nzero\tf\t2\n");
        let seen = Zeros { read: 1, looked: 8 };
        assert_eq!(
            list.bare(&read(&looked)),
            Bare::from([("f#2".to_string(), seen)])
        );
        let more = format!("{looked}zero\tf\t2\n");
        assert!(list.bare(&read(&more)).is_empty());
        assert!(list.bare(&read("text\tf\t0\n")).is_empty(), "cut short");
    }

    #[test]
    fn a_list_is_read_up_to_where_it_is_damaged() {
        let text = "1\t\tf\t/nowhere\t10\tk1n4o0\tab0004\t7ffe\tffffffff\t0\nformat\tf\t0\n2\t4.5\tg\t/nowhere\t1\t\t0\n3\tbroken";
        let List {
            calls,
            is_cut,
            formats,
            ..
        } = read(text);
        assert_eq!((calls.len(), is_cut), (2, true));
        assert_eq!(
            (calls[1].forks.as_str(), formats),
            ("4.5", vec!["f#0".to_string()])
        );
        let whole = text.rsplit_once('\n').unwrap().0;
        assert!(!read(whole).is_cut);
        let returned = read(&format!(
            "{whole}\nreturned\t2\t1\nreturned\t9\t2\nreturned\t1\t700"
        ));
        let summaries: Vec<u64> = returned.calls.iter().map(|call| call.summary).collect();
        assert_eq!(summaries, [0xab0004, 1 << 24]);
        assert_eq!(calls[0].arguments(), ["…", "-1", "NULL"]);
        // Two processes listed their calls at the same time; of a third one some are missing.
        let call = |number: u64| format!("{number}\t\tf\t/nowhere\t10\t\t0\n");
        let mixed: String = [2, 1, 3, 5].map(call).concat();
        let List { calls, is_cut, .. } = read(&mixed);
        assert_eq!(
            calls.iter().map(|it| it.number).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(is_cut);
        let calls = read(text).calls;
        assert_eq!(
            (calls[1].function.as_str(), calls[1].values.len()),
            ("g", 0)
        );
    }
}
