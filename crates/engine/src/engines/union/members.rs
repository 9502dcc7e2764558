//! A set of proxies as a field: what travels is which proxies are members, and no values.

use std::ops::{Deref, DerefMut, Range};

use parton_graph::{LocalId, VertexSet};
use parton_sync::{Delivery, Field, Outgoing, Phase, Places, Route, Shape, ValueKind, Which};
use rayon::prelude::*;

use super::joining::pieces;
use crate::techniques::VERTICES_PER_TASK;

/// A set of proxies.
pub(super) struct Members(VertexSet);

impl Members {
    /// The empty set.
    pub(super) fn new(proxies: usize) -> Self {
        Members(VertexSet::new(proxies))
    }

    /// Adds the proxies of a range that are members.
    pub(super) fn insert_where(&self, proxies: Range<u32>, is_member: impl Fn(u32) -> bool + Sync) {
        let words = proxies.start / u64::BITS..proxies.end.div_ceil(u64::BITS);
        words.into_par_iter().with_max_len(VERTICES_PER_TASK / u64::BITS as usize).for_each(
            |word| {
                let first = word * u64::BITS;
                let here = proxies.start.max(first)..proxies.end.min(first + u64::BITS);
                let bit = |proxy| u64::from(is_member(proxy)) << (proxy - first);
                self.0.insert_word(word as usize, here.fold(0, |bits, proxy| bits | bit(proxy)));
            },
        );
    }

    /// Adds the proxies of a range that are in another set and are members.
    pub(super) fn insert_of(
        &self,
        set: &VertexSet,
        proxies: Range<u32>,
        is_member: impl Fn(LocalId) -> bool + Sync,
    ) {
        // No two threads have bits of one word.
        let words = proxies.start / u64::BITS * u64::BITS..proxies.end;
        pieces(&[words]).for_each(|piece| {
            let mut members = self.0.inserter();
            let here = set.iter_range(proxies.start.max(piece.start)..piece.end);
            here.for_each(|proxy| members.insert_if(proxy, is_member(proxy)));
        });
    }
}

impl Deref for Members {
    type Target = VertexSet;

    fn deref(&self) -> &VertexSet {
        &self.0
    }
}

impl DerefMut for Members {
    fn deref_mut(&mut self) -> &mut VertexSet {
        &mut self.0
    }
}

impl Field for Members {
    fn shape(&self) -> Shape {
        Shape { kind: ValueKind::Plain(0), delivery: Delivery::Event }
    }

    fn extract(&self, route: Route<'_>, _: Which, out: &mut Outgoing) {
        route.find(&self.0, &mut out.places);
    }

    fn reset(&mut self, _: Range<u32>, _: Phase) {}

    fn reduce(&mut self, _: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        self.set(route, places, values);
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, _: &[u8]) {
        let mut members = self.0.inserter();
        route.visit(places, |_, proxy| members.insert_if(proxy, true));
    }
}
