//! Cutting slices.

/// Consecutive pieces of these lengths.
pub(crate) fn cut<T>(mut rest: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, after) = std::mem::take(&mut rest).split_at_mut(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
