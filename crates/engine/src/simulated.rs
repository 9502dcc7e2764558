//! What simulated hosts take for their work, which by itself takes no virtual time. Tests and benchmarks
//! measure with the same hosts.

use std::time::Duration;

use parton_sync::{Tally, Volume};

use crate::run::Watch;

/// What a round takes, and every edge.
const ROUND: Duration = Duration::from_micros(5);
const EDGE: Duration = Duration::from_nanos(10);
/// What a message between them takes.
pub const MESSAGE: Duration = Duration::from_micros(20);

/// A simulated host that takes so many times as long as others.
pub struct SimulatedHost(pub f64);

impl Watch for SimulatedHost {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}

    fn worked(&mut self, _: Duration, edges: u64) -> Duration {
        let time = ROUND.as_secs_f64() + EDGE.as_secs_f64() * edges as f64;
        Duration::from_secs_f64(self.0 * time)
    }
}
