//! The field over arrays in memory, updated in place by threads.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, parallel, prefetch};
use parton_partition::End;

use crate::atomic::AtomicValue;
use crate::encode::Places;
use crate::error::Result;
use crate::field::{Absorb, Delivery, Extracted, Field, Phase, Shape, Staging, Which};
use crate::reduction::Reduction;
use crate::route::Route;
use crate::updates::{Updates, VALUES_PER_TASK};
use crate::value::Value;

/// A value per proxy, folded by `R`, with two sets of proxies: *updated* ones must be sent, *active*
/// ones must be computed with.
///
/// | event | updated | active |
/// |---|---|---|
/// | an engine folds a value and calls [`CpuField::touch`] | added | added |
/// | values are absorbed at a master | added if the value changes, or is an event | the same |
/// | values are absorbed at a mirror | untouched: no echo | added if the value changes, or is an event |
/// | reset after sending | removed | untouched |
/// | an engine takes a vertex to work on | untouched | removed |
pub struct CpuField<R: Reduction<Value: AtomicValue>> {
    cells: Vec<<R::Value as AtomicValue>::Cell>,
    updates: Updates,
    active: VertexSet,
    delivery: Delivery,
    /// Whether other hosts have proxies of the same vertices.
    is_shared: bool,
    id: u8,
}

/// The values of a [`CpuField`]. A loop copies this out of the field before it starts: the compiler
/// then keeps the address in a register instead of loading it again after every write.
pub struct Cells<'f, R: Reduction<Value: AtomicValue>>(&'f [<R::Value as AtomicValue>::Cell]);

impl<R: Reduction<Value: AtomicValue>> Clone for Cells<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Reduction<Value: AtomicValue>> Copy for Cells<'_, R> {}

impl<R: Reduction<Value: AtomicValue>> Cells<'_, R> {
    /// The value of a proxy.
    #[inline(always)]
    pub fn get(self, proxy: LocalId) -> R::Value {
        R::Value::load(&self.0[proxy.index()])
    }

    /// The values of consecutive proxies, which count from 0.
    pub fn slice(self, proxies: Range<usize>) -> Self {
        Cells(&self.0[proxies])
    }

    /// Changes the value of a proxy that no other thread writes meanwhile; does nothing if there is none.
    #[inline(always)]
    pub fn change_if_any(self, proxy: LocalId, change: impl FnOnce(R::Value) -> R::Value) {
        if let Some(cell) = self.0.get(proxy.index()) {
            change(R::Value::load(cell)).store(cell);
        }
    }

    /// Replaces the value of a proxy that no other thread writes meanwhile.
    #[inline(always)]
    pub fn put(self, proxy: LocalId, value: R::Value) {
        value.store(&self.0[proxy.index()]);
    }

    /// Folds a value into a proxy's while other threads may do so, too; whether it changed.
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

    /// Folds a value into that of a proxy that no other thread writes meanwhile; whether it changed.
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

