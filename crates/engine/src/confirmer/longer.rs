//! Failures of longer inputs of a test's shape: what the twin says of them, as findings.

use nearmiss_judge::{Complaint, nearness};
use nearmiss_results::{Change, Finding, Input, Repeated};
use std::os::unix::ffi::OsStrExt;

use super::Confirmer;
use crate::defects::Found;
use crate::error::EngineError;
use crate::growth::{Growing, ShapedInput};
use crate::inputs;

/// How far a longer input is from the test's own path.
const DISTANCE: u32 = 1;

impl Confirmer<'_> {
    /// How near the nearest known input is that shows what a complaint says; `None` if none is known. What is not a
    /// finding at all is known everywhere.
    pub fn known_cost(&self, complaint: &Complaint) -> Option<u64> {
        let Some(finding) = self.seen(complaint, DISTANCE) else {
            return Some(0);
        };
        self.known_as(&finding).map(nearness::of_finding)
    }

    /// Makes a finding of what the twin says of the test's input with so many turns more: of the complaint that is
    /// `wanted`. The input was made as short as it can be before; it is shown as it is.
    pub fn tell_longer(
        &mut self,
        growing: &Growing,
        turns: u64,
        wanted: &dyn Fn(&Complaint) -> bool,
    ) -> Result<(), EngineError> {
        let shared = self.trials.worker.shared;
        let (recorded, channels) = (self.case.capsule, &self.case.path.channels);
        let longer = growing.grown(channels, &recorded.arguments, turns);
        let directory = shared.new_directory();
        let written = inputs::write_shaped(recorded, channels, &longer, &directory);
        let capsule = written.map_err(|error| shared.campaign.failed(error))?;
        let trials = &self.trials;
        let said = trials
            .worker
            .ask_twin_to_the_end(trials.subject, &capsule, &trials.limits);
        let said = said.map(|answer| answer.complaints).unwrap_or_default();
        let complaint = self.news(said).into_iter().find(wanted);
        let finding = complaint.as_ref().and_then(|it| self.seen(it, DISTANCE));
        let (Some(finding), Some(complaint)) = (finding, complaint) else {
            // What is left behind is removed with the campaign's other leftovers.
            let _ = std::fs::remove_dir_all(&directory);
            return Ok(());
        };
        let (mut changes, lengths) =
            nearness::differences(self.case.own, channels, &longer.contents);
        changes.extend(new_arguments(&longer));
        let mut input = inputs::show(&capsule, channels, &longer.contents, self.case.own);
        for (number, argument) in capsule.arguments.iter().enumerate().skip(1) {
            if longer.arguments.is_some() {
                input.insert(format!("argv[{number}]"), Input::bytes(argument.as_bytes()));
            }
        }
        let finding = Finding {
            message: complaint.text.clone(),
            changes,
            lengths,
            repeated: growing.repeated(channels, &recorded.arguments, turns),
            input,
            ..finding
        };
        self.add(Found {
            finding,
            capsule,
            directory,
        });
        Ok(())
    }
}

/// Arguments that were put in, as changes.
fn new_arguments(longer: &ShapedInput) -> Vec<Change> {
    let (range, arguments) = longer.arguments.clone().unwrap_or_default();
    let numbered = arguments.iter().enumerate();
    numbered
        .map(|(number, argument)| Change {
            channel: format!("argv[{}]", range.start + number),
            offset: 0,
            from: Vec::new(),
            to: argument.as_bytes().to_vec(),
        })
        .collect()
}

impl Growing {
    /// What is repeated, as it is reported.
    fn repeated(
        &self,
        channels: &[nearmiss_trace::Channel],
        arguments: &[std::ffi::OsString],
        turns: u64,
    ) -> Vec<Repeated> {
        match self {
            Growing::Parts(parts) => parts
                .segments
                .iter()
                .map(|one| Repeated {
                    channel: channels[one.channel].label(),
                    offset: one.start as u64,
                    part: channels[one.channel].content[one.start..one.end].to_vec(),
                    times: turns,
                })
                .collect(),
            Growing::Arguments(range) => {
                let words = arguments[range.clone()].iter().map(|one| one.as_bytes());
                vec![Repeated {
                    channel: format!("argv[{}]", range.start),
                    offset: 0,
                    part: words.collect::<Vec<_>>().join(&b' '),
                    times: turns,
                }]
            }
        }
    }
}
