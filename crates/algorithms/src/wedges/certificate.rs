//! A check of counts by definition: every edge is tested for whether it joins neighbours of a vertex.
//!
//! One pass over all edges checks 64 vertices, each of which has a bit. Every vertex gets the bits of its
//! neighbours among them, and an edge closes a wedge of each vertex whose bit both its ends have. The
//! check shares nothing with the way counts were computed, and needs no edges moved. In a graph of up
//! to 1024 vertices all are checked. In a larger one, those with the greatest counts and a random
//! sample are checked; of the rest only the sum of all counts is.

use std::collections::HashMap;

use parton_graph::LocalId;
use parton_partition::End;
use parton_sync::reduction::Or;
use parton_sync::{CpuField, Delivery};
use rayon::prelude::*;

use crate::algorithm::Job;
use crate::error::Result;

/// Vertices that one pass over all edges checks.
const VERTICES_PER_PASS: usize = 64;
/// Passes over all edges, at most.
const MAX_PASSES: usize = 16;

/// A vertex whose count is to be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Claim {
    /// Edges between its neighbours, every direction counted.
    closed: u64,
    /// Its number in the whole graph.
    vertex: u32,
    /// Number of neighbours.
    degree: u32,
}

/// How many of the checked vertices have another count than these. Every host must call
/// this with the counts and degrees of its masters.
pub(crate) fn wrong(job: &mut Job<'_, '_>, closed: &[u64], degrees: &[u32]) -> Result<u64> {
    let claims = choose(job, closed, degrees)?;
    let mut wrong = 0;
    for claims in claims.chunks(VERTICES_PER_PASS) {
        let proved = prove(job, claims)?;
        let differs = |(claim, proved): &(&Claim, [u64; 2])| {
            [claim.closed, u64::from(claim.degree)] != *proved
        };
        wrong += claims.iter().zip(proved).filter(differs).count() as u64;
    }
    Ok(wrong)
}

/// The vertices to look at, the same on all hosts.
fn choose(job: &mut Job<'_, '_>, closed: &[u64], degrees: &[u32]) -> Result<Vec<Claim>> {
    let partition = job.substrate.partition();
    let claim = |master: usize| Claim {
        closed: closed[master],
        vertex: partition.globals()[master],
        degree: degrees[master],
    };
    let mixed = |claim: &Claim| claim.vertex.wrapping_mul(0x9e37_79b1).reverse_bits();
    let mut all: Vec<Claim> = (0..closed.len()).into_par_iter().map(claim).collect();
    let most = VERTICES_PER_PASS * MAX_PASSES;
    all.par_sort_unstable_by_key(|claim| (std::cmp::Reverse(claim.closed), claim.vertex));
    let top = all.len().min(most / 2);
    all[top..].par_sort_unstable_by_key(mixed);
    all.truncate(most);
    // Every host's share of either kind.
    let all = job.substrate.net().all_gather(bytemuck::cast_slice(&all).to_vec())?;
    let mut all: Vec<Claim> =
        all.iter().flat_map(|claims| bytemuck::pod_collect_to_vec::<u8, Claim>(claims)).collect();
    all.sort_unstable_by_key(|claim| (std::cmp::Reverse(claim.closed), claim.vertex));
    let top = all.len().min(most / 2);
    all[top..].sort_unstable_by_key(mixed);
    all.truncate(most);
    Ok(all)
}

/// Edges between neighbours of some vertices, and the number of neighbours.
fn prove(job: &mut Job<'_, '_>, claims: &[Claim]) -> Result<Vec<[u64; 2]>> {
    let partition = job.substrate.partition();
    let out_edges = partition.out_edges();
    let (offsets, targets) = (out_edges.offsets(), out_edges.all_targets());
    let row = |proxy: LocalId| {
        &targets[offsets[proxy.index()] as usize..offsets[proxy.index() + 1] as usize]
    };
    let bits: HashMap<u32, u64> =
        claims.iter().zip(0..).map(|(claim, bit)| (claim.vertex, 1 << bit)).collect();
    let mut near = CpuField::<Or<u64>>::new(partition.num_proxies(), Delivery::Label, |_| 0);
    let proxies = || (0..partition.num_proxies() as u32).into_par_iter().map(LocalId);
    let bit = |proxy: LocalId| bits.get(&partition.globals()[proxy.index()]).copied();
    let mark = |proxy: LocalId, bits: u64| {
        if near.fold(proxy, bits) {
            near.update(proxy);
        }
    };
    proxies().for_each(|source| {
        let own = bit(source);
        for &target in row(source) {
            own.into_iter().for_each(|bit| mark(target, bit));
            if !partition.is_symmetric() {
                bit(target).into_iter().for_each(|bit| mark(source, bit));
            }
        }
    });
    job.substrate.sync(&mut near, End::Either, End::Either)?;
    let mut found = vec![[0; 2]; claims.len()];
    let add = |found: &mut Vec<[u64; 2]>, mut bits: u64, which: usize| {
        while bits != 0 {
            found[bits.trailing_zeros() as usize][which] += 1;
            bits &= bits - 1;
        }
    };
    let of_edges = proxies().fold(
        || found.clone(),
        |mut found, source| {
            let own = near.get(source);
            if own != 0 {
                row(source).iter().for_each(|&target| add(&mut found, own & near.get(target), 0));
            }
            found
        },
    );
    let sum = |mut a: Vec<[u64; 2]>, b: Vec<[u64; 2]>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = [a[0] + b[0], a[1] + b[1]]);
        a
    };
    found = of_edges.reduce(|| vec![[0; 2]; claims.len()], sum);
    for master in (0..partition.num_masters() as u32).map(LocalId) {
        add(&mut found, near.get(master), 1);
    }
    job.substrate.net().all_reduce_slice(&mut found, |a, b| [a[0] + b[0], a[1] + b[1]])?;
    Ok(found)
}
