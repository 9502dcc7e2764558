//! Which places of a route a message has values for: the encodings, their sizes, and the choice.

use std::cell::OnceCell;

use super::bits::{bytes_of, low_mask, word_at};
use super::decode::{DecodedPlaces, Section};
use super::header::Indices;
use super::{WireError, rice};

const INDEX_BYTES: usize = size_of::<u32>();
const WORD_BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = size_of::<u64>();

/// One encoding of a message's places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) encoding: Indices,
    pub(super) bytes: u64,
}

impl Choice {
    /// Of all places of a route.
    pub(super) const DENSE: Choice = Choice { encoding: Indices::Dense, bytes: 0 };
}

/// Places of a route that are about to be written: ascending, distinct.
#[derive(Clone, Debug)]
pub(super) struct Listed<'a> {
    /// Places of the route.
    len: usize,
    places: &'a [u32],
    /// The places that are not listed; computed when needed.
    absent: OnceCell<Vec<u32>>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(len: usize, places: &'a [u32]) -> Self {
        Listed { len, places, absent: OnceCell::new() }
    }

    /// The smallest encoding of places, of which there is at least one. Of equal ones it is the one
    /// that is read and written faster.
    pub(super) fn smallest(&self) -> Choice {
        let choices = self.sparse_choices();
        choices.into_iter().min_by_key(|choice| choice.bytes).expect("some choices")
    }

    /// All encodings of some places but not all of a route, fast ones first.
    pub(super) fn sparse_choices(&self) -> [Choice; 4] {
        let compact = |inverted, rice::Cost { parameter, bytes }| Choice {
            encoding: Indices::Compact { parameter, inverted },
            bytes,
        };
        [
            Choice { encoding: Indices::List, bytes: (self.places.len() * INDEX_BYTES) as u64 },
            Choice { encoding: Indices::BitVector, bytes: bytes_of(self.len as u64) },
            compact(false, self.cost_of_present()),
            compact(true, self.cost_of_absent()),
        ]
    }

    fn cost_of_present(&self) -> rice::Cost {
        let end = self.places.last().map_or(0, |last| last + 1);
        rice::cost(self.places.len(), end, || rice::gaps(self.places))
    }

    fn cost_of_absent(&self) -> rice::Cost {
        let from_the_end = self.places.iter().rev().zip((0..self.len).rev());
        let trailing = from_the_end.take_while(|&(&place, end)| place as usize == end).count();
        let end = (self.len - trailing) as u32;
        rice::cost(self.len - self.places.len(), end, || rice::gaps(self.absent()))
    }

    fn absent(&self) -> &[u32] {
        self.absent.get_or_init(|| complement(self.len, self.places))
    }

    /// Appends the places in an encoding that is legal for them.
    pub(super) fn write(&self, out: &mut Vec<u8>, encoding: Indices) {
        match encoding {
            Indices::Dense => {}
            Indices::BitVector => write_bit_vector(out, self.len, self.places),
            Indices::List | Indices::GlobalIds => {
                out.extend_from_slice(bytemuck::cast_slice(self.places));
            }
            Indices::Compact { parameter, inverted: false } => {
                rice::write(out, self.places, parameter);
            }
            Indices::Compact { parameter, inverted: true } => {
                rice::write(out, self.absent(), parameter);
            }
        }
    }
}

/// The places of a route that are not among these.
fn complement(len: usize, places: &[u32]) -> Vec<u32> {
    let mut others = Vec::with_capacity(len - places.len());
    let mut list = |base, mut word: u64| {
        while word != 0 {
            others.push(base as u32 + word.trailing_zeros());
            word &= word - 1;
        }
    };
    let (mut base, mut word) = (0, u64::MAX);
    for &place in places {
        let place = place as usize;
        while place - base >= WORD_BITS {
            list(base, word);
            (base, word) = (base + WORD_BITS, u64::MAX);
        }
        word ^= 1 << (place - base);
    }
    while base < len {
        list(base, word & low_mask((len - base).min(WORD_BITS) as u32));
        (base, word) = (base + WORD_BITS, u64::MAX);
    }
    others
}

fn write_bit_vector(out: &mut Vec<u8>, len: usize, places: &[u32]) {
    let end = out.len() + bytes_of(len as u64) as usize;
    let (mut base, mut word) = (0, 0u64);
    for &place in places {
        let place = place as usize;
        while place - base >= WORD_BITS {
            out.extend_from_slice(&word.to_le_bytes());
            (base, word) = (base + WORD_BITS, 0);
        }
        word |= 1 << (place - base);
    }
    let rest = (end - out.len()).min(WORD_BYTES);
    out.extend_from_slice(&word.to_le_bytes()[..rest]);
    out.resize(end, 0);
}

/// Reads which places `count` values belong to, on a route of `len`, from a section that holds
/// nothing else.
pub(super) fn read(
    encoding: Indices,
    section: Section<'_>,
    count: usize,
    len: usize,
) -> Result<DecodedPlaces, WireError> {
    let places = match encoding {
        Indices::Dense => {
            section.expect_bits(0)?;
            return Ok(DecodedPlaces::All);
        }
        Indices::GlobalIds => return read_words(section, count).map(DecodedPlaces::GlobalIds),
        Indices::BitVector => read_bit_vector(section, count, len),
        Indices::List => read_list(section, count, len),
        Indices::Compact { parameter, inverted: false } => {
            rice::read(section, count, parameter, len)
        }
        Indices::Compact { parameter, inverted: true } => {
            let absent = rice::read(section, len - count, parameter, len)?;
            Ok(complement(len, &absent))
        }
    };
    places.map(DecodedPlaces::Some)
}

fn read_bit_vector(section: Section<'_>, count: usize, len: usize) -> Result<Vec<u32>, WireError> {
    section.expect_bits(len as u64)?;
    let bytes = section.bytes;
    let words = || (0..bytes.len()).step_by(WORD_BYTES).map(|at| (at * 8, word_at(bytes, at)));
    let found = words().map(|(_, word)| word.count_ones() as usize).sum();
    if found != count {
        return Err(WireError::Population { at: section.start, expected: count, found });
    }
    let mut places = Vec::with_capacity(count);
    for (base, mut word) in words() {
        while word != 0 {
            places.push(base as u32 + word.trailing_zeros());
            word &= word - 1;
        }
    }
    Ok(places)
}

fn read_list(section: Section<'_>, count: usize, len: usize) -> Result<Vec<u32>, WireError> {
    let places = read_words(section, count)?;
    let mut least = 0;
    for (i, &place) in places.iter().enumerate() {
        let place = u64::from(place);
        if place < least || place >= len as u64 {
            return Err(WireError::Place { at: section.start + i * INDEX_BYTES, place, len });
        }
        least = place + 1;
    }
    Ok(places)
}

fn read_words(section: Section<'_>, count: usize) -> Result<Vec<u32>, WireError> {
    section.expect_bits(count as u64 * u64::from(u32::BITS))?;
    let (words, _) = section.bytes.as_chunks::<INDEX_BYTES>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}
