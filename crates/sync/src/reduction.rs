//! How contributions to one value become one: minimum, maximum, sum, or.

use std::marker::PhantomData;
use std::ops::BitOr;

use crate::value::{Number, Value};

/// A commutative, associative fold.
pub trait Reduction: Send + Sync + 'static {
    /// The values that are folded.
    type Value: Value;

    /// Whether folding a value in twice is the same as once.
    const IDEMPOTENT: bool;

    /// Whether the order of folding can be seen in the result, as with sums of floating-point
    /// numbers: then it has to be fixed for results to be repeatable.
    const ORDERED: bool;

    /// Whether it does not matter which of two values comes first, but for rounding.
    const COMMUTES: bool = true;

    /// The value that changes nothing when folded in.
    fn identity() -> Self::Value;

    /// Two values folded into one.
    fn combine(a: Self::Value, b: Self::Value) -> Self::Value;
}

/// The least value.
pub struct Min<T>(PhantomData<T>);
/// The greatest value.
pub struct Max<T>(PhantomData<T>);
/// The sum; sums of integers wrap.
pub struct Sum<T>(PhantomData<T>);
/// Bits set in any value; of truth values, whether any is true.
pub struct Or<T>(PhantomData<T>);
/// The value that came last. Only a master's value replaces others: this is what a broadcast
/// does, and no way to join contributions of several hosts.
pub struct Latest<T>(PhantomData<T>);

impl<T: Number> Reduction for Min<T> {
    type Value = T;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> T {
        T::GREATEST
    }

    #[inline]
    fn combine(a: T, b: T) -> T {
        if b < a { b } else { a }
    }
}

impl<T: Number> Reduction for Max<T> {
    type Value = T;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> T {
        T::LEAST
    }

    #[inline]
    fn combine(a: T, b: T) -> T {
        if b > a { b } else { a }
    }
}

impl<T: Number> Reduction for Sum<T> {
    type Value = T;
    const IDEMPOTENT: bool = false;
    const ORDERED: bool = T::ROUNDS;

    fn identity() -> T {
        T::ZERO
    }

    #[inline]
    fn combine(a: T, b: T) -> T {
        a.plus(b)
    }
}

impl<T: Value + Default + BitOr<Output = T>> Reduction for Or<T> {
    type Value = T;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> T {
        T::default()
    }

    #[inline]
    fn combine(a: T, b: T) -> T {
        a | b
    }
}

impl<T: Value + Default> Reduction for Latest<T> {
    type Value = T;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = true;
    const COMMUTES: bool = false;

    fn identity() -> T {
        T::default()
    }

    #[inline]
    fn combine(_: T, b: T) -> T {
        b
    }
}
