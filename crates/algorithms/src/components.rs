//! Weakly connected components: which vertices a path joins, whichever way its edges point.
//!
//! Every vertex is labelled with the least vertex of its component.

use parton_engine::{Edges, EngineInfo, Relaxation, Vertex, device, engines};
use parton_graph::{Graph, LocalId, with_csr};
use parton_sync::reduction::Min;
use rayon::prelude::*;

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Values};
use crate::certificate;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::traversal;

/// Weakly connected components.
pub struct Components;

/// The least vertex of every component.
pub struct Least {
    /// Whether every edge is there in both directions.
    pub symmetric: bool,
}

#[device]
impl Relaxation for Least {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        Some(vertex.id().0 as u32)
    }

    #[inline]
    fn relax(&self, label: u32, (): ()) -> u32 {
        label
    }

    fn passes_unchanged(&self) -> bool {
        true
    }

    fn edges(&self) -> Edges {
        if self.symmetric { Edges::Out } else { Edges::Both }
    }
}

impl Algorithm for Components {
    fn name(&self) -> &'static str {
        "components"
    }

    fn about(&self) -> &'static str {
        "weakly connected components: the least vertex that a path joins, edges taken either way"
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[engines::PUSH, engines::FRONTIER, engines::PULL, engines::SPMV, engines::UNION]
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        None
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let program = Least { symmetric: job.substrate.partition().is_symmetric() };
        let is_mixed = job.has_mixed_hosts()?;
        if is_mixed && job.options.engine == Some(engines::UNION) {
            return Err(Error::Request(
                "engine union runs where all hosts have a device, or none has: processors tell each \
                 other more than labels"
                    .into(),
            ));
        }
        let suits = if is_mixed { engines::PUSH } else { engines::UNION };
        let (engine, why) = job.engine(self, suits, || {
            let degree = job.average_degree();
            format!("edges pass labels on as they are, average degree {degree:.1}")
        })?;
        let labelled = traversal::label(job, &program, engine)?;
        let result = sizes(job, &labelled.labels)?;
        Ok(Answer { result, ..labelled.answer((engine, why), "component", Values::Vertices) })
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::Vertices(labels) = &answer.columns[0].values else {
            unreachable!("components are named by vertices")
        };
        certificate::relaxation(
            job,
            &Least { symmetric: job.substrate.partition().is_symmetric() },
            labels,
        )
    }

    fn reference(&self, graph: &Graph, _: &Options) -> Result<Vec<Column>> {
        let mut parents: Vec<u32> = (0..graph.num_vertices() as u32).collect();
        with_csr!(&graph.adjacency, csr => {
            for source in csr.vertices() {
                for &LocalId(target) in csr.targets(source) {
                    let (a, b) = (find(&mut parents, source.0), find(&mut parents, target));
                    parents[a.max(b) as usize] = a.min(b);
                }
            }
        });
        let labels = (0..parents.len() as u32).map(|vertex| find(&mut parents, vertex)).collect();
        Ok(vec![Column { name: "component", values: Values::Vertices(labels) }])
    }
}

/// The representative of a vertex's set; halves the path to it.
fn find(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        parents[vertex as usize] = parents[parents[vertex as usize] as usize];
        vertex = parents[vertex as usize];
    }
    vertex
}

/// How many components there are and how large the largest is. Every label is counted on the host
/// its number falls to, so that no host sees them all. Every host must call this.
pub(crate) fn sizes(job: &mut Job<'_, '_>, labels: &[u32]) -> Result<Vec<(&'static str, Fact)>> {
    let hosts = job.substrate.partition().num_hosts();
    let mut sorted = labels.to_vec();
    sorted.par_sort_unstable();
    let mut batches: Vec<Vec<u8>> = vec![Vec::new(); hosts];
    for run in sorted.chunk_by(|a, b| a == b) {
        let batch = &mut batches[run[0] as usize % hosts];
        batch.extend_from_slice(bytemuck::bytes_of(&[u64::from(run[0]), run.len() as u64]));
    }
    let net = job.substrate.net();
    let batches = net.all_to_all(batches)?;
    let counted = batches.iter().map(|batch| bytemuck::pod_collect_to_vec::<u8, [u64; 2]>(batch));
    let mut counts = counted.collect::<Vec<_>>().concat();
    // One host's are sorted already.
    counts.par_sort_by_key(|[label, _]| *label);
    let mut mine = [0, 0];
    for parts in counts.chunk_by(|a, b| a[0] == b[0]) {
        let size = parts.iter().map(|[_, count]| count).sum::<u64>();
        mine = [mine[0] + 1, mine[1].max(size)];
    }
    let [count, largest] = net.all_reduce(mine, |a, b| [a[0] + b[0], a[1].max(b[1])])?;
    Ok(vec![("count", Fact::Integer(count)), ("largest", Fact::Integer(largest))])
}
