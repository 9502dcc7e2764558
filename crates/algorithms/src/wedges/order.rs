//! The order of a host's vertices: those with most neighbours first, whatever host they are on.

use std::cmp::Reverse;

use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Result, Substrate};
use rayon::prelude::*;

/// In the place of a proxy's number where it has none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The proxies of a host in an order that all hosts agree on. Those with fewer than two neighbours
/// are in no triangle and left out.
#[derive(Default)]
pub(super) struct Order {
    /// In order.
    proxies: Vec<u32>,
    /// Where each proxy stands.
    ranks: Vec<u32>,
}

impl Order {
    /// Every host must call this.
    pub(super) fn new(partition: &Partition, substrate: &mut Substrate<'_>) -> Result<Self> {
        let offsets = partition.out_edges().offsets();
        let masters = partition.num_masters();
        let mut degrees =
            CpuField::<Latest<u32>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
                match proxy.index() < masters {
                    true => (offsets[proxy.index() + 1] - offsets[proxy.index()]) as u32,
                    false => 0,
                }
            });
        if partition.num_hosts() > 1 {
            degrees.updated().insert_range(0..masters as u32);
            substrate.broadcast(&mut degrees, End::Destination)?;
        }
        let globals = partition.globals();
        let all = (0..partition.num_proxies() as u32).into_par_iter();
        let mut keyed: Vec<(Reverse<u32>, u32, u32)> = all
            .filter_map(|proxy| {
                let degree = degrees.get(LocalId(proxy));
                (degree > 1).then(|| (Reverse(degree), globals[proxy as usize], proxy))
            })
            .collect();
        keyed.par_sort_unstable();
        let mut ranks = vec![NOWHERE; partition.num_proxies()];
        for (&(_, _, proxy), rank) in keyed.iter().zip(0..) {
            ranks[proxy as usize] = rank;
        }
        Ok(Order { proxies: keyed.into_par_iter().map(|(_, _, proxy)| proxy).collect(), ranks })
    }

    /// Number of proxies in order.
    pub(super) fn len(&self) -> usize {
        self.proxies.len()
    }

    /// The proxies in order.
    pub(super) fn proxies(&self) -> &[u32] {
        &self.proxies
    }

    /// Where a proxy stands; [`NOWHERE`] if it is left out.
    #[inline]
    pub(super) fn rank(&self, proxy: LocalId) -> u32 {
        self.ranks[proxy.index()]
    }
}
