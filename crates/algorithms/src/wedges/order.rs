//! The degree order of a host's proxies: the vertices with most neighbours first.

use std::cmp::Reverse;

use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Result, Substrate};
use rayon::prelude::*;

/// The position of a proxy that is left out.
pub(super) const NO_POSITION: u32 = u32::MAX;

/// The proxies of a host in an order that all hosts agree on. Those with fewer than two neighbours
/// are in no triangle and left out.
#[derive(Default)]
pub(super) struct DegreeOrder {
    /// The proxy at each position.
    proxies: Vec<u32>,
    /// The position of each proxy.
    positions: Vec<u32>,
}

impl DegreeOrder {
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
        let mut positions = vec![NO_POSITION; partition.num_proxies()];
        for (&(_, _, proxy), position) in keyed.iter().zip(0..) {
            positions[proxy as usize] = position;
        }
        Ok(DegreeOrder {
            proxies: keyed.into_par_iter().map(|(_, _, proxy)| proxy).collect(),
            positions,
        })
    }

    /// Number of proxies in order.
    pub(super) fn len(&self) -> usize {
        self.proxies.len()
    }

    /// The proxies in order.
    pub(super) fn proxies(&self) -> &[u32] {
        &self.proxies
    }

    /// The position of a proxy; [`NO_POSITION`] if it is left out.
    #[inline]
    pub(super) fn position(&self, proxy: LocalId) -> u32 {
        self.positions[proxy.index()]
    }
}
