//! How a message will be written, decided by its exact size.

use super::header::{self, Header, Indices};
use super::indices::{self, Listed};
use super::values::{self, ValueRange};
use super::{Listing, Places, Size, ValueKind};

/// A message that is about to be written, in the smallest encoding there is for it. Equal messages
/// have equal plans, on every host.
#[derive(Clone, Debug)]
pub struct EncodingPlan<'a> {
    kind: ValueKind,
    len: usize,
    places: Listed<'a>,
    values: &'a [u8],
    /// `None` if there is nothing to say.
    choice: Option<Choice>,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    count: u32,
    indices: indices::Choice,
    values: values::Choice,
    span: Option<ValueRange>,
}

impl<'a> EncodingPlan<'a> {
    /// The message that tells values, the bytes of one after those of the other, at some places of
    /// a route of `len`.
    ///
    /// # Panics
    ///
    /// If there are not as many values as places, or if a place is not on the route.
    pub fn new(kind: ValueKind, len: usize, places: Places<'a>, values: &'a [u8]) -> Self {
        EncodingPlan::after(None, kind, len, places, values)
    }

    /// The same for a message that may repeat places: its reader knows those that were listed `before`.
    ///
    /// # Panics
    ///
    /// As [`EncodingPlan::new`].
    pub fn after(
        before: Option<&Listing<'_>>,
        kind: ValueKind,
        len: usize,
        places: Places<'a>,
        values: &'a [u8],
    ) -> Self {
        let count = places.count(len);
        assert_eq!(values.len(), count * kind.bytes(), "bytes of {count} values");
        assert!(u32::try_from(len).is_ok(), "a route of {len} places");
        let listed = match places {
            Places::All => &[],
            Places::Some(some) => some,
        };
        assert!(listed.last().is_none_or(|&last| (last as usize) < len), "places on the route");
        debug_assert!(listed.is_sorted_by(|a, b| a < b), "ascending, distinct places");
        let places = Listed::new(len, listed);
        let choice = (count > 0).then(|| {
            let span = values::span(kind, values);
            Choice {
                count: count as u32,
                indices: match count == len {
                    true => indices::Choice::DENSE,
                    false => places.smallest_after(before),
                },
                values: values::Choice::smallest(kind, span, count),
                span,
            }
        });
        EncodingPlan { kind, len, places, values, choice }
    }

    /// Bytes the message will have.
    pub fn size(&self) -> Size {
        let Some(choice) = self.choice else { return empty_size() };
        size(choice.values.bytes, choice.indices.bytes)
    }

    /// Whether the message with the values at *all* places of the route could be smaller than this
    /// one. Where this says no, they need not be looked up. A few values of other places help to
    /// say so: values that are sent in one round are often equal, those of a route seldom.
    pub fn dense_could_win(&self, others: &[u8]) -> bool {
        let Some(choice) = self.choice else { return false };
        let span = choice.span.map(|span| values::widened(self.kind, span, others));
        let all = values::Choice::smallest(self.kind, span, self.len);
        size(all.bytes, 0).total() < self.size().total()
    }

    /// The message.
    pub fn write(&self) -> Vec<u8> {
        let Some(choice) = self.choice else { return header::EMPTY_MESSAGE.to_vec() };
        let encoding = choice.indices.encoding;
        let header =
            Header { indices: encoding, values: choice.values.encoding(), count: choice.count };
        let mut message = Vec::with_capacity(self.size().total() as usize);
        message.extend_from_slice(&header.write());
        values::write(&mut message, self.kind, choice.values, self.values);
        self.places.write(&mut message, encoding);
        message
    }

    /// The places as the message that was written lists them, if it does: what a later one may repeat.
    pub fn listing<'m>(&self, message: &'m [u8]) -> Option<Listing<'m>> {
        let Choice { count, indices, .. } = self.choice?;
        let start = message.len().checked_sub(indices.bytes as usize)?;
        Listing::new(self.len, count, indices.encoding, &message[start..])
    }
}

/// The message for hosts that have not agreed on routes: each value with the global id of its
/// vertex.
///
/// # Panics
///
/// If there are not as many values as ids, or 2^32 of them.
pub fn write_with_ids(kind: ValueKind, ids: &[u32], values: &[u8]) -> (Vec<u8>, Size) {
    assert_eq!(values.len(), ids.len() * kind.bytes(), "bytes of {} values", ids.len());
    if ids.is_empty() {
        return (header::EMPTY_MESSAGE.to_vec(), empty_size());
    }
    let (indices, count) = (Indices::GlobalIds, u32::try_from(ids.len()).expect("a u32 count"));
    let header = Header { indices, values: header::Values::Raw, count };
    let size = size(values.len() as u64, size_of_val(ids) as u64);
    let mut message = Vec::with_capacity(size.total() as usize);
    message.extend_from_slice(&header.write());
    message.extend_from_slice(values);
    Listed::new(0, ids).write(&mut message, indices);
    (message, size)
}

/// Bytes of the message with raw values at all of `len` places.
pub(crate) fn dense_size(kind: ValueKind, len: usize) -> Size {
    size((len * kind.bytes()) as u64, 0)
}

fn size(values: u64, indices: u64) -> Size {
    Size { values, metadata: header::BYTES as u64 + indices }
}

fn empty_size() -> Size {
    Size { values: 0, metadata: header::EMPTY_MESSAGE.len() as u64 }
}
