//! The seam under everything: four methods that move whole messages between hosts, and three for
//! transports whose hosts share a process.
//!
//! A transport need not sort, match or count anything; [`Net`](crate::Net) does that once, for all
//! transports. What a transport promises:
//!
//! - Messages from one host to another under one tag arrive in the order sent. Across tags and
//!   peers any order may occur, and the simulated network makes sure that it does.
//! - A message arrives once and whole. The buffer is handed over, never copied on the way inside
//!   one process.
//! - A host whose end of the transport is gone is not waited for: see [`Transport::poll`].

use std::fmt;
use std::time::Duration;

use crate::collective::Collective;
use crate::error::Result;
use crate::handover::Handover;
use crate::host::HostId;

/// One host's end of the wires.
pub trait Transport: Send {
    /// The host at this end.
    fn host(&self) -> HostId;

    /// Number of hosts, this one included.
    fn num_hosts(&self) -> usize;

    /// Sends a message to another host, without waiting for it to be read. Never called for the
    /// host itself.
    fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// The next message from anyone, waiting for it at most `wait`, parked.
    ///
    /// A peer that went away is reported here too, once, as [`HostLost`](crate::Error::HostLost) or
    /// [`HostFinished`](crate::Error::HostFinished): it is news and no failure of the call, which
    /// may be repeated. Nothing from that peer follows.
    fn poll(&mut self, wait: Duration) -> Result<Option<Message>>;

    /// Tells the peers that this host waits for a message, or that it works again. A transport
    /// whose hosts cannot see each other ignores this.
    fn set_waiting(&mut self, _is_waiting: bool) {}

    /// The time since which no peer works: each waits for a message or has ended. A peer that works
    /// may still send, however long that takes. `None` if this transport cannot tell.
    fn peers_idle_since(&self) -> Option<Duration> {
        None
    }

    /// Where hosts leave memory for each other. `None` if they have none in common.
    fn handover(&self) -> Option<&Handover> {
        None
    }
}

/// A message as it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: HostId,
    /// What it is for.
    pub tag: Tag,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// What a message is for. A receiver asks for a tag, so that a message of a later phase, sent by a
/// host that is ahead, waits until its phase comes.
///
/// ```text
/// bit   63        62 … 47    46 … 0
///       0         channel    round                     Tag::user
///       1         number of the call, kind, root       collectives, see `collective::call`
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u64);

/// Bits of a user's tag that hold the round.
const ROUND_BITS: u32 = 47;

/// Set in the tags of collectives only.
pub(crate) const RESERVED: u64 = 1 << 63;

impl Tag {
    /// The tag of one round of one channel. Channels are the caller's to number: one for each
    /// field and phase, say. Rounds differ for 2⁴⁷ rounds, four years at one every microsecond.
    pub const fn user(channel: u16, round: u64) -> Self {
        Tag((channel as u64) << ROUND_BITS | round & ((1 << ROUND_BITS) - 1))
    }

    /// The tag after this one: that of the next round of the channel.
    pub const fn next(self) -> Self {
        Tag(self.0 + 1)
    }

    /// The tag as a transport writes it into its frames.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The tag a transport read from a frame.
    pub const fn from_bits(bits: u64) -> Self {
        Tag(bits)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Collective::of(*self) {
            Some((number, call)) => write!(f, "\"collective {number}, {call}\""),
            None => {
                let round = self.0 & ((1 << ROUND_BITS) - 1);
                write!(f, "\"channel {}, round {round}\"", self.0 >> ROUND_BITS)
            }
        }
    }
}
