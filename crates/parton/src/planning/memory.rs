//! The model of memory: what a host holds in each stage of a run.
//!
//! A host reads its share, makes it fit, cuts it, and computes; stages hold little in common, so the peak is that
//! of the greatest. Each stage is linear in edges and proxies. Sizes of arrays that are kept are counted; other
//! memory of a stage (buffers of messages, buckets, lists of vertices) was fitted to measured peaks, which
//! `cargo xtask bench plan` measures again. An algorithm states its own memory
//! ([`Algorithm::memory_use`](parton_algorithms::Algorithm::memory_use)).

use parton_algorithms::MemoryUse;
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

/// Bytes per edge and per vertex, and some that are there in any case.
#[derive(Clone, Copy)]
struct Linear {
    edge: f64,
    vertex: f64,
    fixed: f64,
}

const fn linear(edge: f64, vertex: f64, fixed: f64) -> Linear {
    Linear { edge, vertex, fixed }
}

impl Linear {
    fn of(self, edges: f64, vertices: f64) -> f64 {
        self.edge * edges + self.vertex * vertices + self.fixed
    }
}

/// A process without a graph, and each further host and thread in it.
const PROCESS: f64 = 13.7e6;
const HOST: f64 = 0.3e6;
const THREAD: f64 = 0.06e6;

/// Reading, by where the input is and whether one host is alone: bytes per listed edge and per vertex.
const GENERATED_ALONE: Linear = linear(5.7, 11.1, 0.0);
const GENERATED: Linear = linear(8.0, 7.7, 0.0);
const TEXT_ALONE: Linear = linear(34.8, 0.0, 12.1e6);
const TEXT: Linear = linear(46.2, 11.7, 2.7e6);
const ROWS_ALONE: Linear = linear(4.6, 11.2, 0.0);
const ROWS: Linear = linear(3.8, 11.6, 0.0);
const WHOLE: Linear = linear(3.2, 4.0, 0.0);
/// What readers of text keep of their buffers.
const TEXT_KEPT: f64 = 11.7e6;

/// Making rows undirected or simple: bytes per edge that comes out, and per vertex.
const FITTING_ALONE: Linear = linear(12.3, 8.7, 0.0);
const FITTING: Linear = linear(30.0, 13.1, 0.0);

/// Sending edges to their owners and numbering them: bytes per edge and per proxy.
const BUILDING: Linear = linear(14.0, 45.8, 0.0);
/// The same where edges come from text, whose pieces are there until the end; and where each edge is there twice.
const TEXT_BESIDE_BUILDING: f64 = 7.5;
const DOUBLED: f64 = 17.6;
/// Policies that score hosts, and what they know of vertices meanwhile.
const SCORED: [&str; 3] = ["fennel", "ginger", "sugar"];
const SCORING: Linear = linear(0.0, 14.9, 0.0);

/// Bytes of a process with this many hosts and threads, apart from what hosts need for a graph.
pub(super) fn process(hosts: usize, threads: usize) -> f64 {
    PROCESS + HOST * (hosts - 1) as f64 + THREAD * threads as f64
}

impl Need {
    /// What a host needs that has this share of a cut, for an algorithm that holds this of its own, under a policy.
    pub(super) fn of_host(
        survey: &Survey,
        share: &Share,
        (own, policy): (MemoryUse, &str),
        hosts: usize,
    ) -> Need {
        let many = hosts > 1;
        let (edges, proxies) = (share.edges as f64, (share.masters + share.mirrors) as f64);
        // All hosts read as much.
        let part = 1.0 / hosts as f64;
        let (listed, vertices) = (survey.listed_edges * part, survey.vertices * part);
        let weights = survey.weight_bytes as f64;
        let reading = match (survey.storage, many) {
            (Storage::Generated, false) => GENERATED_ALONE.of(listed, vertices),
            (Storage::Generated, true) => GENERATED.of(listed, vertices),
            (Storage::Edges { .. }, false) => TEXT_ALONE.of(listed, vertices),
            (Storage::Edges { .. }, true) => TEXT.of(listed, vertices),
            (Storage::Rows { .. }, false) => ROWS_ALONE.of(listed, vertices),
            (Storage::Rows { .. }, true) => ROWS.of(listed, vertices),
            (Storage::Whole, _) => WHOLE.of(listed, vertices),
        };
        let reading = reading + (2.0 * weights + survey.name_bytes) * listed;
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
            let scored = if is_scored { SCORING.of(edges, proxies) } else { 0.0 };
            edge * edges + BUILDING.vertex * proxies + scored
        } else {
            0.0
        };
        let copies = (share.masters + share.mirrors) as f64 / share.masters.max(1) as f64 - 1.0;
        let kept = if survey.storage == Storage::Whole && many { 4.0 * listed } else { 0.0 };
        let running = share.bytes as f64
            + own.edge * edges
            + own.proxy * proxies
            + own.copied_edge * edges * copies
            + if is_text { TEXT_KEPT * part } else { 0.0 }
            + kept;
        Need { reading, fitting, building, running }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parton_partition::{Input, Plan};

    #[test]
    fn more_edges_weights_and_hosts_need_more() {
        let need = |spec: &str, algorithm: &str, hosts: usize| {
            let own = parton_algorithms::by_name(algorithm).unwrap().memory_use();
            let survey = Survey::of(&Input::open(spec).unwrap(), 1 << 20).unwrap();
            let cut = survey.sketch(&Plan::new("oec"), hosts).unwrap();
            let needs = cut.hosts.iter().map(|s| Need::of_host(&survey, s, (own, "oec"), hosts));
            needs.map(|need| need.peak()).sum::<f64>()
        };
        assert!(need("uniform:1000,20000", "bfs", 1) > 1.5 * need("uniform:1000,10000", "bfs", 1));
        assert!(need("uniform:9000,90000", "bfs", 4) > need("uniform:9000,90000", "bfs", 1));
        assert!(need("uniform:9000,90000", "lcc", 4) > need("uniform:9000,90000", "bfs", 4));
    }
}
