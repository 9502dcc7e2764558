//! One rank's post office: messages of any size over MPI's messages of a few megabytes.
//!
//! Every message between hosts is a [`Frame`], an MPI message under one tag. A message too large for
//! a frame is announced by one and follows in *parts* under another tag, straight from the sender's
//! buffer into the receiver's: Parton never copies it. Between two ranks MPI keeps the order of
//! messages under one tag, so parts need no numbers.
//!
//! # Memory is bounded, and no host waits for ever
//!
//! A receiver takes from each peer a *window* of bytes that its host has not asked for yet. Every
//! frame tells the peer how many bytes have been taken in all. A sender queues messages that exceed
//! the window and, when the queue is too long, makes its host wait in `send`. A slow receiver thus
//! slows its senders down, and neither side's memory grows with the traffic.
//!
//! A host that waits in `send` takes everything that arrives, window or not. So hosts that all send before any
//! receives, as in an exchange of large buffers, cannot wait for each other in a circle. Every host of the circle
//! takes the messages of the host before it, which then goes on. (It takes at most the messages that its peers send
//! before they hear from it.) A host that polls takes everything, too, and a host that computes does not wait. A
//! message larger than the window travels when the window is empty.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;

use super::frame::Frame;
use super::library::{CallError, Mpi};
use super::peer::{Peer, Queued, weight};
use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::Tag;
use crate::transports::News;

/// MPI's tag of frames.
const FRAMES: c_int = 1;
/// The largest message that travels inside a frame. Its buffer may be copied to make room for the
/// trailer.
const MAX_BYTES_IN_FRAME: usize = 64 << 10;
/// Bytes that a host keeps for its peers before it waits in `send`, and takes from all of them
/// together before its host asks.
const MAX_BACKLOG_BYTES: u64 = 256 << 20;
/// The least window, however many peers share the room.
const MIN_WINDOW_BYTES: u64 = 1 << 20;

/// The post office of one rank.
pub(super) struct Post {
    mpi: Mpi,
    peers: Vec<Peer>,
    news: VecDeque<News>,
    window: u64,
    /// Bytes in all queues.
    backlog: u64,
    /// Whether everything that arrives counts as taken.
    taking_all: bool,
    /// Whether a launch is going on.
    inside: bool,
    /// Peers lost for good since [`Post::take_dead`].
    newly_dead: Vec<HostId>,
}

impl Post {
    pub(super) fn new(mpi: Mpi) -> Self {
        let peers: Vec<_> = (0..mpi.size()).map(|_| Peer::new()).collect();
        let window = (MAX_BACKLOG_BYTES / peers.len().max(1) as u64).max(MIN_WINDOW_BYTES);
        Post {
            mpi,
            peers,
            news: VecDeque::new(),
            window,
            backlog: 0,
            taking_all: false,
            inside: false,
            newly_dead: Vec::new(),
        }
    }

    pub(super) fn mpi(&mut self) -> &mut Mpi {
        &mut self.mpi
    }

    pub(super) fn into_mpi(self) -> Mpi {
        self.mpi
    }

    /// Whether any rank is gone for good.
    pub(super) fn any_dead(&self) -> bool {
        self.peers.iter().any(|peer| peer.dead)
    }

    /// Begins a launch. Messages that peers sent ahead of it count from now on.
    pub(super) fn begin(&mut self) {
        self.inside = true;
        for number in self.others() {
            match self.peers[number].dead {
                false => self.peers[number].departed = None,
                true => self.news.push_back(News::Gone(host(number), Departure::Lost)),
            }
        }
    }

    /// Says good-bye to all peers. From now on everything is taken and forgotten.
    pub(super) fn depart(&mut self, departure: Departure) {
        self.taking_all = true;
        for number in self.others() {
            let peer = &mut self.peers[number];
            if !peer.dead {
                peer.queue.push_back(Queued::Departure(departure));
            }
        }
    }

    /// Whether all peers have said good-bye, and heard it.
    pub(super) fn is_over(&mut self) -> bool {
        self.news.clear();
        let over = self.others().all(|number| {
            let peer = &self.peers[number];
            peer.dead || peer.departed.is_some() && peer.is_idle()
        });
        if over {
            self.inside = false;
            self.taking_all = false;
        }
        over
    }

    /// Whether another message has to wait.
    pub(super) fn is_full(&self, length: usize) -> bool {
        self.backlog > 0 && self.backlog + weight(length) > MAX_BACKLOG_BYTES
    }

    /// Takes everything that arrives, or no more than windows allow.
    pub(super) fn take_all(&mut self, all: bool) {
        self.taking_all = all;
    }

