//! What the user's own program does on the inputs of findings: the sentence that says how urgent each is.

use std::time::Duration;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_campaign::Capsule;
use nearmiss_campaign::store::Campaign;
use nearmiss_results::Finding;

use crate::Config;
use crate::worker::limits;

/// Runs the input of each finding by the program that the user built, and tells how that ends.
pub fn try_findings(findings: &mut [Finding], campaign: &Campaign, config: &Config) {
    for finding in findings {
        finding.your_build = outcome(finding, campaign, config).unwrap_or_default();
    }
}

/// How the user's program ends; none where it is not known: calls of unit tests are inputs of a variant only.
fn outcome(finding: &Finding, campaign: &Campaign, config: &Config) -> Option<String> {
    let capsule = Capsule::read(&campaign.inputs().join(&finding.id)).ok()?;
    if capsule.stands_for.is_none() || capsule.channels.contains(ChannelKind::Call) {
        return None;
    }
    let limits = limits(config, Duration::from_millis(100));
    let outcome = config.sandbox.run(&capsule.own_spec(&limits)).ok()?;
    Some(match outcome.exceeded {
        Some(limit) => format!("it {limit}"),
        None => outcome.ended.to_string(),
    })
}
