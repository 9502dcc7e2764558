//! Which vertices are sources, which are destinations, and over how many hosts their edges are spread.

use parton_graph::LocalId;
use parton_partition::End;
use parton_sync::reduction::Sum;
use parton_sync::value::Number;
use parton_sync::{CpuField, Result, Substrate};

use super::degrees::{in_degrees_here, out_degrees_here};

/// Edges of the whole graph at every proxy of a host.
pub struct Sides {
    /// Number of a proxy's edges that are on this host.
    here: Vec<u64>,
    outs: Vec<u64>,
    ins: Vec<u64>,
    /// Sum of the squares of each host's number of a vertex's edges.
    squares: Vec<f64>,
}

/// On which side of edges a vertex is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has out-edges only.
    Source,
    /// It has in-edges only.
    Destination,
    /// It has both.
    Both,
    /// It has no edges.
    Neither,
}

impl Sides {
    /// Counts the edges of all hosts. Every host must call this.
    pub fn find(substrate: &mut Substrate<'_>) -> Result<Self> {
        let partition = substrate.partition();
        let (outs, ins) = (out_degrees_here(partition), in_degrees_here(partition));
        let here: Vec<u64> = outs.iter().zip(&ins).map(|(outs, ins)| outs + ins).collect();
        let squares: Vec<f64> = here.iter().map(|&here| (here as f64).powi(2)).collect();
        Ok(Sides {
            here,
            outs: of_all_hosts(substrate, outs)?,
            ins: of_all_hosts(substrate, ins)?,
            squares: of_all_hosts(substrate, squares)?,
        })
    }

    /// The side of a vertex in the whole graph.
    pub fn of(&self, proxy: LocalId) -> Side {
        match (self.outs[proxy.index()], self.ins[proxy.index()]) {
            (0, 0) => Side::Neither,
            (_, 0) => Side::Source,
            (0, _) => Side::Destination,
            _ => Side::Both,
        }
    }

    /// The share of a vertex's edges that are on this host.
    pub(crate) fn share(&self, proxy: LocalId) -> f64 {
        self.here[proxy.index()] as f64 / self.edges(proxy).max(1.0)
    }

    /// The number of hosts over which a vertex's edges are spread, as if each had equally many.
    pub(crate) fn spread(&self, proxy: LocalId) -> f64 {
        match self.squares[proxy.index()] {
            0.0 => 1.0,
            squares => self.edges(proxy).powi(2) / squares,
        }
    }

    fn edges(&self, proxy: LocalId) -> f64 {
        (self.outs[proxy.index()] + self.ins[proxy.index()]) as f64
    }
}

/// The sum of what all hosts counted for a vertex, at each of its proxies.
fn of_all_hosts<T: Number>(substrate: &mut Substrate<'_>, here: Vec<T>) -> Result<Vec<T>> {
    let partition = substrate.partition();
    if partition.num_hosts() == 1 {
        return Ok(here);
    }
    let proxies = partition.num_proxies();
    let mut counts = CpuField::<Sum<T>>::accumulator(proxies);
    for (proxy, &count) in (0..proxies as u32).map(LocalId).zip(&here) {
        counts.put(proxy, count);
    }
    counts.updated().insert_range(0..proxies as u32);
    substrate.sync(&mut counts, End::Either, End::Either)?;
    Ok((0..proxies as u32).map(|proxy| counts.get(LocalId(proxy))).collect())
}
