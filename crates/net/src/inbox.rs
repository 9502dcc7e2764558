//! Messages that arrived before the host asked for them.
//!
//! Hosts are not in step: a fast one's message of the next phase may overtake the slow one's
//! message of this phase. It is kept here, under its tag, until its phase comes; nothing is ever
//! dropped. A tree instead of a hash table: all messages of a tag, and all collectives of a number,
//! are then ranges, and no order depends on a hash.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::host::HostId;
use crate::transport::{Message, Tag};

/// Messages that wait at one host, by tag and sender.
#[derive(Default)]
pub(crate) struct Inbox {
    /// No queue in here is empty.
    queues: BTreeMap<(Tag, HostId), VecDeque<Queued>>,
    /// Messages put in so far.
    arrivals: u64,
}

struct Queued {
    /// Orders messages of different senders.
    arrival: u64,
    bytes: Vec<u8>,
}

impl Inbox {
    /// Keeps a message.
    pub(crate) fn put(&mut self, message: Message) {
        let queued = Queued { arrival: self.arrivals, bytes: message.bytes };
        self.arrivals += 1;
        self.queues.entry((message.tag, message.from)).or_default().push_back(queued);
    }

    /// The first message under `tag` from one host, or from any.
    pub(crate) fn take(&mut self, from: Option<HostId>, tag: Tag) -> Option<Message> {
        let from = match from {
            Some(host) => host,
            None => self.first_sender(tag)?,
        };
        let queue = self.queues.get_mut(&(tag, from))?;
        let bytes = queue.pop_front()?.bytes;
        if queue.is_empty() {
            self.queues.remove(&(tag, from));
        }
        Some(Message { from, tag, bytes })
    }

    fn first_sender(&self, tag: Tag) -> Option<HostId> {
        let of_tag = self.queues.range((tag, HostId(0))..=(tag, HostId(u16::MAX)));
        let first = of_tag.min_by_key(|(_, queue)| queue.front().map(|queued| queued.arrival));
        first.map(|(&(_, from), _)| from)
    }

    /// Tags and senders of the messages under tags of the range, ascending.
    pub(crate) fn in_range(&self, tags: Range<Tag>) -> impl Iterator<Item = (Tag, HostId)> + '_ {
        let range = (tags.start, HostId(0))..(tags.end, HostId(0));
        self.queues.range(range).map(|(&key, _)| key)
    }

    /// A tag in the range, and a host that sent under it, other than `except`.
    pub(crate) fn find(&self, tags: Range<Tag>, except: Option<Tag>) -> Option<(Tag, HostId)> {
        self.in_range(tags).find(|&(tag, _)| Some(tag) != except)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: u16, round: u64, text: &str) -> Message {
        Message { from: HostId(from), tag: Tag::user(1, round), bytes: text.into() }
    }

    #[test]
    fn keeps_order_within_a_sender_and_arrival_across() {
        let mut inbox = Inbox::default();
        for (from, round, text) in
            [(2, 0, "a"), (1, 0, "b"), (2, 0, "c"), (1, 1, "later"), (1, 0, "d")]
        {
            inbox.put(message(from, round, text));
        }
        let tag = Tag::user(1, 0);
        assert_eq!(inbox.take(Some(HostId(1)), tag), Some(message(1, 0, "b")));
        assert_eq!(inbox.take(Some(HostId(3)), tag), None);
        assert_eq!(inbox.take(None, tag), Some(message(2, 0, "a")));
        assert_eq!(inbox.take(None, tag), Some(message(2, 0, "c")));
        assert_eq!(inbox.take(None, tag), Some(message(1, 0, "d")));
        assert_eq!(inbox.take(None, tag), None);
        assert_eq!(inbox.take(None, Tag::user(1, 1)), Some(message(1, 1, "later")));
        assert!(inbox.queues.is_empty());
    }

    #[test]
    fn finds_other_tags_of_a_range() {
        let mut inbox = Inbox::default();
        inbox.put(message(4, 7, ""));
        let range = Tag::user(1, 7)..Tag::user(1, 8);
        assert_eq!(inbox.find(range.clone(), None), Some((Tag::user(1, 7), HostId(4))));
        assert_eq!(inbox.find(range, Some(Tag::user(1, 7))), None);
        assert_eq!(inbox.find(Tag::user(1, 8)..Tag::user(1, 99), None), None);
    }
}
