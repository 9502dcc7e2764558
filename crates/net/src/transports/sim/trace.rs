//! What happened in a simulated run, event by event: always as a hash, on request in full.

use std::fmt;
use std::time::Duration;

use super::weather::mix;
use crate::host::HostId;
use crate::transport::Tag;

/// What a simulated run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimReport {
    /// The seed that replays it.
    pub seed: u64,
    /// Sends and polls of all hosts.
    pub steps: u64,
    /// Virtual time at the end.
    pub time: Duration,
    /// Hash over all events, bytes of messages included: equal for equal seeds.
    pub trace_hash: u64,
    /// All events, if [`SimOptions::keep_trace`](super::SimOptions::keep_trace) asked for them.
    pub trace: Vec<SimEvent>,
}

/// One event of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimEvent {
    /// Virtual time.
    pub time: Duration,
    /// The host it happened to.
    pub host: HostId,
    /// What happened.
    pub action: SimAction,
}

/// What can happen to a simulated host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimAction {
    /// It sent a message.
    Send {
        /// To whom.
        to: HostId,
        /// Under which tag.
        tag: Tag,
        /// How many bytes.
        bytes: usize,
        /// When it will arrive; `None` if it is lost.
        arrives: Option<Duration>,
    },
    /// It took a message.
    Receive {
        /// From whom.
        from: HostId,
        /// Under which tag.
        tag: Tag,
        /// How many bytes.
        bytes: usize,
        /// Hash of the bytes.
        digest: u64,
    },
    /// It looked or waited for a message, and none came.
    Nothing,
    /// It heard that a peer is gone.
    Hear {
        /// The peer.
        of: HostId,
    },
    /// It ended well.
    Finish,
    /// It failed.
    Fail,
}

impl fmt::Display for SimEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12.3?}  host {}  ", self.time, self.host)?;
        match self.action {
            SimAction::Send { to, tag, bytes, arrives: Some(arrives) } => {
                write!(f, "sends {bytes} bytes {tag} to host {to}, arriving at {arrives:.3?}")
            }
            SimAction::Send { to, tag, bytes, arrives: None } => {
                write!(f, "sends {bytes} bytes {tag} to host {to}, lost")
            }
            SimAction::Receive { from, tag, bytes, .. } => {
                write!(f, "receives {bytes} bytes {tag} from host {from}")
            }
            SimAction::Nothing => f.write_str("finds no message"),
            SimAction::Hear { of } => write!(f, "hears that host {of} is gone"),
            SimAction::Finish => f.write_str("finishes"),
            SimAction::Fail => f.write_str("fails"),
        }
    }
}

/// Collects events.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) hash: u64,
    pub(super) events: Vec<SimEvent>,
    pub(super) keep: bool,
}

impl Trace {
    pub(super) fn add(&mut self, time: u64, host: HostId, action: SimAction) {
        self.mix(&[time, u64::from(host.0)]);
        match action {
            SimAction::Send { to, tag, bytes, arrives } => {
                let arrives = arrives.map_or(0, |time| time.as_nanos() as u64);
                self.mix(&[1, u64::from(to.0), tag.bits(), bytes as u64, arrives]);
            }
            SimAction::Receive { from, tag, bytes, digest } => {
                self.mix(&[2, u64::from(from.0), tag.bits(), bytes as u64, digest]);
            }
            SimAction::Nothing => self.mix(&[3]),
            SimAction::Hear { of } => self.mix(&[4, u64::from(of.0)]),
            SimAction::Finish => self.mix(&[5]),
            SimAction::Fail => self.mix(&[6]),
        }
        if self.keep {
            self.events.push(SimEvent { time: Duration::from_nanos(time), host, action });
        }
    }

    fn mix(&mut self, words: &[u64]) {
        self.hash = words.iter().fold(self.hash, |hash, &word| mix(hash.rotate_left(5) ^ word));
    }
}

/// Hash of a message's bytes.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(bytes.len() as u64, |hash, word| (hash ^ word).rotate_left(29).wrapping_mul(PRIME))
}

/// A large odd number.
const PRIME: u64 = 0x9fb2_1c65_1e98_df25;
