//! The ranking that is part of the result.

use parton_graph::{LocalId, parallel};

use crate::algorithm::Job;
use crate::answer::Id;
use crate::error::Result;
use crate::root::share;

/// Number of vertices in the ranking that is part of the result.
const TOP: usize = 10;
/// Ranks that a thread compares at a time.
const RANKS_PER_TASK: usize = 1 << 16;

/// The vertices of largest rank, the lower id first among equals. Every host must call this.
pub(super) fn top(job: &mut Job<'_, '_>, ranks: &[f64]) -> Result<Vec<(Id, f64)>> {
    let partition = job.substrate.partition();
    let better = |a: &(f64, u64), b: &(f64, u64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let key = |&place: &u32| (ranks[place as usize], partition.global(LocalId(place)).0);
    let keep_best = |mut places: Vec<u32>| {
        if places.len() > TOP {
            places.select_nth_unstable_by(TOP, |a, b| better(&key(a), &key(b)));
            places.truncate(TOP);
        }
        places
    };
    let pieces = parallel::pieces(0..ranks.len(), RANKS_PER_TASK);
    let best_of_pieces = parallel::map(&pieces, |piece| {
        keep_best(piece.clone().map(|place| place as u32).collect())
    });
    let mine = keep_best(best_of_pieces.concat());
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
