//! The model of memory: what a host holds in each stage of a run.
//!
//! A host reads its share, makes it fit, cuts it, and computes; stages hold little in common, so the peak is that
//! of the greatest. Each stage is linear in edges and proxies. Sizes of arrays that are kept are counted; what
//! stages hold beside them (buffers of messages, buckets, lists of vertices) was fitted to measured peaks, which
//! `cargo xtask bench plan` measures again.

use parton_partition::Survey;
use parton_partition::quality::Share;
use parton_partition::survey::Storage;

/// Bytes that one host needs in each stage, apart from what its process takes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Need {
    /// While the input becomes rows.
    pub reading: f64,
    /// While rows become undirected, or simple.
    pub fitting: f64,
    /// While edges go to their owners and become a partition.
    pub building: f64,
    /// In rounds.
    pub running: f64,
}

impl Need {
    /// The greatest of the stages.
    pub fn peak(&self) -> f64 {
        [self.reading, self.fitting, self.building, self.running].into_iter().fold(0.0, f64::max)
    }

    /// What two hosts of one process need, which go through the stages together.
    pub(super) fn plus(self, other: &Need) -> Need {
        Need {
            reading: self.reading + other.reading,
            fitting: self.fitting + other.fitting,
            building: self.building + other.building,
            running: self.running + other.running,
        }
    }
}

/// Bytes per edge and per vertex.
#[derive(Clone, Copy)]
struct Linear {
    edge: f64,
    vertex: f64,
}

const fn linear(edge: f64, vertex: f64) -> Linear {
    Linear { edge, vertex }
}

impl Linear {
    fn of(self, edges: f64, vertices: f64) -> f64 {
        self.edge * edges + self.vertex * vertices
    }
}

/// Buffers that are as large as what they hold, up to some bytes.
#[derive(Clone, Copy)]
struct Buffers {
    edge: f64,
    most: f64,
}

impl Buffers {
    fn of(self, edges: f64) -> f64 {
        (self.edge * edges).min(self.most)
    }
}

/// What an algorithm holds beside its partition.
struct State {
    algorithm: &'static str,
    /// Bytes for each local edge, and for each proxy.
    edge: f64,
    proxy: f64,
    /// Bytes for each edge and further proxy of a vertex, where neighbourhoods travel.
    copied_edge: f64,
    /// Bytes of a value that hosts exchange.
    value_bytes: f64,
}

const fn state(
    algorithm: &'static str,
    [edge, proxy, copied_edge]: [f64; 3],
    value_bytes: f64,
) -> State {
    State { algorithm, edge, proxy, copied_edge, value_bytes }
}

/// Reading, by where the input is and whether one host is alone: bytes per listed edge and per vertex.
const GENERATED_ALONE: Linear = linear(5.7, 11.1);
const GENERATED: Linear = linear(8.0, 7.7);
const TEXT_ALONE: Linear = linear(10.0, 5.0);
const TEXT: Linear = linear(14.2, 112.0);
const ROWS_ALONE: Linear = linear(4.6, 11.2);
const ROWS: Linear = linear(3.8, 11.6);
const WHOLE: Linear = linear(3.2, 4.0);
/// What readers of text have in their buffers meanwhile, and what they keep of them.
const TEXT_BUFFERS_ALONE: Buffers = Buffers { edge: 10.0, most: 12.1e6 };
const TEXT_BUFFERS: Buffers = Buffers { edge: 36.5, most: 2.7e6 };
const TEXT_KEPT: Buffers = Buffers { edge: 20.0, most: 11.7e6 };

/// Making rows undirected or simple: bytes per edge that comes out, and per vertex.
const FITTING_ALONE: Linear = linear(11.0, 8.7);
const FITTING: Linear = linear(16.4, 13.2);

/// Sending edges to their owners and numbering them: bytes per edge and per proxy.
const BUILDING: Linear = linear(15.2, 38.1);
/// The same where edges come from text, whose pieces are there until the end; and where each edge is there twice.
const TEXT_BESIDE_BUILDING: f64 = 7.6;
const DOUBLED: f64 = 4.3;
/// Policies that score hosts, and what they know of each proxy meanwhile.
const SCORED: [&str; 3] = ["fennel", "ginger", "sugar"];
const SCORING: f64 = 1.2;

/// What algorithms hold beside their partition.
const STATES: &[State] = &[
    state("bfs", [6.8, 5.9, 0.0], 4.0),
    state("sssp", [9.0, 10.0, 0.0], 4.0),
    state("components", [5.9, 13.6, 0.0], 4.0),
    state("pagerank", [6.5, 52.0, 0.5], 8.0),
    state("kcore", [5.0, 24.0, 0.0], 4.0),
    state("triangles", [12.5, 72.0, 2.0], 4.0),
    state("lcc", [48.7, 0.2, 4.8], 4.0),
    state("betweenness", [10.0, 120.9, 0.5], 8.0),
    state("strongly-connected", [5.9, 38.8, 1.5], 4.0),
    state("label-propagation", [12.5, 95.0, 0.2], 4.0),
    state("matrix-completion", [89.3, 10.9, 0.0], 80.0),
    state("widest-path", [12.3, 9.7, 0.0], 4.0),
    state("hits", [6.0, 66.0, 0.3], 8.0),
    // No algorithm: the partition alone.
    state(PARTITION_ALONE, [0.0, 0.0, 0.0], 4.0),
];

/// The name under which a partition is planned that nothing computes on.
pub const PARTITION_ALONE: &str = "";
/// An algorithm of somebody else's.
const OTHER: State = state("", [8.0, 24.0, 0.0], 8.0);

