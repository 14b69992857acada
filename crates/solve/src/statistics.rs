//! Who answered how many questions, and how long it took.

use std::time::Duration;

use crate::question::{Answer, Layer, Reason, Reply};

/// What the layers of one session have done; sessions can be added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    layers: [LayerStatistics; Layer::ALL.len()],
    /// The time of each question, whoever answered it.
    pub times: Histogram,
    /// Questions without an answer because time or conflicts ran out.
    pub timeouts: u64,
    /// Questions that were too large.
    pub too_large: u64,
    /// Models that did not satisfy their question: errors of nearmiss.
    pub wrong_models: u64,
    /// Questions about which two solvers did not agree: errors of nearmiss.
    pub disagreements: u64,
    /// Questions at which a solver in a process of its own failed.
    pub failures: u64,
}

/// What one layer has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerStatistics {
    /// Questions answered with an input.
    pub sat: u64,
    /// Questions answered with "there is none".
    pub unsat: u64,
    /// Questions that ended at this layer without an answer.
    pub unknown: u64,
    /// The time of the questions that ended at this layer.
    pub times: Histogram,
}

impl LayerStatistics {
    /// Questions that ended at this layer.
    pub fn questions(&self) -> u64 {
        self.sat + self.unsat + self.unknown
    }

    fn merge(&mut self, other: &LayerStatistics) {
        self.sat += other.sat;
        self.unsat += other.unsat;
        self.unknown += other.unknown;
        self.times.merge(&other.times);
    }
}

impl Statistics {
    /// What one layer has done.
    pub fn layer(&self, layer: Layer) -> &LayerStatistics {
        &self.layers[layer as usize]
    }

    /// How many questions were asked.
    pub fn questions(&self) -> u64 {
        self.times.count()
    }

    /// Counts a question.
    pub(crate) fn record(&mut self, reply: &Reply, time: Duration) {
        self.times.record(time);
        let layer = &mut self.layers[reply.by as usize];
        layer.times.record(time);
        match reply.answer {
            Answer::Sat(_) => layer.sat += 1,
            Answer::Unsat => layer.unsat += 1,
            Answer::Unknown(reason) => {
                layer.unknown += 1;
                *self.reason(reason) += 1;
            }
        }
    }

    fn reason(&mut self, reason: Reason) -> &mut u64 {
        match reason {
            Reason::Timeout => &mut self.timeouts,
            Reason::TooLarge => &mut self.too_large,
            Reason::WrongModel => &mut self.wrong_models,
            Reason::Disagreement => &mut self.disagreements,
            Reason::Failed => &mut self.failures,
        }
    }

    /// Adds what another session has done.
    pub fn merge(&mut self, other: &Statistics) {
        for (layer, more) in self.layers.iter_mut().zip(&other.layers) {
            layer.merge(more);
        }
        self.times.merge(&other.times);
        self.timeouts += other.timeouts;
        self.too_large += other.too_large;
        self.wrong_models += other.wrong_models;
        self.disagreements += other.disagreements;
        self.failures += other.failures;
    }
}

/// Steps of a histogram per doubling of the time.
const STEPS: u32 = 4;
/// As many buckets as are needed for an hour in microseconds.
const BUCKETS: usize = 33 * STEPS as usize;

/// How long things took: counts in buckets, each a fifth longer than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u32; BUCKETS],
    total: Duration,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            buckets: [0; BUCKETS],
            total: Duration::ZERO,
        }
    }
}

impl Histogram {
    /// Counts a time.
    pub fn record(&mut self, time: Duration) {
        let microseconds = time.as_micros().max(1) as f64;
        let bucket = (microseconds.log2() * f64::from(STEPS)) as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.total += time;
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|&count| u64::from(count)).sum()
    }

    /// Their sum.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The middle one.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The one that 95 of 100 do not exceed.
    pub fn p95(&self) -> Duration {
        self.quantile(0.95)
    }

    /// The time that this share of the counted ones does not exceed: the end of its bucket.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (self.count() as f64 * share).ceil();
        let mut seen = 0.0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            seen += f64::from(count);
            if count > 0 && seen >= wanted {
                let end = (bucket as f64 + 1.0) / f64::from(STEPS);
                return Duration::from_secs_f64(end.exp2() / 1e6);
            }
        }
        Duration::ZERO
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *count += more;
        }
        self.total += other.total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut histogram = Histogram::default();
        for milliseconds in 1..=100 {
            histogram.record(Duration::from_millis(milliseconds));
        }
        let near = |found: Duration, exact: u64| {
            let exact = Duration::from_millis(exact);
            assert!(found >= exact && found.as_secs_f64() <= exact.as_secs_f64() * 1.2);
        };
        near(histogram.median(), 50);
        near(histogram.p95(), 95);
        assert_eq!(histogram.count(), 100);
    }

    #[test]
    fn replies_are_counted_where_they_belong() {
        let mut statistics = Statistics::default();
        let time = Duration::from_millis(1);
        statistics.record(&Reply::new(Answer::Unsat, Layer::Ranges), time);
        let late = Answer::Unknown(Reason::Timeout);
        statistics.record(&Reply::new(late, Layer::Bitwuzla), time);
        let mut twice = statistics.clone();
        twice.merge(&statistics);
        assert_eq!(twice.questions(), 4);
        assert_eq!(twice.layer(Layer::Ranges).unsat, 2);
        assert_eq!(
            (twice.timeouts, twice.layer(Layer::Bitwuzla).unknown),
            (2, 2)
        );
    }
}
