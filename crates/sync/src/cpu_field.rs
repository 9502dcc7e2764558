//! The field over arrays in memory, updated in place by threads.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, huge, prefetch};
use rayon::prelude::*;

use crate::encode::Places;
use crate::field::{Delivery, Field, Outgoing, Phase, Route, Shape, Which};
use crate::reduction::Reduction;
use crate::value::Value;

/// A value per proxy, folded by `R`, with two sets: what is *updated* must be sent, what is
/// *active* must be computed with.
///
/// | who | updated | active |
/// |---|---|---|
/// | [`CpuField::fold`] by an engine | set when the value changes | set when the value changes |
/// | reduce at a master | set when the value changes, or is an event | the same |
/// | set or reduce at a mirror | untouched: no echo | set when the value changes, or is an event |
/// | reset after sending | removed | untouched |
/// | an engine that takes a vertex to work on | untouched | removed |
pub struct CpuField<R: Reduction> {
    cells: Vec<<R::Value as Value>::Cell>,
    updated: VertexSet,
    active: VertexSet,
    delivery: Delivery,
    /// Whether anybody is there to send to.
    is_shared: bool,
    id: u8,
}

/// The values of a [`CpuField`]. To be copied out of whatever holds it before a loop: what lies
/// in registers need not be looked up again after every write.
pub struct Cells<'f, R: Reduction>(&'f [<R::Value as Value>::Cell]);

impl<R: Reduction> Clone for Cells<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Reduction> Copy for Cells<'_, R> {}

impl<R: Reduction> Cells<'_, R> {
    /// The value of a proxy.
    #[inline(always)]
    pub fn get(self, proxy: LocalId) -> R::Value {
        R::Value::load(&self.0[proxy.index()])
    }

    /// Replaces the value of a proxy, which no other thread writes meanwhile.
    #[inline(always)]
    pub fn put(self, proxy: LocalId, value: R::Value) {
        value.store(&self.0[proxy.index()]);
    }

    /// Folds a value into a proxy's, whatever other threads do; whether it changed.
    #[inline(always)]
    pub fn fold(self, proxy: LocalId, value: R::Value) -> bool {
        let cell = &self.0[proxy.index()];
        let mut old = R::Value::load(cell);
        loop {
            let new = R::combine(old, value);
            if new == old {
                return false;
            }
            match R::Value::exchange(cell, old, new) {
                Ok(()) => return true,
                Err(found) => old = found,
            }
        }
    }

    /// Folds a value into a proxy's, which no other thread writes meanwhile; whether it changed.
    #[inline(always)]
    pub fn fold_alone(self, proxy: LocalId, value: R::Value) -> bool {
        let old = self.get(proxy);
        let new = R::combine(old, value);
        let changed = new != old;
        if changed {
            self.put(proxy, new);
        }
        changed
    }

    /// Tells memory that a proxy's value will be needed soon.
    #[inline(always)]
    pub fn prefetch(self, proxy: LocalId) {
        prefetch(self.0, proxy.index());
    }
}

impl<R: Reduction> CpuField<R> {
    /// A field whose value at every proxy is `start` of it. Nothing is updated or active.
    pub fn new(
        proxies: usize,
        delivery: Delivery,
        start: impl Fn(LocalId) -> R::Value + Sync,
    ) -> Self {
        let mut cells = huge::vec_with_capacity(proxies);
        cells.par_extend((0..proxies as u32).into_par_iter().map(|p| start(LocalId(p)).cell()));
        CpuField {
            cells,
            updated: VertexSet::new(proxies),
            active: VertexSet::new(proxies),
            delivery,
            is_shared: true,
            id: 0,
        }
    }

    /// The field of a host that is alone: nothing is ever updated.
    pub fn alone(self) -> Self {
        CpuField { is_shared: false, ..self }
    }

    /// Tells this field from others in a loop of hosts that do not wait for each other.
    pub fn with_id(self, id: u8) -> Self {
        CpuField { id, ..self }
    }

    /// A field for contributions: everything starts as the identity, and goes back to it once it
    /// is sent. Each contribution is an event, also where folding twice is the same as once: one
    /// that was there before must not join those of a later round.
    pub fn accumulator(proxies: usize) -> Self {
        Self::new(proxies, Delivery::Event, |_| R::identity())
    }

    /// Whether anybody is there to send to.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Number of proxies.
    pub fn num_proxies(&self) -> usize {
        self.cells.len()
    }

