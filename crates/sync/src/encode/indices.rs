//! Which places of a route a message has values for: the encodings, their sizes, and the choice.

use std::cell::OnceCell;
use std::ops::Range;

use parton_graph::parallel;

use super::bits::{bytes_of, low_mask, word_at};
use super::decode::{DecodedPlaces, Section};
use super::header::Indices;
use super::share::{self, tasks};
use super::{Listing, WireError, rice};

const INDEX_BYTES: usize = size_of::<u32>();
const WORD_BITS: usize = u64::BITS as usize;

/// One encoding of a message's places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) encoding: Indices,
    pub(super) bytes: u64,
}

impl Choice {
    /// Of all places of a route.
    pub(super) const DENSE: Choice = Choice { encoding: Indices::Dense, bytes: 0 };
    /// Of the places of an earlier message.
    const REPEATED: Choice = Choice { encoding: Indices::Repeated, bytes: 0 };
}

/// Places of a route that are about to be written: ascending, distinct.
#[derive(Clone, Debug)]
pub(super) struct Listed<'a> {
    /// Places of the route.
    pub(super) len: usize,
    pub(super) places: &'a [u32],
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
        rice::cost(self.places.len(), end, || self.places)
    }

    fn cost_of_absent(&self) -> rice::Cost {
        let from_the_end = self.places.iter().rev().zip((0..self.len).rev());
        let trailing = from_the_end.take_while(|&(&place, end)| place as usize == end).count();
        let end = (self.len - trailing) as u32;
        rice::cost(self.len - self.places.len(), end, || self.absent())
    }

    fn absent(&self) -> &[u32] {
        self.absent.get_or_init(|| complement(self.len, self.places))
    }

    /// The smallest encoding of places that an earlier message may have listed.
    pub(super) fn smallest_after(&self, before: Option<&Listing<'_>>) -> Choice {
        let smallest = self.smallest();
        match before {
            Some(before) if before.lists(self, smallest) => Choice::REPEATED,
            _ => smallest,
        }
    }

    /// Appends the places in an encoding that is legal for them.
    pub(super) fn write(&self, out: &mut Vec<u8>, encoding: Indices) {
        match encoding {
            Indices::Dense | Indices::Repeated => {}
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
    share::concat(len, |range| {
        let listed = within(places, &range);
        let mut others = Vec::with_capacity(range.len() - listed.len());
        for_each_word(range, listed, |base, word, bits| {
            list_bits(&mut others, base, !word & low_mask(bits));
        });
        others
    })
}

fn write_bit_vector(out: &mut Vec<u8>, len: usize, places: &[u32]) {
    out.extend(share::concat(len, |range| {
        let mut bytes = Vec::with_capacity(bytes_of(range.len() as u64) as usize);
        for_each_word(range.clone(), within(places, &range), |_, word, bits| {
            bytes.extend_from_slice(&word.to_le_bytes()[..bytes_of(bits.into()) as usize]);
        });
        bytes
    }));
}

/// Those of ascending places that lie in a range.
fn within<'a>(places: &'a [u32], range: &Range<usize>) -> &'a [u32] {
    let before = |end: usize| places.partition_point(|&place| (place as usize) < end);
    &places[before(range.start)..before(range.end)]
}

/// Calls `visit` for each word of a range of a route that begins a word: with its first place, the bits of its
/// places that are listed, and how many places it has.
fn for_each_word(range: Range<usize>, listed: &[u32], mut visit: impl FnMut(usize, u64, u32)) {
    let mut listed = listed.iter().map(|&place| place as usize).peekable();
    for base in range.clone().step_by(WORD_BITS) {
        let end = range.end.min(base + WORD_BITS);
        let mut word = 0;
        while let Some(place) = listed.next_if(|&place| place < end) {
            word |= 1 << (place - base);
        }
        visit(base, word, (end - base) as u32);
    }
}

/// Appends the places of a word's bits.
fn list_bits(places: &mut Vec<u32>, base: usize, mut word: u64) {
    while word != 0 {
        places.push(base as u32 + word.trailing_zeros());
        word &= word - 1;
    }
}

/// Reads which places `count` values belong to, on a route of `len`, from a section that holds
/// nothing else. An earlier message may have listed them.
pub(super) fn read(
    encoding: Indices,
    section: Section<'_>,
    count: usize,
    len: usize,
    before: Option<&Listing<'_>>,
) -> Result<DecodedPlaces, WireError> {
    let places = match encoding {
        Indices::Repeated => {
            section.expect_bits(0)?;
            return Listing::repeat(before, count, len);
        }
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
    let words = |range: Range<usize>| {
        range.step_by(WORD_BITS).map(|base| (base, word_at(section.bytes, base / 8)))
    };
    let population =
        |range| words(range).map(|(_, word)| word.count_ones() as usize).sum::<usize>();
    let found = parallel::map_owned(tasks(len), |_, range| population(range)).into_iter().sum();
    if found != count {
        return Err(WireError::Population { at: section.start, expected: count, found });
    }
    Ok(share::concat(len, |range| {
        let mut places = Vec::with_capacity(population(range.clone()));
        words(range).for_each(|(base, word)| list_bits(&mut places, base, word));
        places
    }))
}

fn read_list(section: Section<'_>, count: usize, len: usize) -> Result<Vec<u32>, WireError> {
    let places = read_words(section, count)?;
    let least = |i: usize| i.checked_sub(1).map_or(0, |before| u64::from(places[before]) + 1);
    let is_wrong = |&i: &usize| !(least(i)..len as u64).contains(&places[i].into());
    let wrong = parallel::map_owned(tasks(count), |_, mut range| range.find(is_wrong));
    match wrong.into_iter().flatten().next() {
        Some(i) => {
            let at = section.start + i * INDEX_BYTES;
            Err(WireError::Place { at, place: places[i].into(), len })
        }
        None => Ok(places),
    }
}

fn read_words(section: Section<'_>, count: usize) -> Result<Vec<u32>, WireError> {
    section.expect_bits(count as u64 * u64::from(u32::BITS))?;
    let (words, _) = section.bytes.as_chunks::<INDEX_BYTES>();
    Ok(share::concat(count, |range| {
        words[range].iter().map(|word| u32::from_le_bytes(*word)).collect()
    }))
}