impl<R: Reduction<Value: AtomicValue>> CpuField<R> {
    /// A field whose value at every proxy is `start` of it. Nothing is updated or active.
    pub fn new(
        proxies: usize,
        delivery: Delivery,
        start: impl Fn(LocalId) -> R::Value + Sync,
    ) -> Self {
        CpuField {
            cells: parallel::generate(proxies, |proxy| start(LocalId(proxy as u32)).cell()),
            updates: Updates::new(proxies),
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

    /// Gives the field a number among those of a loop in which hosts do not wait for each other.
    pub fn with_id(self, id: u8) -> Self {
        CpuField { id, ..self }
    }

    /// A field for contributions: every value starts as the identity, and goes back to it when it
    /// has been sent. Each contribution is an event, even if folding is idempotent: a contribution
    /// of an earlier round must not join those of a later one.
    #[inline(never)]
    pub fn accumulator(proxies: usize) -> Self {
        Self::new(proxies, Delivery::Event, |_| R::identity())
    }

    /// Whether other hosts have proxies of the same vertices.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether values are labels, which may arrive twice, or events.
    pub fn delivery(&self) -> Delivery {
        self.delivery
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

    /// Replaces the value of a proxy that no other thread writes meanwhile.
    #[inline]
    pub fn put(&self, proxy: LocalId, value: R::Value) {
        self.cells().put(proxy, value);
    }

    /// Folds a value into a proxy's while other threads may do so, too; whether it changed.
    #[inline]
    pub fn fold(&self, proxy: LocalId, value: R::Value) -> bool {
        self.cells().fold(proxy, value)
    }

    /// Folds a value into that of a proxy that no other thread writes meanwhile; whether it changed.
    #[inline]
    pub fn fold_alone(&self, proxy: LocalId, value: R::Value) -> bool {
        self.cells().fold_alone(proxy, value)
    }

    /// Swaps the values of all proxies with those in `cells`, of which there is one per proxy.
    pub fn swap_values(&mut self, cells: &mut Vec<<R::Value as AtomicValue>::Cell>) {
        assert_eq!(cells.len(), self.cells.len(), "one per proxy");
        std::mem::swap(&mut self.cells, cells);
    }

    /// Swaps the set of active proxies with another set of the same proxies.
    pub fn swap_active(&mut self, other: &mut VertexSet) {
        std::mem::swap(&mut self.active, other);
    }

    /// Empties the set of active proxies and returns its members, ascending.
    pub fn drain_active(&mut self) -> Vec<LocalId> {
        self.active.drain()
    }

    /// The proxies whose values must be sent.
    pub fn updated(&self) -> &VertexSet {
        self.updates.updated()
    }

    /// The proxies that must be computed with.
    pub fn active(&self) -> &VertexSet {
        &self.active
    }

    /// Marks a proxy whose value has changed: it must be sent.
    #[inline]
    pub fn update(&self, proxy: LocalId) {
        if self.is_shared {
            self.updates.updated().insert(proxy);
        }
    }

    /// Marks some of the 64 proxies from `64 * word` on, one per bit: their values have changed and
    /// must be sent, and computed with.
    #[inline]
    pub fn touch_word(&self, word: usize, bits: u64) {
        if self.is_shared {
            self.updates.updated().insert_word(word, bits);
        }
        self.active.insert_word(word, bits);
    }

    /// Marks a proxy whose value has changed, while no other thread marks any: it must be sent.
    #[inline]
    pub fn update_alone(&self, proxy: LocalId) {
        if self.is_shared {
            self.updates.updated().insert_alone(proxy);
        }
    }

    /// Marks a proxy whose value has changed: it must be sent, and computed with.
    #[inline]
    pub fn touch(&self, proxy: LocalId) {
        self.update(proxy);
        self.active.insert(proxy);
    }

    /// Gives some of the proxies at these places their values, by number. `mark` gets every proxy and whether
    /// its value is news.
    #[inline(always)]
    fn fold_in(
        &self,
        how: Absorb,
        (route, places, values): (&Route<'_>, Places<'_>, &[u8]),
        numbers: Range<usize>,
        mut mark: impl FnMut(LocalId, bool),
    ) {
        let (cells, is_event) = (self.cells(), self.delivery == Delivery::Event);
        let (bytes, replaces) = (R::Value::KIND.bytes(), how == Absorb::SetAtMirrors);
        route.visit_some(places, numbers, |number, proxy| {
            let value = R::Value::read(&values[number * bytes..][..bytes]);
            let old = cells.get(proxy);
            let new = if replaces { value } else { R::combine(old, value) };
            cells.put(proxy, new);
            mark(proxy, (new != old) | is_event);
        });
    }
}

impl<R: Reduction<Value: AtomicValue>> Field for CpuField<R> {
    fn shape(&self) -> Shape {
        Shape { id: self.id, ..Shape::new(R::Value::KIND, self.delivery) }
    }

    fn shared(&self) -> Option<&(dyn Field + Sync)> {
        Some(self)
    }

    #[inline(never)]
    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        let cells = self.cells();
        Ok(self.updates.extract(route, which, staging, R::Value::KIND.bytes(), |proxy, bytes| {
            cells.get(proxy).write(bytes);
        }))
    }

    #[inline(never)]
    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        let counts_once = self.delivery == Delivery::Event || !R::IDEMPOTENT;
        if phase == Phase::Reduce && counts_once {
            let pieces = proxies.iter().flat_map(|range| {
                parallel::pieces(range.start as usize..range.end as usize, VALUES_PER_TASK)
            });
            parallel::for_each(&pieces.collect::<Vec<_>>(), |piece| {
                let sent = self.updated().iter_range(piece.start as u32..piece.end as u32);
                sent.for_each(|proxy| self.put(proxy, R::identity()));
            });
        }
        self.updates.reset(phase, end, proxies);
        Ok(())
    }

    #[inline(never)]
    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        let goes_on = how == Absorb::FoldAtMasters && self.is_shared;
        let message = (route, places, values);
        let pieces = parallel::pieces(0..places.count(route.len()), VALUES_PER_TASK);
        let is_shared = pieces.len() > 1;
        parallel::for_each(&pieces, |piece| {
            let (active, updated) = (&self.active, self.updated());
            let (mut active, mut updated) = match is_shared {
                true => (active.shared_inserter(), updated.shared_inserter()),
                false => (active.inserter(), updated.inserter()),
            };
            // The loop does not depend on whether masters pass values on.
            match goes_on {
                true => self.fold_in(how, message, piece.clone(), |proxy, is_news| {
                    active.insert_if(proxy, is_news);
                    updated.insert_if(proxy, is_news);
                }),
                false => self.fold_in(how, message, piece.clone(), |proxy, is_news| {
                    active.insert_if(proxy, is_news);
                }),
            }
        });
        Ok(())
    }
}
