//! What is learnt: a vector of factors for every user and every item, such that the product of two
//! of them is the rating.

use parton_engine::{EdgeProgram, Measure, Tip};
use parton_graph::GlobalId;
use parton_graph::hash::mix64;

use super::MatrixCompletionOptions;

/// The greatest factor by which a vertex with ratings on several hosts lengthens its steps. Averaging
/// the hosts' factors keeps only a part of each step; longer steps make up for that while they are short.
const MAX_STEP_SCALE: f32 = 8.0;
/// The learning rate by default, for ratings with a standard deviation of about 1. A greater deviation
/// divides it: errors and factors are larger then.
const DEFAULT_LEARNING_RATE: f64 = 0.01;
/// Standard deviation of the noise on initial factors.
const START_NOISE: f64 = 0.1;

/// Stochastic gradient descent on the squared errors of all ratings, plus what large factors cost.
pub(super) struct Model {
    start: Start,
    rate: f32,
    regularization: f32,
    /// Number of ratings in the whole graph.
    ratings: u64,
    /// Rounds to go.
    rounds_left: u64,
    /// The error of the last round.
    rmse: f64,
}

/// Factors before anything is learnt.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) width: usize,
    /// The same for all factors: every product is the mean rating, if that is positive.
    level: f64,
    seed: u64,
}

/// What ratings are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratings {
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) sum_of_squares: f64,
}

impl Ratings {
    fn mean(self) -> f64 {
        self.sum / self.count as f64
    }

    /// Their standard deviation.
    fn deviation(self) -> f64 {
        (self.sum_of_squares / self.count as f64 - self.mean().powi(2)).max(0.0).sqrt()
    }

    /// How far factors go at a time: as asked, or as suits.
    pub(super) fn rate(self, own: &MatrixCompletionOptions) -> f64 {
        own.learning_rate.unwrap_or(DEFAULT_LEARNING_RATE / self.deviation().max(1.0))
    }
}

impl Start {
    pub(super) fn new(own: &MatrixCompletionOptions, ratings: Ratings) -> Self {
        let level = (ratings.mean().max(0.0) / own.width as f64).sqrt();
        Start { width: own.width, level, seed: own.seed }
    }

