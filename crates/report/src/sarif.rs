//! SARIF 2.1.0, the form in which static analysers report: alarms are read, verdicts are written back.

use serde_json::{Value, json};

use nearmiss_results::{ReachReport, ReachVerdict};

/// A result of an analyser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Which run and which result of it.
    pub index: (usize, usize),
    /// The rule: `core.NullDereference`.
    pub rule: String,
    /// What it says.
    pub message: String,
    /// Where, the first and the last line.
    pub place: AlarmPlace,
    /// The places of its code flow, in order.
    pub flow: Vec<AlarmPlace>,
    /// Those of them that a run passes in this order, if it takes that path: each line once, without returns.
    pub steps: Vec<AlarmPlace>,
    /// Names of which the flow says that they are null, or are not.
    pub maybe_null: Vec<String>,
    /// Members of which it says that: `next` of `a->next`, also where only the field is named.
    pub null_members: Vec<String>,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlarmPlace {
    /// The file.
    pub file: String,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// The alarms of a report; results without a place are left out.
pub fn alarms(report: &Value) -> Vec<Alarm> {
    let runs = list(&report["runs"]).iter().enumerate();
    let results = runs.flat_map(|(run, content)| {
        let results = list(&content["results"]).iter().enumerate();
        results.map(move |(number, result)| ((run, number), content, result))
    });
    results
        .filter_map(|(index, run, result)| alarm(index, run, result))
        .collect()
}

fn alarm(index: (usize, usize), run: &Value, result: &Value) -> Option<Alarm> {
    let place = place(run, list(&result["locations"]).first()?)?;
    let steps: Vec<&Value> = list(&result["codeFlows"])
        .iter()
        .take(1)
        .flat_map(|flow| list(&flow["threadFlows"]).iter().take(1))
        .flat_map(|thread| list(&thread["locations"]))
        .map(|step| &step["location"])
        .collect();
    let messages = steps
        .iter()
        .filter_map(|step| step["message"]["text"].as_str())
        .chain(result["message"]["text"].as_str());
    let flow: Vec<(AlarmPlace, &str)> = (steps.iter())
        .filter_map(|step| {
            let message = step["message"]["text"].as_str().unwrap_or_default();
            Some((self::place(run, step)?, message))
        })
        .collect();
    Some(Alarm {
        index,
        rule: result["ruleId"].as_str().unwrap_or_default().to_string(),
        message: result["message"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_string(),
        maybe_null: names(messages.clone().flat_map(maybe_null)),
        null_members: names(messages.flat_map(null_members)),
        steps: passed(&flow, &place),
        flow: flow.into_iter().map(|(place, _)| place).collect(),
        place,
    })
}

/// Names, each once.
fn names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Most steps of a flow that are followed.
const MOST_STEPS: usize = 24;

/// The steps of a flow before the alarm's place that a run passes one after another. A line is passed where its
/// statement begins: behind a return, or in another turn of a loop, it is not passed once more.
fn passed(flow: &[(AlarmPlace, &str)], end: &AlarmPlace) -> Vec<AlarmPlace> {
    let mut steps: Vec<AlarmPlace> = Vec::new();
    for (place, message) in flow {
        let is_return = message.to_ascii_lowercase().starts_with("return");
        let is_end = place.file == end.file && (end.first..=end.last).contains(&place.first);
        let is_known = |step: &AlarmPlace| step.file == place.file && step.first == place.first;
        if !is_return && !is_end && !steps.iter().any(is_known) {
            steps.push(place.clone());
        }
    }
    steps.truncate(MOST_STEPS);
    steps
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn place(run: &Value, location: &Value) -> Option<AlarmPlace> {
    let physical = &location["physicalLocation"];
    let region = &physical["region"];
    let artifact = &physical["artifactLocation"];
    let uri = artifact["uri"].as_str().or_else(|| {
        let index = artifact["index"].as_u64()?;
        run["artifacts"][index as usize]["location"]["uri"].as_str()
    })?;
    let first = region["startLine"].as_u64()? as u32;
    let last = region["endLine"].as_u64().map_or(first, |line| line as u32);
    Some(AlarmPlace {
        file: file_of(uri),
        first,
        last,
    })
}

/// The file of an address: `file:///home/me/x%20y.c`, or a relative name.
fn file_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names of which a message says that they are null, or may be: `Assuming 'p' is null`, `(when 'p' is NULL)`,
/// `dereference of NULL 'p'`, `possible null pointer dereference: p`, `the condition 'p==NULL' is redundant`.
fn maybe_null(message: &str) -> Vec<String> {
    let lower = message.to_ascii_lowercase();
    if !lower.contains("null") && !lower.contains("nil") {
        return Vec::new();
    }
    let quoted = message.split('\'').skip(1).step_by(2);
    let behind = message.rsplit_once(": ").map(|(_, name)| name);
    quoted
        .chain(behind)
        .filter_map(|words| {
            let words = words.trim_start_matches(['!', '(', '*', ' ']);
            let end = words.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            let (name, rest) = words.split_at(end.unwrap_or(words.len()));
            let compared = rest.trim_start();
            let is_whole =
                ["", "==", "!=", ".", ")"].contains(&compared.get(..2).unwrap_or(compared));
            let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
            (is_whole && is_name).then(|| name.to_string())
        })
        .collect()
}

/// Members of which a message says that they are null, or may be: `Assuming field 'next' is null`, `null pointer
/// (loaded from field 'next')`, `dereference of NULL 'a->next'`.
fn null_members(message: &str) -> Vec<String> {
    if !message.to_ascii_lowercase().contains("null") {
        return Vec::new();
    }
    let is_name = |word: &str| {
        let mut letters = word.chars();
        !word.is_empty() && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    let quoted = message.split('\'').enumerate();
    let fields = quoted.clone().filter_map(|(place, words)| {
        let before = message.split('\'').nth(place.checked_sub(1)?)?;
        (place % 2 == 1 && before.ends_with("field ")).then_some(words)
    });
    let behind = message.rsplit_once(": ").map(|(_, name)| name);
    let quoted = quoted
        .filter(|(place, _)| place % 2 == 1)
        .map(|(_, words)| words);
    let paths = quoted.chain(behind).filter_map(|words| {
        let ends = [
            words.rfind("->").map(|at| at + 2),
            words.rfind('.').map(|at| at + 1),
        ];
        let end = ends.into_iter().flatten().max()?;
        Some(&words[end..])
    });
    let names = fields.chain(paths).filter(|word| is_name(word));
    names.map(str::to_string).collect()
}

/// Whether an alarm is about a read of memory that was never written.
pub fn is_about_uninitialised(alarm: &Alarm) -> bool {
    let words = format!("{} {}", alarm.rule, alarm.message).to_ascii_lowercase();
    let words = words.replace("undefined behavio", "");
    let named = ["uninit", "garbage", "undefined"];
    named.iter().any(|word| words.contains(word))
}

/// Whether an alarm is about a null pointer.
pub fn is_about_null(alarm: &Alarm) -> bool {
    let words = format!("{} {}", alarm.rule, alarm.message).to_ascii_lowercase();
    words.contains("null") || words.contains("outofmemory")
}

/// Whether a failure is of the kind that an alarm is about; alarms of other kinds than these are not compared.
pub fn is_kind(alarm: &Alarm, failure: &str) -> bool {
    let words = format!("{} {}", alarm.rule, alarm.message).to_ascii_lowercase();
    let kinds = [("null", "null"), ("divi", "division"), ("shift", "shift")];
    let about = kinds.iter().find(|(word, _)| words.contains(word));
    about.is_none_or(|(_, kind)| failure.contains(kind))
}

/// Why an alarm is about no state of the program; `None` if it is about one.
pub fn no_state(alarm: &Alarm) -> Option<&'static str> {
    let rule = alarm.rule.to_ascii_lowercase();
    let message = alarm.message.to_ascii_lowercase();
    let has = |words: &[&str]| {
        words
            .iter()
            .any(|word| rule.contains(word) || message.contains(word))
    };
    if has(&["leak"]) {
        return Some("a leak is no failure");
    }
    let unused = [
        "deadcode",
        "deadstore",
        "unused",
        "unreadvariable",
        "never read",
        "never used",
        "no effect",
    ];
    if has(&unused) {
        return Some("unused code is no failure");
    }
    let of_analysis = [
        "normalchecklevel",
        "toomanyconfigs",
        "missinginclude",
        "syntaxerror",
        "unknownmacro",
    ];
    if has(&of_analysis) || rule == "error" || rule == "fatal error" {
        return Some("it is about the analysis, not about the program");
    }
    let is_of_text = rule.starts_with("-w") && !rule.starts_with("-wanalyzer") || rule == "warning";
    let of_states = [
        "bounds",
        "overflow",
        "zero",
        "shift",
        "null",
        "uninit",
        "nonheap",
        "use-after-free",
        "restrict",
    ];
    let is_of_state = of_states.iter().any(|word| rule.contains(word));
    let of_text = [
        "invalidprintf",
        "invalidscanf",
        "funcargorder",
        "varfuncnull",
        "portability",
        "deprecated",
    ];
    if is_of_text && !is_of_state || of_text.iter().any(|word| rule.contains(word)) {
        return Some("it is about the text, whatever the state");
    }
    None
}

/// Why this kind of alarm is not judged; `None` if it is.
pub fn not_judged(alarm: &Alarm) -> Option<&'static str> {
    let rule = alarm.rule.to_ascii_lowercase();
    let message = alarm.message.to_ascii_lowercase();
    let has = |words: &[&str]| {
        words
            .iter()
            .any(|word| rule.contains(word) || message.contains(word))
    };
    if is_about_uninitialised(alarm) {
        return None;
    }
    let judged = [
        "null",
        "divi",
        "zero",
        "bound",
        "overflow",
        "overrun",
        "free",
        "shift",
        "dereference",
        "range",
        "access",
    ];
    (!has(&judged)).then_some("nearmiss has no check for this kind of alarm")
}

/// Writes a verdict into the result of an alarm. What was refuted is suppressed.
pub fn annotate(report: &mut Value, alarm: &Alarm, verdict: &ReachReport) {
    let (run, number) = alarm.index;
    let result = &mut report["runs"][run]["results"][number];
    let name = verdict_name(verdict);
    let mut said = json!({ "verdict": name, "function": verdict.function, "runs": verdict.runs });
    for (key, text) in [
        ("input", &verdict.input),
        ("reason", &verdict.reason),
        ("replay", &verdict.replay),
    ] {
        if let Some(text) = text {
            said[key] = json!(text);
        }
    }
    if let Some(flow) = verdict.flow {
        said["flow"] = json!(word(flow));
    }
    if !verdict.assumed.is_empty() {
        said["assumed"] = json!(verdict.assumed);
    }
    result["properties"]["nearmiss"] = said;
    if verdict.verdict == ReachVerdict::Infeasible {
        let assumed = verdict.assumed.join("; ");
        let why = format!(
            "nearmiss refuted every path to it from {} ({assumed})",
            verdict.function
        );
        let suppression = json!({ "kind": "external", "status": "accepted", "justification": why });
        match result["suppressions"].as_array_mut() {
            Some(list) => list.push(suppression),
            None => result["suppressions"] = json!([suppression]),
        }
    }
}

/// The words for a verdict on an alarm.
pub fn verdict_name(verdict: &ReachReport) -> &'static str {
    match verdict.is_no_state {
        true => "not a state",
        false => word(verdict.verdict),
    }
}

fn word(verdict: ReachVerdict) -> &'static str {
    match verdict {
        ReachVerdict::Reached => "confirmed",
        ReachVerdict::Infeasible => "infeasible",
        ReachVerdict::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Value {
        let at = |line: u32| {
            json!({ "physicalLocation": {
                "artifactLocation": { "index": 0 }, "region": { "startLine": line } } })
        };
        let mut step = at(4);
        step["message"] = json!({ "text": "Assuming 'p' is null" });
        json!({ "runs": [{
            "artifacts": [{ "location": { "uri": "file:///tmp/a%20b.c" } }],
            "results": [
                { "ruleId": "core.NullDereference", "message": { "text": "Dereference" }, "locations": [at(6)],
                  "codeFlows": [{ "threadFlows": [{ "locations": [{ "location": step }] }] }] },
                { "ruleId": "unix.Malloc", "message": { "text": "Potential leak" }, "locations": [at(7)] },
            ] }] })
    }

    #[test]
    fn alarms_are_read_with_their_flows() {
        let found = alarms(&report());
        assert_eq!(found.len(), 2);
        let place = |line: u32| AlarmPlace {
            file: "/tmp/a b.c".into(),
            first: line,
            last: line,
        };
        assert_eq!(found[0].place, place(6));
        assert_eq!(found[0].flow, [place(4)]);
        assert_eq!(found[0].maybe_null, ["p"]);
        assert_eq!(not_judged(&found[0]), None);
        assert_eq!(no_state(&found[0]), None);
        assert!(no_state(&found[1]).is_some());
        assert!(alarms(&json!({ "runs": 3 })).is_empty());
    }

    #[test]
    fn names_that_may_be_null_are_read_in_the_words_of_each_analyser() {
        let cases = [
            ("Assuming 'p' is non-null", vec!["p"]),
            (
                "following 'true' branch (when 'num' is NULL)...",
                vec!["true", "num"],
            ),
            ("dereference of NULL 'sptr'", vec!["sptr"]),
            ("Possible null pointer dereference: b", vec!["b"]),
            (
                "Either the condition '!hi' is redundant or there is possible null pointer dereference: hi.",
                vec!["hi", "hi"],
            ),
            ("Assuming 'a->next' is null", vec![]),
            ("Taking true branch of 'x'", vec![]),
        ];
        for (message, names) in cases {
            assert_eq!(maybe_null(message), names, "{message}");
        }
    }

    #[test]
    fn members_that_may_be_null_are_read_too() {
        let cases = [
            ("Assuming field 'next' is null", vec!["next"]),
            (
                "a null pointer (loaded from field 'q' of variable 'a')",
                vec!["q"],
            ),
            ("dereference of NULL 'a->list.head'", vec!["head"]),
            ("Possible null pointer dereference: s->data", vec!["data"]),
            ("Assuming 'p' is null", vec![]),
            ("Taking true branch. x", vec![]),
        ];
        for (message, names) in cases {
            assert_eq!(null_members(message), names, "{message}");
        }
    }

    #[test]
    fn undefined_behaviour_is_no_read_of_undefined_memory() {
        let alarm = |rule: &str, message: &str| Alarm {
            index: (0, 0),
            rule: rule.into(),
            message: message.into(),
            place: AlarmPlace::default(),
            flow: Vec::new(),
            steps: Vec::new(),
            maybe_null: Vec::new(),
            null_members: Vec::new(),
        };
        let null = alarm("core.NullDereference", "Access to field 'x'");
        assert!(is_kind(&null, "null-dereference") && !is_kind(&null, "out-of-bounds-write"));
        let ub = alarm("varFuncNullUB", "leads to undefined behaviour");
        assert!(!is_about_uninitialised(&ub));
        assert!(no_state(&ub).is_some());
        let pointer = alarm(
            "core.NullDereference",
            "Dereference of undefined pointer value",
        );
        assert!(is_about_uninitialised(&pointer));
        let warned = alarm("-Wint-conversion", "integer from pointer without a cast");
        assert!(no_state(&warned).is_some());
        let warned = alarm("-Warray-bounds", "subscript 3 is outside");
        assert!(no_state(&warned).is_none());
    }

    #[test]
    fn what_is_refuted_is_suppressed() {
        let mut text = report();
        let found = alarms(&text);
        let mut verdict = ReachReport {
            verdict: ReachVerdict::Infeasible,
            ..ReachReport::default()
        };
        annotate(&mut text, &found[0], &verdict);
        verdict.verdict = ReachVerdict::Unknown;
        verdict.reason = Some("too hard".into());
        annotate(&mut text, &found[1], &verdict);
        let results = &text["runs"][0]["results"];
        assert_eq!(results[0]["suppressions"][0]["kind"], "external");
        assert_eq!(
            results[0]["properties"]["nearmiss"]["verdict"],
            "infeasible"
        );
        assert!(results[1]["suppressions"].is_null());
        assert_eq!(results[1]["properties"]["nearmiss"]["reason"], "too hard");
    }
}
