//! Labels of proxies over which hosts talk.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use parton_partition::End;
use parton_sync::{
    Absorb, AtomicValue, CpuField, Extracted, Field, Phase, Places, Reduction, Result, Route,
    Shape, Staging, Which,
};
use rayon::prelude::*;

use super::joined::Joined;

/// A representative and a proxy.
type Entry = (u32, LocalId);

/// Labels of proxies over which hosts talk.
pub(super) struct Told<R: Reduction<Value: AtomicValue>> {
    pub(super) labels: CpuField<R>,
    /// Which proxies those are.
    talking: VertexSet,
    /// The same with their representatives, by these.
    listed: Vec<Entry>,
    /// Whether hosts talk over proxies that are not listed.
    has_grown: bool,
}

impl<R: Reduction<Value: AtomicValue>> Told<R> {
    pub(super) fn new(labels: CpuField<R>) -> Self {
        let talking = VertexSet::new(labels.num_proxies());
        Told { labels, talking, listed: Vec::new(), has_grown: false }
    }

    /// Hosts talk over a proxy from now on; whether they did not before.
    pub(super) fn talk_over(&self, proxy: LocalId) -> bool {
        !self.talking.contains(proxy) && self.talking.insert(proxy)
    }

    /// Mirrors speak up where they have not done so, whatever they have to say.
    pub(super) fn speak_up(&self, mirror: LocalId) {
        if self.talk_over(mirror) {
            self.labels.update(mirror);
        }
    }

    /// All proxies over which hosts talk.
    pub(super) fn talking(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.talking.iter()
    }

    /// Sets have been joined, or hosts talk over more: the list is out of date.
    pub(super) fn grow(&mut self) {
        self.has_grown = true;
    }

    /// Brings the list of [`Told::members`] up to date.
    pub(super) fn list(&mut self, joined: &Joined) {
        if !std::mem::take(&mut self.has_grown) {
            return;
        }
        let sets = joined.sets();
        self.listed.clear();
        self.listed.extend(self.talking.iter().map(|proxy| (sets.representative(proxy.0), proxy)));
        self.listed.par_sort_unstable();
    }

    /// Calls `visit` with the proxies over which hosts talk, as listed, of the components of ascending
    /// representatives.
    pub(super) fn members(&self, representatives: &[u32], visit: impl Fn(LocalId)) {
        let mut rest = &self.listed[..];
        for &representative in representatives {
            rest = from_representative(rest, representative);
            let members = rest.iter().take_while(|(other, _)| *other == representative);
            members.for_each(|&(_, proxy)| visit(proxy));
        }
    }
}

/// What is listed from a representative on, which is near the start if many are asked for.
fn from_representative(list: &[Entry], representative: u32) -> &[Entry] {
    let is_before = |(other, _): &Entry| *other < representative;
    let mut near = 1;
    while list.get(near).is_some_and(is_before) {
        near *= 2;
    }
    let (from, to) = (near / 2, list.len().min(near + 1));
    &list[from + list[from..to].partition_point(is_before)..]
}

impl<R: Reduction<Value: AtomicValue>> Field for Told<R> {
    fn shape(&self) -> Shape {
        self.labels.shape()
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
                self.has_grown |= self.talk_over(master);
                // Also where the label is no news: an answer may be due.
                self.labels.active().insert_alone(master);
            }
        }
        self.labels.absorb(how, route, places, values)
    }
}
