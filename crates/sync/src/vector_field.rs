//! The field whose values are vectors, of a width that is known when a run begins.
//!
//! All vectors lie in one array, one row after the other. Which row is whose is up to the engine:
//! one that lays out its proxies in blocks can hand whole blocks to threads, as plain slices that
//! nobody else can write. To the encodings a vector is a value of so many bytes.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use rayon::prelude::*;

use crate::encode::{Places, ValueKind};
use crate::field::{Delivery, Field, Outgoing, Phase, Route, Shape, Which};
use crate::reduction::Reduction;

/// A vector per proxy, whose elements are folded by `R`, with the set of proxies that are
/// *updated* and must be sent. What must be computed is the engine's to know.
pub struct VectorField<R: Reduction> {
    elements: Vec<R::Value>,
    width: usize,
    /// Of every proxy.
    rows: Vec<u32>,
    updated: VertexSet,
    delivery: Delivery,
}

impl<R: Reduction> VectorField<R> {
    /// A field of vectors of `width` elements, where the vector of a proxy is in its row of `rows`
    /// and starts as `start` leaves it. Nothing is updated.
    ///
    /// # Panics
    /// When the width is 0, or `rows` are not those of as many proxies, each in one of its own.
    pub fn new(
        width: usize,
        rows: Vec<u32>,
        delivery: Delivery,
        start: impl Fn(LocalId, &mut [R::Value]) + Sync,
    ) -> Self {
        assert!(width > 0, "vectors of at least one element");
        let mut proxies = vec![u32::MAX; rows.len()];
        for (proxy, &row) in rows.iter().enumerate() {
            let taken = std::mem::replace(&mut proxies[row as usize], proxy as u32);
            assert_eq!(taken, u32::MAX, "row {row} is that of one proxy");
        }
        let mut elements = vec![R::identity(); width * rows.len()];
        let vectors = elements.par_chunks_exact_mut(width).zip(&proxies);
        vectors.for_each(|(vector, &proxy)| start(LocalId(proxy), vector));
        VectorField { elements, width, updated: VertexSet::new(rows.len()), rows, delivery }
    }

    /// Elements of a vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of proxies.
    pub fn num_proxies(&self) -> usize {
        self.rows.len()
    }

    /// The vector of a proxy.
    #[inline]
    pub fn get(&self, proxy: LocalId) -> &[R::Value] {
        &self.elements[self.range(proxy)]
    }

    /// The vector of a proxy, to be written.
    #[inline]
    pub fn get_mut(&mut self, proxy: LocalId) -> &mut [R::Value] {
        let range = self.range(proxy);
        &mut self.elements[range]
    }

    /// All vectors by rows, to be written.
    pub fn rows_mut(&mut self) -> &mut [R::Value] {
        &mut self.elements
    }

    /// What must be sent.
    pub fn updated(&self) -> &VertexSet {
        &self.updated
    }

    #[inline]
    fn range(&self, proxy: LocalId) -> Range<usize> {
        let first = self.rows[proxy.index()] as usize * self.width;
        first..first + self.width
    }

    /// Bytes of one vector.
    fn bytes(&self) -> usize {
        self.width * size_of::<R::Value>()
    }
}

impl<R: Reduction> Field for VectorField<R> {
    fn shape(&self) -> Shape {
        Shape { kind: ValueKind::Plain(self.bytes()), delivery: self.delivery }
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        let bytes = self.width * size_of::<R::Value>();
        route.extract(which, &self.updated, out, bytes, |proxy, value| {
            value.copy_from_slice(bytemuck::cast_slice(self.get(proxy)));
        });
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        let counts_once = self.delivery == Delivery::Event || !R::IDEMPOTENT;
        if phase == Phase::Reduce && counts_once {
            let sent: Vec<LocalId> = self.updated.iter_range(proxies.clone()).collect();
            sent.into_iter().for_each(|proxy| self.get_mut(proxy).fill(R::identity()));
        }
        self.updated.remove_range(proxies);
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        for (proxy, bytes) in route.locals(places).zip(values.chunks_exact(self.bytes())) {
            let came = bytes.chunks_exact(size_of::<R::Value>()).map(bytemuck::pod_read_unaligned);
            let mut changed = self.delivery == Delivery::Event;
            for (mine, came) in self.get_mut(proxy).iter_mut().zip(came) {
                let new = R::combine(*mine, came);
                changed |= std::mem::replace(mine, new) != new;
            }
            if changed && phase == Phase::Reduce {
                self.updated.insert(proxy);
            }
        }
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        for (proxy, bytes) in route.locals(places).zip(values.chunks_exact(self.bytes())) {
            bytemuck::cast_slice_mut(self.get_mut(proxy)).copy_from_slice(bytes);
        }
    }
}
