//! What can be wrong with the bytes of a message.

/// Why bytes are no message about a route. Bytes are counted from the start of the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message ends too early or too late.
    #[error("the message has {found} bytes where {expected} were expected")]
    Length {
        /// Bytes that the message should have; at least, where its header is missing.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// A field of the header has a value that it cannot have there.
    #[error("byte {at}: the {field} cannot be {found} here")]
    Header {
        /// Where the field is.
        at: usize,
        /// What it says.
        field: &'static str,
        /// Its value.
        found: u32,
    },
    /// More values than the route has places, fewer than one, or not all where all were promised.
    #[error("byte {at}: {count} values do not fit this mode on a route of {len} places")]
    Count {
        /// Where the count is.
        at: usize,
        /// Number of values.
        count: u32,
        /// Places of the route.
        len: usize,
    },
    /// A place that the route does not have, or one that does not follow the place before it.
    #[error("byte {at}: place {place}, on a route of {len}, is too great or not ascending")]
    Place {
        /// Where the place is; for compact indices, where they start.
        at: usize,
        /// The place.
        place: u64,
        /// Places of the route.
        len: usize,
    },
    /// A bit vector with more or fewer bits than there are values.
    #[error("byte {at}: a bit vector with {found} bits set for {expected} values")]
    Population {
        /// Where the bit vector starts.
        at: usize,
        /// Number of values.
        expected: usize,
        /// Bits that are set.
        found: usize,
    },
    /// A bit is set after the last one that means something.
    #[error("byte {at}: a bit is set past the end")]
    Padding {
        /// Where the bit is.
        at: usize,
    },
    /// Places of an earlier message are repeated, but the last one that listed any was not about as many.
    #[error("byte 0: no message before this one has listed {count} places of a route of {len}")]
    Repeat {
        /// Number of values.
        count: usize,
        /// Places of the route.
        len: usize,
    },
    /// Compact indices end in the middle of one.
    #[error("byte {at}: the compact indices end early")]
    Unfinished {
        /// Where they start.
        at: usize,
    },
}
