//! Ranks of vertices that the engine `spmv` leaves out of rounds.
//!
//! Vertices without in-edges all have the same rank, and all ranks together are 1. So what vertices without
//! out-edges lose is known without their ranks.

use parton_engine::LeftOut;

/// What stands in for vertices that are left out of rounds.
pub(super) struct LeftOutRanks {
    /// How many there are; `None` if all vertices take part.
    pub(super) vertices: Option<LeftOut>,
    /// The rank that all vertices without in-edges have now: what every vertex got in the last round apart from
    /// its in-edges.
    pub(super) source_rank: f64,
    /// How much the ranks of vertices with out-edges changed in the last round.
    change_of_senders: f64,
}

/// What all hosts summed up in a round.
pub(super) struct RoundSums {
    /// How much ranks changed, at most.
    pub(super) change: f64,
    /// The rank of vertices without out-edges.
    pub(super) lost: f64,
    /// All ranks.
    pub(super) sum: f64,
}

impl LeftOutRanks {
    /// Before the first round all sources have this rank.
    pub(super) fn new(source_rank: f64) -> Self {
        LeftOutRanks { vertices: None, source_rank, change_of_senders: f64::INFINITY }
    }

    /// Completes the sums of a round in which every vertex got `teleport_rank` apart from its in-edges. The
    /// change of a sink is no more than its share of what its in-neighbours changed in the round before, and
    /// of what all vertices get changed now.
    pub(super) fn conclude(
        &mut self,
        sums: RoundSums,
        damping: f64,
        teleport_rank: f64,
    ) -> RoundSums {
        let step = (teleport_rank - self.source_rank).abs();
        self.source_rank = teleport_rank;
        let Some(LeftOut { sources, sinks, isolated }) = self.vertices else { return sums };
        // Without vertices, what each of them gets is no number.
        let times = |count: u64, value: f64| if count == 0 { 0.0 } else { count as f64 * value };
        let of_sinks = if sinks == 0 { 0.0 } else { damping * self.change_of_senders };
        self.change_of_senders = sums.change + times(sources, step);
        RoundSums {
            change: self.change_of_senders + of_sinks + times(sinks + isolated, step),
            lost: 1.0 - sums.sum - times(sources, teleport_rank),
            sum: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use parton_engine::program::check::{Samples, check_properties};
    use parton_engine::{DeviceType, VertexProgram};
    use parton_sync::value::Number;

    use super::super::teleport::Teleport;
    use super::super::{Dangling, PageRankOptions, Ranks};
    use super::*;

    const VERTICES: u32 = 30;

    /// Ranks before the first round of a graph in which every third vertex has no out-edges.
    fn check<S: Number + DeviceType>(dangling: Dangling, is_single: bool) {
        let own = PageRankOptions { dangling, ..PageRankOptions::default() };
        let teleport = Teleport::uniform(f64::from(VERTICES));
        let part = |vertex: u32| f64::from(vertex % 3) / f64::from(vertex + 1);
        let parts: Vec<f64> = (0..VERTICES).map(part).collect();
        let ranks = || Ranks::<S> {
            parts: &parts,
            start: None,
            teleport: &teleport,
            seeds: None,
            probability: teleport.place_probability(),
            own: &own,
            damping: own.damping,
            teleport_rank: teleport.rank(&own, 1.0 / 3.0),
            left_out: LeftOutRanks::new(teleport.place_probability()),
            change: f64::INFINITY,
            rounds: 20,
            shares: PhantomData,
        };
        assert!(ranks().shared_source().is_some() && ranks().properties().last_message_wins);
        let is_close = match is_single {
            true => |a: f64, b: f64| (a - b).abs() <= 2e-7 * a.abs(),
            false => |a: f64, b: f64| (a - b).abs() <= 1e-14 * a.abs(),
        };
        let states = [0.0, 1e-9, 0.03, 0.7, 1.0];
        let arrived = [0.0, 1e-12, 0.2, 0.9];
        let samples = Samples { vertices: VERTICES, states: &states, arrived: &arrived, is_close };
        check_properties(ranks, &samples).expect("ranks are what they declare");
    }

    #[test]
    fn ranks_are_what_they_declare() {
        for dangling in [Dangling::Redistribute, Dangling::Drop] {
            check::<f64>(dangling, false);
            check::<f32>(dangling, true);
        }
    }
}
