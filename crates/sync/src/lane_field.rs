//! The field of a few numbers per proxy that are summed up and travel one by one: those of several
//! searches, which share rounds and messages although each is at another vertex.
//!
//! A thread that writes values owns its part of the arrays meanwhile: nothing here is atomic.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_partition::End;

use crate::encode::Places;
use crate::error::Result;
use crate::field::{Absorb, Delivery, Extracted, Field, Phase, Shape, Staging, Which};
use crate::route::Route;
use crate::value::Number;

/// Rows that a thread clears at a time.
const ROWS_PER_TASK: usize = 1 << 12;

/// Some of the lanes of a proxy, one per bit.
pub type Lanes = u8;

/// All of `count` lanes.
pub const fn all_lanes(count: usize) -> Lanes {
    assert!(count > 0 && count <= Lanes::BITS as usize, "a bit for every lane");
    Lanes::MAX >> (Lanes::BITS as usize - count)
}

/// The numbers of some lanes, in turn.
#[inline]
pub fn each_lane(lanes: Lanes) -> impl Iterator<Item = usize> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < Lanes::BITS as usize).then_some(lane)
    })
}

/// `L` numbers per proxy, at most eight. Contributions of mirrors are added up at their master, and
/// mirrors get the sums of their master; each number is an event that arrives once. One broadcast,
/// to whichever end, is all that an event gets.
pub struct LaneField<T: Number, const L: usize> {
    rows: Vec<[T; L]>,
    /// The lanes of every proxy that must be sent.
    lanes: Vec<Lanes>,
    /// The proxies that have any.
    updated: VertexSet,
    /// The lanes of mirrors that have arrived since [`LaneField::take_received`].
    received: Vec<(LocalId, Lanes)>,
}

/// The arrays of a [`LaneField`], for threads that write parts of them.
pub struct LaneArrays<'f, T, const L: usize> {
    /// The values of every proxy.
    pub rows: &'f mut [[T; L]],
    /// Which of them are updated. Where any is, the proxy must be in `updated`, too.
    pub lanes: &'f mut [Lanes],
    /// Proxies of which something is updated.
    pub updated: &'f VertexSet,
}

impl<T: Number, const L: usize> LaneField<T, L> {
    /// A field in which all numbers are zero.
    pub fn new(proxies: usize) -> Self {
        let _ = const { all_lanes(L) };
        LaneField {
            rows: parallel::generate(proxies, |_| [T::ZERO; L]),
            lanes: vec![0; proxies],
            updated: VertexSet::new(proxies),
            received: Vec::new(),
        }
    }

    /// The values of every proxy.
    #[inline]
    pub fn rows(&self) -> &[[T; L]] {
        &self.rows
    }

    /// The values of every proxy. The caller marks the lanes that must be sent.
    pub fn rows_mut(&mut self) -> &mut [[T; L]] {
        &mut self.rows
    }

