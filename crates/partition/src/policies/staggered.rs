//! LA3's staggered 2D placement. There are as many segments of vertices as hosts, and a tile of edges for each pair
//! of segments. Every host owns as many tiles as any other, and exactly one of them lies on the diagonal. That one's
//! segment is the host's own.
//!
//! With p hosts, let C be the smallest divisor of p not below √p, R = p / C, and L their least common multiple.
//! Segment i belongs to residue class k(i) = (i + ⌊i / L⌋) mod C. The tile of source segment c and destination
//! segment i lives on host (c mod R)·C + k(i).

use parton_net::HostId;

use crate::Result;
use crate::blocks::Blocks;
use crate::grid::Grid;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Row, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "staggered",
    help: "LA3's 2D placement: tiles dealt out so that each host has one on the diagonal",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

struct Staggered {
    /// Blocks in the order of the hosts that own them.
    masters: Masters,
    tiles: Tiles,
    /// For every source's master, the host of each destination's master.
    rows: Vec<Vec<HostId>>,
}

/// The arithmetic of tiles.
#[derive(Clone, Copy)]
struct Tiles {
    /// R and C above.
    rows: usize,
    columns: usize,
    period: usize,
}

impl Tiles {
    fn new(hosts: usize) -> Self {
        // The transposed grid has at least as many columns as rows.
        let Grid { rows: columns, columns: rows } = Grid::best(hosts);
        let divisor = (1..=rows).rev().find(|d| rows % d == 0 && columns % d == 0).unwrap_or(1);
        Tiles { rows, columns, period: rows * columns / divisor }
    }

    fn class(self, segment: usize) -> usize {
        (segment + segment / self.period) % self.columns
    }

    /// The host of the edges from one segment to another.
    fn host(self, source: usize, destination: usize) -> HostId {
        HostId((source % self.rows * self.columns + self.class(destination)) as u16)
    }
}

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let hosts = setup.shares.len();
    let tiles = Tiles::new(hosts);
    // Host h's block comes at place h, so that blocks ascend with the hosts; which segment it is
    // follows from the diagonal.
    let mut segments = vec![0; hosts];
    for segment in 0..hosts {
        segments[tiles.host(segment, segment).index()] = segment;
    }
    let blocks: Blocks = setup.blocks_by_out_edges()?;
    let row = |&source: &usize| segments.iter().map(|&to| tiles.host(source, to)).collect();
    let rows = segments.iter().map(row).collect();
    Ok(Box::new(Staggered { masters: Masters::Blocks(blocks), tiles, rows }))
}

impl Policy for Staggered {
    fn masters(&self) -> &Masters {
        &self.masters
    }

    fn row(&self, master: HostId, _: usize) -> Row<'_> {
        Row::ByDestination(&self.rows[master.index()])
    }

    fn note(&self) -> Option<String> {
        Grid { rows: self.tiles.columns, columns: self.tiles.rows }.note()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_its_share_of_tiles_and_one_on_the_diagonal() {
        for hosts in 1..=60 {
            let tiles = Tiles::new(hosts);
            let mut owned = vec![0; hosts];
            let mut diagonal = vec![0; hosts];
            for source in 0..hosts {
                diagonal[tiles.host(source, source).index()] += 1;
                for destination in 0..hosts {
                    owned[tiles.host(source, destination).index()] += 1;
                }
            }
            assert_eq!(diagonal, vec![1; hosts], "{hosts} hosts");
            assert_eq!(owned, vec![hosts; hosts], "{hosts} hosts");
        }
    }
}
