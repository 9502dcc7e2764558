//! What arrives, on its way to the device: a ring of pinned memory, so that the host goes on with the next
//! message while the device copies and folds the last.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::memory::{Buffer, PinnedBuffer};

/// Messages as large as the largest so far that the ring holds.
const MESSAGES: usize = 8;

/// The unit of the ring: values of any type may begin with one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
struct Unit([u8; 16]);

/// The same ring on both sides of the bus.
pub(super) struct Incoming {
    here: PinnedBuffer<Unit>,
    there: Buffer<Unit>,
    /// Units that are in use until the device is waited for.
    used: usize,
}

impl Incoming {
    pub(super) fn new(driver: &Arc<dyn Driver>) -> Result<Self> {
        let (here, there) = (PinnedBuffer::new(driver, 0)?, Buffer::new(driver, 0)?);
        Ok(Incoming { here, there, used: 0 })
    }

    /// Queues the copies of two parts of a message. Returns where they will be; null for an empty one.
    pub(super) fn upload(&mut self, parts: [&[u8]; 2]) -> Result<[Address; 2]> {
        let needed: usize = parts.iter().map(|part| units(part)).sum();
        if self.used + needed > self.there.len() {
            let driver = self.there.driver().clone();
            driver.synchronize()?;
            self.used = 0;
            if needed > self.there.len() {
                self.here = PinnedBuffer::new(&driver, MESSAGES * needed)?;
                self.there = Buffer::new(&driver, MESSAGES * needed)?;
            }
        }
        let mut places = [Address(0); 2];
        for (place, part) in places.iter_mut().zip(parts) {
            let range = self.used..self.used + units(part);
            if range.is_empty() {
                continue;
            }
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut self.here[range.clone()]);
            room[..part.len()].copy_from_slice(part);
            self.there.queue_upload(range.start, &self.here, range.clone())?;
            *place = self.there.address_of(range.start);
            self.used = range.end;
        }
        Ok(places)
    }
}

fn units(bytes: &[u8]) -> usize {
    bytes.len().div_ceil(size_of::<Unit>())
}
