//! The frontier: vertices whose labels their neighbours have not seen.

use std::mem::take;
use std::ops::Range;

use parton_graph::{LocalId, VertexSet, Weight, parallel};
use parton_sync::{AtomicValue, CpuField, Reduction};

use super::directions::DirectionRows;
use super::labels::RowPiece;

/// Vertices that a thread lists at a time.
const VERTICES_PER_LISTING: u32 = 1 << 16;
/// Vertices that a thread makes members at a time.
const VERTICES_PER_FILLING: usize = 1 << 13;
/// Proxies whose bits share a page of memory.
const PROXIES_PER_PAGE: usize = 8 * 4096;
/// Proxies whose pages a thread touches at a time.
const PROXIES_PER_TOUCH: usize = 16 * PROXIES_PER_PAGE;
/// One member in this many is asked for its degree where the edges of a large frontier are estimated.
const MEMBERS_PER_SAMPLE: usize = 16;

/// The vertices from which the next step starts.
///
/// A frontier is *listed* or *large*. Listed: `list` has every member that edges leave, and `members` has
/// the same vertices or none at all, where only the list was made. Large: `members` is all there is, and
/// `list` is empty but for an estimate of its edges. An engine that visits every vertex anyway never pays
/// for the list of a large frontier.
pub(crate) struct Frontier {
    members: VertexSet,
    list: VertexList,
    is_large: bool,
    /// The next frontier, where the step that found it has listed it already.
    found: Option<VertexList>,
}

impl Frontier {
    /// No members yet.
    pub(crate) fn new(proxies: usize) -> Self {
        let (members, list) = (VertexSet::new(proxies), VertexList::default());
        touch_pages(&members, proxies);
        Frontier { members, list, is_large: false, found: None }
    }

    /// Takes the vertices that are active in `field`, as a set: the caller goes on with [`list`](Self::list)
    /// or [`leave_large`](Self::leave_large). Returns true if the last step has listed them.
    pub(crate) fn advance<R>(&mut self, field: &mut CpuField<R>) -> bool
    where
        R: Reduction<Value: AtomicValue>,
    {
        self.members.clear();
        field.swap_active(&mut self.members);
        self.is_large = false;
        self.list.clear();
        let Some(found) = self.found.take() else { return false };
        self.members.clear();
        self.list = found;
        true
    }

    /// What a step found while nothing else became active: the next frontier.
    pub(crate) fn found(&mut self, next: VertexList) {
        self.found = Some(next);
    }

    /// Lists the members below `rows_end` that edges leave.
    #[inline(never)]
    pub(crate) fn list<W: Weight>(&mut self, forward: DirectionRows<'_, W>, rows_end: u32) {
        self.is_large = false;
        let list = |range: &Range<u32>| {
            VertexList::new(self.members.iter_range(range.clone()).collect(), forward)
        };
        self.list = match self.members.len() < VERTICES_PER_LISTING as usize {
            true => list(&(0..rows_end)),
            false => VertexList::concat(parallel::map(&pieces(rows_end), list)),
        };
    }

    /// Leaves the frontier a set, which this many edges leave, about.
    pub(crate) fn leave_large(&mut self, edges: u64) {
        self.is_large = true;
        self.list.edges = edges;
    }

    /// An estimate of the edges that leave the members below `rows_end`.
    #[inline(never)]
    pub(crate) fn estimate_edges<W: Weight>(
        &self,
        forward: DirectionRows<'_, W>,
        rows_end: u32,
    ) -> u64 {
        let edges = parallel::map(&pieces(rows_end), |piece| {
            let sample = self.members.iter_range(piece.clone()).step_by(MEMBERS_PER_SAMPLE);
            sample.map(|vertex| forward.degree(vertex)).sum::<u64>()
        });
        MEMBERS_PER_SAMPLE as u64 * edges.into_iter().sum::<u64>()
    }

    /// Changes the list of a listed frontier; from now on it is all there is.
    pub(crate) fn narrow<W: Weight>(
        &mut self,
        forward: DirectionRows<'_, W>,
        choose: impl FnOnce(&mut Vec<LocalId>),
    ) {
        self.members.clear();
        choose(&mut self.list.vertices);
        self.list.edges = self.list.vertices.iter().map(|&vertex| forward.degree(vertex)).sum();
    }

    /// Whether the frontier is a set that was not listed.
    pub(crate) fn is_large(&self) -> bool {
        self.is_large
    }

    /// Whether nothing is listed, and nothing was left a set.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_large && self.list.vertices.is_empty()
    }

    /// The listed vertices.
    pub(crate) fn vertices(&self) -> &[LocalId] {
        &self.list.vertices
    }

    /// Number of edges that leave the frontier; an estimate if it is large.
    pub(crate) fn num_edges(&self) -> u64 {
        self.list.edges
    }

    /// The members. Empty where only a list was made: see [`Frontier::fill_members`].
    pub(crate) fn members(&self) -> &VertexSet {
        &self.members
    }

    /// The members, which a broadcast may add to.
    pub(crate) fn members_mut(&mut self) -> &mut VertexSet {
        &mut self.members
    }

    /// Makes a set of what is listed.
    pub(crate) fn fill_members(&self) {
        let listed = &self.list.vertices;
        if listed.len() < 2 * VERTICES_PER_FILLING {
            return listed.iter().for_each(|&vertex| _ = self.members.insert_alone(vertex));
        }
        let pieces = parallel::pieces(0..listed.len(), VERTICES_PER_FILLING);
        parallel::for_each(&pieces, |piece| {
            let mut members = self.members.shared_inserter();
            listed[piece.clone()].iter().for_each(|&vertex| members.insert_if(vertex, true));
        });
    }

    /// The edges of the listed vertices in pieces of at most `len`, where there are too few vertices for threads to
    /// share them.
    #[inline(never)]
    pub(crate) fn edge_pieces<W: Weight>(
        &self,
        forward: DirectionRows<'_, W>,
        len: usize,
    ) -> Vec<RowPiece> {
        let pieces = |&vertex: &LocalId| {
            let pieces = parallel::pieces(0..forward.degree(vertex) as usize, len);
            pieces.into_iter().map(move |edges| RowPiece { vertex, edges })
        };
        self.list.vertices.iter().flat_map(pieces).collect()
    }
}

