//! What arrives, on its way to the device: through pinned memory, so that the host goes on with the next
//! part while the device copies and folds the last.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use parton_graph::parallel;

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::memory::{Buffer, PinnedBuffer};

/// Bytes of pinned memory at most.
const MAX_PINNED_BYTES: usize = 16 << 20;
/// Parts of a message that fit into pinned memory: one is filled while others are on their way.
const PARTS: usize = 4;

/// The unit of both memories: values of any type may begin with one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
struct Unit([u8; 16]);

/// Memory on both sides of the bus. What is used is free again when the device has been waited for.
pub(super) struct Incoming {
    here: PinnedBuffer<Unit>,
    used_here: usize,
    there: Buffer<Unit>,
    used_there: usize,
}

impl Incoming {
    /// No memory yet.
    pub(super) fn new(driver: &Arc<dyn Driver>) -> Result<Self> {
        let (here, there) = (PinnedBuffer::new(driver, 0)?, Buffer::new(driver, 0)?);
        Ok(Incoming { here, used_here: 0, there, used_there: 0 })
    }

    /// Makes room for messages of up to this many bytes.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<()> {
        let needed = bytes.div_ceil(size_of::<Unit>()) + 1;
        if needed > self.there.len() {
            let driver = self.there.driver().clone();
            driver.synchronize()?;
            let pinned = (PARTS * needed).min(MAX_PINNED_BYTES / size_of::<Unit>());
            self.here = PinnedBuffer::new(&driver, pinned)?;
            self.there = Buffer::new(&driver, needed)?;
            (self.used_here, self.used_there) = (0, 0);
        }
        Ok(())
    }

    /// Queues the copies of two parts of a message. Returns where they will be; null for an empty one.
    pub(super) fn upload(&mut self, parts: [&[u8]; 2]) -> Result<[Address; 2]> {
        let needed: usize = parts.iter().map(|part| units(part)).sum();
        if self.used_there + needed > self.there.len() {
            self.there.driver().synchronize()?;
            (self.used_here, self.used_there) = (0, 0);
            if needed > self.there.len() {
                self.reserve(needed * size_of::<Unit>())?;
            }
        }
        let mut places = [Address(0); 2];
        for (place, part) in places.iter_mut().zip(parts).filter(|(_, part)| !part.is_empty()) {
            *place = self.there.address_of(self.used_there);
            let units = (self.here.len() / PARTS).max(1);
            for piece in part.chunks(units * size_of::<Unit>()) {
                self.upload_piece(piece)?;
            }
        }
        Ok(places)
    }

    fn upload_piece(&mut self, piece: &[u8]) -> Result<()> {
        let count = units(piece);
        if self.used_here + count > self.here.len() {
            self.there.driver().synchronize()?;
            self.used_here = 0;
        }
        let part = self.used_here..self.used_here + count;
        let room: &mut [u8] = bytemuck::cast_slice_mut(&mut self.here[part.clone()]);
        parallel::copy(piece, &mut room[..piece.len()]);
        self.used_here = part.end;
        self.there.queue_upload(self.used_there, &self.here, part)?;
        self.used_there += count;
        Ok(())
    }
}

fn units(bytes: &[u8]) -> usize {
    bytes.len().div_ceil(size_of::<Unit>())
}
