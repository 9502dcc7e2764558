//! The way to and from one peer of a rank: what is queued, what is under way, what has arrived.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;

use super::frame::Frame;
use super::library::{CallError, Mpi, Receiving, Sending};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag};
use crate::transports::News;

/// MPI's tag of parts of large messages.
const PARTS: c_int = 2;
/// Small enough for a slow link to show a sign of life, large enough not to matter on a fast one.
const BYTES_PER_PART: usize = 4 << 20;
/// Parts and frames to one peer that MPI handles at a time, and parts from one.
const MAX_REQUESTS_PER_PEER: usize = 16;
/// What a message counts for besides its bytes, so that empty messages count, too.
const BYTES_OVERHEAD: u64 = 128;
/// A peer that has been heard is taken for lost after this many silent beats.
const PATIENCE_BEATS: u32 = 20;
/// A peer that is still starting is taken for lost after this many silent beats.
const START_BEATS: u32 = 480;

/// Something to send to a peer in its turn.
pub(super) enum Queued {
    Message(Tag, Vec<u8>),
    Departure(Departure),
}

/// Something that a peer has sent, in its order.
enum Pending {
    Message(Tag, Vec<u8>),
    Parts(Tag, Receiving),
    Departure(Departure),
}

/// The way to and from one peer.
pub(super) struct Peer {
    pub(super) queue: VecDeque<Queued>,
    /// Large messages that have been announced, and how much of them has been sent.
    pub(super) parts: VecDeque<(Arc<Vec<u8>>, usize)>,
    pub(super) sending: VecDeque<Sending>,
    /// Bytes of messages that were handed to MPI.
    sent: u64,
    /// Bytes of these that the peer has taken.
    acknowledged: u64,

    pub(super) frames: VecDeque<Receiving>,
    pending: VecDeque<Pending>,
    /// Bytes of messages that have arrived.
    arrived: u64,
    /// Bytes of messages that this host has taken.
    pub(super) taken: u64,
    /// Bytes of messages that the peer knows to be taken.
    acknowledged_to_peer: u64,

    /// How the peer ended this launch. Its later messages belong to the next launch and wait.
    pub(super) departed: Option<Departure>,
    /// Whether its process is gone for good.
    pub(super) dead: bool,
    /// Whether it has ever sent anything.
    known: bool,
    /// Whether it has sent anything since the last beat.
    heard: bool,
    /// Whether anything was sent to it since the last beat.
    spoken_to: bool,
    silent_beats: u32,
}

