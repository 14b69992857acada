//! Where each test comes: recorded once, for many targets. Which tests are near to a line is then known without
//! a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use nearmiss_abi::site::SiteId;
use nearmiss_campaign::capsule::Origin;
use nearmiss_campaign::store::Kind;
use nearmiss_flow::guide::FAR;
use nearmiss_flow::{FlowGraph, Goal, Guide};
use nearmiss_sites::flow::UnitFlow;

use super::{Search, record};
use crate::error::EngineError;
use crate::subject::Subjects;
use crate::worker::{Shared, Worker};

/// A line of a unit's file: the unit, the file's number in it, the line.
pub type LineKey = (u64, u32, u32);

/// The decisions that each test comes to.
#[derive(Debug, Default)]
pub struct Survey {
    sites: BTreeMap<String, BTreeSet<SiteId>>,
}

impl Search<'_> {
    /// Records every test once, as long as there is time.
    pub fn survey(&self, time: Duration) -> Result<Survey, EngineError> {
        let deadline = Instant::now() + time;
        let shared = Shared::new(self.config, &self.campaign, Kind::Test, self.tally);
        let worker = Worker::new(&shared, 0);
        let subjects = Subjects::new(shared.recorders.clone());
        let mut survey = Survey::default();
        for test in &self.tests {
            if shared.is_over(deadline) {
                break;
            }
            let Ok(subject) = subjects.get(&test.capsule) else {
                continue;
            };
            let time = Duration::from_secs_f64(test.seconds);
            if let Some(traced) = record(&worker, &subject, &test.capsule, Origin::Again, time) {
                let sites = traced.path.events.iter().map(|event| event.site);
                survey.sites.insert(test.id.clone(), sites.collect());
            }
        }
        Ok(survey)
    }

    /// The tests of a program and how far each is from the lines, those first that come nearest.
    pub fn nearest(
        &self,
        survey: &Survey,
        program: &Path,
        flows: &[UnitFlow],
        lines: &[LineKey],
    ) -> Vec<(u32, String)> {
        let graph = FlowGraph::new(flows, &[]);
        let nodes = lines
            .iter()
            .flat_map(|&(unit, file, line)| graph.line(unit, file, line));
        let goal = Goal {
            steps: vec![nodes.copied().collect()],
            forbidden: Vec::new(),
        };
        let guide = Guide::to(graph, &goal);
        let mut order: Vec<(u32, String)> = (self.tests.iter())
            .filter(|test| test.capsule.program == program)
            .map(|test| (survey.distance(&test.id, &guide), test.id.clone()))
            .collect();
        order.sort_by_key(|(distance, _)| *distance);
        order
    }
}

impl Survey {
    /// How far the place is at which a test comes nearest to a target.
    fn distance(&self, test: &str, guide: &Guide) -> u32 {
        let sites = self.sites.get(test).into_iter().flatten();
        let distances = sites.filter_map(|site| guide.of_place(*site, 0));
        distances.min().unwrap_or(FAR + 1)
    }
}
