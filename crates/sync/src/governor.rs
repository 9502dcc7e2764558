//! The governor of an epoch: it controls how long a host waits for messages before it computes on.
//!
//! A host that computes with old values, while better ones are about to arrive, wastes its work. So
//! after sending, a host waits for the peers that sent something the last time: for each at most a
//! *share* of the time that its own work of this round took. The share of a peer doubles, up to an
//! eighth, when its message came in time, and halves when it did not. Hosts of equal speed thus
//! proceed together, a slow host soon is not waited for, and a host with little work waits briefly.

use std::ops::Range;
use std::time::Duration;

use parton_net::{Net, Tag};

use crate::error::Result;
use crate::field::Phase;

/// The largest share, and the first: the most that one useless wait may cost.
const MAX_SHARE: f64 = 1.0 / 8.0;
/// The least share: not zero, so that a host that has become faster is noticed.
const MIN_SHARE: f64 = MAX_SHARE / 32.0;

/// Decides how long a host waits before it absorbs the messages that have arrived.
#[derive(Debug)]
pub(crate) struct Governor {
    /// For each peer, the part of its own work that this host is ready to wait.
    shares: Vec<f64>,
    /// Whether each peer sent something the last time, by phase.
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
    /// How often all of them sent in time.
    pub in_time: u64,
    /// Seconds in these waits.
    pub seconds: f64,
    /// The part of its own work that a host was ready to wait in the end, on average over peers.
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
        // At first all peers are expected; a peer that stays silent is not waited for again.
        let expected = [vec![true; hosts], vec![true; hosts]];
        let account = Waits { share: MAX_SHARE, ..Waits::default() };
        Governor { shares: vec![MAX_SHARE; hosts], expected, work: 0.0, resumed: now, account }
    }

    /// The host computes again after it had nothing to do.
    pub(crate) fn resume(&mut self, now: Duration) {
        self.resumed = now;
    }

    /// Waits until the expected peers have sent something under these tags, each at most its share.
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
            shares[host] = (factor * shares[host]).clamp(MIN_SHARE, MAX_SHARE);
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