    /// The values of all proxies.
    #[inline(always)]
    pub fn cells(&self) -> Cells<'_, R> {
        Cells(&self.cells)
    }

    /// The value of a proxy.
    #[inline]
    pub fn get(&self, proxy: LocalId) -> R::Value {
        self.cells().get(proxy)
    }

    /// Replaces the value of a proxy, which no other thread writes meanwhile.
    #[inline]
    pub fn put(&self, proxy: LocalId, value: R::Value) {
        self.cells().put(proxy, value);
    }

    /// Folds a value into a proxy's, whatever other threads do; whether it changed.
    #[inline]
    pub fn fold(&self, proxy: LocalId, value: R::Value) -> bool {
        self.cells().fold(proxy, value)
    }

    /// Folds a value into a proxy's, which no other thread writes meanwhile; whether it changed.
    #[inline]
    pub fn fold_alone(&self, proxy: LocalId, value: R::Value) -> bool {
        self.cells().fold_alone(proxy, value)
    }

    /// Replaces the values of the first `count` proxies by the first `count` of `cells`, of which
    /// there is one per proxy. Afterwards those hold what was replaced.
    pub fn replace_first(&mut self, cells: &mut Vec<<R::Value as Value>::Cell>, count: usize) {
        assert_eq!(cells.len(), self.cells.len(), "one per proxy");
        std::mem::swap(&mut self.cells, cells);
        for (new, old) in self.cells[count..].iter().zip(&cells[count..]) {
            R::Value::load(old).store(new);
        }
    }

    /// Changes what must be computed with for another set of the same proxies.
    pub fn swap_active(&mut self, other: &mut VertexSet) {
        std::mem::swap(&mut self.active, other);
    }

    /// Takes what must be computed with.
    pub fn drain_active(&mut self) -> Vec<LocalId> {
        self.active.drain()
    }

    /// What must be sent.
    pub fn updated(&self) -> &VertexSet {
        &self.updated
    }

    /// What must be computed with.
    pub fn active(&self) -> &VertexSet {
        &self.active
    }

    /// A proxy's value has changed here and must be sent.
    #[inline]
    pub fn update(&self, proxy: LocalId) {
        if self.is_shared {
            self.updated.insert(proxy);
        }
    }

    /// The values of some of the 64 proxies from `64 * word` on have changed here: they must be
    /// sent, and computed with.
    #[inline]
    pub fn touch_word(&self, word: usize, bits: u64) {
        if self.is_shared {
            self.updated.insert_word(word, bits);
        }
        self.active.insert_word(word, bits);
    }

    /// A proxy's value has changed here and must be sent; no other thread says so meanwhile.
    #[inline]
    pub fn update_alone(&self, proxy: LocalId) {
        if self.is_shared {
            self.updated.insert_alone(proxy);
        }
    }

    /// A proxy's value has changed here: it must be sent, and computed with.
    #[inline]
    pub fn touch(&self, proxy: LocalId) {
        self.update(proxy);
        self.active.insert(proxy);
    }

    /// Calls `visit` with every proxy at these places and its value.
    #[inline(always)]
    fn each(
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
        mut visit: impl FnMut(LocalId, R::Value),
    ) {
        let bytes = size_of::<R::Value>();
        route.visit(places, |number, proxy| {
            visit(proxy, bytemuck::pod_read_unaligned(&values[number * bytes..][..bytes]));
        });
    }
}

impl<R: Reduction> Field for CpuField<R> {
    fn shape(&self) -> Shape {
        Shape { kind: R::Value::KIND, delivery: self.delivery }
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        route.extract(which, &self.updated, out, size_of::<R::Value>(), |proxy, value| {
            value.copy_from_slice(bytemuck::bytes_of(&self.get(proxy)));
        });
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        let counts_once = self.delivery == Delivery::Event || !R::IDEMPOTENT;
        if phase == Phase::Reduce && counts_once {
            for proxy in self.updated.iter_range(proxies.clone()) {
                self.put(proxy, R::identity());
            }
        }
        self.updated.remove_range(proxies);
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        let (cells, is_event) = (self.cells(), self.delivery == Delivery::Event);
        let (mut active, mut updated) = (self.active.inserter(), self.updated.inserter());
        let goes_on = phase == Phase::Reduce && self.is_shared;
        Self::each(&route, places, values, |proxy, value| {
            let old = cells.get(proxy);
            let new = R::combine(old, value);
            cells.put(proxy, new);
            let is_news = (new != old) | is_event;
            active.insert_if(proxy, is_news);
            updated.insert_if(proxy, is_news & goes_on);
        });
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        let (cells, is_event) = (self.cells(), self.delivery == Delivery::Event);
        let mut active = self.active.inserter();
        Self::each(&route, places, values, |proxy, value| {
            let is_news = (cells.get(proxy) != value) | is_event;
            cells.put(proxy, value);
            active.insert_if(proxy, is_news);
        });
    }

    fn id(&self) -> u8 {
        self.id
    }
}
