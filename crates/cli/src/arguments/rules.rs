//! Rules about inputs, as flags.

use nearmiss_harness::{Rule, RuleKind};

/// `t=4`, `t=0..8`, `t=n`.
pub fn size(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Size, text)
}

/// `s`, `s=12`.
pub fn string(text: &str) -> Result<Rule, String> {
    rule(RuleKind::String, text)
}

/// `n=0..10`.
pub fn range(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Range, text)
}

/// `p`, `p=no`.
pub fn null(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Null, text)
}

/// `p=q`.
pub fn alias(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Alias, text)
}

/// `f`, `f=writes`.
pub fn stub(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Stub, text)
}

fn rule(kind: RuleKind, text: &str) -> Result<Rule, String> {
    Rule::parse(kind, text).map_err(|error| error.to_string())
}
