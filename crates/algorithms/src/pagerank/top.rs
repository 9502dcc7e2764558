//! The ranking that is part of the result.

use parton_graph::LocalId;

use crate::algorithm::Job;
use crate::answer::Id;
use crate::error::Result;
use crate::root::share;

/// Number of vertices in the ranking that is part of the result.
const TOP: usize = 10;

/// The vertices of largest rank, the lower id first among equals. Every host must call this.
pub(super) fn top(job: &mut Job<'_, '_>, ranks: &[f64]) -> Result<Vec<(Id, f64)>> {
    let partition = job.substrate.partition();
    let mut mine: Vec<u32> = (0..ranks.len() as u32).collect();
    let better = |a: &(f64, u64), b: &(f64, u64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let key = |&place: &u32| (ranks[place as usize], partition.global(LocalId(place)).0);
    if mine.len() > TOP {
        mine.select_nth_unstable_by(TOP, |a, b| better(&key(a), &key(b)));
        mine.truncate(TOP);
    }
    let ids: Vec<Id> = mine.iter().map(|&p| partition.original(LocalId(p)).into()).collect();
    let keys: Vec<u8> = mine
        .iter()
        .flat_map(|place| {
            let (rank, vertex) = key(place);
            [rank.to_le_bytes(), vertex.to_le_bytes()].concat()
        })
        .collect();
    let ids = share(job.substrate, &ids)?;
    let keys = job.substrate.net().all_gather(keys)?.concat();
    let keys = keys.chunks_exact(16).map(|key| {
        (bytemuck::pod_read_unaligned(&key[..8]), bytemuck::pod_read_unaligned(&key[8..]))
    });
    let mut all: Vec<((f64, u64), Id)> = keys.zip(ids).collect();
    all.sort_by(|a, b| better(&a.0, &b.0));
    all.truncate(TOP);
    Ok(all.into_iter().map(|((rank, _), id)| (id, rank)).collect())
}
