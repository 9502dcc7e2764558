//! Proxies of which hosts tell each other nothing but which they are.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use parton_partition::End;
use parton_sync::{
    Absorb, Delivery, Extracted, Field, Phase, Places, Result, Route, Shape, Staging, ValueKind,
    Which,
};
use rayon::prelude::*;

use super::joining::pieces;
use crate::relaxing::PIECE;

/// A set of proxies. What travels is who is in it, and nothing with it.
pub(super) struct Marked(pub(super) VertexSet);

impl Marked {
    /// Adds those of consecutive proxies for which `is_meant` says so.
    pub(super) fn insert_where(&self, proxies: Range<u32>, is_meant: impl Fn(u32) -> bool + Sync) {
        let words = proxies.start / u64::BITS..proxies.end.div_ceil(u64::BITS);
        words.into_par_iter().with_max_len(PIECE / u64::BITS as usize).for_each(|word| {
            let first = word * u64::BITS;
            let here = proxies.start.max(first)..proxies.end.min(first + u64::BITS);
            let bit = |proxy| u64::from(is_meant(proxy)) << (proxy - first);
            self.0.insert_word(word as usize, here.fold(0, |bits, proxy| bits | bit(proxy)));
        });
    }

    /// Adds those members of another set among consecutive proxies for which `is_meant` says so.
    pub(super) fn insert_of(
        &self,
        set: &VertexSet,
        proxies: Range<u32>,
        is_meant: impl Fn(LocalId) -> bool + Sync,
    ) {
        // No two threads have bits of one word.
        let words = proxies.start / u64::BITS * u64::BITS..proxies.end;
        pieces(&[words]).for_each(|piece| {
            let mut marked = self.0.inserter();
            let here = set.iter_range(proxies.start.max(piece.start)..piece.end);
            here.for_each(|proxy| marked.insert_if(proxy, is_meant(proxy)));
        });
    }
}

impl Field for Marked {
    fn shape(&self) -> Shape {
        Shape::new(ValueKind::Plain(0), Delivery::Event)
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
        let mut marked = self.0.inserter();
        route.visit(places, |_, proxy| marked.insert_if(proxy, true));
        Ok(())
    }
}
