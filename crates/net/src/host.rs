//! Names of hosts.

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// One host: one partition, one device; a thread group or a process. Hosts of a cluster are
/// numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct HostId(pub u16);

impl HostId {
    /// The position of this host in per-host arrays.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// All hosts of a cluster, in order; one has at most `u16::MAX` of them.
    pub fn all(hosts: usize) -> impl DoubleEndedIterator<Item = HostId> + ExactSizeIterator {
        (0..hosts.min(MAX_HOSTS) as u16).map(HostId)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The most hosts a cluster may have, so that their number fits 16 bits too.
pub(crate) const MAX_HOSTS: usize = u16::MAX as usize;
