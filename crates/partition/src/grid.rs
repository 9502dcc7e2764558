//! Hosts as a grid, for policies that cut edges in two dimensions.

use parton_net::HostId;

/// `rows` × `columns` hosts; host `h` stands in row `h / columns`, column `h % columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Grid {
    /// The most square grid of exactly `hosts` hosts, with at least as many rows as columns.
    pub fn best(hosts: usize) -> Self {
        let columns =
            (1..=hosts).take_while(|c| c * c <= hosts).filter(|c| hosts.is_multiple_of(*c)).last();
        let columns = columns.unwrap_or(1);
        Grid { rows: hosts / columns, columns }
    }

    /// The host in a row and a column.
    pub fn at(self, row: usize, column: usize) -> HostId {
        HostId((row * self.columns + column) as u16)
    }

    /// The row of a host.
    pub fn row(self, host: HostId) -> usize {
        host.index() / self.columns
    }

    /// The column of a host.
    pub fn column(self, host: HostId) -> usize {
        host.index() % self.columns
    }

    /// What a user should know about this grid: nothing, unless it has only one column.
    pub fn note(self) -> Option<String> {
        (self.columns == 1 && self.rows > 1).then(|| {
            let hosts = self.rows;
            let better = (hosts + 1..).find(|&h| Grid::best(h).columns > 1).unwrap_or(4);
            format!(
                "{hosts} hosts make no grid but {hosts}×1, where a 2D cut is a plain edge cut; \
                 {better} hosts make {}×{}",
                Grid::best(better).rows,
                Grid::best(better).columns
            )
        })
    }
}
