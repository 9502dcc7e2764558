//! How fast hosts send to each other: what a host should know before it chooses how to work.

use std::time::Duration;

use crate::clock::Clock;
use crate::error::Result;
use crate::net::Net;

/// Bytes that each host sends. Links let short bursts through at once, which say nothing of their rate.
const PROBE_BYTES: usize = 1 << 20;
/// The best of several trials counts: cores may be busy meanwhile.
const TRIALS: usize = 2;

impl Net {
    /// Bytes per second at which every host sends to the next one while the others do so, too, at the slowest
    /// of them. `None` between hosts of one process and in a simulation, where messages take no time. Every host
    /// must call this.
    pub fn sending_rate(&mut self) -> Result<Option<f64>> {
        let is_network = matches!(self.clock(), Clock::Real(_)) && self.handover().is_none();
        let next = self.peers().next().filter(|_| is_network);
        let Some(next) = next else { return Ok(None) };
        let mut best = Duration::MAX;
        for _ in 0..TRIALS {
            self.barrier()?;
            let start = self.now();
            let mut buffers = vec![Vec::new(); self.num_hosts()];
            buffers[next.index()] = vec![0; PROBE_BYTES];
            self.all_to_all(buffers)?;
            let slowest = self.all_reduce((self.now() - start).as_secs_f64(), f64::max)?;
            best = best.min(Duration::from_secs_f64(slowest));
        }
        Ok(Some(PROBE_BYTES as f64 / best.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cluster, Error, Net};

    #[test]
    fn messages_that_take_no_time_have_no_rate() {
        let rate = |net: &mut Net| Ok::<_, Error>(net.sending_rate()?.is_none());
        for mut cluster in [Cluster::local(1), Cluster::local(3), Cluster::sim(3, 5)] {
            assert!(cluster.launch(rate).expect("a rate").into_iter().all(|is_none| is_none));
        }
    }
}
