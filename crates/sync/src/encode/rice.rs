//! Compact indices: an ascending list of places as the gaps between them, in a Rice code.
//!
//! A gap is the number of places left out before one that is listed. With parameter *k* it is
//! written as its quotient by 2^*k* in unary, zeros and a one, followed by its *k* lowest bits.
//! Where listed places are spread evenly, gaps are geometric and this code is within a few per
//! cent of their entropy.

use std::ops::Range;

use parton_graph::parallel;

use super::WireError;
use super::bits::{BitReader, BitWriter, bytes_of, low_mask};
use super::decode::Section;
use super::share::tasks;

/// Places are less than 2^32 - 1, so a greater parameter never helps.
pub(super) const MAX_PARAMETER: u8 = 31;

/// Parameters of which one is the best.
const CANDIDATES: usize = 3;

/// A list in the code that is smallest for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    pub(super) parameter: u8,
    pub(super) bytes: u64,
}

/// The smallest code for `listed` places, one at least, of which the last one is `end - 1`. The places
/// are asked for only where their gaps matter.
///
/// The code takes S(k) + listed × (1 + k) bits, where S(k) is the sum of the quotients. With each
/// step of k the quotients are halved and rounded down, so S never falls by more than in the step
/// before: once a step does not pay, none does. For a mean gap m, the step from k to k + 1 pays
/// whenever m / 2^k ≥ 3, and does not once m / 2^k ≤ 1. That leaves three parameters to try.
pub(super) fn cost<'a>(listed: usize, end: u32, places: impl FnOnce() -> &'a [u32]) -> Cost {
    let listed = listed as u64;
    let sum_of_gaps = u64::from(end) - listed;
    let greatest = ceil_log2(sum_of_gaps.div_ceil(listed));
    if greatest == 0 {
        return Cost { parameter: 0, bytes: bytes_of(end.into()) };
    }
    let least = greatest.saturating_sub(CANDIDATES as u32 - 1);
    // No sum exceeds that of the gaps, which is less than 2^32; small sums are added many at once.
    let shifts: [u32; CANDIDATES] = std::array::from_fn(|i| (least + i as u32).min(greatest));
    let places = places();
    let of_tasks = parallel::map_owned(tasks(places.len()), |_, task| {
        gaps(places, task).fold([0u32; CANDIDATES], |sums, gap| {
            std::array::from_fn(|i| sums[i] + (gap >> shifts[i]))
        })
    });
    let quotients: [u32; CANDIDATES] =
        std::array::from_fn(|i| of_tasks.iter().map(|sums| sums[i]).sum());
    let costs = (least..=greatest).zip(quotients).map(|(parameter, quotients)| {
        let bits = u64::from(quotients) + listed * u64::from(1 + parameter);
        Cost { parameter: parameter as u8, bytes: bytes_of(bits) }
    });
    costs.min_by_key(|cost| cost.bytes).expect("a candidate")
}

/// The least k with 2^k ≥ x, at most what a parameter may be.
fn ceil_log2(x: u64) -> u32 {
    (u64::BITS - x.saturating_sub(1).leading_zeros()).min(MAX_PARAMETER.into())
}

/// The gaps before some of ascending places.
fn gaps(places: &[u32], some: Range<usize>) -> impl Iterator<Item = u32> {
    let next = some.start.checked_sub(1).map_or(0, |before| places[before] + 1);
    let gap = move |next: &mut u32, place: &u32| Some(place - std::mem::replace(next, place + 1));
    places[some].iter().scan(next, gap)
}

