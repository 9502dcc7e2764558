//! Places that one message lists and a later one repeats.
//!
//! Where the same vertices send in every round, as all but the sinks do in PageRank, messages of a route are about the
//! same places round after round. Gluon's memoisation agrees once on the order of a route; this agrees on a part of it.

use std::borrow::Cow;

use super::WireError;
use super::decode::{DecodedPlaces, Section};
use super::header::Indices;
use super::indices::{self, Choice, Listed};

/// The places that a message lists, in the bytes that it writes them in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listing<'a> {
    /// Places of the route.
    len: usize,
    /// Number of places that are listed.
    count: u32,
    encoding: Indices,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Listing<'a> {
    /// The places in a message; `None` if it does not list places of a route.
    pub(super) fn new(len: usize, count: u32, encoding: Indices, bytes: &'a [u8]) -> Option<Self> {
        let bytes = Cow::Borrowed(bytes);
        match encoding {
            Indices::Dense | Indices::GlobalIds | Indices::Repeated => None,
            Indices::BitVector | Indices::List | Indices::Compact { .. } => {
                Some(Listing { len, count, encoding, bytes })
            }
        }
    }

    /// The same in memory of its own.
    pub fn into_owned(self) -> Listing<'static> {
        Listing { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    /// Whether these are the same places, of which `choice` is the smallest encoding.
    pub(super) fn lists(&self, places: &Listed<'_>, choice: Choice) -> bool {
        let about = (self.len, self.count as usize, self.encoding, self.bytes.len() as u64);
        if about != (places.len, places.places.len(), choice.encoding, choice.bytes) {
            return false;
        }
        // One encoding writes equal places in equal bytes.
        let mut bytes = Vec::with_capacity(self.bytes.len());
        places.write(&mut bytes, choice.encoding);
        *bytes == *self.bytes
    }

    /// The places of a later message that repeats those listed `before`.
    pub(super) fn repeat(
        before: Option<&Listing<'_>>,
        count: usize,
        len: usize,
    ) -> Result<DecodedPlaces, WireError> {
        let fits = |before: &&Listing<'_>| (before.count as usize, before.len) == (count, len);
        let before = before.filter(fits).ok_or(WireError::Repeat { count, len })?;
        let section = Section { bytes: &before.bytes, start: 0 };
        indices::read(before.encoding, section, count, len, None)
    }
}
