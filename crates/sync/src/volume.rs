//! Bytes that travel, counted by phase and by peer, values and metadata apart.

use std::ops::AddAssign;

use crate::encode::Size;
use crate::field::Phase;

/// Bytes and messages that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Volume {
    /// Bytes of values from mirrors to masters.
    pub reduce_values: u64,
    /// All other bytes from mirrors to masters.
    pub reduce_metadata: u64,
    /// Bytes of values from masters to mirrors.
    pub broadcast_values: u64,
    /// All other bytes from masters to mirrors.
    pub broadcast_metadata: u64,
    /// Number of messages.
    pub messages: u64,
}

impl Volume {
    /// Bytes of values.
    pub fn values(&self) -> u64 {
        self.reduce_values + self.broadcast_values
    }

    /// Bytes of everything but values.
    pub fn metadata(&self) -> u64 {
        self.reduce_metadata + self.broadcast_metadata
    }

    /// All bytes.
    pub fn total(&self) -> u64 {
        self.values() + self.metadata()
    }

    /// Counts one message.
    pub(crate) fn count(&mut self, phase: Phase, size: Size) {
        self.count_bytes(phase, size);
        self.messages += 1;
    }

    /// Counts bytes, but no message.
    pub(crate) fn count_bytes(&mut self, phase: Phase, size: Size) {
        let (values, metadata) = match phase {
            Phase::Reduce => (&mut self.reduce_values, &mut self.reduce_metadata),
            Phase::Broadcast => (&mut self.broadcast_values, &mut self.broadcast_metadata),
        };
        *values += size.values;
        *metadata += size.metadata;
    }
}

impl AddAssign for Volume {
    fn add_assign(&mut self, other: Volume) {
        self.reduce_values += other.reduce_values;
        self.reduce_metadata += other.reduce_metadata;
        self.broadcast_values += other.broadcast_values;
        self.broadcast_metadata += other.broadcast_metadata;
        self.messages += other.messages;
    }
}