fn state_of(algorithm: &str) -> &'static State {
    STATES.iter().find(|state| state.algorithm == algorithm).unwrap_or(&OTHER)
}

/// Bytes of a value that hosts exchange.
pub(super) fn value_bytes(algorithm: &str) -> f64 {
    state_of(algorithm).value_bytes
}

/// Bytes of a host while the input becomes rows. All hosts read as much.
fn reading(survey: &Survey, hosts: usize) -> f64 {
    let part = 1.0 / hosts as f64;
    let (listed, vertices) = (survey.listed_edges * part, survey.vertices * part);
    let rows = match (survey.storage, hosts > 1) {
        (Storage::Generated, false) => GENERATED_ALONE.of(listed, vertices),
        (Storage::Generated, true) => GENERATED.of(listed, vertices),
        (Storage::Edges { .. }, false) => {
            TEXT_ALONE.of(listed, vertices) + TEXT_BUFFERS_ALONE.of(listed)
        }
        (Storage::Edges { .. }, true) => TEXT.of(listed, vertices) + TEXT_BUFFERS.of(listed),
        (Storage::Rows { .. }, false) => ROWS_ALONE.of(listed, vertices),
        (Storage::Rows { .. }, true) => ROWS.of(listed, vertices),
        (Storage::Whole, _) => WHOLE.of(listed, vertices),
    };
    rows + (2.0 * survey.weight_bytes as f64 + survey.name_bytes) * listed
}

impl Need {
    /// What a host needs that has this share of a cut, with this replication on all of them, for an
    /// algorithm under a policy.
    pub(super) fn of_host(
        survey: &Survey,
        (share, replication): (&Share, f64),
        (algorithm, policy): (&str, &str),
        hosts: usize,
    ) -> Need {
        let many = hosts > 1;
        let (edges, proxies) = (share.edges as f64, (share.masters + share.mirrors) as f64);
        let part = 1.0 / hosts as f64;
        let (listed, vertices) = (survey.listed_edges * part, survey.vertices * part);
        let weights = survey.weight_bytes as f64;
        let fitting = match (survey.is_changed, many) {
            (false, _) => 0.0,
            (true, false) => FITTING_ALONE.of(edges, vertices),
            (true, true) => FITTING.of(edges, vertices),
        };
        let is_text = matches!(survey.storage, Storage::Edges { .. });
        let is_scored = SCORED.iter().any(|scored| policy.starts_with(scored));
        let is_doubled = policy == "dual" && many && !survey.is_symmetric;
        let building = if many {
            let edge = BUILDING.edge * (1.0 + weights / 4.0)
                + if is_text { TEXT_BESIDE_BUILDING } else { 0.0 }
                + if is_doubled { DOUBLED } else { 0.0 };
            edge * edges + (BUILDING.vertex + if is_scored { SCORING } else { 0.0 }) * proxies
        } else {
            0.0
        };
        let own = state_of(algorithm);
        let kept = match survey.storage {
            Storage::Whole if many => 4.0 * listed,
            Storage::Edges { .. } => TEXT_KEPT.of(survey.listed_edges) * part,
            _ => 0.0,
        };
        let running = share.bytes as f64
            + own.edge * edges
            + own.proxy * proxies
            + own.copied_edge * edges * (replication - 1.0)
            + kept;
        Need { reading: reading(survey, hosts), fitting, building, running }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parton_partition::{Input, Plan};

    #[test]
    fn more_edges_weights_and_hosts_need_more() {
        let need = |spec: &str, algorithm: &str, hosts: usize| {
            let survey = Survey::of(&Input::open(spec).unwrap(), 1 << 20).unwrap();
            let cut = survey.sketch(&Plan::new("oec"), hosts).unwrap();
            let share = |share| (share, cut.replication());
            let needs = cut
                .hosts
                .iter()
                .map(|s| Need::of_host(&survey, share(s), (algorithm, "oec"), hosts));
            needs.map(|need| need.peak()).sum::<f64>()
        };
        assert!(need("uniform:1000,20000", "bfs", 1) > 1.5 * need("uniform:1000,10000", "bfs", 1));
        assert!(need("uniform:9000,90000", "bfs", 4) > need("uniform:9000,90000", "bfs", 1));
        assert!(need("uniform:9000,90000", "lcc", 4) > need("uniform:9000,90000", "bfs", 4));
    }

    /// One host masters the middle of the star, and the others mirror it: neighbourhoods that travel are as many as
    /// edges are, however few masters a host has.
    #[test]
    fn uneven_masters_do_not_multiply_neighbourhoods() {
        let survey = Survey::of(&Input::open("star:20000").unwrap(), 1 << 20).unwrap();
        for policy in ["iec", "cvc", "staggered"] {
            let cut = survey.sketch(&Plan::new(policy), 8).unwrap();
            let need = |share| {
                let of_cut = (share, cut.replication());
                Need::of_host(&survey, of_cut, ("lcc", policy), 8).peak()
            };
            let all: f64 = cut.hosts.iter().map(need).sum();
            assert!(all < 2e3 * 20_000.0, "{policy}: {all}");
        }
    }

    #[test]
    fn every_algorithm_has_a_state_of_its_own() {
        for algorithm in parton_algorithms::ALL {
            assert!(
                STATES.iter().any(|state| state.algorithm == algorithm.name()),
                "{}: measure it with `cargo xtask bench plan` and add it to STATES",
                algorithm.name()
            );
        }
    }
}
