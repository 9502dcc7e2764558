//! One rank's post office: messages of any size over MPI's messages of a few megabytes.
//!
//! Everything that hosts tell each other is a [`Frame`], an MPI message under one tag. A message too
//! large for that is announced by a frame and follows in *parts* under another tag,
//! straight from the sender's buffer into the receiver's: Parton never copies it. Between two ranks
//! MPI keeps the order of messages under one tag, so parts need no numbers.
//!
//! # Memory is bounded, and nobody waits for ever
//!
//! A receiver takes from each peer a *window* of bytes that its host has not asked for yet. Every
//! frame tells the peer how many bytes have been taken in all; a sender keeps what exceeds the window
//! and, when it keeps too much, makes its host wait in `send`. A slow receiver thus slows its senders
//! down, and neither side's memory grows with what is sent.
//!
//! A host that waits in `send` takes everything that arrives, window or not. So hosts that all send
//! before any receives, as in an exchange of large buffers, cannot wait for each other in a circle:
//! every host of such a circle takes what the one before it sends, which lets that one go on. (What
//! it takes meanwhile is at most what its peers have to say before they hear from it.) A host that
//! polls takes everything, too, and one that computes does not wait. A message larger than the window
//! travels when the window is empty.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;

use super::frame::Frame;
use super::library::{CallError, Mpi, Receiving, Sending};
use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag};
use crate::transports::News;

/// MPI's tags.
const FRAMES: c_int = 1;
const PARTS: c_int = 2;
/// The largest message that travels inside a frame. Its buffer may be copied to make room for the
/// trailer.
const LARGEST_IN_FRAME: usize = 64 << 10;
/// Small enough for a slow link to show a sign of life, large enough not to matter on a fast one.
const PART: usize = 4 << 20;
/// Parts and frames to one peer that MPI handles at a time, and parts from one.
const UNDER_WAY: usize = 16;
/// What a host keeps for its peers before it waits in `send`, and takes from all of them together
/// before it is asked.
const ROOM: u64 = 256 << 20;
/// The least window, however many peers share the room.
const LEAST_WINDOW: u64 = 1 << 20;
/// What a message counts for besides its bytes, so that empty ones count, too.
const OVERHEAD: u64 = 128;
/// Beats without a word after which a peer is taken for lost, once it has been heard.
pub(super) const PATIENCE_BEATS: u32 = 20;
/// The same for a peer that is still starting.
const START_BEATS: u32 = 480;

/// Something to be told to a peer in its turn.
enum Item {
    Message(Tag, Vec<u8>),
    Departure(Departure),
}

/// Something a peer told, in its order.
enum Pending {
    Message(Tag, Vec<u8>),
    Parts(Tag, Receiving),
    Departure(Departure),
}

/// The way to and from one peer.
struct Peer {
    queue: VecDeque<Item>,
    /// Large messages that have been announced, and how much of them has been sent.
    parts: VecDeque<(Arc<Vec<u8>>, usize)>,
    sending: VecDeque<Sending>,
    /// Bytes of messages on their way or there, and those that the peer has taken.
    sent: u64,
    acknowledged: u64,

    frames: VecDeque<Receiving>,
    pending: VecDeque<Pending>,
    /// Bytes of messages that are here, that this host has taken, and that the peer was told of.
    arrived: u64,
    taken: u64,
    told: u64,

    /// How it ended this launch. What it says after that belongs to the next one and waits.
    departed: Option<Departure>,
    /// Gone for good.
    dead: bool,
    known: bool,
    heard: bool,
    spoken_to: bool,
    silent_beats: u32,
}

impl Peer {
    /// A peer that no launch has begun with.
    fn new() -> Self {
        Peer {
            queue: VecDeque::new(),
            parts: VecDeque::new(),
            sending: VecDeque::new(),
            sent: 0,
            acknowledged: 0,
            frames: VecDeque::new(),
            pending: VecDeque::new(),
            arrived: 0,
            taken: 0,
            told: 0,
            departed: Some(Departure::Finished),
            dead: false,
            known: false,
            heard: false,
            spoken_to: false,
            silent_beats: 0,
        }
    }

