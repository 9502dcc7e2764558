//! What a field holds for one proxy, as far as messages care: plain data of a fixed number of bytes.

use std::ops::Add;

use bytemuck::Pod;
use parton_graph::Weight;

use crate::atomic::AtomicValue;
use crate::encode::ValueKind;

/// A value of a field: a number, a truth value, a pair of numbers, or a small struct.
///
/// A struct of values becomes one with [`derive(Value)`](derive@crate::Value). To be folded it
/// needs a [`Reduction`](crate::Reduction) of its own.
///
/// ```
/// use parton_sync::{Reduction, Value};
///
/// /// A way to a vertex: how long it is, and the vertex before.
/// #[derive(Clone, Copy, PartialEq, Value)]
/// struct Way {
///     length: f32,
///     from: u32,
/// }
///
/// /// The shortest way; of equal ones the one from the lowest id.
/// struct Shortest;
///
/// impl Reduction for Shortest {
///     type Value = Way;
///     const IDEMPOTENT: bool = true;
///     const ORDERED: bool = false;
///
///     fn identity() -> Way {
///         Way { length: f32::INFINITY, from: u32::MAX }
///     }
///
///     fn combine(a: Way, b: Way) -> Way {
///         if (b.length, b.from) < (a.length, a.from) { b } else { a }
///     }
/// }
/// assert_eq!(Way::KIND.bytes(), 8);
/// ```
pub trait Value: Copy + PartialEq + Send + Sync + 'static {
    /// How it travels.
    const KIND: ValueKind;

    /// The value that these bytes are, of which there are as many as the kind says. Any bytes give
    /// a value, as they come from another host.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the value to as many bytes as the kind says.
    fn write(self, bytes: &mut [u8]);
}

/// A value that is a number.
pub trait Number: AtomicValue + Pod + PartialOrd + Default {
    /// No other is less.
    const LEAST: Self;
    /// No other is greater.
    const GREATEST: Self;
    /// Nothing.
    const ZERO: Self;
    /// Whether sums are rounded, so that their order can be seen.
    const ROUNDS: bool;

    /// The sum; integers wrap.
    fn plus(self, other: Self) -> Self;

    /// The sum; integers stay at their greatest or least where they would wrap.
    fn saturating_plus(self, other: Self) -> Self;

    /// The nearest `f64`.
    fn to_f64(self) -> f64;

    /// The number without its fraction, as `as` yields it.
    fn to_u64(self) -> u64;

    /// The nearest number; integers lose the fraction, as with `as`.
    fn from_f64(value: f64) -> Self;

    /// The number that a weight is. An edge without weight counts as 1.
    fn from_weight(weight: impl Weight) -> Self;
}

macro_rules! number {
    (
        $type:ty,
        $kind:expr,
        ($least:expr, $greatest:expr, $rounds:expr),
        ($plus:expr, $saturating_plus:expr, $weight:ident)
    ) => {
        impl Value for $type {
            const KIND: ValueKind = $kind;

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                bytemuck::pod_read_unaligned(bytes)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(bytemuck::bytes_of(&self));
            }
        }

        impl Number for $type {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;
            const ZERO: Self = 0 as $type;
            const ROUNDS: bool = $rounds;

            #[inline]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline]
            fn saturating_plus(self, other: Self) -> Self {
                $saturating_plus(self, other)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline]
            fn to_u64(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }

            #[inline]
            fn from_weight(weight: impl Weight) -> Self {
                weight.$weight() as $type
            }
        }
    };
}

macro_rules! integer {
    ($type:ty, $kind:expr) => {
        number!(
            $type,
            $kind,
            (<$type>::MIN, <$type>::MAX, false),
            (<$type>::wrapping_add, <$type>::saturating_add, to_u64)
        );
    };
}

macro_rules! float {
    ($type:ty, $kind:expr) => {
        number!(
            $type,
            $kind,
            (<$type>::NEG_INFINITY, <$type>::INFINITY, true),
            (Add::add, Add::add, to_f64)
        );
    };
}

// Encodings count integers around a circle, so signed ones need no kind of their own.
integer!(u32, ValueKind::U32);
integer!(i32, ValueKind::U32);
integer!(u64, ValueKind::U64);
integer!(i64, ValueKind::U64);
float!(f32, ValueKind::Plain(4));
float!(f64, ValueKind::Plain(8));

/// Packed as integers are, truth values take one bit each, and none where all are equal.
impl Value for bool {
    const KIND: ValueKind = ValueKind::U8;

    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }

    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }
}

impl<A: Value, B: Value> Value for (A, B) {
    const KIND: ValueKind = ValueKind::Plain(A::KIND.bytes() + B::KIND.bytes());

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (a, b) = bytes.split_at(A::KIND.bytes());
        (A::read(a), B::read(b))
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let (a, b) = bytes.split_at_mut(A::KIND.bytes());
        self.0.write(a);
        self.1.write(b);
    }
}
