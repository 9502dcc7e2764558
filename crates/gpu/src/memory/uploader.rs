//! Large arrays on their way to a device: double buffering through pinned memory.
//!
//! A device copies from ordinary memory at a fraction of what the bus can do. Threads of the host
//! therefore copy a chunk to pinned memory while the device copies the chunk before.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use parton_graph::parallel;

use super::{Buffer, PinnedBuffer};
use crate::driver::Driver;
use crate::error::Result;

/// Bytes of one chunk: large enough that waiting between chunks does not show.
const CHUNK_BYTES: usize = 32 << 20;
/// Bytes that one task of the host's threads copies.
const TASK_BYTES: usize = 1 << 20;
/// Smaller arrays take the direct way: the device's driver has pinned memory of its own for them.
const MIN_STAGED_BYTES: usize = 1 << 20;

/// A host's way for large arrays. Its pinned memory is allocated when first used.
pub struct Uploader {
    driver: Arc<dyn Driver>,
    chunk_bytes: usize,
    chunks: Mutex<Option<[PinnedBuffer<Word>; 2]>>,
    last_edges: Mutex<Uploaded>,
    /// Rows of more edges have offsets of 64 bits.
    pub(crate) max_narrow_edges: u64,
}

/// What was copied to a device, and the time from asking for its memory to the arrival of the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uploaded {
    /// Bytes on the device.
    pub bytes: u64,
    /// The time.
    pub time: Duration,
}

/// The unit of pinned memory: any element up to this alignment can lie in it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
struct Word([u8; 16]);

impl Uploader {
    /// A way to this device.
    pub fn new(driver: &Arc<dyn Driver>) -> Uploader {
        Uploader::with_chunks(driver, CHUNK_BYTES)
    }

    /// The same with chunks of another size, for tests.
    pub fn with_chunks(driver: &Arc<dyn Driver>, chunk_bytes: usize) -> Uploader {
        let (chunks, last_edges) = Default::default();
        let max_narrow_edges = u64::from(u32::MAX);
        Uploader { driver: driver.clone(), chunk_bytes, chunks, last_edges, max_narrow_edges }
    }

    /// The edges that an engine uploaded last.
    pub(crate) fn last_edges(&self) -> Uploaded {
        *self.last_edges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the upload of an engine's edges.
    pub(crate) fn remember_edges(&self, uploaded: Uploaded) {
        *self.last_edges.lock().unwrap_or_else(PoisonError::into_inner) = uploaded;
    }

    /// A copy of a slice on the device.
    pub fn buffer<T: Pod + Send + Sync>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(&self.driver, elements.len())?;
        self.upload(&mut buffer, 0, elements)?;
        Ok(buffer)
    }

    /// Replaces elements from `first` on.
    pub fn upload<T: Pod + Send + Sync>(
        &self,
        to: &mut Buffer<T>,
        first: usize,
        elements: &[T],
    ) -> Result<()> {
        if size_of_val(elements) < MIN_STAGED_BYTES.min(self.chunk_bytes) {
            return to.upload(first, elements);
        }
        self.upload_with(to, first, elements.len(), |range, place: &mut [T]| {
            place.copy_from_slice(&elements[range]);
        })
    }

    /// Replaces `count` elements from `first` on by those that `fill` writes: it is called by several
    /// threads with a range below `count`, and where the elements of that range go.
    pub fn upload_with<T: Pod + Send + Sync>(
        &self,
        to: &mut Buffer<T>,
        first: usize,
        count: usize,
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Result<()> {
        assert!(align_of::<T>() <= align_of::<Word>(), "pinned memory is not aligned for these");
        assert!(first + count <= to.len(), "elements {first} + {count} of {}", to.len());
        let element = size_of::<T>();
        if count == 0 || element == 0 {
            return Ok(());
        }
        let mut guard = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let chunks = match &mut *guard {
            Some(chunks) => chunks,
            empty => {
                let words = self.chunk_bytes.div_ceil(size_of::<Word>());
                let chunk = || PinnedBuffer::new(&self.driver, words);
                empty.insert([chunk()?, chunk()?])
            }
        };
        let per_chunk = (self.chunk_bytes / element).max(1);
        assert!(per_chunk * element <= size_of_val::<[Word]>(&chunks[0]), "an element of a chunk");
        // The device may still read what an earlier upload left here.
        self.driver.synchronize()?;
        for (number, range) in parallel::pieces(0..count, per_chunk).into_iter().enumerate() {
            let chunk = &mut chunks[number % 2];
            let bytes = range.len() * element;
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut chunk[..]);
            fill_in_parallel(&range, bytemuck::cast_slice_mut(&mut room[..bytes]), &fill);
            // The chunk before has left, so that it can be filled while this one is on its way.
            self.driver.synchronize()?;
            self.driver.queue_upload(to.address_of(first + range.start), chunk.raw(), 0..bytes)?;
        }
        self.driver.synchronize()
    }

    /// Gives the pinned memory back. The next upload allocates it again.
    pub fn release(&self) {
        *self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
    }
}

/// Has all threads write the elements of a range.
fn fill_in_parallel<T: Pod + Send + Sync>(
    range: &Range<usize>,
    place: &mut [T],
    fill: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    let per_task = (TASK_BYTES / size_of::<T>()).max(1);
    let tasks = place.chunks_mut(per_task);
    parallel::map_owned(tasks, |number, place| {
        let start = range.start + number * per_task;
        fill(start..start + place.len(), place);
    });
}
