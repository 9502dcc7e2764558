//! Labels of the proxies over which hosts exchange labels.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use parton_partition::End;
use parton_sync::{
    Absorb, AtomicValue, CpuField, Extracted, Field, Phase, Places, Reduction, Result, Route,
    Shape, Staging, Which,
};

use super::sets::DisjointSets;

/// A representative and a proxy.
type Entry = (u32, LocalId);

/// Labels of the proxies over which hosts exchange labels: the *shared* ones.
pub(super) struct SharedLabels<R: Reduction<Value: AtomicValue>> {
    pub(super) labels: CpuField<R>,
    /// The shared proxies.
    shared: VertexSet,
    /// The shared proxies with their representatives, sorted by these.
    by_representative: Vec<Entry>,
    /// Whether that list is out of date.
    has_grown: bool,
}

impl<R: Reduction<Value: AtomicValue>> SharedLabels<R> {
    pub(super) fn new(labels: CpuField<R>) -> Self {
        let shared = VertexSet::new(labels.num_proxies());
        SharedLabels { labels, shared, by_representative: Vec::new(), has_grown: false }
    }

    /// Makes a proxy shared. Returns whether it was not before.
    pub(super) fn share(&self, proxy: LocalId) -> bool {
        !self.shared.contains(proxy) && self.shared.insert(proxy)
    }

    /// Makes a mirror shared and sends its label even if that is not new, so that its master learns of it.
    pub(super) fn send_label(&self, mirror: LocalId) {
        if self.share(mirror) {
            self.labels.update(mirror);
        }
    }

    /// All shared proxies.
    pub(super) fn proxies(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.shared.iter()
    }

    /// Sets have been joined, or more proxies are shared: the list is out of date.
    pub(super) fn grow(&mut self) {
        self.has_grown = true;
    }

    /// Brings the list behind [`SharedLabels::members`] up to date.
    pub(super) fn list(&mut self, sets: &DisjointSets) {
        if !std::mem::take(&mut self.has_grown) {
            return;
        }
        let sets = sets.sets();
        self.by_representative.clear();
        let entries = self.shared.iter().map(|proxy| (sets.representative(proxy.0), proxy));
        self.by_representative.extend(entries);
        rayon::slice::ParallelSliceMut::par_sort_unstable(&mut self.by_representative[..]);
    }

    /// Calls `visit` with the listed proxies of the components of these ascending representatives.
    pub(super) fn members(&self, representatives: &[u32], visit: impl Fn(LocalId)) {
        let mut rest = &self.by_representative[..];
        for &representative in representatives {
            rest = from_representative(rest, representative);
            let members = rest.iter().take_while(|(other, _)| *other == representative);
            members.for_each(|&(_, proxy)| visit(proxy));
        }
    }
}

/// The entries from a representative on, by exponential search: the place is near the start if many are asked for.
fn from_representative(list: &[Entry], representative: u32) -> &[Entry] {
    let is_before = |(other, _): &Entry| *other < representative;
    let mut near = 1;
    while list.get(near).is_some_and(is_before) {
        near *= 2;
    }
    let (from, to) = (near / 2, list.len().min(near + 1));
    &list[from + list[from..to].partition_point(is_before)..]
}

impl<R: Reduction<Value: AtomicValue>> Field for SharedLabels<R> {
    fn shape(&self) -> Shape {
        self.labels.shape()
    }

    fn shared(&self) -> Option<&(dyn Field + Sync)> {
        self.labels.shared()
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        self.labels.extract(route, which, staging)
    }

    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        self.labels.reset(phase, end, proxies)
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        if how == Absorb::FoldAtMasters {
            for master in route.locals(places) {
                self.has_grown |= self.share(master);
                // Also where the label is not new: the master may have a better one to send back.
                self.labels.active().insert_alone(master);
            }
        }
        self.labels.absorb(how, route, places, values)
    }
}
