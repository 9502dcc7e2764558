//! Labels of proxies over which hosts talk.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use parton_sync::{CpuField, Field, Outgoing, Phase, Places, Reduction, Route, Shape, Which};

use super::joined::Joined;

/// Labels of proxies over which hosts talk.
pub(super) struct Told<R: Reduction> {
    pub(super) labels: CpuField<R>,
    /// Which proxies those are.
    talking: VertexSet,
    /// Of each component a list of the proxies hosts talk over: the first one at its
    /// representative, which is not listed itself, then at each the next one. 0 ends a list: the
    /// least proxy represents whatever it is in. Whoever talks over few proxies touches little of it.
    lists: Vec<u32>,
    /// Whether hosts talk over proxies that are not listed.
    has_grown: bool,
}

impl<R: Reduction> Told<R> {
    pub(super) fn new(labels: CpuField<R>) -> Self {
        let talking = VertexSet::new(labels.num_proxies());
        Told { labels, talking, lists: Vec::new(), has_grown: false }
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

    /// Sets have been joined, or hosts talk over more: lists are out of date.
    pub(super) fn grow(&mut self) {
        self.has_grown = true;
    }

    /// Brings the lists of [`Told::members`] up to date.
    pub(super) fn list(&mut self, joined: &Joined) {
        if !std::mem::take(&mut self.has_grown) {
            return;
        }
        self.lists = vec![0; joined.len()];
        for proxy in self.talking.iter() {
            let representative = joined.sets().representative(proxy.0);
            if representative != proxy.0 {
                let first = std::mem::replace(&mut self.lists[representative as usize], proxy.0);
                self.lists[proxy.index()] = first;
            }
        }
    }

    /// The proxies of a component over which hosts talk, as listed.
    pub(super) fn members(&self, representative: u32) -> impl Iterator<Item = LocalId> + '_ {
        let itself = LocalId(representative);
        let next = |proxy: &u32| Some(self.lists[*proxy as usize]).filter(|&next| next != 0);
        let listed = std::iter::successors(next(&representative), next).map(LocalId);
        self.talking.contains(itself).then_some(itself).into_iter().chain(listed)
    }
}

impl<R: Reduction> Field for Told<R> {
    fn shape(&self) -> Shape {
        self.labels.shape()
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        self.labels.extract(route, which, out);
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        self.labels.reset(proxies, phase);
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        if phase == Phase::Reduce {
            for master in route.locals(places) {
                self.has_grown |= self.talk_over(master);
                // Also where the label is no news: an answer may be due.
                self.labels.active().insert_alone(master);
            }
        }
        self.labels.reduce(phase, route, places, values);
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        self.labels.set(route, places, values);
    }
}
