//! An epoch: work during which hosts do not wait for each other, and the tags of its messages.
//!
//! ```text
//! bit of the round   46 … 31   30 … 23   22      21 … 0
//! between proxies    epoch     field     phase   piece of the route       channel 0x21
//! snapshots          epoch     number of the snapshot                     channel 0x22
//! ```
//!
//! No order of calls tells which message comes next, so the tag of each says what it is about. A
//! message of an epoch that is over can then not be taken for one of this epoch. Such a message is
//! an error, as an epoch ends when all messages sent were received.

use std::ops::Range;

use parton_net::{HostId, Net, Tag};

use crate::error::{Error, Result};
use crate::field::Phase;
use crate::governor::Governor;

/// Channel of messages between proxies.
const DATA: u16 = 0x21;
/// Channel of snapshots.
const SNAPSHOTS: u16 = 0x22;

const EPOCH_SHIFT: u32 = 31;
const EPOCH_MASK: u64 = 0xffff;
const FIELD_SHIFT: u32 = 23;
const PIECE_BITS: u32 = 22;

/// Most pieces that a route may have.
pub(crate) const MOST_PIECES: usize = 1 << PIECE_BITS;

/// Messages between proxies that a host has sent, and that it has received and absorbed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sent.
    pub sent: u64,
    /// Received and absorbed.
    pub received: u64,
}

/// The epoch a host is in.
pub(crate) struct Epoch {
    pub(crate) number: u64,
    pub(crate) counts: Counts,
    pub(crate) governor: Option<Governor>,
}

impl Epoch {
    /// Tags of all messages between proxies.
    pub(crate) fn all_tags(epoch: u64) -> Range<Tag> {
        let first = |epoch: u64| Tag::user(DATA, (epoch & EPOCH_MASK) << EPOCH_SHIFT);
        let end = match epoch & EPOCH_MASK {
            EPOCH_MASK => Tag::user(DATA + 1, 0),
            _ => first(epoch + 1),
        };
        first(epoch)..end
    }

    /// Tags of all messages about a field in one phase.
    pub(crate) fn tags(&self, field: u8, phase: Phase) -> Range<Tag> {
        let tag = |piece: u64| {
            let phase = match phase {
                Phase::Reduce => 0,
                Phase::Broadcast => 1 << PIECE_BITS,
            };
            let epoch = (self.number & EPOCH_MASK) << EPOCH_SHIFT;
            let first = epoch | u64::from(field) << FIELD_SHIFT | phase;
            // The tag after the last piece may be of the next phase, field or epoch.
            Tag::from_bits(Tag::user(DATA, first).bits() + piece)
        };
        tag(0)..tag(1 << PIECE_BITS)
    }

    /// The tag of a piece, among those of its field and phase.
    pub(crate) fn piece_tag(tags: &Range<Tag>, piece: usize) -> Tag {
        Tag::from_bits(tags.start.bits() + piece as u64)
    }

    /// The piece that a message is about.
    pub(crate) fn piece(tags: &Range<Tag>, tag: Tag) -> usize {
        (tag.bits() - tags.start.bits()) as usize
    }

    /// Refuses messages that were sent in earlier epochs, or, if this one is over, in it.
    pub(crate) fn check_late(epoch: u64, is_over: bool, net: &Net) -> Result<()> {
        let tags = Tag::user(DATA, 0)..Tag::user(SNAPSHOTS + 1, 0);
        let late = |&(tag, _): &(Tag, HostId)| {
            // Numbers come again after 2^16 epochs; a message less than half of that behind is late.
            let ahead = ((tag.bits() >> EPOCH_SHIFT) & EPOCH_MASK).wrapping_sub(epoch) as i16;
            ahead < 0 || is_over && ahead == 0
        };
        let found = net.waiting(tags).find(late);
        found.map_or(Ok(()), |(tag, from)| Err(Error::Late { from, host: net.host(), tag, epoch }))
    }
}

/// The tag of a snapshot.
pub(crate) fn snapshot_tag(epoch: u64, number: u64) -> Tag {
    Tag::user(SNAPSHOTS, (epoch & EPOCH_MASK) << EPOCH_SHIFT | number & ((1 << EPOCH_SHIFT) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_tags_do_not_overlap() {
        for number in [0, 1, 0xfffe, 0xffff, 0x1_0000] {
            let epoch = Epoch { number, counts: Counts::default(), governor: None };
            let all = Epoch::all_tags(number);
            let mut last = all.start;
            for field in 0..=u8::MAX {
                for phase in [Phase::Reduce, Phase::Broadcast] {
                    let tags = epoch.tags(field, phase);
                    assert_eq!(tags.start, last, "no gap");
                    let piece = Epoch::piece_tag(&tags, MOST_PIECES - 1);
                    assert!(tags.contains(&piece) && all.contains(&piece));
                    assert_eq!(Epoch::piece(&tags, piece), MOST_PIECES - 1);
                    last = tags.end;
                }
            }
            assert_eq!(last, all.end);
            assert!(!all.contains(&snapshot_tag(number, 7)));
        }
    }
}
