//! Data-driven: whatever is active pushes along its edges, and improvements are used at once.
//!
//! A relaxation goes on inside a host until nothing changes there, as if the host were alone; only
//! then do hosts talk. The number of rounds is the number of times a label crosses hosts. Hosts that do
//! not wait for each other talk after little work.

use crate::program::Relaxation;
use crate::relaxing::Relaxing;
use crate::strategy::Strategy;

#[derive(Default)]
pub(super) struct Push;

impl Strategy for Push {
    const PULLS: bool = false;

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        let mut all = 0;
        while !host.frontier().is_empty() {
            host.push();
            all += host.frontier_edges();
            if host.should_talk(all) {
                // What has become active is found when hosts have talked.
                break;
            }
            host.next_frontier();
        }
        all
    }
}
