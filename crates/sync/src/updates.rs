//! Which proxies must be sent, and to which mirrors.
//!
//! A broadcast to mirrors that are sources leaves out mirrors that are destinations only, and the
//! other way round. Their masters still owe them the update. So a master that has been broadcast to
//! one end moves from the set of all updates to the set of updates that are owed at the other end.
//! A field that is only ever read at one end pays for one pass over the updated words.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_partition::End;

use crate::encode::Places;
use crate::field::{Extracted, Phase, Staging, Which};
use crate::route::Route;

/// Values that one task writes or takes in: fewer take less time than waking a thread.
pub(crate) const VALUES_PER_TASK: usize = 1 << 16;

/// The proxies of a field whose values must be sent.
#[derive(Debug, Default)]
pub struct Updates {
    /// Must be sent to all that read them.
    updated: VertexSet,
    num_proxies: usize,
    /// Masters that must be sent to mirrors that are sources only, and to mirrors that are
    /// destinations only. Made when there is something to owe.
    owed: [Option<VertexSet>; 2],
}

/// The ends of [`Updates::owed`], in its order.
const ENDS: [End; 2] = [End::Source, End::Destination];

impl Updates {
    /// Nothing is updated among `num_proxies` proxies.
    pub fn new(num_proxies: usize) -> Self {
        Updates { updated: VertexSet::new(num_proxies), num_proxies, owed: [None, None] }
    }

    /// The proxies that must be sent to all that read them. Code that writes a value inserts its
    /// proxy here.
    #[inline(always)]
    pub fn updated(&self) -> &VertexSet {
        &self.updated
    }

    /// The places of a route that must be sent, ascending. `out` comes empty.
    pub fn find(&self, route: &Route<'_>, out: &mut Vec<u32>) {
        route.find(&self.updated, out);
        let mut is_sorted = true;
        for (end, owed) in ENDS.iter().zip(&self.owed) {
            let Some(owed) = owed.as_ref().filter(|owed| !owed.is_empty()) else { continue };
            // Masters on a list of their own are told everything.
            let piece =
                if route.id().is_some() { route.only_at(*end) } else { Some(route.clone()) };
            let Some(piece) = piece else { continue };
            let (offset, before) = (piece.part().start - route.part().start, out.len());
            piece.find(owed, out);
            if offset > 0 {
                out[before..].iter_mut().for_each(|place| *place += offset);
            }
            is_sorted &= before == 0 || out.len() == before;
        }
        if !is_sorted {
            out.sort_unstable();
            out.dedup();
        }
    }

    /// The values of a route that must be sent, or those at some places: `write` writes the value
    /// of a proxy, of `value_bytes` bytes.
    pub fn extract<'f>(
        &self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
        value_bytes: usize,
        write: impl Fn(LocalId, &mut [u8]) + Sync,
    ) -> Extracted<'f> {
        let Staging { places: found, values } = &mut *staging;
        let places = match which {
            Which::At(places) => places,
            Which::Updated => {
                self.find(route, found);
                Places::Some(found)
            }
        };
        let count = places.count(route.len());
        values.resize(count * value_bytes, 0);
        // All threads write the values of a large message.
        let pieces = parallel::pieces(0..count, VALUES_PER_TASK);
        let rooms = values.chunks_mut((VALUES_PER_TASK * value_bytes).max(1));
        parallel::for_each_owned(pieces.into_iter().zip(rooms), |_, (piece, room)| {
            route.visit_some(places, piece.clone(), |number, proxy| {
                let place = (number - piece.start) * value_bytes;
                write(proxy, &mut room[place..][..value_bytes]);
            });
        });
        staging.extracted()
    }

    /// Updates among these proxies have been sent, as [`Field::reset`](crate::Field::reset) says.
    pub fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) {
        for range in proxies {
            for (owed, kept) in self.owed.iter_mut().zip(ENDS) {
                let is_owed = end != End::Either && end != kept;
                match owed {
                    _ if phase == Phase::Reduce => {}
                    Some(owed) if !is_owed => owed.remove_range(range.clone()),
                    None if !is_owed => {}
                    _ => {
                        let set = owed.get_or_insert_with(|| VertexSet::new(self.num_proxies));
                        set.insert_all(&self.updated, range.clone());
                    }
                }
            }
            self.updated.remove_range(range.clone());
        }
    }
}
