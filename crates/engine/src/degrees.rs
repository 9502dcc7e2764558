//! Degrees in the whole graph, of which a host may hold only a part of the edges.

use parton_graph::LocalId;
use parton_partition::End;
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Result, Substrate};
use rayon::prelude::*;

/// Out-degrees of masters. Every host must call this.
pub fn out_degrees(substrate: &mut Substrate<'_>) -> Result<Vec<u64>> {
    let partition = substrate.partition();
    let offsets = partition.out_edges().offsets();
    if partition.num_hosts() == 1 {
        return Ok(offsets.par_windows(2).map(|ends| ends[1] - ends[0]).collect());
    }
    let mut degrees = CpuField::<Sum<u64>>::accumulator(partition.num_proxies());
    for proxy in (0..partition.num_proxies() as u32).map(LocalId) {
        let degree = offsets[proxy.index() + 1] - offsets[proxy.index()];
        if degree > 0 {
            degrees.put(proxy, degree);
            degrees.updated().insert(proxy);
        }
    }
    substrate.reduce(&mut degrees, End::Source)?;
    Ok((0..partition.num_masters() as u32).map(|master| degrees.get(LocalId(master))).collect())
}
