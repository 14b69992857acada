//! Where earlier calls of the same command came to: tests that none of them looked at come first, and what is
//! known of those for which there is no time now is reported once more.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use nearmiss_campaign::store::{Work, write_atomically};
use nearmiss_campaign::test_case::TestCase;
use nearmiss_sandbox::Stdin;
use nearmiss_search::Stage;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::seed::{Seed, Standing, State};
use super::{Counts, Explorer, locked};
use crate::confirmer::describe;
use crate::error::EngineError;

/// What an adopted finding adds to the figures.
const ONE_FINDING: Counts = Counts {
    runs: 0,
    paths: 0,
    checks: 0,
    findings: 1,
    cpu: Duration::ZERO,
};

/// The tests that were looked at, by their [`key`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Earlier {
    tests: BTreeMap<u64, Looked>,
}

/// What became of a test.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Looked {
    /// The name of what is kept of it, or of the test that takes its path.
    digest: u64,
    /// The program as it was: see [`crate::subject::Subject::fingerprint`].
    program: u64,
}

impl Earlier {
    /// That of a campaign; nothing where there is none.
    pub fn load(work: &Work) -> Earlier {
        let text = fs::read(file(work)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Whether a test was looked at.
    pub fn knows(&self, key: u64) -> bool {
        self.tests.contains_key(&key)
    }

    /// Keeps which tests were looked at, for the next call.
    pub fn save(seeds: &[Seed], keys: &[u64], work: &Work) -> io::Result<()> {
        let looked_at = |seed: &Seed| {
            let own = match seed.standing {
                Standing::Active => seed,
                Standing::SamePath(first) => &seeds[first],
                Standing::Waiting | Standing::Skipped(_) => return None,
            };
            own.is_finished(0).then_some(Looked {
                digest: own.state.digest,
                program: own.state.program,
            })
        };
        let tests = keys.iter().zip(seeds);
        let tests = tests.filter_map(|(key, seed)| Some((*key, looked_at(seed)?)));
        let earlier = Earlier {
            tests: tests.collect(),
        };
        fs::create_dir_all(work.units())?;
        write_atomically(&file(work), &serde_json::to_vec(&earlier)?)
    }
}

fn file(work: &Work) -> PathBuf {
    work.units().with_file_name("looked-at.json")
}

/// A name for a test: equal ones run the same program on the same input in the same world. What it gets
/// by chance is not part of it.
pub(super) fn key(test: &TestCase) -> u64 {
    let capsule = &test.capsule;
    let mut hasher = SipHasher13::new();
    (&capsule.program, &capsule.arguments, &capsule.directory).hash(&mut hasher);
    capsule.environment.to_vec().hash(&mut hasher);
    format!("{:?} {:?}", capsule.umask, capsule.world).hash(&mut hasher);
    match &capsule.stdin {
        Stdin::Null => 0u8.hash(&mut hasher),
        Stdin::File(path) => (1u8, fs::read(path).ok()).hash(&mut hasher),
        Stdin::Pipe(path) => (2u8, fs::read(path).ok()).hash(&mut hasher),
    }
    for file in &capsule.files {
        (&file.path, fs::read(&file.content).ok()).hash(&mut hasher);
    }
    hasher.finish()
}

impl Explorer<'_> {
    /// What earlier calls found out about tests whose turn did not come in this one, if their programs are the
    /// same still.
    pub(super) fn adopt(
        &self,
        seeds: &mut [Seed],
        keys: &[u64],
        earlier: &Earlier,
    ) -> Result<(), EngineError> {
        for (number, key) in keys.iter().enumerate() {
            let looked = earlier.tests.get(key);
            if let (Standing::Waiting, Some(looked)) = (&seeds[number].standing, looked) {
                self.adopt_one(seeds, number, *looked)?;
            }
        }
        Ok(())
    }

    fn adopt_one(
        &self,
        seeds: &mut [Seed],
        number: usize,
        looked: Looked,
    ) -> Result<(), EngineError> {
        let capsule = &seeds[number].test.capsule;
        let Ok(subject) = self.subjects.get(capsule) else {
            return Ok(());
        };
        if subject.fingerprint() != looked.program {
            return Ok(());
        }
        let is_same = |seed: &Seed| seed.is_active() && seed.state.digest == looked.digest;
        if let Some(first) = seeds.iter().position(is_same) {
            seeds[number].standing = Standing::SamePath(first);
            return Ok(());
        }
        let Some(state) = State::load(&self.shared.work.units(), looked.digest) else {
            return Ok(());
        };
        let mut found = state.found.clone();
        for one in &mut found {
            one.finding.test = describe(&seeds[number].test);
        }
        let campaign = self.shared.campaign;
        for one in &found {
            let added = locked(&self.defects).add(one, &campaign.inputs());
            if added.map_err(|error| campaign.failed(error))? {
                self.shared.tally.findings.add(1);
                locked(&self.figures).add(Stage::OwnPath, ONE_FINDING, Duration::ZERO);
            }
        }
        let seed = &mut seeds[number];
        (seed.state, seed.standing) = (state, Standing::Active);
        Ok(())
    }
}
