//! The field of a few numbers per proxy that are summed up and travel one by one: those of several
//! searches, which share rounds and messages although each is at another vertex.
//!
//! Whoever writes values owns the arrays meanwhile: nothing here is atomic.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, huge};
use rayon::prelude::*;

use crate::encode::Places;
use crate::field::{Delivery, Field, Outgoing, Phase, Route, Shape, Which};
use crate::value::Number;

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
/// mirrors are told what their master has; each number is an event that arrives once.
pub struct LaneField<T: Number, const L: usize> {
    rows: Vec<[T; L]>,
    /// What must be sent: which lanes, and where there are any.
    lanes: Vec<Lanes>,
    updated: VertexSet,
    /// What mirrors were told since that was last asked.
    told: Vec<(LocalId, Lanes)>,
}

/// The arrays of a [`LaneField`], for threads that write parts of them.
pub struct Parts<'f, T, const L: usize> {
    /// The values of every proxy.
    pub rows: &'f mut [[T; L]],
    /// Which of them are updated. Where any is, the proxy must be in `updated`, too.
    pub lanes: &'f mut [Lanes],
    /// Proxies of which something is updated.
    pub updated: &'f VertexSet,
}

impl<T: Number, const L: usize> LaneField<T, L> {
    /// A field in which all is nothing.
    pub fn new(proxies: usize) -> Self {
        let mut rows = huge::vec_with_capacity(proxies);
        rows.par_extend((0..proxies).into_par_iter().map(|_| [T::ZERO; L]));
        let _ = const { all_lanes(L) };
        LaneField {
            rows,
            lanes: vec![0; proxies],
            updated: VertexSet::new(proxies),
            told: Vec::new(),
        }
    }

    /// The values of every proxy.
    #[inline]
    pub fn rows(&self) -> &[[T; L]] {
        &self.rows
    }

    /// The values of every proxy, to be changed by somebody who marks what must be sent.
    pub fn rows_mut(&mut self) -> &mut [[T; L]] {
        &mut self.rows
    }

    /// Everything that threads may write.
    pub fn parts(&mut self) -> Parts<'_, T, L> {
        Parts { rows: &mut self.rows, lanes: &mut self.lanes, updated: &self.updated }
    }

    /// Some lanes of a proxy have changed here and must be sent.
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

    /// Where something is updated.
    pub fn updated(&self) -> &VertexSet {
        &self.updated
    }

    /// Takes what mirrors were told since this was last asked. Where hosts wait for each
    /// other, each mirror is there once.
    pub fn take_told(&mut self) -> Vec<(LocalId, Lanes)> {
        std::mem::take(&mut self.told)
    }

    /// All values are nothing again, nothing is updated or told.
    pub fn clear(&mut self) {
        self.rows.par_iter_mut().for_each(|row| *row = [T::ZERO; L]);
        self.forget(0..self.rows.len() as u32, |_, _| ());
        self.told.clear();
    }

    /// Nothing among some proxies is updated any more; calls `visit` for what was.
    fn forget(&mut self, proxies: Range<u32>, mut visit: impl FnMut(&mut [T; L], Lanes)) {
        for proxy in self.updated.iter_range(proxies.clone()) {
            let lanes = std::mem::take(&mut self.lanes[proxy.index()]);
            visit(&mut self.rows[proxy.index()], lanes);
        }
        self.updated.remove_range(proxies);
    }

    fn take(&self, proxy: LocalId, place: usize, lanes: Lanes, out: &mut Outgoing) {
        for lane in each_lane(lanes) {
            out.places.push((place * L + lane) as u32);
            out.values.extend_from_slice(bytemuck::bytes_of(&self.rows[proxy.index()][lane]));
        }
    }

    /// Lanes of one proxy follow each other in a message.
    fn tell(&mut self, proxy: LocalId, told: Lanes) {
        match self.told.last_mut() {
            Some((last, lanes)) if *last == proxy => *lanes |= told,
            _ => self.told.push((proxy, told)),
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
        Shape { kind: T::KIND, delivery: Delivery::Event }
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        match (which, &route) {
            (Which::All, _) => {
                for proxy in route.locals(Places::All) {
                    out.values.extend_from_slice(bytemuck::cast_slice(&self.rows[proxy.index()]));
                }
            }
            (Which::Updated, Route::Range(range)) => {
                for proxy in self.updated.iter_range(range.clone()) {
                    let place = (proxy.0 - range.start) as usize;
                    self.take(proxy, place, self.lanes[proxy.index()], out);
                }
            }
            (Which::Updated, _) => {
                for place in 0..route.len() {
                    let proxy = route.local(place as u32);
                    self.take(proxy, place, self.lanes[proxy.index()], out);
                }
            }
        }
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        self.forget(proxies, |row, lanes| {
            if phase == Phase::Reduce {
                each_lane(lanes).for_each(|lane| row[lane] = T::ZERO);
            }
        });
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        Self::each(&route, places, values, |proxy, lane, value| {
            let sum = &mut self.rows[proxy.index()][lane];
            *sum = sum.plus(value);
            match phase {
                Phase::Reduce => {
                    self.lanes[proxy.index()] |= 1 << lane;
                    self.updated.insert_alone(proxy);
                }
                Phase::Broadcast => self.tell(proxy, 1 << lane),
            }
        });
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        Self::each(&route, places, values, |proxy, lane, value| {
            self.rows[proxy.index()][lane] = value;
            self.tell(proxy, 1 << lane);
        });
    }

    fn lanes(&self) -> usize {
        L
    }
}
