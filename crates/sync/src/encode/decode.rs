//! From the bytes of a message to places and values. Any bytes give a message or an error.

use std::borrow::Cow;

use super::bits::{bytes_of, padding_is_zero};
use super::header::{self, Header, Indices};
use super::{Listing, ValueKind, WireError, indices, values};

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded<'a> {
    /// Which proxies it is about.
    pub places: DecodedPlaces,
    /// Their values in this order, the bytes of one after those of the other.
    pub values: Cow<'a, [u8]>,
    /// The places as they are written, if the message lists some of the route: what a later message may repeat.
    pub listing: Option<Listing<'a>>,
}

/// Which proxies a message is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DecodedPlaces {
    /// Those at all places of the route.
    All,
    /// Those at these places: ascending, distinct, less than the length of the route.
    Some(Vec<u32>),
    /// Those of the vertices with these global ids. Which ids make sense is the caller's to check.
    GlobalIds(Vec<u32>),
}

/// Reads a message about a route of `len` places that does not depend on an earlier one.
///
/// Memory is only taken for what the length of the route or of the message calls for.
pub fn decode(kind: ValueKind, len: usize, bytes: &[u8]) -> Result<Decoded<'_>, WireError> {
    decode_after(None, kind, len, bytes)
}

/// The same for a message that may repeat the places of the last one before it that listed any.
pub fn decode_after<'a>(
    before: Option<&Listing<'_>>,
    kind: ValueKind,
    len: usize,
    bytes: &'a [u8],
) -> Result<Decoded<'a>, WireError> {
    if bytes == header::EMPTY_MESSAGE {
        let places = DecodedPlaces::Some(Vec::new());
        return Ok(Decoded { places, values: Cow::default(), listing: None });
    }
    let Header { indices, values, count } = Header::read(kind, bytes)?;
    let number = count as usize;
    // A message without values has no header either.
    let possible = match indices {
        Indices::Dense => number == len && len > 0,
        _ => (1..=len).contains(&number),
    };
    if !possible {
        return Err(WireError::Count { at: header::COUNT, count, len });
    }
    let body = Section { bytes: &bytes[header::BYTES..], start: header::BYTES };
    let (values, rest) = values::read(kind, values, body, number)?;
    let listing = Listing::new(len, count, indices, rest.bytes);
    let places = indices::read(indices, rest, number, len, before)?;
    Ok(Decoded { places, values, listing })
}

/// A part of a message.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) bytes: &'a [u8],
    /// Where it starts in the message.
    pub(super) start: usize,
}

impl<'a> Section<'a> {
    /// Its first bytes, and the rest.
    pub(super) fn split(self, bytes: u64) -> Result<(Section<'a>, Section<'a>), WireError> {
        let at = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (head, tail) = self.bytes.split_at_checked(at).ok_or(self.wrong_length(bytes))?;
        let rest = Section { bytes: tail, start: self.start + at };
        Ok((Section { bytes: head, ..self }, rest))
    }

    /// Checks that it holds this many bits and, after them, only zeros up to a whole byte.
    pub(super) fn expect_bits(self, bits: u64) -> Result<(), WireError> {
        if self.bytes.len() as u64 != bytes_of(bits) {
            return Err(self.wrong_length(bytes_of(bits)));
        }
        match padding_is_zero(self.bytes, bits) {
            true => Ok(()),
            false => Err(WireError::Padding { at: self.start + self.bytes.len() - 1 }),
        }
    }

    fn wrong_length(self, expected: u64) -> WireError {
        let (start, found) = (self.start as u64, self.bytes.len() as u64);
        WireError::Length { expected: start.saturating_add(expected), found: start + found }
    }
}
