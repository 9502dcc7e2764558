//! What a field holds for one proxy: a number that threads can update in place.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;

use crate::encode::ValueKind;

/// A value of a field in memory. All access is relaxed: the end of a parallel loop publishes.
pub trait Value: Pod + PartialEq + Send + Sync {
    /// How it travels.
    const KIND: ValueKind;

    /// A cell that threads share.
    type Cell: Send + Sync;

    /// A cell that holds `self`.
    fn cell(self) -> Self::Cell;

    /// What the cell holds.
    fn load(cell: &Self::Cell) -> Self;

    /// Puts `self` into the cell, where no other thread writes at the same time.
    fn store(self, cell: &Self::Cell);

    /// Puts `new` into the cell if it still holds `old`, else tells what it holds.
    fn exchange(cell: &Self::Cell, old: Self, new: Self) -> Result<(), Self>;
}

/// A value that is a number.
pub trait Number: Value + PartialOrd + Default {
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
}

macro_rules! number {
    ($type:ty, $cell:ty, $kind:expr, $to:expr, $from:expr, $least:expr, $greatest:expr, $rounds:expr, $plus:expr) => {
        impl Value for $type {
            const KIND: ValueKind = $kind;
            type Cell = $cell;

            fn cell(self) -> Self::Cell {
                <$cell>::new($to(self))
            }

            #[inline]
            fn load(cell: &Self::Cell) -> Self {
                $from(cell.load(Ordering::Relaxed))
            }

            #[inline]
            fn store(self, cell: &Self::Cell) {
                cell.store($to(self), Ordering::Relaxed);
            }

            #[inline]
            fn exchange(cell: &Self::Cell, old: Self, new: Self) -> Result<(), Self> {
                let relaxed = Ordering::Relaxed;
                match cell.compare_exchange_weak($to(old), $to(new), relaxed, relaxed) {
                    Ok(_) => Ok(()),
                    Err(found) => Err($from(found)),
                }
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
        }
    };
}

use std::convert::identity as same;

number!(u32, AtomicU32, ValueKind::U32, same, same, 0, u32::MAX, false, u32::wrapping_add);
number!(u64, AtomicU64, ValueKind::U64, same, same, 0, u64::MAX, false, u64::wrapping_add);
number!(
    f32,
    AtomicU32,
    ValueKind::Plain(4),
    f32::to_bits,
    f32::from_bits,
    f32::NEG_INFINITY,
    f32::INFINITY,
    true,
    std::ops::Add::add
);
number!(
    f64,
    AtomicU64,
    ValueKind::Plain(8),
    f64::to_bits,
    f64::from_bits,
    f64::NEG_INFINITY,
    f64::INFINITY,
    true,
    std::ops::Add::add
);
