//! Wire encodings: one message in the fewest bytes.
//!
//! Two hosts that share proxies agreed once on their order: a *route*. A message tells the values
//! at some *places* of a route, positions in that order. Which places, and which values, differs
//! from round to round, so every message is written in the encoding that is smallest for it. The
//! choice is computed, not guessed: an [`EncodingPlan`] knows its size to the byte before anything is written.
//! `docs/wire.md` draws the layout.

mod bits;
mod decode;
mod error;
mod header;
mod indices;
mod listing;
mod plan;
mod rice;
mod share;
mod values;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, DecodedPlaces, decode, decode_after};
pub use error::WireError;
pub use listing::Listing;
pub(crate) use plan::dense_size;
pub use plan::{EncodingPlan, write_with_ids};

/// What the values of a message are, as far as encodings care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Integers of one byte, or truth values.
    U8,
    /// Integers of 4 bytes.
    U32,
    /// Integers of 8 bytes.
    U64,
    /// Values of this many bytes, which travel as they are: floating-point numbers, structs, vectors.
    Plain(usize),
}

impl ValueKind {
    /// Bytes of one value.
    pub const fn bytes(self) -> usize {
        match self {
            ValueKind::U8 => size_of::<u8>(),
            ValueKind::U32 => size_of::<u32>(),
            ValueKind::U64 => size_of::<u64>(),
            ValueKind::Plain(bytes) => bytes,
        }
    }
}

/// Bytes of a message, by what they are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Bytes of values, with the base of packed ones.
    pub values: u64,
    /// All other bytes: the header, and which places the values belong to.
    pub metadata: u64,
}

impl Size {
    /// Bytes in total.
    pub fn total(self) -> u64 {
        self.values + self.metadata
    }
}

/// Which places of a route a message is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Places<'a> {
    /// All of them.
    All,
    /// These: ascending, distinct, less than the length of the route.
    Some(&'a [u32]),
}

impl Places<'_> {
    /// How many they are on a route of this length.
    pub fn count(self, len: usize) -> usize {
        match self {
            Places::All => len,
            Places::Some(places) => places.len(),
        }
    }
}
