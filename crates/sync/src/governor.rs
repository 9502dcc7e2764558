//! When a host that need not wait had better wait a little.
//!
//! A host that computes with what it has, while better values are about to arrive, computes in
//! vain. So after sending, a host waits for those peers that had something to say the last time, as
//! long as that promises to be worth it: for each at most a *share* of the time that its own work of
//! this round took. A peer's share doubles, up to an eighth, when it did speak in time, and halves
//! when it did not. Hosts that are equally fast thus go side by side; one that is slow is soon not
//! waited for; and a host that had little to do waits briefly, so that little can be lost.

use std::ops::Range;
use std::time::Duration;

use parton_net::{Net, Tag};

use crate::error::Result;
use crate::field::Phase;

/// The largest share, and the first: what one wait in vain may cost.
const MOST: f64 = 1.0 / 8.0;
/// The least share: never quite nothing, so that a host that has become faster is noticed.
const LEAST: f64 = MOST / 32.0;

/// Decides how long a host waits before it takes what has arrived.
#[derive(Debug)]
pub(crate) struct Governor {
    /// Which part of its own work a host is ready to wait for each other, by host.
    shares: Vec<f64>,
    /// Who spoke the last time, in each phase, by host.
    expected: [Vec<bool>; 2],
    /// Seconds of own work in this round.
    work: f64,
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

impl std::ops::AddAssign for Waits {
    /// Waits of a later time.
    fn add_assign(&mut self, later: Waits) {
        self.waits += later.waits;
        self.in_time += later.in_time;
        self.seconds += later.seconds;
        self.share = later.share;
    }
}

impl Governor {
    pub(crate) fn new(hosts: usize, now: Duration) -> Self {
        // At first everybody is: who has nothing to say is not waited for twice.
        let expected = [vec![true; hosts], vec![true; hosts]];
        let account = Waits { share: MOST, ..Waits::default() };
        Governor { shares: vec![MOST; hosts], expected, work: 0.0, resumed: now, account }
    }

    /// The host goes on after it had nothing to do.
    pub(crate) fn resume(&mut self, now: Duration) {
        self.resumed = now;
    }

    /// Waits until those have spoken under these tags that did the last time, as long as that is
    /// worth it.
    pub(crate) fn wait(
        &mut self,
        net: &mut Net,
        phase: Phase,
        tags: Range<Tag>,
        may_speak: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let start = net.now();
        let work = start.saturating_sub(self.resumed).as_secs_f64();
        self.work = if phase == Phase::Reduce { work } else { self.work + work };
        let whole = self.work;
        let (shares, expected) = (&mut self.shares, &mut self.expected[phase as usize]);
        let mut heard = vec![false; expected.len()];
        let mut waited = false;
        let in_time = loop {
            net.waiting(tags.clone()).for_each(|(_, from)| heard[from.index()] = true);
            let silent = (0..heard.len()).filter(|&host| expected[host] && !heard[host]);
            let missing = silent.filter(|&host| may_speak(host));
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
        for host in (0..heard.len()).filter(|&host| expected[host] && may_speak(host)) {
            let factor = match heard[host] {
                true => 2.0,
                false if waited => 0.5,
                false => 1.0,
            };
            shares[host] = (factor * shares[host]).clamp(LEAST, MOST);
        }
        self.resumed = net.now();
        if waited || heard.contains(&true) {
            *expected = heard;
        }
        if waited {
            self.account.waits += 1;
            self.account.in_time += u64::from(in_time);
            self.account.seconds += (self.resumed - start).as_secs_f64();
            self.account.share = self.shares.iter().sum::<f64>() / self.shares.len() as f64;
        }
        Ok(())
    }
}