impl Peer {
    /// A peer that no launch has begun with.
    pub(super) fn new() -> Self {
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
            acknowledged_to_peer: 0,
            departed: Some(Departure::Finished),
            dead: false,
            known: false,
            heard: false,
            spoken_to: false,
            silent_beats: 0,
        }
    }

    /// Whether nothing is left to be sent.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.parts.is_empty() && self.sending.is_empty()
    }

    /// Counts a beat. Whether the peer has been silent for too long, and whether this rank was.
    pub(super) fn beat(&mut self) -> (bool, bool) {
        let was_quiet = !std::mem::take(&mut self.spoken_to);
        match std::mem::take(&mut self.heard) {
            true => self.silent_beats = 0,
            false => self.silent_beats += 1,
        }
        let patience = if self.known { PATIENCE_BEATS } else { START_BEATS };
        (self.silent_beats >= patience, was_quiet)
    }

    /// Drops everything that is queued or under way; the weight of the queue.
    pub(super) fn clear(&mut self) -> u64 {
        let queued = self.queue.drain(..).map(|item| match item {
            Queued::Message(_, bytes) => weight(bytes.len()),
            Queued::Departure(_) => 0,
        });
        let weight = queued.sum();
        self.parts.clear();
        self.sending.clear();
        self.frames.clear();
        self.pending.clear();
        weight
    }

    /// Takes in what the peer sends; whether anything moved.
    pub(super) fn receive(&mut self, mpi: &mut Mpi, number: usize) -> Result<bool, CallError> {
        let mut moved = false;
        while let Some(frame) = self.frames.front_mut() {
            mpi.advance(frame)?;
            let Some(bytes) = frame.take() else { break };
            self.frames.pop_front();
            self.open(bytes)?;
            moved = true;
        }
        let mut open = 0;
        for pending in &mut self.pending {
            let Pending::Parts(_, receiving) = pending else { continue };
            moved |= mpi.advance(receiving)?;
            let may_ask = |open| open < MAX_REQUESTS_PER_PEER;
            while !receiving.is_all_asked() && may_ask(open + receiving.open_requests()) {
                mpi.receive(receiving, BYTES_PER_PART, number, PARTS)?;
            }
            open += receiving.open_requests();
            if !receiving.is_all_asked() {
                // Parts come in order: those of a later message come after all of these.
                break;
            }
        }
        self.heard |= moved;
        Ok(moved)
    }

    /// Hands over the messages of this launch that have arrived.
    pub(super) fn deliver(&mut self, from: HostId, out: &mut VecDeque<News>) {
        while self.departed.is_none() {
            let news = match self.pending.front_mut() {
                Some(Pending::Parts(tag, receiving)) => {
                    let Some(bytes) = receiving.take() else { break };
                    News::Message(Message { from, tag: *tag, bytes })
                }
                Some(Pending::Message(tag, bytes)) => {
                    let bytes = std::mem::take(bytes);
                    News::Message(Message { from, tag: *tag, bytes })
                }
                Some(Pending::Departure(departure)) => {
                    self.departed = Some(*departure);
                    News::Gone(from, *departure)
                }
                None => break,
            };
            self.pending.pop_front();
            if let News::Message(message) = &news {
                self.arrived += weight(message.bytes.len());
            }
            out.push_back(news);
        }
    }

    /// Forgets requests that MPI has completed; whether there were any.
    pub(super) fn forget_sent(&mut self, mpi: &mut Mpi) -> Result<bool, CallError> {
        let mut moved = false;
        while let Some(first) = self.sending.front_mut() {
            if !mpi.is_sent(first)? {
                break;
            }
            self.sending.pop_front();
            moved = true;
        }
        Ok(moved)
    }

    /// The next item that the peer's window has room for. What leaves the queue is taken off
    /// `backlog`.
    pub(super) fn next_item(&mut self, window: u64, backlog: &mut u64) -> Option<Queued> {
        while let Some(Queued::Message(_, bytes)) = self.queue.front() {
            let (weight, untaken) = (weight(bytes.len()), self.sent - self.acknowledged);
            match self.departed {
                Some(_) => {
                    // The peer has left and will not ask for this message.
                    *backlog -= weight;
                    self.queue.pop_front();
                }
                None if untaken > 0 && untaken + weight > window => return None,
                None => {
                    self.sent += weight;
                    *backlog -= weight;
                    break;
                }
            }
        }
        self.queue.pop_front()
    }

    /// Sends parts of large messages, as many as MPI should handle at a time.
    pub(super) fn send_parts(&mut self, mpi: &mut Mpi, number: usize) -> Result<bool, CallError> {
        let mut moved = false;
        while self.sending.len() < MAX_REQUESTS_PER_PEER {
            let Some((bytes, sent)) = self.parts.front_mut() else { break };
            let end = bytes.len().min(*sent + BYTES_PER_PART);
            self.sending.push_back(mpi.send(bytes, *sent..end, number, PARTS)?);
            *sent = end;
            if end == bytes.len() {
                self.parts.pop_front();
            }
            self.spoken_to = true;
            moved = true;
        }
        Ok(moved)
    }

    /// Bytes that the peer may count as taken: all that arrived, if this host takes everything.
    pub(super) fn due(&self, taking_all: bool) -> u64 {
        let due = if taking_all { self.arrived } else { self.taken };
        due.max(self.acknowledged_to_peer)
    }

    /// Bytes that the peer may count as taken and does not know of.
    pub(super) fn unacknowledged(&self, taking_all: bool) -> u64 {
        self.due(taking_all) - self.acknowledged_to_peer
    }

    /// Notes that a frame is under way that says how many bytes were taken.
    pub(super) fn frame_sent(&mut self, sending: Sending, taken: u64) {
        self.sending.push_back(sending);
        self.acknowledged_to_peer = taken;
        self.spoken_to = true;
    }

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

/// Bytes that count for a message.
pub(super) fn weight(length: usize) -> u64 {
    length as u64 + BYTES_OVERHEAD
}
