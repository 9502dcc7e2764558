//! Sums of doubles are rounded, so their order shows: it is the same in every run, for any number
//! of threads, on any network.

use crate::common;

use common::hosts::{partition, random};
use common::{How, engines, run_program};
use parton_engine::{Tally, Vertex, VertexProgram};
use parton_graph::{Csr, Graph};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::reduction::{Latest, Sum};

/// Rank that flows on as long as it is worth it: vertices fall silent one after the other.
struct Flow {
    rounds: u64,
}

impl VertexProgram for Flow {
    type State = [f64; 2];
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> [f64; 2] {
        let share = 1.0 / (1 + vertex.id().0 % 97) as f64;
        [0.0, share]
    }

    fn scatter(&self, _: Vertex<'_>, [_, share]: &[f64; 2]) -> Option<f64> {
        (*share > 1e-3).then_some(share / 15.3)
    }

    fn along(&self, share: f64, (): ()) -> f64 {
        share
    }

    fn apply(&self, _: Vertex<'_>, state: &mut [f64; 2], share: f64, tally: &mut Tally) -> bool {
        *state = [state[0] + share, share];
        tally.sums[0] += share;
        true
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        // Also what hosts sum up decides, to the last bit.
        self.rounds += 1;
        total.active == 0 || self.rounds >= 4 + (total.sums[0].to_bits() & 1)
    }
}

fn graph(vertices: u32, edges: u64) -> Graph {
    let edge = |i| {
        let [s, d] = [1, 2].map(|salt| random(&[salt, i]) as u32 % vertices);
        (s.min(d) / 3, d, ())
    };
    let edges: Vec<_> = (0..edges).map(edge).collect();
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "test")
}

/// Every bit of what all hosts found.
fn bits(cluster: &mut Cluster, parts: &[Partition], how: How) -> Vec<[u64; 2]> {
    let (states, report) = run_program(cluster, parts, how, || Flow { rounds: 0 });
    assert!(report.rounds.len() >= 4);
    states.into_iter().map(|state| state.map(f64::to_bits)).collect()
}

#[test]
fn trap_27_sums_are_the_same_to_the_last_bit() {
    // Enough edges on every host for threads to share them out.
    let graph = graph(2000, 40_000);
    for (hosts, policy) in [(1, "oec"), (2, "cvc"), (3, "hvc")] {
        let parts = partition(&graph, policy, hosts);
        for engine in engines() {
            let how = How::new(engine);
            let expected = bits(&mut Cluster::local(hosts).threads_per_host(1), &parts, how);
            for threads in 1..=3 {
                let mut cluster = Cluster::local(hosts).threads_per_host(threads);
                for run in 0..7 {
                    let found = bits(&mut cluster, &parts, how);
                    assert!(
                        found == expected,
                        "{engine:?}, {policy}, {threads} threads, run {run}"
                    );
                }
            }
            let mut cluster = Cluster::sim(hosts, 0);
            for seed in 0..7 {
                cluster.set_seed(seed);
                let found = bits(&mut cluster, &parts, how);
                assert!(found == expected, "{engine:?}, {policy}, seed {seed}");
            }
        }
    }
}
