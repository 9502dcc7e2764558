//! An array in a device's memory.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::PinnedBuffer;
use crate::driver::{Address, Driver};
use crate::error::Result;

/// An array in a device's memory, freed when dropped. An empty one has no memory, and address 0.
pub struct Buffer<T: Pod> {
    driver: Arc<dyn Driver>,
    address: Address,
    len: usize,
    capacity: usize,
    elements: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// An array with undefined contents.
    pub fn new(driver: &Arc<dyn Driver>, len: usize) -> Result<Buffer<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        let address = if bytes == 0 { Address(0) } else { driver.allocate(bytes)? };
        Ok(Buffer { driver: driver.clone(), address, len, capacity: len, elements: PhantomData })
    }

    /// An array of zeros. Setting them is queued.
    pub fn zeroed(driver: &Arc<dyn Driver>, len: usize) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(driver, len)?;
        buffer.queue_fill(0)?;
        Ok(buffer)
    }

    /// A copy of a slice. For large ones, [`Uploader::buffer`](super::Uploader::buffer) is faster.
    pub fn from_slice(driver: &Arc<dyn Driver>, elements: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(driver, elements.len())?;
        buffer.upload(0, elements)?;
        Ok(buffer)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Where the elements are. Growing changes it.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The address as an argument of a kernel.
    pub fn argument(&self) -> &[u8] {
        bytemuck::bytes_of(&self.address)
    }

    /// Where elements from this one on are.
    pub(crate) fn address_of(&self, index: usize) -> Address {
        assert!(index <= self.len, "element {index} of {}", self.len);
        self.address.plus(index * size_of::<T>())
    }

    /// The same memory as bytes.
    pub(crate) fn into_bytes(mut self) -> Buffer<u8> {
        let (len, capacity) = (self.bytes(), self.capacity * size_of::<T>());
        // This value frees nothing any more.
        let address = std::mem::replace(&mut self.address, Address(0));
        Buffer { driver: self.driver.clone(), address, len, capacity, elements: PhantomData }
    }

    /// The driver of the device.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Address and bytes of a range.
    fn part(&self, range: &Range<usize>) -> (Address, usize) {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "elements {range:?} of {}",
            self.len
        );
        (self.address.plus(range.start * size_of::<T>()), range.len() * size_of::<T>())
    }

    /// Replaces elements from `first` on. Waits for all queued work.
    pub fn upload(&mut self, first: usize, elements: &[T]) -> Result<()> {
        let (to, bytes) = self.part(&(first..first + elements.len()));
        if bytes == 0 { Ok(()) } else { self.driver.upload(to, bytemuck::cast_slice(elements)) }
    }

    /// Copies elements from `first` on. Waits for all queued work.
    pub fn download(&self, first: usize, into: &mut [T]) -> Result<()> {
        let (from, bytes) = self.part(&(first..first + into.len()));
        if bytes == 0 { Ok(()) } else { self.driver.download(from, bytemuck::cast_slice_mut(into)) }
    }

    /// A copy of all elements. Waits for all queued work.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = vec![T::zeroed(); self.len];
        self.download(0, &mut elements)?;
        Ok(elements)
    }

    /// Queues a copy of `from[part]` to the elements from `first` on.
    pub fn queue_upload(
        &mut self,
        first: usize,
        from: &PinnedBuffer<T>,
        part: Range<usize>,
    ) -> Result<()> {
        let (to, bytes) = self.part(&(first..first + part.len()));
        if bytes == 0 {
            return Ok(());
        }
        self.driver.queue_upload(to, from.raw(), from.byte_range(&part))
    }

    /// Queues a copy of the elements in `part` to those of `to` from `first` on.
    pub fn queue_download(
        &self,
        part: Range<usize>,
        to: &mut PinnedBuffer<T>,
        first: usize,
    ) -> Result<()> {
        let (from, bytes) = self.part(&part);
        if bytes == 0 {
            return Ok(());
        }
        self.driver.queue_download(from, to.raw(), to.byte_range(&(first..first + part.len())))
    }

    /// Queues a copy of the elements of `from` in `part` to those from `first` on.
    pub fn queue_copy(&mut self, first: usize, from: &Buffer<T>, part: Range<usize>) -> Result<()> {
        let (to, bytes) = self.part(&(first..first + part.len()));
        let (from, _) = from.part(&part);
        if bytes == 0 { Ok(()) } else { self.driver.queue_copy(from, to, bytes) }
    }

    /// Queues setting every byte.
    pub fn queue_fill(&mut self, byte: u8) -> Result<()> {
        self.queue_fill_part(0..self.len, byte)
    }

    /// Queues setting every byte of these elements.
    pub fn queue_fill_part(&mut self, part: Range<usize>, byte: u8) -> Result<()> {
        let (at, bytes) = self.part(&part);
        if bytes == 0 { Ok(()) } else { self.driver.queue_fill(at, byte, bytes) }
    }

    /// Changes the number of elements. Elements that stay keep their values; new ones are undefined.
    ///
    /// Memory is replaced if it is too small, by at least twice as much: growing step by step costs
    /// a constant number of copies of each element.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        if len > self.capacity {
            let capacity = len.max(2 * self.capacity);
            // Twice as much may be too much for the device where enough is not.
            let mut larger = match Buffer::new(&self.driver, capacity) {
                Err(crate::Error::OutOfMemory { .. }) if capacity > len => {
                    Buffer::new(&self.driver, len)?
                }
                other => other?,
            };
            larger.queue_copy(0, self, 0..self.len)?;
            // The copy must be done before the old memory is freed.
            self.driver.synchronize()?;
            *self = larger;
        }
        self.len = len;
        Ok(())
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != Address(0) {
            self.driver.free(self.address);
        }
    }
}

impl<T: Pod> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("address", &self.address).field("len", &self.len).finish()
    }
}
