//! Weakly connected components: which vertices a path joins, whichever way its edges point.
//!
//! Every vertex is labelled with the least vertex of its component.

use parton_net::Net;
use parton_program::{Field, FieldValues, Graph, program};
use rayon::prelude::*;

use crate::algorithm::Job;
use crate::answer::{Answer, Fact, Meanings, Values};
use crate::error::Result;
use crate::memory_use::MemoryUse;

/// The least vertex of every component.
#[program(crate = parton_program)]
pub fn least(graph: &Graph<()>) -> Field<u32> {
    let mut component = graph.field_with(|v| v.id());
    loop {
        let mut changed = false;
        for v in graph.vertices() {
            for edge in graph.edges(v) {
                changed |= component.lower(edge.target, component[v]);
            }
        }
        if !changed {
            break;
        }
    }
    component
}

crate::compiled! {
    /// weakly connected components: the least vertex that a path joins, edges taken either way
    pub struct Components = least as "components" -> ["component"];
    with {
        const MEMORY_USE: MemoryUse = MemoryUse::new(5.9, 13.6, 4.0);
        const ALIASES: &'static [&'static str] = &["cc", "wcc"];
        const MEANINGS: Meanings = COMPONENTS;

        fn values(values: FieldValues) -> Values {
            match values {
                FieldValues::U32(labels) => Values::Vertices(labels),
                _ => unreachable!("components are named by vertices"),
            }
        }

        fn finish(job: &mut Job<'_, '_>, (): &(), answer: &mut Answer) -> Result<()> {
            let Values::Vertices(labels) = &answer.columns[0].values else { return Ok(()) };
            answer.result = sizes(job, labels)?;
            Ok(())
        }
    }
}

/// What the facts about components mean.
pub(crate) const COMPONENTS: Meanings =
    &[("count", "components"), ("largest", "vertices of the largest component")];

/// How many vertices have the same label, for the labels that this host counts. Every label is counted on
/// the host its number falls to, so that no host sees them all. Every host must call this.
pub fn sizes_by_label(net: &mut Net, labels: &[u32]) -> parton_net::Result<Vec<u64>> {
    let hosts = net.num_hosts();
    let mut sorted = labels.to_vec();
    sorted.par_sort_unstable();
    let mut batches: Vec<Vec<u8>> = vec![Vec::new(); hosts];
    for run in sorted.chunk_by(|a, b| a == b) {
        let batch = &mut batches[run[0] as usize % hosts];
        batch.extend_from_slice(bytemuck::bytes_of(&[u64::from(run[0]), run.len() as u64]));
    }
    let batches = net.all_to_all(batches)?;
    let counted = batches.iter().map(|batch| bytemuck::pod_collect_to_vec::<u8, [u64; 2]>(batch));
    let mut counts = counted.collect::<Vec<_>>().concat();
    // One host's are sorted already.
    counts.par_sort_by_key(|[label, _]| *label);
    let size = |parts: &[[u64; 2]]| parts.iter().map(|[_, count]| count).sum();
    Ok(counts.chunk_by(|a, b| a[0] == b[0]).map(size).collect())
}

/// How many components there are and how large the largest is. Every host must call this.
pub(crate) fn sizes(job: &mut Job<'_, '_>, labels: &[u32]) -> Result<Vec<(&'static str, Fact)>> {
    let net = job.substrate.net();
    let sizes = sizes_by_label(net, labels)?;
    let mine = [sizes.len() as u64, sizes.iter().copied().max().unwrap_or(0)];
    let [count, largest] = net.all_reduce(mine, |a, b| [a[0] + b[0], a[1].max(b[1])])?;
    Ok(vec![("count", Fact::Integer(count)), ("largest", Fact::Integer(largest))])
}