    /// Accepts a message for a peer.
    pub(super) fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        let peer = &mut self.peers[to.index()];
        match peer.departed {
            Some(Departure::Lost) => return Err(Error::HostLost { host: to }),
            // The peer ended well and will not miss the message.
            Some(Departure::Finished) => return Ok(()),
            None => {}
        }
        self.backlog += weight(bytes.len());
        peer.queue.push_back(Queued::Message(tag, bytes));
        self.serve_or_lose(to.index());
        Ok(())
    }

    /// The next thing that a host should know.
    pub(super) fn next(&mut self) -> Option<News> {
        let news = self.news.pop_front()?;
        if let News::Message(message) = &news {
            self.peers[message.from.index()].taken += weight(message.bytes.len());
        }
        Some(news)
    }

    /// Moves all messages that can be moved; whether any was.
    pub(super) fn progress(&mut self) -> Result<bool> {
        let mut moved = false;
        while let Some((from, frame)) = self.mpi.next(FRAMES).map_err(Error::Mpi)? {
            self.peers[from].frames.push_back(frame);
            moved = true;
        }
        for number in self.others() {
            moved |= self.serve_or_lose(number);
        }
        Ok(moved)
    }

    /// Tells all peers that this rank is alive, and counts how long each has been silent. To be called
    /// at regular intervals: patience is counted in beats, so that time does not pass while this process itself
    /// is stopped.
    pub(super) fn beat(&mut self) {
        for number in self.others() {
            let peer = &mut self.peers[number];
            if peer.dead {
                continue;
            }
            let (is_silent, was_quiet) = peer.beat();
            if is_silent || was_quiet && self.send_frame(number, Frame::Beat).is_err() {
                self.lose(number);
            }
        }
    }

    /// A peer is gone for good.
    pub(super) fn lose(&mut self, number: usize) {
        let peer = &mut self.peers[number];
        if std::mem::replace(&mut peer.dead, true) {
            return;
        }
        self.backlog -= peer.clear();
        if self.inside && peer.departed.is_none() {
            self.news.push_back(News::Gone(host(number), Departure::Lost));
        }
        peer.departed = Some(Departure::Lost);
        self.newly_dead.push(host(number));
    }

    /// Peers lost for good since the last call.
    pub(super) fn take_dead(&mut self) -> Vec<HostId> {
        std::mem::take(&mut self.newly_dead)
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.mpi.rank();
        (0..self.peers.len()).filter(move |&number| number != me)
    }

    /// Serves a peer; whether anything moved. A peer that MPI cannot reach is lost.
    fn serve_or_lose(&mut self, number: usize) -> bool {
        if self.peers[number].dead {
            return false;
        }
        let served = self.take_in(number).and_then(|moved| Ok(self.put_out(number)? || moved));
        served.unwrap_or_else(|_| {
            self.lose(number);
            true
        })
    }

    /// Takes in what a peer sends, and hands it over.
    fn take_in(&mut self, number: usize) -> Result<bool, CallError> {
        let Post { mpi, peers, news, .. } = self;
        let moved = peers[number].receive(mpi, number)?;
        peers[number].deliver(host(number), news);
        Ok(moved)
    }

    /// Sends a peer what it can take.
    fn put_out(&mut self, number: usize) -> Result<bool, CallError> {
        let mut moved = self.peers[number].forget_sent(&mut self.mpi)?;
        while let Some(item) = self.peers[number].next_item(self.window, &mut self.backlog) {
            moved = true;
            match item {
                Queued::Departure(departure) => {
                    self.send_frame(number, Frame::Departure(departure))?;
                }
                Queued::Message(tag, bytes) if bytes.len() <= MAX_BYTES_IN_FRAME => {
                    self.send_frame(number, Frame::Whole(tag, bytes))?;
                }
                Queued::Message(tag, bytes) => {
                    self.send_frame(number, Frame::Announcement(tag, bytes.len()))?;
                    self.peers[number].parts.push_back((Arc::new(bytes), 0));
                }
            }
        }
        moved |= self.peers[number].send_parts(&mut self.mpi, number)?;
        if self.peers[number].unacknowledged(self.taking_all) > self.window / 4 {
            self.send_frame(number, Frame::Beat)?;
        }
        Ok(moved)
    }

    fn send_frame(&mut self, number: usize, frame: Frame) -> Result<(), CallError> {
        let taken = self.peers[number].due(self.taking_all);
        let bytes = frame.into_bytes(taken);
        let all = 0..bytes.len();
        let sending = self.mpi.send(&Arc::new(bytes), all, number, FRAMES)?;
        self.peers[number].frame_sent(sending, taken);
        Ok(())
    }
}

fn host(number: usize) -> HostId {
    HostId(number as u16)
}
