//! Messages in the order of how often they are read: hub sorting (Zhang et al., "Making caches work for
//! graph analytics", 2017).
//!
//! Every edge reads a message of 4 or 8 bytes, and memory delivers 32. Where the proxies that most edges
//! start at lie side by side, all these bytes are of use, and the first of them stay in a processor's own
//! cache. Each round copies the messages into that order, which is one write per proxy.

use std::sync::Arc;

use parton_graph::parallel;

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::launch::{Kernels, arguments};
use crate::memory::{Buffer, Uploader};
use crate::rows::DeviceEdges;

/// Classes of proxies by the logarithm of their counts, the most frequent first.
const CLASSES: usize = 33;
/// Proxies that one task puts in order.
const PROXIES_PER_TASK: usize = 1 << 16;

/// The names of the kernels.
pub(super) const KERNELS: [&str; 3] = ["count_ends", "renumber_ends", "place_messages"];

/// Where each proxy's message lies, and the messages.
pub(super) struct HubOrder {
    places: Buffer<u32>,
    messages: Buffer<u8>,
}

impl HubOrder {
    /// Renumbers the ends of these edges, which are from then on of use for collecting alone.
    pub(super) fn new(
        kernels: &Kernels,
        (driver, uploader): (&Arc<dyn Driver>, &Uploader),
        edges: &DeviceEdges,
        proxies: usize,
        message_bytes: usize,
    ) -> Result<Self> {
        let counts = Buffer::<u32>::zeroed(driver, proxies)?;
        for (ends, count) in edges.distinct_ends() {
            let arguments = arguments![ends, count, counts.address()];
            kernels.launch("vertex_count_ends", count, &arguments)?;
        }
        let places = uploader.buffer(&places_by_count(&counts.to_vec()?))?;
        for (ends, count) in edges.distinct_ends() {
            let arguments = arguments![ends, count, places.address()];
            kernels.launch("vertex_renumber_ends", count, &arguments)?;
        }
        Ok(HubOrder { places, messages: Buffer::new(driver, proxies * message_bytes)? })
    }

    /// Puts messages in order. Returns where they lie.
    pub(super) fn place(&self, kernels: &Kernels, messages: Address) -> Result<Address> {
        let (proxies, placed) = (self.places.len() as u32, self.messages.address());
        let arguments = arguments![messages, self.places.address(), proxies, placed];
        kernels.launch("vertex_place_messages", proxies.into(), &arguments)?;
        Ok(placed)
    }
}

/// Places in the order of descending classes, and of proxies within a class.
fn places_by_count(counts: &[u32]) -> Vec<u32> {
    let class = |count: u32| count.leading_zeros() as usize;
    let pieces = parallel::pieces(0..counts.len(), PROXIES_PER_TASK);
    let mut firsts = parallel::map(&pieces, |piece| {
        let mut sizes = [0u32; CLASSES];
        counts[piece.clone()].iter().for_each(|&count| sizes[class(count)] += 1);
        sizes
    });
    let mut next = 0;
    for class in 0..CLASSES {
        for sizes in &mut firsts {
            next += std::mem::replace(&mut sizes[class], next);
        }
    }
    let mut places = vec![0; counts.len()];
    let work = places.chunks_mut(PROXIES_PER_TASK).zip(counts.chunks(PROXIES_PER_TASK)).zip(firsts);
    parallel::for_each_owned(work, |_, ((places, counts), mut next)| {
        for (place, &count) in places.iter_mut().zip(counts) {
            *place = next[class(count)];
            next[class(count)] += 1;
        }
    });
    places
}

#[cfg(test)]
mod tests {
    use super::places_by_count;

    #[test]
    fn frequent_proxies_come_first() {
        assert_eq!(places_by_count(&[0, 1, 9, 2, 8, 3, 0]), [5, 4, 0, 2, 1, 3, 6]);
        let many: Vec<u32> = (0..200_000).map(|i| i % 7).collect();
        let mut places = places_by_count(&many);
        assert!((1..many.len()).all(|i| many[i - 1] != 6 || places[i - 1] < places[i]));
        places.sort_unstable();
        assert!(places.into_iter().eq(0..200_000));
    }
}