    /// A vertex's factors.
    pub(super) fn factors(self, vertex: GlobalId) -> impl Iterator<Item = f32> {
        let key = mix64(mix64(self.seed.wrapping_add(1)) ^ vertex.0);
        (0..self.width as u64).map(move |factor| {
            let bits = mix64(key.wrapping_add(mix64(factor + 1)));
            // From -√3 to √3, which has a standard deviation of 1.
            let noise = ((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 3f64.sqrt();
            (self.level + START_NOISE * noise) as f32
        })
    }
}

impl Model {
    pub(super) fn new(own: &MatrixCompletionOptions, ratings: Ratings, rounds: u64) -> Self {
        Model {
            start: Start::new(own, ratings),
            rate: ratings.rate(own) as f32,
            regularization: own.regularization as f32,
            ratings: ratings.count,
            rounds_left: rounds,
            rmse: 0.0,
        }
    }

    fn rate(&self, spread: f32) -> f32 {
        self.rate * spread.min(MAX_STEP_SCALE)
    }
}

impl EdgeProgram for Model {
    fn width(&self) -> usize {
        self.start.width
    }

    fn init(&self, vertex: GlobalId, vector: &mut [f32]) {
        vector.iter_mut().zip(self.start.factors(vertex)).for_each(|(factor, new)| *factor = new);
    }

    #[inline]
    fn visit(&self, user: Tip<'_>, item: Tip<'_>, rating: f32) -> f64 {
        let error = rating - product(user.vector, item.vector);
        let (user_rate, item_rate) = (self.rate(user.spread), self.rate(item.spread));
        for (p, q) in user.vector.iter_mut().zip(item.vector) {
            let (old_p, old_q) = (*p, *q);
            *p += user_rate * (error * old_q - self.regularization * old_p);
            *q += item_rate * (error * old_p - self.regularization * old_q);
        }
        f64::from(error).powi(2)
    }

    fn conclude(&mut self, total: f64) -> bool {
        self.rmse = (total / self.ratings as f64).sqrt();
        self.rounds_left -= 1;
        self.rounds_left == 0 || !total.is_finite()
    }

    fn measure(&self) -> Option<Measure> {
        Some(Measure { name: "rmse", value: self.rmse, goal: None })
    }
}

/// The rating that two vectors stand for.
#[inline]
pub(super) fn product(p: &[f32], q: &[f32]) -> f32 {
    /// Sums that do not wait for each other.
    const LANES: usize = 8;
    let (p_lanes, q_lanes) = (p.chunks_exact(LANES), q.chunks_exact(LANES));
    let rest: f32 = p_lanes.remainder().iter().zip(q_lanes.remainder()).map(|(p, q)| p * q).sum();
    let mut sums = [0.0; LANES];
    for (p, q) in p_lanes.zip(q_lanes) {
        for ((sum, p), q) in sums.iter_mut().zip(p).zip(q) {
            *sum += p * q;
        }
    }
    rest + sums.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten ratings around 3.5.
    const RATINGS: Ratings = Ratings { count: 10, sum: 35.0, sum_of_squares: 125.0 };

    #[test]
    fn ratings_far_apart_make_short_steps() {
        let (usual, wide) =
            (MatrixCompletionOptions::default(), Ratings { sum_of_squares: 285.0, ..RATINGS });
        assert_eq!(RATINGS.rate(&usual), 0.01);
        assert!((wide.deviation() - 4.031).abs() < 1e-3);
        assert!((wide.rate(&usual) - 0.01 / 4.031).abs() < 1e-5);
        assert_eq!(wide.rate(&MatrixCompletionOptions { learning_rate: Some(0.3), ..usual }), 0.3);
    }

    #[test]
    fn products_of_any_width() {
        for width in 0..40usize {
            let p: Vec<f32> = (0..width).map(|k| k as f32).collect();
            let q: Vec<f32> = (0..width).map(|k| (k % 3) as f32).collect();
            let expected: usize = (0..width).map(|k| k * (k % 3)).sum();
            assert_eq!(product(&p, &q), expected as f32);
        }
    }

    /// A step goes down the slope of what one rating costs: half its squared error and half the
    /// cost of its factors.
    #[test]
    fn a_step_follows_the_gradient() {
        let own = MatrixCompletionOptions { width: 3, ..MatrixCompletionOptions::default() };
        let model = Model::new(&own, RATINGS, 1);
        let (p, q, rating) = ([0.3, -0.7, 1.1f32], [0.9, 0.2, -0.4f32], 2.5f32);
        let cost = |p: &[f32], q: &[f32]| {
            let squares: f64 = p.iter().chain(q).map(|&x| f64::from(x).powi(2)).sum();
            let pairs = p.iter().zip(q).map(|(&p, &q)| f64::from(p) * f64::from(q));
            let error = f64::from(rating) - pairs.sum::<f64>();
            (error.powi(2) + own.regularization * squares) / 2.0
        };
        let (mut new_p, mut new_q) = (p, q);
        let user = Tip { vector: &mut new_p, spread: 1.0 };
        let squared = model.visit(user, Tip { vector: &mut new_q, spread: 2.0 }, rating);
        // 2.5 - (0.27 - 0.14 - 0.44)
        assert!((squared.sqrt() - 2.81).abs() < 1e-5, "{squared}");
        // The slope of the cost along one factor, by a small step up and one down.
        let slope = |with: &dyn Fn(f32) -> f64| (with(1e-3) - with(-1e-3)) / 2e-3;
        let nudged = |vector: [f32; 3], k: usize, by: f32| {
            let mut vector = vector;
            vector[k] += by;
            vector
        };
        let step = |new: f32, old: f32| f64::from(new - old) / DEFAULT_LEARNING_RATE;
        for (k, (new_p, new_q)) in new_p.into_iter().zip(new_q).enumerate() {
            let of_p = slope(&|by| cost(&nudged(p, k, by), &q));
            let of_q = slope(&|by| cost(&p, &nudged(q, k, by)));
            assert!((step(new_p, p[k]) + of_p).abs() < 1e-3, "{k}");
            assert!((step(new_q, q[k]) + 2.0 * of_q).abs() < 1e-3, "{k}");
        }
    }

    #[test]
    fn factors_start_around_the_mean() {
        let own = MatrixCompletionOptions { width: 20, ..MatrixCompletionOptions::default() };
        let start = Start::new(&own, RATINGS);
        let vertices = 2000;
        let all: Vec<f64> =
            (0..vertices).flat_map(|v| start.factors(GlobalId(v))).map(f64::from).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
        assert!((mean - (3.5f64 / 20.0).sqrt()).abs() < 2e-3, "{mean}");
        assert!((variance.sqrt() - START_NOISE).abs() < 2e-3, "{variance}");
    }
}
