//! How fast a host is, as far as it can tell.
//!
//! Whether it is worth waiting for a host depends on how fast it is, not on how much it has to do. What
//! it takes for an edge differs from round to round: memory is touched for the first time, a thread has
//! to leave its core for a while. A host that is slow is so in every round, so what counts is its best
//! of several, and only of those with so many edges that what else a round takes does not matter.

use std::hint::black_box;

use parton_sync::{Effort, Result, Substrate};

use crate::run::Watch;

/// Rounds with fewer edges say nothing.
const ENOUGH: u64 = 1 << 11;
/// So many rounds, and it is not by chance.
const SEVERAL: u32 = 3;
/// Of so many times as many edges, to try first takes little.
const MUCH: u64 = 80;

/// What a host has computed so far.
#[derive(Default)]
pub(crate) struct Speed {
    seconds: f64,
    /// Edges in a second, of the best round, and of how many.
    best: f64,
    rounds: u32,
}

impl Speed {
    /// Takes note of a round.
    pub(crate) fn note(&mut self, edges: u64, seconds: f64) {
        self.seconds += seconds;
        // Simulated work may take no time.
        if edges >= ENOUGH && seconds > 0.0 {
            self.rounds += 1;
            self.best = self.best.max(edges as f64 / seconds);
        }
    }

    /// What all hosts sum up.
    pub(crate) fn effort(&self) -> Effort {
        let is_known = self.rounds >= SEVERAL;
        let (fastest, per_edge) = if is_known { (self.best, 1.0 / self.best) } else { (0.0, 0.0) };
        Effort { seconds: self.seconds, longest: self.seconds, per_edge, fastest }
    }
}

/// Tries how fast hosts are, before the first of them has to wait; what all find. Every host must call
/// this. Nothing, if there are so few edges that it would take longer than it could save.
pub(crate) fn try_out(substrate: &mut Substrate<'_>, watch: &mut dyn Watch) -> Result<Effort> {
    let partition = substrate.partition();
    if partition.num_edges() < MUCH * ENOUGH * partition.num_hosts() as u64 {
        return Ok(Effort::default());
    }
    let mut speed = Speed::default();
    for _ in 0..SEVERAL {
        let start = substrate.net().now();
        pretend_to_look(ENOUGH);
        let longer = watch.worked(substrate.net().now() - start, ENOUGH);
        substrate.net().spend(longer)?;
        speed.note(ENOUGH, (substrate.net().now() - start).as_secs_f64());
    }
    Ok(substrate.net().all_reduce(speed.effort(), Effort::plus)?)
}

/// Takes about as long as looking at so many edges does, with numbers that need no memory: edges
/// themselves are nearer to each other on some hosts than on others.
fn pretend_to_look(edges: u64) {
    (0..edges)
        .fold(0, |seen: u64, edge| black_box((seen ^ edge).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_rounds_with_enough_edges_tell_and_the_best_counts() {
        let mut speed = Speed::default();
        speed.note(ENOUGH, 1.0);
        speed.note(ENOUGH - 1, 1e-9);
        speed.note(ENOUGH, 0.0);
        speed.note(ENOUGH, 0.5);
        assert_eq!((speed.effort().fastest, speed.effort().per_edge), (0.0, 0.0));
        speed.note(2 * ENOUGH, 4.0);
        let effort = speed.effort();
        assert_eq!((effort.fastest, effort.per_edge), (2.0 * ENOUGH as f64, 0.5 / ENOUGH as f64));
        assert_eq!((effort.seconds, effort.longest), (5.5 + 1e-9, 5.5 + 1e-9));
    }

    #[test]
    fn the_host_that_computed_longest_is_compared_with_the_fastest() {
        let of = |seconds, best| Speed { seconds, best, rounds: SEVERAL }.effort();
        let all = [of(1.0, 8.0), of(4.0, 2.0), of(2.0, 1.0)].into_iter().reduce(Effort::plus);
        let Some(all) = all else { panic!("there are some") };
        assert_eq!((all.seconds, all.longest), (7.0, 4.0));
        assert_eq!((all.per_edge, all.fastest), (0.5, 8.0));
    }
}
