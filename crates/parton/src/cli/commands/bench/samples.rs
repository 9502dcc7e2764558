//! Repeated measurements of one thing, and when two of them differ.
//!
//! Times are skewed and come from a shared machine, so no distribution is assumed. One measurement is faster than
//! another only if *all* its samples are faster. Its best must also be ahead by more than a margin, and by more than
//! either side scatters. A side that was disturbed in most repetitions has no best time worth comparing, though its
//! range may lie apart.
//!
//! What the rule cannot see is how one process as a whole differs from another (layout of memory,
//! clock, neighbours), as each side is of one process: `docs/benchmarking.md` has how often it is
//! wrong.

/// Seconds of every repetition, in the order they were taken; at least one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Samples(Vec<f64>);

/// How a new measurement stands to an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Faster,
    Slower,
    /// The samples overlap.
    Noise,
    /// There are too few samples.
    TooFew,
}

/// With fewer samples on a side there is no telling how far they scatter.
pub(super) const MIN_SAMPLES: usize = 3;
/// The least difference between bests that counts, as a part of the smaller.
pub(super) const MIN_DIFFERENCE: f64 = 0.05;

impl Samples {
    /// `None` unless there are samples, and all of them durations.
    pub(super) fn new(seconds: Vec<f64>) -> Option<Self> {
        let all = seconds.iter().all(|seconds| seconds.is_finite() && *seconds >= 0.0);
        (all && !seconds.is_empty()).then_some(Samples(seconds))
    }

    pub(super) fn as_slice(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn worst(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The middle one, or the mean of the two in the middle.
    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len().is_multiple_of(2) {
            true => (sorted[middle - 1] + sorted[middle]) / 2.0,
            false => sorted[middle],
        }
    }

    /// The worst over the best: 1 is perfectly steady.
    pub(super) fn spread(&self) -> f64 {
        self.worst() / self.best()
    }

    /// The median over the best: what a usual repetition loses. One bad repetition does not count.
    fn scatter(&self) -> f64 {
        self.median() / self.best()
    }

    /// The change from older samples to these.
    pub(super) fn against(&self, old: &Samples) -> Change {
        let margin = self.scatter().max(old.scatter()).max(1.0 + MIN_DIFFERENCE);
        let beats = |one: &Samples, other: &Samples| {
            one.worst() < other.best() && one.best() * margin < other.best()
        };
        if self.0.len().min(old.0.len()) < MIN_SAMPLES {
            Change::TooFew
        } else if beats(self, old) {
            Change::Faster
        } else if beats(old, self) {
            Change::Slower
        } else {
            Change::Noise
        }
    }
}

impl Change {
    /// The name in tables and JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Change::Faster => "faster",
            Change::Slower => "slower",
            Change::Noise => "within the noise",
            Change::TooFew => "too few samples",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(seconds: &[f64]) -> Samples {
        Samples::new(seconds.to_vec()).expect("durations")
    }

    #[test]
    fn samples_are_durations() {
        for bad in [&[][..], &[1.0, f64::NAN], &[-1.0], &[f64::INFINITY]] {
            assert_eq!(Samples::new(bad.to_vec()), None);
        }
    }

    #[test]
    fn best_median_and_worst() {
        let odd = samples(&[3.0, 1.0, 2.5]);
        assert_eq!((odd.best(), odd.median(), odd.worst(), odd.spread()), (1.0, 2.5, 3.0, 3.0));
        assert_eq!(samples(&[4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert_eq!(samples(&[7.0]).median(), 7.0);
    }

    #[test]
    fn a_winner_wins_every_time() {
        let old = samples(&[1.0, 1.1, 1.2]);
        let cases = [
            (&[0.5, 0.6, 0.9][..], Change::Faster),
            (&[2.0, 1.5, 1.3], Change::Slower),
            // One sample inside the other's range is enough to doubt.
            (&[0.5, 0.6, 1.05], Change::Noise),
            (&[1.0, 1.1, 1.2], Change::Noise),
            // Ranges that touch overlap.
            (&[0.5, 0.6, 1.0], Change::Noise),
            (&[1.2, 1.5, 1.6], Change::Noise),
        ];
        for (new, expected) in cases {
            assert_eq!(samples(new).against(&old), expected, "{new:?}");
        }
    }

    #[test]
    fn a_small_difference_is_none_however_steady() {
        let old = samples(&[1.0, 1.0, 1.0]);
        assert_eq!(samples(&[0.96, 0.96, 0.96]).against(&old), Change::Noise);
        assert_eq!(samples(&[0.95, 0.95, 0.95]).against(&old), Change::Faster);
        assert_eq!(samples(&[1.04, 1.04, 1.04]).against(&old), Change::Noise);
        assert_eq!(samples(&[1.06, 1.06, 1.06]).against(&old), Change::Slower);
    }

    #[test]
    fn a_difference_counts_only_beyond_the_scatter() {
        // Disturbed in most repetitions: its best may be far from what it could be.
        let disturbed = samples(&[1.0, 9.0, 13.0]);
        assert_eq!(samples(&[0.8, 0.85, 0.9]).against(&disturbed), Change::Noise);
        assert_eq!(disturbed.against(&samples(&[0.8, 0.85, 0.9])), Change::Noise);
        assert_eq!(samples(&[0.1, 0.1, 0.1]).against(&disturbed), Change::Faster);
        // Disturbed once: the other two agree.
        let once = samples(&[1.0, 1.01, 13.0]);
        assert_eq!(samples(&[0.8, 0.81, 0.9]).against(&once), Change::Faster);
    }

    #[test]
    fn few_samples_say_nothing() {
        let (one, three) = (samples(&[1.0]), samples(&[9.0, 9.0, 9.0]));
        assert_eq!(one.against(&three), Change::TooFew);
        assert_eq!(three.against(&one), Change::TooFew);
    }
}
