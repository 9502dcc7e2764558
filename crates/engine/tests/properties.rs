//! Reductions and relaxations are what they declare to be.

use crate::common;

use common::programs::{Greatest, Hops, Near, Reach};
use common::properties::{check_reduction, check_relaxation, numbers};
use parton_engine::Edges;
use parton_sync::Reduction;
use parton_sync::reduction::{Latest, Max, Min, Or, Sum};
use parton_sync::value::Number;

fn check_number<T: Number + std::fmt::Debug>(values: &[T]) {
    check_reduction::<Min<T>>(values);
    check_reduction::<Max<T>>(values);
    check_reduction::<Sum<T>>(values);
}

#[test]
fn reductions_are_what_they_declare() {
    let numbers: Vec<u64> = [0, 1, u64::MAX].into_iter().chain(numbers(1, 2000)).collect();
    let small: Vec<u32> = numbers.iter().map(|&n| n as u32).collect();
    let real = |n: &u64| (*n as i64) as f64 * 1e-9;
    let reals: Vec<f64> = numbers.iter().map(real).collect();
    let rounded: Vec<f32> = reals.iter().map(|&r| r as f32).collect();
    let extremes = [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, -1.0, 0.0];
    check_number(&numbers);
    check_number(&small);
    check_number(&reals);
    check_number(&rounded);
    check_reduction::<Or<u32>>(&small);
    check_reduction::<Or<u64>>(&numbers);
    check_reduction::<Min<f64>>(&extremes);
    check_reduction::<Max<f64>>(&extremes);
}

/// Sums of rounded numbers are the ones whose order can be seen, and say so.
#[test]
fn rounded_sums_are_ordered() {
    let sum = Sum::<f64>::combine;
    assert_ne!(sum(sum(1e16, 1.0), 1.0), sum(1e16, sum(1.0, 1.0)));
    assert_eq!([Sum::<f64>::ORDERED, Sum::<f32>::ORDERED], [true; 2]);
    assert_eq!([Sum::<u64>::ORDERED, Min::<f64>::ORDERED, Max::<f64>::ORDERED], [false; 3]);
}

/// The latest value is no fold of contributions: it says that order counts, and that is all that
/// engines may know of it.
#[test]
fn the_latest_value_is_ordered() {
    let latest = Latest::<u32>::combine;
    assert_ne!(latest(1, 2), latest(2, 1));
    assert_eq!(latest(latest(1, 2), 3), latest(1, latest(2, 3)));
    const { assert!(Latest::<u32>::ORDERED && Latest::<u32>::IDEMPOTENT) };
}

#[test]
fn relaxations_of_these_tests_are_relaxations() {
    let labels: Vec<u32> = numbers(2, 1000).map(|n| n as u32 / 2).collect();
    let wide: Vec<u64> = numbers(3, 1000).collect();
    let weights: Vec<u32> = numbers(4, 1000).map(|n| n as u32 / 2).collect();
    for edges in [Edges::Out, Edges::In, Edges::Both] {
        check_relaxation(&Reach(edges), &labels, &[()]);
        check_relaxation(&Greatest(edges), &wide, &[()]);
        check_relaxation(&Near(edges), &labels, &weights);
    }
    check_relaxation(&Hops, &labels, &[()]);
}
