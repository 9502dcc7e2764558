//! The engine that suits a stationary program follows the hosts and what may be left out of rounds.

use super::graph;
use super::rank::Rank;
use crate::common;

use common::hosts::{local, on_hosts, partition};
use common::programs::Tokens;
use parton_engine::{Edges, StationaryProgram};
use parton_graph::{Csr, Graph};
use parton_sync::Optimize;
use parton_sync::reduction::Sum;

/// The name of the engine that all hosts choose, and why.
fn chosen(graph: &Graph, hosts: usize, program: StationaryProgram) -> (&'static str, String) {
    let parts = partition(graph, "cvc", hosts);
    let found = on_hosts(&mut local(hosts), &parts, Optimize::ALL, |_, substrate| {
        program.engine(substrate).map(|(engine, why)| (engine.name, why))
    });
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    found[0].clone()
}

#[test]
fn spmv_suits_many_hosts_and_graphs_that_are_filtered() {
    // A fifth of the vertices are sources, two fifths sinks.
    let filtered = graph(300);
    let ring: Vec<_> = (0..300).map(|v| (v, (v + 1) % 300, ())).collect();
    let ring = Graph::dense(Csr::from_edges(300, &ring), "test");
    let of = |program: &Rank| StationaryProgram::of(program, false).expect("it is stationary");
    let new = Rank::<u32>::new(9, 300);
    let sinks = of(&new);
    let all = of(&Rank { shares_source: true, ..new.clone() });
    let none = of(&Rank { is_local: false, ..new.clone() });
    let both = of(&Rank { edges: Edges::Both, ..new.clone() });
    for (program, percent) in [(sinks, "40 %"), (all, "60 %")] {
        let (engine, why) = chosen(&filtered, 2, program);
        assert_eq!(engine, "spmv");
        assert!(why.contains(percent), "{why}");
    }
    // Against edges, sinks are what has out-edges only.
    let against = of(&Rank { edges: Edges::In, ..new });
    assert_eq!(chosen(&filtered, 2, against).0, "pull", "a fifth is too little");
    assert_eq!(chosen(&filtered, 2, none).0, "pull", "nothing may be left out");
    assert_eq!(chosen(&filtered, 2, both).0, "pull", "vertices with an edge are regular");
    // Between hosts of one process messages take no time.
    assert_eq!(chosen(&ring, 4, all), ("pull", String::new()));
    let (engine, why) = chosen(&ring, 8, all);
    assert_eq!(engine, "spmv");
    assert!(why.contains("8 hosts"), "{why}");
    let on_device = StationaryProgram { is_on_device: true, ..all };
    assert_eq!(chosen(&ring, 8, on_device).0, "pull", "devices have no tiles");
    assert_eq!(chosen(&filtered, 1, all).0, "pull", "a host that is alone has no messages");
    assert!(StationaryProgram::of(&Tokens::<Sum<u64>>::new(3), false).is_none());
}
