//! What ranks tell each other, one MPI message each: some bytes, and what they are at their end.
//!
//! It is at the end, so that the bytes before it are the message as it will be handed over.
//!
//! ```text
//! bytes of the message  …  tag u64 | length u64 | taken u64 | magic u32 | kind u32
//! ```

use bytemuck::{Pod, Zeroable};

use crate::net::Departure;
use crate::transport::Tag;

/// One thing to tell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Nothing but that this rank is alive.
    Beat,
    /// A message.
    Whole(Tag, Vec<u8>),
    /// A message of that many bytes follows in parts.
    Announcement(Tag, usize),
    /// The sender's host has ended this launch.
    Departure(Departure),
}

/// The end of every frame.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Trailer {
    tag: u64,
    length: u64,
    taken: u64,
    magic: u32,
    kind: u32,
}

const MAGIC: u32 = u32::from_le_bytes(*b"PTN1");
const BEAT: u32 = 0;
const WHOLE: u32 = 1;
const ANNOUNCEMENT: u32 = 2;
const FINISHED: u32 = 3;
const LOST: u32 = 4;

impl Frame {
    /// As it travels, with the number of bytes that its sender has taken from its receiver in all.
    pub(super) fn into_bytes(self, taken: u64) -> Vec<u8> {
        let (kind, tag, length, mut bytes) = match self {
            Frame::Beat => (BEAT, 0, 0, Vec::new()),
            Frame::Whole(tag, bytes) => (WHOLE, tag.bits(), bytes.len(), bytes),
            Frame::Announcement(tag, length) => (ANNOUNCEMENT, tag.bits(), length, Vec::new()),
            Frame::Departure(Departure::Finished) => (FINISHED, 0, 0, Vec::new()),
            Frame::Departure(Departure::Lost) => (LOST, 0, 0, Vec::new()),
        };
        let trailer = Trailer { tag, length: length as u64, taken, magic: MAGIC, kind };
        bytes.extend_from_slice(bytemuck::bytes_of(&trailer));
        bytes
    }

    /// Reads what came, and the number with it; `None` if no rank of this version sends that.
    pub(super) fn from_bytes(mut bytes: Vec<u8>) -> Option<(Self, u64)> {
        let start = bytes.len().checked_sub(size_of::<Trailer>())?;
        let trailer: Trailer = bytemuck::pod_read_unaligned(&bytes[start..]);
        bytes.truncate(start);
        let (tag, length) = (Tag::from_bits(trailer.tag), trailer.length as usize);
        let frame = match (trailer.magic, trailer.kind) {
            (MAGIC, BEAT) => Frame::Beat,
            (MAGIC, WHOLE) if length == bytes.len() => Frame::Whole(tag, bytes),
            (MAGIC, ANNOUNCEMENT) => Frame::Announcement(tag, length),
            (MAGIC, FINISHED) => Frame::Departure(Departure::Finished),
            (MAGIC, LOST) => Frame::Departure(Departure::Lost),
            _ => return None,
        };
        Some((frame, trailer.taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back() {
        let tag = Tag::user(7, 9);
        let frames = || {
            [
                Frame::Beat,
                Frame::Whole(tag, vec![1, 2, 3]),
                Frame::Whole(tag, Vec::new()),
                Frame::Announcement(tag, 1 << 40),
                Frame::Departure(Departure::Finished),
                Frame::Departure(Departure::Lost),
            ]
        };
        for (frame, same) in frames().into_iter().zip(frames()) {
            assert_eq!(Frame::from_bytes(frame.into_bytes(5)), Some((same, 5)));
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let good = Frame::Whole(Tag::user(0, 0), vec![1, 2, 3]).into_bytes(0);
        assert_eq!(Frame::from_bytes(Vec::new()), None);
        assert_eq!(Frame::from_bytes(good[1..].to_vec()), None, "part of the message is missing");
        assert_eq!(Frame::from_bytes(good[..good.len() - 1].to_vec()), None);
        let unknown = [&good[..good.len() - 4], &9u32.to_le_bytes()].concat();
        assert_eq!(Frame::from_bytes(unknown), None);
    }
}
