//! Bits in bytes, the lowest bit of the first byte first; always a word at a time.

const WORD_BYTES: usize = size_of::<u64>();

/// Bits that a word read at any byte has left after up to 7 of them were skipped.
const SURE_BITS: u32 = u64::BITS - 7;

/// A word with its `count` lowest bits set.
#[inline]
pub(super) fn low_mask(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0)
}

/// The bytes that this many bits take.
pub(super) fn bytes_of(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Whether the bits of the last byte that follow the first `bits` of all bytes are zero.
pub(super) fn padding_is_zero(bytes: &[u8], bits: u64) -> bool {
    bits.is_multiple_of(8) || bytes.last().is_none_or(|last| last >> (bits % 8) == 0)
}

/// The word at a byte; bits past the end read as zeros.
#[inline]
pub(super) fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk::<WORD_BYTES>() {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(rest),
    }
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; WORD_BYTES];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

/// The `width` bits at a bit. Reads depend on nothing but the position, so that many are under way
/// at once.
#[inline]
pub(super) fn field_at(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let (byte, skipped) = (bit / 8, bit as u32 % 8);
    let mut field = word_at(bytes, byte) >> skipped;
    if width > SURE_BITS && skipped > 0 {
        let next = bytes.get(byte + WORD_BYTES).copied().unwrap_or(0);
        field |= u64::from(next) << (u64::BITS - skipped);
    }
    field & low_mask(width)
}

/// Appends bits to bytes.
pub(super) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u64,
    held: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        BitWriter { out, pending: 0, held: 0 }
    }

    /// Appends the `count` lowest bits of `bits`, at most 64; the others must be zero.
    #[inline]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.held;
        let filled = self.held + count;
        if filled < u64::BITS {
            self.held = filled;
            return;
        }
        self.out.extend_from_slice(&self.pending.to_le_bytes());
        self.pending = bits.checked_shr(u64::BITS - self.held).unwrap_or(0);
        self.held = filled - u64::BITS;
    }

    /// Appends this many zeros.
    pub(super) fn put_zeros(&mut self, mut count: u64) {
        while count > 0 {
            let now = count.min(u64::BITS.into()) as u32;
            self.put(0, now);
            count -= u64::from(now);
        }
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(self) {
        let bytes = bytes_of(self.held.into()) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

/// Takes bits from bytes, one code after the other.
///
/// Functions that are seldom called take and return it by value: one whose address they know would
/// live in memory, not in registers, and a code would take a third longer.
#[derive(Clone, Copy)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The first byte of which no bit is held.
    next: usize,
    /// The bits to come. Those past the first `held` are either zero or right.
    buffer: u64,
    held: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, next: 0, buffer: 0, held: 0 }
    }

    /// The bits to come, lowest first, and how many of them can be relied on: at least 56 until
    /// the bytes end.
    #[inline]
    pub(super) fn peek(&mut self) -> (u64, u32) {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        if let Some(word) = rest.first_chunk::<WORD_BYTES>() {
            // As many whole bytes as fit; bits of the next one may come along and come again.
            self.buffer |= u64::from_le_bytes(*word) << self.held;
            self.next += (u64::BITS - 1 - self.held) as usize / 8;
            self.held |= u64::BITS - 8;
        } else {
            *self = self.with_last_bytes();
        }
        (self.buffer, self.held)
    }

    #[cold]
    fn with_last_bytes(mut self) -> Self {
        while self.held < u64::BITS - 8 && self.next < self.bytes.len() {
            self.buffer |= u64::from(self.bytes[self.next]) << self.held;
            self.next += 1;
            self.held += 8;
        }
        self
    }

    /// Goes past bits that `peek` has shown; fewer than 64.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        self.buffer >>= count;
        self.held -= count;
    }

    /// Bits gone past so far.
    pub(super) fn bits_read(&self) -> u64 {
        self.next as u64 * 8 - u64::from(self.held)
    }
}
