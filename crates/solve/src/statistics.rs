//! Which layer answered how many queries, and how long it took.

use std::time::Duration;

use crate::query::{Answer, Layer, Reason, Reply};

/// What the layers of one session have done; sessions can be added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    layers: [LayerStatistics; Layer::ALL.len()],
    /// The time of each query, whichever layer answered it.
    pub times: Histogram,
    /// Queries without an answer because time or conflicts ran out.
    pub timeouts: u64,
    /// Queries that were too large.
    pub too_large: u64,
    /// Models that did not satisfy their query: errors of nearmiss.
    pub wrong_models: u64,
    /// Queries about which two solvers did not agree: errors of nearmiss.
    pub disagreements: u64,
    /// Queries at which a solver in a process of its own failed.
    pub failures: u64,
}

/// What one layer has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerStatistics {
    /// Queries answered with an input.
    pub sat: u64,
    /// Queries answered with "there is none".
    pub unsat: u64,
    /// Queries that ended at this layer without an answer.
    pub unknown: u64,
    /// The time of the queries that ended at this layer.
    pub times: Histogram,
}

impl LayerStatistics {
    /// Queries that ended at this layer.
    pub fn queries(&self) -> u64 {
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

    /// How many queries there were.
    pub fn queries(&self) -> u64 {
        self.times.count()
    }

    /// How many queries ended at each layer that answered any, by its name.
    pub fn by_layer(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let counts = Layer::ALL.iter();
        let counts = counts.map(|&layer| (layer.name(), self.layer(layer).queries()));
        counts.filter(|&(_, queries)| queries > 0)
    }

    /// How many queries came to a back end.
    pub fn solved(&self) -> u64 {
        let back_ends = Layer::ALL.iter().filter(|layer| layer.is_back_end());
        back_ends.map(|&layer| self.layer(layer).queries()).sum()
    }

    /// Counts a query.
    pub(crate) fn record(&mut self, reply: &Reply) {
        self.times.record(reply.time);
        let layer = &mut self.layers[reply.layer as usize];
        layer.times.record(reply.time);
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
        statistics.record(&Reply::new(Answer::Unsat, Layer::Ranges));
        let late = Answer::Unknown(Reason::Timeout);
        statistics.record(&Reply::new(late, Layer::Bitwuzla));
        let mut twice = statistics.clone();
        twice.merge(&statistics);
        assert_eq!(twice.queries(), 4);
        assert_eq!(twice.layer(Layer::Ranges).unsat, 2);
        assert_eq!(
            (twice.timeouts, twice.layer(Layer::Bitwuzla).unknown),
            (2, 2)
        );
    }
}
