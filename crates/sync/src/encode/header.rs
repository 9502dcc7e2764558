//! The first eight bytes of a message: how the rest is to be read.

use super::{ValueKind, WireError, rice};

/// Bytes of a header. Values follow it, so raw values are aligned as the message is.
pub(super) const BYTES: usize = 8;

/// The whole of a message without values: the mode, and nothing else.
pub(super) const EMPTY_MESSAGE: [u8; 1] = [0];

const MODE: usize = 0;
const WIDTH: usize = 1;
const PARAMETER: usize = 2;
const FLAGS: usize = 3;
pub(super) const COUNT: usize = 4;

const INVERTED: u8 = 1;
const VALUE_SHIFT: u32 = 4;

/// How a message says which places its values belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Indices {
    Dense,
    BitVector,
    List,
    /// A Rice code with this parameter, of the places with a value or of those without.
    Compact {
        parameter: u8,
        inverted: bool,
    },
    GlobalIds,
    /// The places of an earlier message.
    Repeated,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Values {
    Raw,
    /// Differences to a base, of this many bits each.
    Packed {
        width: u8,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) indices: Indices,
    pub(super) values: Values,
    pub(super) count: u32,
}

impl Header {
    pub(super) fn write(self) -> [u8; BYTES] {
        let (indices, parameter, flags) = match self.indices {
            Indices::Dense => (1, 0, 0),
            Indices::BitVector => (2, 0, 0),
            Indices::List => (3, 0, 0),
            Indices::Compact { parameter, inverted } => (4, parameter, u8::from(inverted)),
            Indices::GlobalIds => (5, 0, 0),
            Indices::Repeated => (6, 0, 0),
        };
        let (values, width) = match self.values {
            Values::Raw => (0, 0),
            Values::Packed { width } => (1, width),
        };
        let [a, b, c, d] = self.count.to_le_bytes();
        [indices | values << VALUE_SHIFT, width, parameter, flags, a, b, c, d]
    }

    /// The header at the start of a message that is not the empty one. Every field that its mode
    /// does not use must be zero.
    pub(super) fn read(kind: ValueKind, message: &[u8]) -> Result<Header, WireError> {
        let Some(&[mode, width, parameter, flags, ref count @ ..]) = message.first_chunk::<BYTES>()
        else {
            return Err(WireError::Length { expected: BYTES as u64, found: message.len() as u64 });
        };
        let unfit = |at, field, found: u8| WireError::Header { at, field, found: found.into() };

        let indices = match (mode & 0xf, flags) {
            (1, 0) => Indices::Dense,
            (2, 0) => Indices::BitVector,
            (3, 0) => Indices::List,
            (4, 0 | INVERTED) => Indices::Compact { parameter, inverted: flags == INVERTED },
            (5, 0) => Indices::GlobalIds,
            (6, 0) => Indices::Repeated,
            (1..=6, _) => return Err(unfit(FLAGS, "flags", flags)),
            _ => return Err(unfit(MODE, "mode", mode)),
        };
        let max_width = match kind {
            ValueKind::Plain(_) => None,
            integer => Some(integer.bytes() * 8),
        };
        let values = match (mode >> VALUE_SHIFT, max_width) {
            (0, _) if width != 0 => return Err(unfit(WIDTH, "width", width)),
            (0, _) => Values::Raw,
            (1, Some(max)) if indices != Indices::GlobalIds => match usize::from(width) <= max {
                true => Values::Packed { width },
                false => return Err(unfit(WIDTH, "width", width)),
            },
            _ => return Err(unfit(MODE, "mode", mode)),
        };
        let max_parameter = match indices {
            Indices::Compact { .. } => rice::MAX_PARAMETER,
            _ => 0,
        };
        if parameter > max_parameter {
            return Err(unfit(PARAMETER, "parameter", parameter));
        }
        Ok(Header { indices, values, count: u32::from_le_bytes(*count) })
    }
}
