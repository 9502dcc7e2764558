//! Common entries of sorted lists, counted on a device: the local work of counting triangles.

use parton_sync::Result;

/// Lists of ascending positions, one after another.
#[derive(Clone, Copy, Debug)]
pub struct SortedLists<'l> {
    /// Where each list ends among the entries, after a 0.
    pub ends: &'l [u64],
    /// The entries of all lists.
    pub entries: &'l [u32],
    /// Multiplicities of the entries; empty if all are 1.
    pub weights: &'l [u8],
}

/// Lists that another host sent.
#[derive(Clone, Copy, Debug)]
pub struct ListBatch<'l> {
    /// The number of the list of each position; `u32::MAX` for positions without one.
    pub which: &'l [u32],
    /// The lists.
    pub lists: SortedLists<'l>,
}

/// A device that has the lists of a host, one for each position.
///
/// An entry `b` of the list of `c` is intersected with the earlier entries of that list: a common entry `a` is
/// a triangle `a < b < c`. Each of the three counts the multiplicity of the edge between the other two.
pub trait Intersections {
    /// Intersects with the lists of a batch, and, if `with_own`, with the host's own where the batch has none.
    /// Returns the number of entries looked up.
    fn count(&mut self, batch: Option<ListBatch<'_>>, with_own: bool) -> Result<u64>;

    /// The counts of all positions.
    fn totals(&mut self) -> Result<Vec<u64>>;
}