/// Appends ascending places.
pub(super) fn write(out: &mut Vec<u8>, places: &[u32], parameter: u8) {
    let parameter = u32::from(parameter);
    let tasks = tasks(places.len());
    if tasks.len() <= 1 {
        return write_gaps(BitWriter::new(out), gaps(places, 0..places.len()), parameter);
    }
    // Where the codes of a task begin follows from how long those before them are.
    let lengths = parallel::map(&tasks, |task| {
        let quotients = gaps(places, task.clone()).map(|gap| u64::from(gap >> parameter));
        quotients.sum::<u64>() + task.len() as u64 * u64::from(1 + parameter)
    });
    let mut end = 0;
    let first_bits = lengths.into_iter().map(|length| {
        let start = end;
        end += length;
        start % 8
    });
    let codes = parallel::map_owned(tasks.into_iter().zip(first_bits), |_, (task, first_bit)| {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        writer.put_zeros(first_bit);
        write_gaps(writer, gaps(places, task), parameter);
        (first_bit, bytes)
    });
    for (first_bit, bytes) in codes {
        // Two tasks may have bits in the byte where their codes meet.
        let shared = usize::from(first_bit > 0);
        if let (1, Some(last)) = (shared, out.last_mut()) {
            *last |= bytes[0];
        }
        out.extend_from_slice(&bytes[shared..]);
    }
}

fn write_gaps(mut writer: BitWriter<'_>, gaps: impl Iterator<Item = u32>, parameter: u32) {
    let mask = low_mask(parameter) as u32;
    for gap in gaps {
        let quotient = gap >> parameter;
        let tail = u64::from(gap & mask) << 1 | 1;
        if quotient < u32::BITS {
            writer.put(tail << quotient, quotient + 1 + parameter);
        } else {
            writer.put_zeros(quotient.into());
            writer.put(tail, 1 + parameter);
        }
    }
    writer.finish();
}

/// Reads `listed` places of a route of `len` from a section that holds nothing else.
pub(super) fn read(
    section: Section<'_>,
    listed: usize,
    parameter: u8,
    len: usize,
) -> Result<Vec<u32>, WireError> {
    let unfinished = WireError::Unfinished { at: section.start };
    // Every place takes a bit at least: check before memory is taken.
    if listed as u64 > section.bytes.len() as u64 * 8 {
        return Err(unfinished);
    }
    let mut reader = BitReader::new(section.bytes);
    let mut places = vec![0; listed];
    let mut next = 0;
    for place in &mut places {
        next += read_gap(&mut reader, parameter.into()).ok_or(unfinished)?;
        if next >= len as u64 {
            return Err(WireError::Place { at: section.start, place: next, len });
        }
        *place = next as u32;
        next += 1;
    }
    section.expect_bits(reader.bits_read())?;
    Ok(places)
}

/// The next gap, less than 2^64 - 2^32; `None` where the bits end.
#[inline]
fn read_gap(reader: &mut BitReader<'_>, parameter: u32) -> Option<u64> {
    let (window, held) = reader.peek();
    let quotient = window.trailing_zeros();
    let bits = quotient + 1 + parameter;
    if bits > held {
        let gap;
        (*reader, gap) = read_long_gap(*reader, parameter)?;
        return Some(gap);
    }
    reader.skip(bits);
    let rest = window >> quotient >> 1;
    Some(u64::from(quotient) << parameter | rest & low_mask(parameter))
}

/// A gap that one look does not show, and the reader after it.
#[cold]
fn read_long_gap(mut reader: BitReader<'_>, parameter: u32) -> Option<(BitReader<'_>, u64)> {
    let mut quotient = 0u64;
    loop {
        let (window, held) = reader.peek();
        let zeros = window.trailing_zeros().min(held);
        reader.skip(zeros);
        quotient += u64::from(zeros);
        if zeros < held {
            reader.skip(1);
            break;
        }
        if held == 0 {
            return None;
        }
    }
    let (window, held) = reader.peek();
    if held < parameter {
        return None;
    }
    reader.skip(parameter);
    // A quotient of 2^32 is too great for any route; a greater one would only overflow.
    let gap = quotient.min(1 << u32::BITS) << parameter | window & low_mask(parameter);
    Some((reader, gap))
}
