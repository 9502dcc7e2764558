//! Degrees in the whole graph, of which a host may hold only a part of the edges.

use parton_graph::{Adjacency, LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Result, Substrate};

/// Out-degrees of masters in the whole graph. Every host must call this.
pub fn out_degrees(substrate: &mut Substrate<'_>) -> Result<Vec<u64>> {
    of_masters(substrate, out_degrees_here(substrate.partition()), End::Source)
}

/// In-degrees of masters in the whole graph. Every host must call this.
pub fn in_degrees(substrate: &mut Substrate<'_>) -> Result<Vec<u64>> {
    of_masters(substrate, in_degrees_here(substrate.partition()), End::Destination)
}

/// Sums up what each host has counted at one end of its edges.
fn of_masters(substrate: &mut Substrate<'_>, here: Vec<u64>, end: End) -> Result<Vec<u64>> {
    let partition = substrate.partition();
    if partition.num_hosts() == 1 {
        return Ok(here);
    }
    let mut degrees = CpuField::<Sum<u64>>::accumulator(partition.num_proxies());
    for (proxy, degree) in (0..).map(LocalId).zip(here) {
        if degree > 0 {
            degrees.put(proxy, degree);
            degrees.updated().insert(proxy);
        }
    }
    substrate.reduce(&mut degrees, end)?;
    Ok((0..partition.num_masters() as u32).map(|master| degrees.get(LocalId(master))).collect())
}

/// How many edges leave each proxy on this host.
pub(crate) fn out_degrees_here(partition: &Partition) -> Vec<u64> {
    counted(partition.out_edges_at_hand(), partition)
}

/// How many edges lead to each proxy on this host.
pub(crate) fn in_degrees_here(partition: &Partition) -> Vec<u64> {
    counted(partition.in_edges_at_hand(), partition)
}

/// The lengths of rows, if they are at hand; else the ends are counted, which is cheaper than transposing.
fn counted(rows: Option<&Adjacency>, partition: &Partition) -> Vec<u64> {
    if let Some(rows) = rows {
        let offsets = rows.offsets();
        return parallel::generate(offsets.len() - 1, |row| offsets[row + 1] - offsets[row]);
    }
    let mut counts = vec![0; partition.num_proxies()];
    partition.edges().all_targets().iter().for_each(|end| counts[end.index()] += 1);
    counts
}
