//! Simulated hosts: how much virtual time their work takes. Tests and benchmarks use the same hosts.

use std::time::Duration;

use parton_sync::{Tally, Volume};

use crate::run::Watch;

/// The time of a round, and of every edge.
const TIME_PER_ROUND: Duration = Duration::from_micros(5);
const TIME_PER_EDGE: Duration = Duration::from_nanos(10);
/// The time of a message between them.
pub const TIME_PER_MESSAGE: Duration = Duration::from_micros(20);

/// A simulated host that takes this many times as long as others.
pub struct SimulatedHost(pub f64);

impl Watch for SimulatedHost {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}

    fn worked(&mut self, _: Duration, edges: u64) -> Duration {
        let time = TIME_PER_ROUND.as_secs_f64() + TIME_PER_EDGE.as_secs_f64() * edges as f64;
        Duration::from_secs_f64(self.0 * time)
    }
}
