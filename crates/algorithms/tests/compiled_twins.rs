//! Compiled programs send no more than the hand-written ones that say the same.

use parton_algorithms::bfs::levels;
use parton_algorithms::components::least;
use parton_algorithms::kcore::core::core;
use parton_algorithms::pagerank::residual::residuals;
use parton_algorithms::sssp::narrow;
use parton_engine::{RunReport, engines};
use parton_graph::GlobalId;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::Vertex;
use parton_sync::{Error, Optimize, Substrate};

use crate::by_hand::{
    Distances, Least, Levels, by_hand, compiled, core_by_hand, ranks, ranks_by_hand,
    residuals_by_hand,
};

/// Rounds and bytes of a run.
fn cost(
    input: &Input,
    relax: impl Fn(&mut Substrate<'_>) -> Result<RunReport, Error> + Sync,
) -> (u64, u64) {
    let costs = Cluster::local(4).threads_per_host(1).launch(|net| {
        let partition = Partition::build(net, input, &Plan::new("cvc")).expect("a partition");
        relax(&mut Substrate::new(&partition, net, Optimize::ALL))
    });
    let report = &costs.expect("a run")[0];
    (report.rounds.len() as u64, report.sent().total())
}

#[test]
fn compiled_programs_cost_what_hand_written_ones_do() {
    let (vertex, root) = (GlobalId(3), Vertex(3));
    let input = Input::open("rmat:10,8").expect("a generator");
    let grid = Input::open("grid:20x20").expect("a generator");
    for engine in [engines::PUSH, engines::FRONTIER, engines::PULL] {
        let hand = cost(&input, |substrate| by_hand(engine, &Levels(vertex), substrate));
        let own = cost(&input, |substrate| compiled(engine, &levels { root }, substrate));
        assert_eq!(own, hand, "levels by {}", engine.name);
    }
    for engine in [engines::PUSH, engines::FRONTIER, engines::UNION] {
        let hand = cost(&input, |substrate| by_hand(engine, &Least, substrate));
        let own = cost(&input, |substrate| compiled(engine, &least {}, substrate));
        assert_eq!(own, hand, "components by {}", engine.name);
    }
    for engine in [engines::PUSH, engines::PULL, engines::DELTA] {
        let hand = cost(&input, |substrate| by_hand(engine, &Distances(vertex), substrate));
        let own = cost(&input, |substrate| compiled(engine, &narrow { root }, substrate));
        assert_eq!(own, hand, "distances by {}", engine.name);
    }
    for engine in [engines::PUSH, engines::FRONTIER, engines::PULL] {
        let hand = cost(&grid, |substrate| core_by_hand(engine, 3, substrate));
        let own = cost(&grid, |substrate| compiled(engine, &core { k: 3 }, substrate));
        assert_eq!(own, hand, "a core by {}", engine.name);
        let hand = cost(&input, |substrate| residuals_by_hand(engine, 1e-9, substrate));
        let program = residuals { damping: 0.85, threshold: 1e-9, seeds: Vec::new() };
        let own = cost(&input, |substrate| compiled(engine, &program, substrate));
        assert_eq!(own, hand, "residuals by {}", engine.name);
    }
    let hand = cost(&input, ranks_by_hand);
    let own = |substrate: &mut Substrate<'_>| {
        compiled(engines::PULL, &ranks { tolerance: 1e-6 }, substrate)
    };
    assert_eq!(cost(&input, own), hand, "ranks");
}
