//! A set of proxies as a field: what travels is which proxies are members, and no values.

use std::ops::{Deref, DerefMut, Range};

use parton_graph::{LocalId, VertexSet, parallel};
use parton_partition::End;
use parton_sync::{
    Absorb, Delivery, Extracted, Field, Phase, Places, Result, Route, Shape, Staging, ValueKind,
    Which,
};

use super::joining::pieces;

/// A set of proxies.
pub(super) struct Members(VertexSet);

impl Members {
    /// The empty set.
    pub(super) fn new(proxies: usize) -> Self {
        Members(VertexSet::new(proxies))
    }

    /// Adds the proxies of a range that are members.
    pub(super) fn insert_where(&self, proxies: Range<u32>, is_member: impl Fn(u32) -> bool + Sync) {
        // No two threads have bits of one word.
        let words = proxies.start / u64::BITS * u64::BITS..proxies.end;
        parallel::for_each(&pieces(&[words]), |piece| {
            for first in piece.clone().step_by(u64::BITS as usize) {
                let here = proxies.start.max(first)..proxies.end.min(first + u64::BITS);
                let bit = |proxy| u64::from(is_member(proxy)) << (proxy - first);
                let bits = here.fold(0, |bits, proxy| bits | bit(proxy));
                self.0.insert_word((first / u64::BITS) as usize, bits);
            }
        });
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
        parallel::for_each(&pieces(&[words]), |piece| {
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
        Shape::new(ValueKind::Plain(0), Delivery::Event)
    }

    fn shared(&self) -> Option<&(dyn Field + Sync)> {
        Some(self)
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        _: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        route.find(&self.0, &mut staging.places);
        Ok(staging.extracted())
    }

    fn reset(&mut self, _: Phase, _: End, _: &[Range<u32>]) -> Result<()> {
        Ok(())
    }

    fn absorb(&mut self, _: Absorb, route: &Route<'_>, places: Places<'_>, _: &[u8]) -> Result<()> {
        let mut members = self.0.inserter();
        route.visit(places, |_, proxy| members.insert_if(proxy, true));
        Ok(())
    }
}
