//! Receiving any message, for hosts that do not know which peer sends next.
//!
//! In a phase in which every host sends to every other, a host asks for one message after the other.
//! A host that goes at its own pace takes the messages that have arrived instead, and parks until
//! any message arrives when it has nothing left to do.

use std::ops::Range;
use std::time::Duration;

use crate::clock::Clock;
use crate::error::Result;
use crate::host::HostId;
use crate::net::Net;
use crate::transport::{Message, Tag};

/// A host that waits for less than this spins: to sleep and wake takes longer.
const MIN_SLEEP: Duration = Duration::from_micros(50);

impl Net {
    /// Parks until a message arrives, under any tag, at most `wait`; whether one did. The message
    /// waits in the inbox. The loss of any host ends the wait.
    pub fn listen(&mut self, wait: Duration) -> Result<bool> {
        let end = self.now().saturating_add(wait);
        loop {
            let left = end.saturating_sub(self.now());
            if !left.is_zero() {
                self.can_still_come(None)?;
            }
            match self.poll(left)? {
                Some(message) => {
                    self.inbox.put(message);
                    return Ok(true);
                }
                None if left.is_zero() => return self.none_lost().map(|()| false),
                None => {}
            }
        }
    }

    /// Parks until something arrives, under whatever tag; `false` if the
    /// [patience](Net::set_patience) ends before. The loss of any host ends the wait.
    pub fn park(&mut self) -> Result<bool> {
        self.set_waiting(true);
        let start = self.now();
        let heard = loop {
            let left = self.patience_left(start);
            match self.listen(left) {
                Ok(false) if !left.is_zero() => {}
                heard => break heard,
            }
        };
        self.set_waiting(false);
        heard
    }

    /// Tags and senders of the messages in the inbox under tags of this range, ascending. Does not
    /// look for new arrivals.
    pub fn waiting(&self, tags: Range<Tag>) -> impl Iterator<Item = (Tag, HostId)> + '_ {
        self.inbox.in_range(tags)
    }

    /// Takes a message that has arrived under a tag of this range, if there is one. Does not look
    /// for new arrivals.
    pub fn take(&mut self, tags: Range<Tag>) -> Option<Message> {
        let (tag, from) = self.inbox.in_range(tags).next()?;
        self.inbox.take(Some(from), tag)
    }

    /// Takes the first message from one host under one tag, if it has arrived. Does not look for new
    /// arrivals.
    pub fn take_from(&mut self, from: HostId, tag: Tag) -> Option<Vec<u8>> {
        self.inbox.take(Some(from), tag).map(|message| message.bytes)
    }

    /// Lets time pass as if this host were busy: the machine's, or virtual time.
    pub fn spend(&mut self, time: Duration) -> Result<()> {
        match self.clock() {
            Clock::Real(_) if time < MIN_SLEEP => {
                let end = self.now() + time;
                while self.now() < end {
                    std::hint::spin_loop();
                }
            }
            Clock::Real(_) => std::thread::sleep(time),
            Clock::Virtual(_) => {
                let end = self.now().saturating_add(time);
                while self.now() < end {
                    self.listen(end - self.now())?;
                }
            }
        }
        Ok(())
    }

    /// A number that this host has not had before, counted from 1, and that all hosts get as long
    /// as they all ask equally often. It tells messages of one stretch of work from those of
    /// another, where no order of phases does.
    pub fn next_epoch(&mut self) -> u64 {
        self.epochs += 1;
        self.epochs
    }
}
