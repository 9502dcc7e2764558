//! Degrees in the whole graph, of which a host may hold only a part of the edges.

use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::{Adjacency, LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Result, Substrate};

/// Of this many edges in a row,
const EDGES_PER_SAMPLE: usize = 1 << 7;
/// an estimate looks at the first few: those of a cache line.
const SAMPLED_EDGES: usize = 1 << 4;

/// Out-degrees of masters in the whole graph. Every host must call this.
pub fn out_degrees(substrate: &mut Substrate<'_>) -> Result<Vec<u64>> {
    of_masters(substrate, out_degrees_here(substrate.partition()), End::Source)
}

/// Degrees of masters in the whole graph, by local id.
pub enum Degrees<'a> {
    /// Those of rows that start and end at these offsets.
    Rows(&'a [u64]),
    /// Degrees that hosts have summed up.
    Counted(Vec<u64>),
}

impl Degrees<'_> {
    /// The degree of a master.
    #[inline]
    pub fn of(&self, master: usize) -> u64 {
        match self {
            Degrees::Rows(offsets) => offsets[master + 1] - offsets[master],
            Degrees::Counted(degrees) => degrees[master],
        }
    }
}

/// As [`out_degrees`], without a table of them where rows tell. Every host must call this.
pub fn out_degrees_at_hand<'a>(substrate: &mut Substrate<'a>) -> Result<Degrees<'a>> {
    let partition = substrate.partition();
    match partition.out_edges_at_hand() {
        Some(rows) if partition.num_hosts() == 1 => Ok(Degrees::Rows(rows.offsets())),
        _ => Ok(Degrees::Counted(out_degrees(substrate)?)),
    }
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
    parallel::for_each_index(here.len(), |proxy| {
        let (proxy, degree) = (LocalId(proxy as u32), here[proxy]);
        if degree > 0 {
            degrees.put(proxy, degree);
            degrees.updated().insert(proxy);
        }
    });
    substrate.reduce(&mut degrees, end)?;
    Ok(parallel::generate(partition.num_masters(), |master| degrees.get(LocalId(master as u32))))
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
    let (ends, proxies) = (partition.edges().all_targets(), partition.num_proxies());
    if rayon::current_num_threads() == 1 {
        let mut counts = vec![0; proxies];
        ends.iter().for_each(|end| counts[end.index()] += 1);
        return counts;
    }
    let counts = parallel::generate(proxies, |_| AtomicU64::new(0));
    parallel::for_each_index(ends.len(), |edge| {
        counts[ends[edge].index()].fetch_add(1, Ordering::Relaxed);
    });
    parallel::generate(proxies, |proxy| counts[proxy].load(Ordering::Relaxed))
}

/// About how many of these rows' edges lead to each proxy, from a sample of them; never 0.
pub(crate) fn estimate_ends(rows: &Adjacency, proxies: usize) -> Vec<u64> {
    let (ends, counts) = (rows.all_targets(), parallel::generate(proxies, |_| AtomicU64::new(1)));
    parallel::for_each_index(ends.len().div_ceil(EDGES_PER_SAMPLE), |sample| {
        let start = sample * EDGES_PER_SAMPLE;
        for end in ends[start..].iter().take(SAMPLED_EDGES) {
            let edges = (EDGES_PER_SAMPLE / SAMPLED_EDGES) as u64;
            counts[end.index()].fetch_add(edges, Ordering::Relaxed);
        }
    });
    parallel::generate(proxies, |proxy| counts[proxy].load(Ordering::Relaxed))
}