/// Touches the memory of an empty set of proxies, so that the first round does not wait for pages.
pub(crate) fn touch_pages(set: &VertexSet, proxies: usize) {
    parallel::for_each(&parallel::pieces(0..proxies, PROXIES_PER_TOUCH), |piece| {
        for proxy in piece.clone().step_by(PROXIES_PER_PAGE) {
            set.insert(LocalId(proxy as u32));
        }
    });
    set.remove_range(0..proxies as u32);
}

/// The proxies below `end` in pieces, as threads take them.
pub(crate) fn pieces(end: u32) -> Vec<Range<u32>> {
    let firsts = (0..end).step_by(VERTICES_PER_LISTING as usize);
    firsts.map(|first| first..end.min(first.saturating_add(VERTICES_PER_LISTING))).collect()
}

/// Vertices that edges leave, and the number of these edges.
#[derive(Default)]
pub(crate) struct VertexList {
    vertices: Vec<LocalId>,
    edges: u64,
}

impl VertexList {
    /// Those of some vertices that edges leave.
    #[inline(never)]
    pub(crate) fn new<W: Weight>(
        mut vertices: Vec<LocalId>,
        forward: DirectionRows<'_, W>,
    ) -> Self {
        let (mut kept, mut edges) = (0, 0);
        for place in 0..vertices.len() {
            forward.prepare_degree(&vertices, place);
            let degree = forward.degree(vertices[place]);
            vertices[kept] = vertices[place];
            kept += usize::from(degree > 0);
            edges += degree;
        }
        vertices.truncate(kept);
        VertexList { vertices, edges }
    }

    /// One list after the other.
    pub(crate) fn concat(mut lists: Vec<VertexList>) -> Self {
        let edges = lists.iter().map(|list| list.edges).sum();
        let mut vertices: Vec<_> = lists.iter_mut().map(|list| take(&mut list.vertices)).collect();
        let vertices = match vertices.len() {
            0 | 1 => vertices.pop().unwrap_or_default(),
            _ => parallel::concat(&vertices),
        };
        VertexList { vertices, edges }
    }

    fn clear(&mut self) {
        self.vertices.clear();
        self.edges = 0;
    }
}

#[cfg(test)]
mod tests {
    use parton_graph::{Adjacency, Csr};
    use parton_sync::Delivery;
    use parton_sync::reduction::Min;

    use super::*;
    use crate::state::directions::Directions;
    use crate::state::edges::EdgeView;

    /// A star whose centre is vertex 1, and a field in which 0, 1 and 2 are active.
    fn with_star(test: impl FnOnce(DirectionRows<'_, ()>, CpuField<Min<u32>>)) {
        let edges: Vec<_> = (0..4).map(|end| (1, end, ())).collect();
        let adjacency = Adjacency::from(Csr::from_edges(4, &edges));
        let forward = Directions::from(EdgeView::<()>::new(&adjacency));
        let field = CpuField::new(4, Delivery::Label, |_| u32::MAX);
        field.active().insert_range(0..3);
        test(forward.rows(), field);
    }

    #[test]
    fn a_listed_frontier_has_the_vertices_that_edges_leave() {
        with_star(|rows, mut field| {
            let mut frontier = Frontier::new(4);
            assert!(!frontier.advance(&mut field) && field.active().is_empty());
            frontier.list(rows, 4);
            assert_eq!((frontier.vertices(), frontier.num_edges()), (&[LocalId(1)][..], 4));
            assert_eq!(frontier.members().len(), 3, "members without edges stay in the set");
            frontier.narrow(rows, Vec::clear);
            assert!(frontier.is_empty() && frontier.members().is_empty());
        });
    }

    #[test]
    fn a_large_frontier_is_not_empty_and_can_be_listed_later() {
        with_star(|rows, mut field| {
            let mut frontier = Frontier::new(4);
            frontier.advance(&mut field);
            frontier.leave_large(7);
            assert!(frontier.is_large() && !frontier.is_empty() && frontier.vertices().is_empty());
            assert_eq!(frontier.num_edges(), 7);
            frontier.list(rows, 4);
            assert_eq!((frontier.is_large(), frontier.num_edges()), (false, 4));
        });
    }

    #[test]
    fn what_a_step_has_listed_is_the_next_frontier() {
        with_star(|rows, mut field| {
            let mut frontier = Frontier::new(4);
            frontier.found(VertexList::new(vec![LocalId(0), LocalId(1)], rows));
            assert!(frontier.advance(&mut field));
            assert_eq!(frontier.vertices(), [LocalId(1)]);
            assert!(frontier.members().is_empty());
            frontier.fill_members();
            assert!(frontier.members().contains(LocalId(1)));
            assert!(!frontier.advance(&mut field), "it was found once");
        });
    }
}
