//! Which collective a host is in, written into the tag of its messages.
//!
//! ```text
//! bit   63    62 … 19               18 … 16   15 … 0
//!       1     number of the call    kind      root
//! ```
//!
//! Every host numbers its collectives, so each call has tags of its own and 2⁴⁴ calls pass before
//! one comes again. A tag costs no bytes of the message, so buffers move through collectives
//! untouched. The number stands above the kind: all tags of one call are a range, and a message
//! with this call's number and another kind shows that two hosts disagree. So does one that arrives
//! for a call that is over: a finished collective has received everything it was sent.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Net;
use crate::transport::{Message, RESERVED, Tag};

/// A kind of collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Collective {
    /// [`Net::barrier`].
    Barrier,
    /// [`Net::all_reduce`] and [`Net::all_reduce_slice`].
    AllReduce,
    /// [`Net::all_gather`].
    AllGather,
    /// [`Net::all_to_all`].
    AllToAll,
    /// [`Net::gather`].
    Gather {
        /// Where everything goes.
        root: HostId,
    },
    /// [`Net::broadcast`].
    Broadcast {
        /// Where everything comes from.
        root: HostId,
    },
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Collective::Barrier => f.write_str("barrier"),
            Collective::AllReduce => f.write_str("all_reduce"),
            Collective::AllGather => f.write_str("all_gather"),
            Collective::AllToAll => f.write_str("all_to_all"),
            Collective::Gather { root } => write!(f, "gather at host {root}"),
            Collective::Broadcast { root } => write!(f, "broadcast from host {root}"),
        }
    }
}

/// Where the number begins in a tag.
const NUMBER_SHIFT: u32 = 19;
/// Where the kind begins in a tag.
const KIND_SHIFT: u32 = 16;

impl Collective {
    fn tag(self, number: u64) -> Tag {
        let (kind, root) = match self {
            Collective::Barrier => (0, HostId(0)),
            Collective::AllReduce => (1, HostId(0)),
            Collective::AllGather => (2, HostId(0)),
            Collective::AllToAll => (3, HostId(0)),
            Collective::Gather { root } => (4, root),
            Collective::Broadcast { root } => (5, root),
        };
        let call = RESERVED | number << NUMBER_SHIFT;
        Tag::from_bits(call | kind << KIND_SHIFT | u64::from(root.0))
    }

    /// Number and kind of the collective that a message belongs to; `None` for a user's message.
    pub(crate) fn of(tag: Tag) -> Option<(u64, Collective)> {
        let bits = tag.bits();
        let root = HostId(bits as u16);
        let kind = match bits >> KIND_SHIFT & 0b111 {
            _ if bits & RESERVED == 0 => return None,
            0 => Collective::Barrier,
            1 => Collective::AllReduce,
            2 => Collective::AllGather,
            3 => Collective::AllToAll,
            4 => Collective::Gather { root },
            5 => Collective::Broadcast { root },
            _ => return None,
        };
        Some(((bits & !RESERVED) >> NUMBER_SHIFT, kind))
    }
}

/// All tags of one call, whatever its kind.
fn tags_of(number: u64) -> Range<Tag> {
    let first = |number: u64| Tag::from_bits(RESERVED | number << NUMBER_SHIFT);
    first(number)..first(number + 1)
}

/// How many calls are remembered to say what a stray message should have met.
const REMEMBERED: usize = 32;

/// The collectives of one host.
#[derive(Default)]
pub(crate) struct Calls {
    /// Calls begun so far.
    begun: u64,
    /// The tags of the latest.
    recent: VecDeque<Tag>,
    /// Whether the latest is still going on.
    inside: bool,
}

impl Calls {
    /// Whether a collective is going on.
    pub(crate) fn inside(&self) -> bool {
        self.inside
    }

    fn begin(&mut self, call: Collective) -> Tag {
        let tag = call.tag(self.begun);
        self.begun += 1;
        self.inside = true;
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(tag);
        tag
    }

    /// What this host called when its peer called `number`, if that is not too long ago.
    fn recall(&self, number: u64) -> Option<Collective> {
        self.recent
            .iter()
            .filter_map(|&tag| Collective::of(tag))
            .find(|c| c.0 == number)
            .map(|c| c.1)
    }
}

impl Net {
    /// Runs one collective under its own tag, and makes sure that all hosts agree on it.
    pub(super) fn call<R>(
        &mut self,
        call: Collective,
        body: impl FnOnce(&mut Self, Tag) -> Result<R>,
    ) -> Result<R> {
        let tag = self.calls.begin(call);
        let tags = tags_of(self.calls.begun - 1);
        if let Some((other, peer)) = self.inbox.find(tags.clone(), Some(tag)) {
            return Err(self.stray(other, peer));
        }
        let result = body(self, tag)?;
        self.calls.inside = false;
        match self.inbox.find(tags, None) {
            Some((surplus, peer)) => Err(self.stray(surplus, peer)),
            None => Ok(result),
        }
    }

    /// Refuses a message of a collective that this host is not in and will not come to.
    pub(crate) fn check_call(&self, message: &Message) -> Result<()> {
        match Collective::of(message.tag) {
            Some((number, _)) if number < self.calls.begun => {
                let expected = self.calls.inside && self.calls.recent.back() == Some(&message.tag);
                if expected { Ok(()) } else { Err(self.stray(message.tag, message.from)) }
            }
            _ => Ok(()),
        }
    }

    fn stray(&self, tag: Tag, peer: HostId) -> Error {
        let host = self.host();
        let (number, peer_called) = Collective::of(tag).unwrap_or((0, Collective::Barrier));
        match self.calls.recall(number) {
            Some(called) if called != peer_called => {
                Error::Mismatch { number, host, called, peer, peer_called }
            }
            _ => Error::Surplus { number, host, peer, call: peer_called },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_what_they_are_for() {
        let root = HostId(u16::MAX);
        let all = [
            Collective::Barrier,
            Collective::AllReduce,
            Collective::AllGather,
            Collective::AllToAll,
            Collective::Gather { root },
            Collective::Broadcast { root },
        ];
        for number in [0, 1, (1 << 44) - 2] {
            for call in all {
                let tag = call.tag(number);
                assert_eq!(Collective::of(tag), Some((number, call)));
                assert!(tags_of(number).contains(&tag) && !tags_of(number + 1).contains(&tag));
            }
        }
    }

    #[test]
    fn no_user_tag_is_reserved() {
        for (channel, round) in [(0, 0), (u16::MAX, u64::MAX), (1, 1 << 47)] {
            assert_eq!(Collective::of(Tag::user(channel, round)), None);
        }
        assert_ne!(Tag::user(1, 0), Tag::user(0, 1));
        assert_eq!(Tag::user(3, 9).to_string(), "\"channel 3, round 9\"");
        assert_eq!(Collective::Barrier.tag(4).to_string(), "\"collective 4, barrier\"");
    }
}
