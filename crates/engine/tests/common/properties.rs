//! Holds reductions and relaxations to what they declare, on many values.

use std::fmt::Debug;

use parton_engine::{Relaxation, Vertex};
use parton_graph::LocalId;
use parton_sync::Reduction;

use super::hosts::random;

/// Numbers of many sizes, small ones often.
pub(crate) fn numbers(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| random(&[seed, i]) >> (random(&[i, seed]) % 64))
}

/// Whether a reduction is what it says to be, on these values.
pub(crate) fn check_reduction<R: Reduction>(values: &[R::Value])
where
    R::Value: Debug,
{
    let fold = R::combine;
    for (i, &a) in values.iter().enumerate() {
        assert_eq!(fold(R::identity(), a), a, "the identity changes nothing");
        assert_eq!(fold(a, R::identity()), a, "the identity changes nothing");
        if R::IDEMPOTENT {
            assert_eq!(fold(a, a), a, "idempotent");
        }
        let (b, c) = (values[i * 7 % values.len()], values[i * 31 % values.len()]);
        assert_eq!(fold(a, b), fold(b, a), "commutative: {a:?}, {b:?}");
        if R::IDEMPOTENT {
            assert_eq!(fold(fold(a, b), b), fold(a, b), "idempotent: {a:?}, {b:?}");
        }
        if !R::ORDERED {
            assert_eq!(
                fold(fold(a, b), c),
                fold(a, fold(b, c)),
                "associative: {a:?}, {b:?}, {c:?}"
            );
        }
    }
    let declared_in_vain = !R::IDEMPOTENT && values.iter().all(|&a| fold(a, a) == a);
    assert!(!declared_in_vain, "some value shows that folding twice is not once");
}

/// Whether a relaxation is one, on these labels and weights.
pub(crate) fn check_relaxation<P: Relaxation>(
    program: &P,
    labels: &[P::Label],
    weights: &[P::Weight],
) where
    P::Label: Debug,
{
    const { assert!(P::Reduction::IDEMPOTENT, "a label may be told twice") };
    check_reduction::<P::Reduction>(labels);
    let best = P::Reduction::combine;
    for (i, &a) in labels.iter().enumerate() {
        let (b, weight) = (labels[i * 13 % labels.len()], weights[i % weights.len()]);
        let along = program.relax(a, weight);
        assert_eq!(best(a, along), a, "an edge makes nothing better: {a:?} to {along:?}");
        let (joined, other) = (best(a, b), program.relax(b, weight));
        let both = best(along, other);
        assert_eq!(program.relax(joined, weight), both, "monotone: {a:?}, {b:?}");
        if program.first_wins() {
            let another = weights[(i + 1) % weights.len()];
            assert_eq!(along, program.relax(a, another), "any neighbour of a level will do");
        }
    }
    let globals: Vec<u32> = (0..50).collect();
    for vertex in (0..50).map(|local| Vertex::new(&globals, LocalId(local))) {
        assert_eq!(program.start(vertex), program.start(vertex), "every proxy starts the same");
        assert_ne!(program.start(vertex), Some(P::Reduction::identity()), "that is no label");
    }
}
