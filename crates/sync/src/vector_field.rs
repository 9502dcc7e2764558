//! The field whose values are vectors, of a width that is known when a run begins.
//!
//! All vectors lie in one array, one row after the other. The engine chooses the row of each proxy:
//! an engine that puts its proxies into blocks can hand whole blocks to threads, as plain slices
//! that no other thread can write. To the encodings a vector is one value.

use std::ops::Range;

use bytemuck::Pod;
use parton_graph::{LocalId, VertexSet, parallel};
use parton_partition::End;

use crate::encode::{Places, ValueKind};
use crate::error::Result;
use crate::field::{Absorb, Delivery, Extracted, Field, Phase, Shape, Staging, Which};
use crate::reduction::Reduction;
use crate::route::Route;
use crate::updates::Updates;

/// Vectors that a thread starts at a time.
const VECTORS_PER_TASK: usize = 1 << 10;

/// A vector per proxy, whose elements are folded by `R`, with the set of proxies that are
/// *updated* and must be sent. The engine knows which proxies must be computed with.
pub struct VectorField<R: Reduction<Value: Pod>> {
    elements: Vec<R::Value>,
    width: usize,
    /// The row of every proxy.
    rows: Vec<u32>,
    updates: Updates,
    delivery: Delivery,
}

impl<R: Reduction<Value: Pod>> VectorField<R> {
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
        let vectors = elements.chunks_mut(width * VECTORS_PER_TASK);
        parallel::for_each_owned(
            vectors.zip(proxies.chunks(VECTORS_PER_TASK)),
            |_, (vectors, proxies)| {
                for (vector, &proxy) in vectors.chunks_exact_mut(width).zip(proxies) {
                    start(LocalId(proxy), vector);
                }
            },
        );
        VectorField { elements, width, updates: Updates::new(rows.len()), rows, delivery }
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

    /// The proxies whose vectors must be sent.
    pub fn updated(&self) -> &VertexSet {
        self.updates.updated()
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

impl<R: Reduction<Value: Pod>> Field for VectorField<R> {
    fn shape(&self) -> Shape {
        Shape::new(ValueKind::Plain(self.bytes()), self.delivery)
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
        Ok(self.updates.extract(route, which, staging, self.bytes(), |proxy, bytes| {
            bytes.copy_from_slice(bytemuck::cast_slice(self.get(proxy)));
        }))
    }

    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        let counts_once = self.delivery == Delivery::Event || !R::IDEMPOTENT;
        if phase == Phase::Reduce && counts_once {
            for range in proxies {
                let sent: Vec<LocalId> = self.updated().iter_range(range.clone()).collect();
                sent.into_iter().for_each(|proxy| self.get_mut(proxy).fill(R::identity()));
            }
        }
        self.updates.reset(phase, end, proxies);
        Ok(())
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        for (proxy, bytes) in route.locals(places).zip(values.chunks_exact(self.bytes())) {
            if how == Absorb::SetAtMirrors {
                bytemuck::cast_slice_mut(self.get_mut(proxy)).copy_from_slice(bytes);
                continue;
            }
            let came = bytes.chunks_exact(size_of::<R::Value>()).map(bytemuck::pod_read_unaligned);
            let mut changed = self.delivery == Delivery::Event;
            for (mine, came) in self.get_mut(proxy).iter_mut().zip(came) {
                let new = R::combine(*mine, came);
                changed |= std::mem::replace(mine, new) != new;
            }
            if changed && how == Absorb::FoldAtMasters {
                self.updated().insert(proxy);
            }
        }
        Ok(())
    }
}