    /// Whether nothing is left to be sent.
    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.parts.is_empty() && self.sending.is_empty()
    }
}

/// Bytes that count for a message.
fn weight(length: usize) -> u64 {
    length as u64 + OVERHEAD
}

/// All ways of one rank.
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
    /// Peers lost for good since somebody asked.
    newly_dead: Vec<HostId>,
}

impl Post {
    pub(super) fn new(mpi: Mpi) -> Self {
        let peers: Vec<_> = (0..mpi.size()).map(|_| Peer::new()).collect();
        let window = (ROOM / peers.len().max(1) as u64).max(LEAST_WINDOW);
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

    /// Begins a launch: what peers said ahead of it counts now.
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
                peer.queue.push_back(Item::Departure(departure));
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
        self.backlog > 0 && self.backlog + weight(length) > ROOM
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
            // A message to it is nobody's loss.
            Some(Departure::Finished) => return Ok(()),
            None => {}
        }
        self.backlog += weight(bytes.len());
        peer.queue.push_back(Item::Message(tag, bytes));
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

    /// Moves whatever can be moved; whether anything did.
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

    /// Tells all peers that this rank is alive, and looks who did not tell. To be called at regular
    /// intervals: patience is counted in beats, so that time does not pass while this process itself
    /// is stopped.
    pub(super) fn beat(&mut self) {
        for number in self.others() {
            let peer = &mut self.peers[number];
            if peer.dead {
                continue;
            }
            let quiet = !std::mem::take(&mut peer.spoken_to);
            match std::mem::take(&mut peer.heard) {
                true => peer.silent_beats = 0,
                false => peer.silent_beats += 1,
            }
            let patience = if peer.known { PATIENCE_BEATS } else { START_BEATS };
            let silent = peer.silent_beats >= patience;
            if silent || quiet && self.send_frame(number, Frame::Beat).is_err() {
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
        let queued = peer.queue.drain(..).map(|item| match item {
            Item::Message(_, bytes) => weight(bytes.len()),
            Item::Departure(_) => 0,
        });
        self.backlog -= queued.sum::<u64>();
        peer.parts.clear();
        peer.sending.clear();
        peer.frames.clear();
        peer.pending.clear();
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

    /// Serves a peer; whether anything moved. One that MPI cannot reach is lost.
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

    /// Takes in what a peer sends.
    fn take_in(&mut self, number: usize) -> Result<bool, CallError> {
        let Post { mpi, peers, .. } = self;
        let peer = &mut peers[number];
        let mut moved = false;
        while let Some(frame) = peer.frames.front_mut() {
            mpi.advance(frame)?;
            let Some(bytes) = frame.take() else { break };
            peer.frames.pop_front();
            peer.open(bytes)?;
            moved = true;
        }
        let mut open = 0;
        for pending in &mut peer.pending {
            let Pending::Parts(_, receiving) = pending else { continue };
            moved |= mpi.advance(receiving)?;
            while !receiving.is_all_asked() && open + receiving.open_requests() < UNDER_WAY {
                mpi.receive(receiving, PART, number, PARTS)?;
            }
            open += receiving.open_requests();
            if !receiving.is_all_asked() {
                // Parts come in order, so nothing after this one can.
                break;
            }
        }
        peer.heard |= moved;
        self.deliver(number);
        Ok(moved)
    }

    /// Hands over what has come of this launch.
    fn deliver(&mut self, number: usize) {
        let from = host(number);
        let peer = &mut self.peers[number];
        while peer.departed.is_none() {
            let news = match peer.pending.front_mut() {
                Some(Pending::Parts(tag, receiving)) => {
                    let Some(bytes) = receiving.take() else { break };
                    News::Message(Message { from, tag: *tag, bytes })
                }
                Some(Pending::Message(tag, bytes)) => {
                    let bytes = std::mem::take(bytes);
                    News::Message(Message { from, tag: *tag, bytes })
                }
                Some(Pending::Departure(departure)) => {
                    peer.departed = Some(*departure);
                    News::Gone(from, *departure)
                }
                None => break,
            };
            peer.pending.pop_front();
            if let News::Message(message) = &news {
                peer.arrived += weight(message.bytes.len());
            }
            self.news.push_back(news);
        }
    }

    /// Sends a peer what it can take.
    fn put_out(&mut self, number: usize) -> Result<bool, CallError> {
        let mut moved = false;
        let Post { mpi, peers, .. } = self;
        let peer = &mut peers[number];
        while let Some(first) = peer.sending.front_mut() {
            if !mpi.is_sent(first)? {
                break;
            }
            peer.sending.pop_front();
            moved = true;
        }
        while let Some(item) = self.next_item(number) {
            moved = true;
            match item {
                Item::Departure(departure) => {
                    self.send_frame(number, Frame::Departure(departure))?;
                }
                Item::Message(tag, bytes) if bytes.len() <= LARGEST_IN_FRAME => {
                    self.send_frame(number, Frame::Whole(tag, bytes))?;
                }
                Item::Message(tag, bytes) => {
                    self.send_frame(number, Frame::Announcement(tag, bytes.len()))?;
                    self.peers[number].parts.push_back((Arc::new(bytes), 0));
                }
            }
        }
        moved |= self.send_parts(number)?;
        let peer = &self.peers[number];
        if self.due(peer) - peer.told > self.window / 4 {
            self.send_frame(number, Frame::Beat)?;
        }
        Ok(moved)
    }

    /// What to tell a peer next, if it can take it.
    fn next_item(&mut self, number: usize) -> Option<Item> {
        let peer = &mut self.peers[number];
        if let Some(Item::Message(_, bytes)) = peer.queue.front() {
            let (weight, untaken) = (weight(bytes.len()), peer.sent - peer.acknowledged);
            match peer.departed {
                Some(_) => {
                    // Nobody waits for it any more.
                    self.backlog -= weight;
                    peer.queue.pop_front();
                    return self.next_item(number);
                }
                None if untaken > 0 && untaken + weight > self.window => return None,
                None => {
                    peer.sent += weight;
                    self.backlog -= weight;
                }
            }
        }
        peer.queue.pop_front()
    }

    /// Sends parts of large messages, not too many at a time.
    fn send_parts(&mut self, number: usize) -> Result<bool, CallError> {
        let Post { mpi, peers, .. } = self;
        let peer = &mut peers[number];
        let mut moved = false;
        while peer.sending.len() < UNDER_WAY {
            let Some((bytes, sent)) = peer.parts.front_mut() else { break };
            let end = bytes.len().min(*sent + PART);
            peer.sending.push_back(mpi.send(bytes, *sent..end, number, PARTS)?);
            *sent = end;
            if end == bytes.len() {
                peer.parts.pop_front();
            }
            peer.spoken_to = true;
            moved = true;
        }
        Ok(moved)
    }

    /// Bytes that a peer may know to be taken.
    fn due(&self, peer: &Peer) -> u64 {
        if self.taking_all { peer.arrived.max(peer.told) } else { peer.taken.max(peer.told) }
    }

    fn send_frame(&mut self, number: usize, frame: Frame) -> Result<(), CallError> {
        let taken = self.due(&self.peers[number]);
        let bytes = frame.into_bytes(taken);
        let all = 0..bytes.len();
        let sending = self.mpi.send(&Arc::new(bytes), all, number, FRAMES)?;
        let peer = &mut self.peers[number];
        peer.sending.push_back(sending);
        peer.told = taken;
        peer.spoken_to = true;
        Ok(())
    }
}

impl Peer {
    /// Reads a frame.
    fn open(&mut self, bytes: Vec<u8>) -> Result<(), CallError> {
        let (frame, taken) = Frame::from_bytes(bytes).ok_or_else(|| CallError {
            call: "MPI_Imrecv",
            problem: "a message that no rank of this version sends".into(),
        })?;
        self.known = true;
        self.acknowledged = self.acknowledged.max(taken);
        self.pending.push_back(match frame {
            Frame::Beat => return Ok(()),
            Frame::Whole(tag, bytes) => Pending::Message(tag, bytes),
            Frame::Announcement(tag, length) => Pending::Parts(tag, Receiving::new(length)),
            Frame::Departure(departure) => Pending::Departure(departure),
        });
        Ok(())
    }
}

fn host(number: usize) -> HostId {
    HostId(number as u16)
}
