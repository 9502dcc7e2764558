//! Cartesian vertex cut: hosts as a grid; an edge lives in the row of its source's master and the
//! column of its destination's.
//!
//! A vertex then has mirrors only in its master's row and column: a host talks to the peers of its
//! own row and column alone.

use parton_net::HostId;

use crate::Result;
use crate::grid::Grid;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Row, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "cvc",
    help: "Cartesian vertex cut: a grid of hosts, row by source and column by destination",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

/// Rows by source, columns by destination.
pub(super) struct Cartesian {
    masters: Masters,
    grid: Grid,
    /// For every row of the grid, the host of each column's masters.
    rows: Vec<Vec<HostId>>,
}

impl Cartesian {
    pub(super) fn new(masters: Masters, hosts: usize) -> Self {
        let grid = Grid::best(hosts);
        let row = |row| HostId::all(hosts).map(|host| grid.at(row, grid.column(host))).collect();
        Cartesian { masters, grid, rows: (0..grid.rows).map(row).collect() }
    }
}

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = Masters::Blocks(setup.blocks_by_out_edges()?);
    Ok(Box::new(Cartesian::new(masters, setup.shares.len())))
}

impl Policy for Cartesian {
    fn masters(&self) -> &Masters {
        &self.masters
    }

    fn row(&self, master: HostId, _: usize) -> Row<'_> {
        Row::ByDestination(&self.rows[self.grid.row(master)])
    }

    fn note(&self) -> Option<String> {
        self.grid.note()
    }
}
