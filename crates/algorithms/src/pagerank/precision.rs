//! How exactly what passes along edges is kept, moved and sent.

use parton_engine::Limits;

use super::{PageRankOptions, Precision};

/// What rounding a share to single precision can change it by, relative to it.
pub(super) const SINGLE_ERROR: f64 = 1.0 / (1 << 24) as f64;
/// Shares are f32 from this many vertices on: those of fewer stay in a cache, and f64 is free.
const MIN_VERTICES: u64 = 1 << 18;
/// The same where rounds are counted: users compare such ranks with those of other systems, digit by
/// digit.
const MIN_VERTICES_COUNTED: u64 = 1 << 21;
/// Rounding may cost this part of what stopping early costs.
const NEGLIGIBLE_PART: f64 = 1.0 / 16.0;

/// True if shares are f32: as asked, or if there are many vertices and rounding costs little
/// compared with stopping after this many rounds, or at this tolerance.
pub(super) fn is_single(vertices: u64, own: &PageRankOptions, limits: Limits) -> bool {
    match own.precision {
        Precision::Single => true,
        Precision::Double => false,
        Precision::Auto => {
            let rounds = limits.max_rounds.map_or(f64::INFINITY, |rounds| rounds as f64);
            let tolerance = if own.graphalytics { 0.0 } else { own.tolerance };
            let left_by_rounds = 2.0 * own.damping.powf(rounds);
            let (many, left) = match left_by_rounds > tolerance {
                true => (MIN_VERTICES_COUNTED, left_by_rounds),
                false => (MIN_VERTICES, tolerance),
            };
            vertices >= many && SINGLE_ERROR <= left * NEGLIGIBLE_PART
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether shares are f32 at this tolerance, with at most this many rounds.
    fn single(vertices: u64, tolerance: f64, max_rounds: Option<u64>) -> bool {
        let own = PageRankOptions { tolerance, ..PageRankOptions::default() };
        is_single(vertices, &own, Limits { max_rounds })
    }

    #[test]
    fn the_last_digits_are_kept_where_they_are_free_or_wanted() {
        let (tolerance, few, many) = (1e-6, MIN_VERTICES - 1, MIN_VERTICES);
        assert!(single(many, tolerance, None));
        assert!(!single(few, tolerance, None));
        assert!(!single(many, tolerance / 2.0, None), "rounding would be seen");
        assert!(single(many, tolerance, Some(100)), "that many are never taken");
        assert!(!single(many, tolerance, Some(10)), "what ten rounds give can be compared");
        assert!(single(MIN_VERTICES_COUNTED, 0.0, Some(10)));
        assert!(!single(MIN_VERTICES_COUNTED, 0.0, Some(1000)), "rounding would be seen");
    }
}
