//! A value per proxy, of a type that the engine does not know.

use std::any::Any;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_sync::{AtomicValue, CpuField, Delivery, Field, Reduction, Value};

/// Values that a thread copies at a time.
const VALUES_PER_TASK: usize = 1 << 14;

/// A value per proxy.
pub trait AnyColumn: Field + Any + Send + Sync {
    /// Itself, to be asked for its type.
    fn as_any(&self) -> &dyn Any;

    /// Itself, to be synchronised.
    fn as_field(&mut self) -> &mut dyn Field;

    /// The proxies whose values must be sent.
    fn updated(&self) -> &VertexSet;

    /// Proxies that were given something since this was last asked, ascending.
    fn drain_active(&mut self) -> Vec<LocalId>;

    /// Copies the values of the first proxies, as many as there is room for, as they travel.
    fn read_first(&self, into: &mut [u8]);

    /// Puts the identity back where a contribution was.
    fn forget(&self, vertices: &[LocalId]);
}

impl<R: Reduction<Value: AtomicValue>> AnyColumn for CpuField<R> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_field(&mut self) -> &mut dyn Field {
        self
    }

    fn updated(&self) -> &VertexSet {
        CpuField::updated(self)
    }

    fn drain_active(&mut self) -> Vec<LocalId> {
        CpuField::drain_active(self)
    }

    #[inline(never)]
    fn read_first(&self, into: &mut [u8]) {
        let (cells, bytes) = (self.cells(), R::Value::KIND.bytes());
        let rooms = into.chunks_mut(VALUES_PER_TASK * bytes);
        parallel::for_each_owned(rooms, |task, room| {
            for (place, room) in room.chunks_exact_mut(bytes).enumerate() {
                cells.get(LocalId((task * VALUES_PER_TASK + place) as u32)).write(room);
            }
        });
    }

    #[inline(never)]
    fn forget(&self, vertices: &[LocalId]) {
        vertices.iter().for_each(|&vertex| self.put(vertex, R::identity()));
    }
}

/// A column of values that masters set and broadcast to mirrors.
pub fn values<T: AtomicValue + Default>(proxies: usize, is_shared: bool) -> Box<dyn AnyColumn> {
    column::<parton_sync::reduction::Latest<T>>(proxies, Delivery::Label, is_shared)
}

/// A column of messages, of which each also says that its vertex is active.
pub fn messages<T: AtomicValue + Default>(proxies: usize, is_shared: bool) -> Box<dyn AnyColumn> {
    column::<parton_sync::reduction::Latest<T>>(proxies, Delivery::Event, is_shared)
}

/// A column of contributions.
pub fn accumulator<R: Reduction<Value: AtomicValue>>(
    proxies: usize,
    is_shared: bool,
) -> Box<dyn AnyColumn> {
    column::<R>(proxies, Delivery::Event, is_shared)
}

#[inline(never)]
fn column<R: Reduction<Value: AtomicValue>>(
    proxies: usize,
    delivery: Delivery,
    is_shared: bool,
) -> Box<dyn AnyColumn> {
    let field = CpuField::<R>::new(proxies, delivery, |_| R::identity());
    Box::new(if is_shared { field } else { field.alone() })
}