    /// Everything that threads may write.
    pub fn parts(&mut self) -> LaneArrays<'_, T, L> {
        LaneArrays { rows: &mut self.rows, lanes: &mut self.lanes, updated: &self.updated }
    }

    /// Marks some lanes of a proxy that have changed: they must be sent.
    #[inline]
    pub fn update(&mut self, proxy: LocalId, lanes: Lanes) {
        self.lanes[proxy.index()] |= lanes;
        self.updated.insert_alone(proxy);
    }

    /// Which lanes of a proxy are updated.
    #[inline]
    pub fn lanes_of(&self, proxy: LocalId) -> Lanes {
        self.lanes[proxy.index()]
    }

    /// The proxies of which some lane is updated.
    pub fn updated(&self) -> &VertexSet {
        &self.updated
    }

    /// The lanes of mirrors that have arrived since this was last called. Where hosts wait for each
    /// other, each mirror is there once.
    pub fn take_received(&mut self) -> Vec<(LocalId, Lanes)> {
        std::mem::take(&mut self.received)
    }

    /// All values become zero; nothing is updated or received any more.
    pub fn clear(&mut self) {
        parallel::for_each_owned(self.rows.chunks_mut(ROWS_PER_TASK), |_, rows| {
            rows.fill([T::ZERO; L])
        });
        self.forget(0..self.rows.len() as u32, |_, _| ());
        self.received.clear();
    }

    /// Calls `visit` for the proxies of a range that are updated; they are not any more.
    fn forget(&mut self, proxies: Range<u32>, mut visit: impl FnMut(&mut [T; L], Lanes)) {
        for proxy in self.updated.iter_range(proxies.clone()) {
            let lanes = std::mem::take(&mut self.lanes[proxy.index()]);
            visit(&mut self.rows[proxy.index()], lanes);
        }
        self.updated.remove_range(proxies);
    }

    fn push_lanes(&self, proxy: LocalId, place: usize, out: &mut Staging) {
        for lane in each_lane(self.lanes[proxy.index()]) {
            out.places.push((place * L + lane) as u32);
            out.values.extend_from_slice(bytemuck::bytes_of(&self.rows[proxy.index()][lane]));
        }
    }

    /// Notes that a lane of a mirror has arrived. Lanes of one proxy follow each other in a message.
    fn receive(&mut self, proxy: LocalId, lane: usize) {
        match self.received.last_mut() {
            Some((last, lanes)) if *last == proxy => *lanes |= 1 << lane,
            _ => self.received.push((proxy, 1 << lane)),
        }
    }

    /// Calls `visit` with the proxy, the lane and the value at each of these places.
    fn each(
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
        mut visit: impl FnMut(LocalId, usize, T),
    ) {
        let values = values.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned);
        for (i, value) in values.enumerate() {
            let place = match places {
                Places::All => i,
                Places::Some(list) => list[i] as usize,
            };
            visit(route.local((place / L) as u32), place % L, value);
        }
    }
}

impl<T: Number, const L: usize> Field for LaneField<T, L> {
    fn shape(&self) -> Shape {
        Shape { lanes: L, ..Shape::new(T::KIND, Delivery::Event) }
    }

    fn shared(&self) -> Option<&(dyn Field + Sync)> {
        Some(self)
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        match (which, route.range()) {
            (Which::At(places), _) => {
                let count = places.count(route.len() * L) as u32;
                for number in 0..count {
                    let place = if let Places::Some(some) = places {
                        some[number as usize]
                    } else {
                        number
                    };
                    let row = &self.rows[route.local(place / L as u32).index()];
                    staging.values.extend_from_slice(bytemuck::bytes_of(&row[place as usize % L]));
                }
            }
            (Which::Updated, Some(range)) => {
                for proxy in self.updated.iter_range(range.clone()) {
                    self.push_lanes(proxy, (proxy.0 - range.start) as usize, staging);
                }
            }
            (Which::Updated, None) => {
                for place in 0..route.len() {
                    self.push_lanes(route.local(place as u32), place, staging);
                }
            }
        }
        Ok(staging.extracted())
    }

    fn reset(&mut self, phase: Phase, _: End, proxies: &[Range<u32>]) -> Result<()> {
        for range in proxies {
            self.forget(range.clone(), |row, lanes| {
                if phase == Phase::Reduce {
                    each_lane(lanes).for_each(|lane| row[lane] = T::ZERO);
                }
            });
        }
        Ok(())
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        Self::each(route, places, values, |proxy, lane, value| {
            let mine = &mut self.rows[proxy.index()][lane];
            *mine = if how == Absorb::SetAtMirrors { value } else { mine.plus(value) };
            match how {
                Absorb::FoldAtMasters => {
                    self.lanes[proxy.index()] |= 1 << lane;
                    self.updated.insert_alone(proxy);
                }
                _ => self.receive(proxy, lane),
            }
        });
        Ok(())
    }
}
