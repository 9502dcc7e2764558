//! What the formats share whose files hold a graph's arrays as they are in memory.
//!
//! ```text
//! offsets  0 … never falling … M      N + 1 of them       find_fall
//! targets  each below N               M of them           find_stray
//! weights  each finite                M of them           find_unusable
//! ```
//!
//! Nothing a file says is believed: [`first`] sweeps each array once, in parallel, and reports the
//! first element that is wrong.

use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;

use crate::buffer::Buffer;
use crate::parallel;
use crate::progress::{Progress, Unit};
use crate::save::Output;
use crate::source::Source;
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Error, LocalId, Result};

/// How much of an array one thread looks at in one go: it stays in a core's cache meanwhile.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// Tells an onlooker about work done by many threads in about a hundred steps.
pub(crate) struct Meter<'a> {
    progress: &'a dyn Progress,
    step: u64,
    done: AtomicU64,
}

impl<'a> Meter<'a> {
    /// Begins a stage of `total` bytes.
    pub(crate) fn start(progress: &'a dyn Progress, stage: &str, total: u64) -> Self {
        progress.stage(stage, Unit::Bytes, Some(total));
        Meter { progress, step: total.div_ceil(100).max(1), done: AtomicU64::new(0) }
    }

    /// That many more bytes are done.
    pub(crate) fn add(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        let steps = (before + bytes) / self.step - before / self.step;
        if steps > 0 {
            self.progress.advance(steps * self.step);
        }
    }
}

/// The first problem of an array: `find` is asked about every piece of it, in parallel, and gets
/// the whole array and the range of the piece. `skipped` elements are missing of the first piece, so
/// that pieces can begin where blocks of a file do. The error is that of a failed disk.
pub(crate) fn first<T: Pod + Send + Sync, P: Send>(
    array: &Buffer<T>,
    skipped: usize,
    meter: &Meter<'_>,
    find: impl Fn(&[T], Range<usize>) -> Option<P> + Sync,
) -> io::Result<Option<P>> {
    let (elements, per_piece) = (array.len(), PIECE_BYTES / size_of::<T>());
    let pieces = (elements + skipped).div_ceil(per_piece);
    let problem = parallel::find_first_task(pieces, |piece| {
        let start = (piece * per_piece).saturating_sub(skipped);
        let range = start..((piece + 1) * per_piece - skipped).min(elements);
        if let Err(error) = array.load(range.clone()) {
            return Some(Err(error));
        }
        let found = find(array, range.clone());
        meter.add((range.len() * size_of::<T>()) as u64);
        found.map(Ok)
    });
    problem.transpose()
}

// The searches below first ask "is all well?" in a form without branches, which the compiler turns
// into vector instructions; only then do they look for the culprit.

/// First element of a range that is less than the one before it.
pub(crate) fn find_fall(all: &[u64], range: Range<usize>) -> Option<usize> {
    let window = &all[range.start.saturating_sub(1)..range.end];
    let rises = window.iter().zip(&window[1..]).fold(true, |well, (a, b)| well & (a <= b));
    if rises {
        return None;
    }
    range.into_iter().find(|&i| i > 0 && all[i - 1] > all[i])
}

/// First element of a range that is not a vertex.
pub(crate) fn find_stray(all: &[LocalId], range: Range<usize>, vertices: usize) -> Option<usize> {
    let largest = all[range.clone()].iter().fold(0, |largest, id| id.0.max(largest));
    if (largest as usize) < vertices {
        return None;
    }
    range.into_iter().find(|&i| all[i].index() >= vertices)
}

/// First weight of a range that is no number algorithms can work with: NaN or infinite.
pub(crate) fn find_unusable<W: Weight>(all: &[W], range: Range<usize>) -> Option<usize> {
    if matches!(W::KIND, WeightKind::None | WeightKind::U32) {
        return None;
    }
    let usable = |weight: &W| weight.to_f64().is_finite();
    if all[range.clone()].iter().fold(true, |well, weight| well & usable(weight)) {
        return None;
    }
    range.into_iter().find(|&i| !usable(&all[i]))
}

/// Says that an edge leads to a vertex that does not exist.
pub(crate) fn stray_problem(edge: u64, target: impl Display, vertices: usize) -> String {
    format!("edge {edge} leads to vertex {target}, but there are {vertices} vertices")
}

/// Says that a vertex's edges end before they start.
pub(crate) fn fall_problem(vertex: usize, start: u64, end: u64) -> String {
    format!("the edges of vertex {vertex} start at edge {start}, but end at edge {end}")
}

/// Says that a vertex's edges end beyond all edges.
pub(crate) fn beyond_problem(vertex: usize, end: u64, edges: u64) -> String {
    format!("the edges of vertex {vertex} end at edge {end}, but there are {edges}")
}

/// Says that the edges before a vertex are not as many as they must be.
pub(crate) fn end_problem(vertex: u64, found: u64, expected: u64) -> String {
    format!("offset {vertex} is {found}, expected {expected}")
}

/// Says that a problem is one of in-edges.
pub(crate) fn of_in_edges(problem: String) -> String {
    format!("in-edges: {problem}")
}

/// Says that an edge has a weight that is no finite number.
pub(crate) fn unusable_problem<W: Weight>(edge: usize, weight: W) -> String {
    format!("the weight of edge {edge} is {weight:?}, expected a finite number")
}

/// Refuses to write weights that no reader would accept.
pub(super) fn check_weights<W: Weight>(csr: &Csr<W>) -> Result<()> {
    let weights = csr.all_weights();
    match find_unusable(weights, 0..weights.len()) {
        Some(edge) => Err(Error::Request(unusable_problem(edge, weights[edge]))),
        None => Ok(()),
    }
}

/// The bytes of an array as files hold them.
pub(super) fn raw<T: Pod>(array: &[T]) -> &[u8] {
    // An array of nothings has no bytes, which the cast cannot express.
    if size_of::<T>() == 0 { &[] } else { bytemuck::cast_slice(array) }
}

/// Appends an array to a file.
pub(super) fn write_array<T: Pod>(out: &mut Output, array: &[T], meter: &Meter<'_>) -> Result<()> {
    for piece in raw(array).chunks(PIECE_BYTES) {
        out.write(piece)?;
        meter.add(piece.len() as u64);
    }
    Ok(())
}

/// How many bytes an input has, where that is known without reading it.
pub(super) fn known_len(source: &Source) -> Option<u64> {
    match source.parts() {
        _ if source.head_is_all() => Some(source.head().len() as u64),
        [part] if part.compression().is_none() => source.stored_bytes(),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_the_first_culprit() {
        assert_eq!(find_fall(&[0, 3, 3, 2, 1], 0..5), Some(3));
        assert_eq!(find_fall(&[0, 3, 3, 2, 1], 4..5), Some(4), "looks back over the edge");
        assert_eq!(find_fall(&[5], 0..1), None);
        let targets = [LocalId(0), LocalId(7), LocalId(9)];
        assert_eq!(find_stray(&targets, 0..3, 7), Some(1));
        assert_eq!(find_stray(&targets, 0..3, 10), None);
        assert_eq!(find_unusable(&[1.0, f64::NAN, f64::INFINITY], 0..3), Some(1));
        assert_eq!(find_unusable(&[1.0f32, f32::NEG_INFINITY], 0..2), Some(1));
        assert_eq!(find_unusable(&[1u32, u32::MAX], 0..2), None);
    }
}
