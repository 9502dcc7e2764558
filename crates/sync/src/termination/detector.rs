//! Finding the end with numbered snapshots that no host waits for (compare Chandy and Lamport 1985,
//! Mattern 1987: a second count confirms that nothing was under way in the first).
//!
//! A snapshot is a message from every host to every other: the state it is in, and how many messages between proxies
//! it has sent and received. It is an ordinary message under a tag of its own, so it works on any transport. Data are
//! sent as usual: messages under way show as a difference of the sums, and need no acknowledgements.

use parton_net::Net;

use super::states::{AFFIRMED, INACTIVE, INSPECTED, State, TRANSITIONS, Transition};
use super::{Tally, Termination};
use crate::epoch::{Counts, Epoch, snapshot_tag};
use crate::error::{Error, Result};
use crate::substrate::Substrate;

/// One host's part in finding the end of an epoch.
pub struct Detector {
    epoch: u64,
    table: &'static [Transition],
    state: State,
    /// The number of the last snapshot taken. Snapshot 0 counts as heard from all hosts.
    snapshot: u64,
    /// The reports of that snapshot, by host.
    reports: Vec<Option<Report>>,
    /// The counts of this host when they were last compared.
    counts: Counts,
}

/// The state and the counts of one host in a snapshot.
#[derive(Clone, Copy)]
struct Report {
    state: State,
    counts: Counts,
}

impl Report {
    const BYTES: usize = 1 + 2 * size_of::<u64>();

    fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.state as u8];
        bytes.extend(self.counts.sent.to_le_bytes());
        bytes.extend(self.counts.received.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (state, counts) = bytes.split_first().filter(|_| bytes.len() == Self::BYTES)?;
        let [sent, received] = bytemuck::pod_read_unaligned::<[u64; 2]>(counts);
        Some(Report { state: State::from_byte(*state)?, counts: Counts { sent, received } })
    }
}

impl Detector {
    /// For an epoch that has just begun; see [`Substrate::begin_epoch`].
    pub(crate) fn new(epoch: u64, hosts: usize) -> Self {
        // No host could have reported before the first snapshot, so it waits for no report.
        let before = Report { state: State::Ready1, counts: Counts::default() };
        Detector {
            epoch,
            table: TRANSITIONS,
            state: State::Active,
            snapshot: 0,
            reports: vec![Some(before); hosts],
            counts: Counts::default(),
        }
    }

    /// Follows another table. It will be wrong: tests of the tests want that.
    #[doc(hidden)]
    pub fn with_table(mut self, table: &'static [Transition]) -> Self {
        self.table = table;
        self
    }

    /// Where this host is on its way to the end.
    pub fn state(&self) -> State {
        self.state
    }

    /// Number of snapshots this host has taken.
    pub fn snapshots(&self) -> u64 {
        self.snapshot
    }

    /// The same as [`Termination::total`], for messages counted by the caller.
    #[doc(hidden)]
    pub fn total_of(
        &mut self,
        mine: Tally,
        counts: Counts,
        substrate: &mut Substrate<'_>,
    ) -> Result<Tally> {
        let inactive = mine.active == 0 && counts == self.counts;
        self.counts = counts;
        if !inactive {
            self.advance(0, substrate.net())?;
        }
        if mine.active > 0 {
            return Ok(mine);
        }
        let start = substrate.net().now();
        let over = self.rest(substrate.net())?;
        substrate.rested_since(start);
        Ok(Tally { active: u64::from(!over), ..mine })
    }

    /// Waits until a message arrives or the end is found; whether it is the end.
    fn rest(&mut self, net: &mut Net) -> Result<bool> {
        loop {
            // A message that has arrived, but was not absorbed yet, may be work.
            if net.waiting(Epoch::all_tags(self.epoch)).next().is_some() {
                return Ok(false);
            }
            self.hear(net)?;
            if self.advance(INACTIVE | self.known(), net)? {
                if self.state == State::Terminated {
                    return Ok(true);
                }
            } else if !net.park()? {
                let (host, tag) = (net.host(), snapshot_tag(self.epoch, self.snapshot));
                let seconds = net.patience().as_secs_f64();
                return Err(parton_net::Error::Silent { host, from: None, tag, seconds }.into());
            }
        }
    }

    /// Follows the table one step, if these facts allow a transition.
    fn advance(&mut self, facts: u8, net: &mut Net) -> Result<bool> {
        let Some(way) = self.state.next(self.table, facts) else { return Ok(false) };
        self.state = way.to;
        if way.snapshot {
            self.snapshot += 1;
            self.reports.fill(None);
            let mine = Report { state: self.state, counts: self.counts };
            self.reports[net.host().index()] = Some(mine);
            for peer in net.peers() {
                net.send(peer, snapshot_tag(self.epoch, self.snapshot), mine.bytes())?;
            }
        }
        Ok(true)
    }

    /// Takes the reports of the last snapshot that have arrived.
    fn hear(&mut self, net: &mut Net) -> Result<()> {
        let tags =
            snapshot_tag(self.epoch, self.snapshot)..snapshot_tag(self.epoch, self.snapshot + 1);
        while let Some(message) = net.take(tags.clone()) {
            let from = message.from;
            let report = Report::read(&message.bytes).ok_or(Error::Snapshot { from })?;
            if self.reports[from.index()].replace(report).is_some() {
                return Err(Error::Snapshot { from });
            }
        }
        Ok(())
    }

    /// The facts that the last snapshot proves.
    fn known(&self) -> u8 {
        let mut all = Counts::default();
        let mut ready = true;
        for report in &self.reports {
            let Some(report) = report else { return 0 };
            ready &= report.state == State::Ready2;
            all.sent += report.counts.sent;
            all.received += report.counts.received;
        }
        match ready && all.sent == all.received {
            true => INSPECTED | AFFIRMED,
            false => INSPECTED,
        }
    }
}

impl Termination for Detector {
    fn total(&mut self, mine: Tally, substrate: &mut Substrate<'_>) -> Result<Tally> {
        let counts = substrate.counts();
        self.total_of(mine, counts, substrate)
    }
}
