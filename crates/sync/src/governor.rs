//! When a host that need not wait had better wait a little.
//!
//! A host that computes with what it has, while better values are about to arrive, computes in
//! vain. So after sending, a host waits for those peers that had something to say the last time, as
//! long as that promises to be worth it: for each at most a *share* of the time its own work takes.
//! A peer's share doubles, up to all of it, when it did speak in time, and halves when it did not.
//! Hosts that are equally fast thus go side by side; one that is slow is soon not waited for. A host
//! with little to do waits, too: as long as an average round of its own would take.

use std::ops::Range;
use std::time::Duration;

use parton_net::{Net, Tag};

use crate::error::Result;
use crate::field::Phase;

/// The least share: never quite nothing, so that a host that has become faster is noticed.
const LEAST: f64 = 1.0 / 64.0;
/// Weight of the last round in the mean of rounds.
const LAST: f64 = 0.25;

/// Decides how long a host waits before it takes what has arrived.
#[derive(Debug)]
pub(crate) struct Governor {
    /// Which part of its own work a host is ready to wait for each other, by host.
    shares: Vec<f64>,
    /// Who spoke the last time, in each phase, by host.
    expected: [Vec<bool>; 2],
    /// Seconds of own work in a mean round.
    mean_work: f64,
    /// When the host last stopped waiting.
    resumed: Duration,
    pub(crate) account: Waits,
}

/// What a governor did.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Waits {
    /// How often a host waited for others before it went on.
    pub waits: u64,
    /// How often all of them spoke in time.
    pub in_time: u64,
    /// Seconds in these waits.
    pub seconds: f64,
    /// Which part of its own work a host was ready to wait in the end, for a mean peer.
    pub share: f64,
}

impl Governor {
    pub(crate) fn new(hosts: usize, now: Duration) -> Self {
        let expected = [vec![false; hosts], vec![false; hosts]];
        let account = Waits { share: 1.0, ..Waits::default() };
        Governor { shares: vec![1.0; hosts], expected, mean_work: 0.0, resumed: now, account }
    }

    /// The host goes on after it had nothing to do.
    pub(crate) fn resume(&mut self, now: Duration) {
        self.resumed = now;
    }

    /// Waits until those have spoken under these tags that did the last time, as long as that is
    /// worth it.
    pub(crate) fn wait(&mut self, net: &mut Net, phase: Phase, tags: Range<Tag>) -> Result<()> {
        let start = net.now();
        let work = start.saturating_sub(self.resumed).as_secs_f64();
        if phase == Phase::Reduce {
            self.mean_work += LAST * (work - self.mean_work);
        }
        let whole = work.max(self.mean_work);
        let (shares, expected) = (&mut self.shares, &mut self.expected[phase as usize]);
        let mut heard = vec![false; expected.len()];
        let mut waited = false;
        let in_time = loop {
            net.waiting(tags.clone()).for_each(|(_, from)| heard[from.index()] = true);
            let missing = (0..heard.len()).filter(|&host| expected[host] && !heard[host]);
            let Some(share) = missing.map(|host| shares[host]).reduce(f64::max) else {
                break true;
            };
            let end = start + Duration::from_secs_f64(share * whole);
            let left = end.saturating_sub(net.now());
            if left.is_zero() {
                break false;
            }
            waited = true;
            net.listen(left)?;
        };
        for host in (0..heard.len()).filter(|&host| expected[host]) {
            let factor = if heard[host] { 2.0 } else { 0.5 };
            shares[host] = (factor * shares[host]).clamp(LEAST, 1.0);
        }
        *expected = heard;
        self.resumed = net.now();
        if waited {
            self.account.waits += 1;
            self.account.in_time += u64::from(in_time);
            self.account.seconds += (self.resumed - start).as_secs_f64();
            self.account.share = self.shares.iter().sum::<f64>() / self.shares.len() as f64;
        }
        Ok(())
    }
}
