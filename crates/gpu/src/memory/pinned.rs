//! An array in the host's memory that devices copy from and to while the host goes on.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use bytemuck::Pod;

use crate::driver::{Address, Driver, Pinned};
use crate::error::Result;

/// An array in pinned memory, freed when dropped. It starts as zeros.
///
/// Kernels can read and write it at [`PinnedBuffer::address`], over the bus.
pub struct PinnedBuffer<T: Pod> {
    driver: Arc<dyn Driver>,
    memory: Pinned,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// An array of zeros.
    pub fn new(driver: &Arc<dyn Driver>, len: usize) -> Result<PinnedBuffer<T>> {
        // An empty array has memory, too: its address is then never null.
        let memory = driver.allocate_pinned(len.saturating_mul(size_of::<T>()).max(1))?;
        debug_assert!(memory.host.cast::<T>().is_aligned());
        // SAFETY: this memory is new, and has that many bytes.
        unsafe { memory.host.write_bytes(0, memory.bytes) };
        Ok(PinnedBuffer { driver: driver.clone(), memory, len, elements: PhantomData })
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty, reason = "slices have it")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where kernels find the elements.
    pub fn address(&self) -> Address {
        self.memory.address
    }

    /// That address as an argument of a kernel.
    pub fn argument(&self) -> &[u8] {
        bytemuck::bytes_of(&self.memory.address)
    }

    /// The untyped memory.
    pub fn raw(&self) -> &Pinned {
        &self.memory
    }

    /// Reads an element that a kernel may write at this moment.
    pub fn poll(&self, index: usize) -> T {
        assert!(index < self.len, "element {index} of {}", self.len);
        // SAFETY: the element is part of the array.
        unsafe { self.memory.host.cast::<T>().add(index).read_volatile() }
    }

    /// Makes room for at least this many elements, and keeps none of the old ones if it must move.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        if len > self.len {
            let capacity = len.max(2 * self.len);
            *self = PinnedBuffer::new(&self.driver, capacity)?;
        }
        Ok(())
    }

    /// Bytes of a range.
    pub(super) fn byte_range(&self, range: &Range<usize>) -> Range<usize> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "elements {range:?} of {}",
            self.len
        );
        range.start * size_of::<T>()..range.end * size_of::<T>()
    }
}

impl<T: Pod> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the array has that many elements, and all bytes are initialised. The host has waited
        // for copies to it, as this module demands.
        unsafe { std::slice::from_raw_parts(self.memory.host.cast(), self.len) }
    }
}

impl<T: Pod> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has this value.
        unsafe { std::slice::from_raw_parts_mut(self.memory.host.cast(), self.len) }
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        self.driver.free_pinned(&self.memory);
    }
}
