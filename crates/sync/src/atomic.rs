//! Values in memory that the threads of a host share.
//!
//! Numbers lie in an atomic of their size. A pair or a struct of at most 8 bytes is stored in one atomic of 8 bytes.
//! A larger one is stored in atomic words under a sequence lock (compare Boehm, "Can seqlocks get along with
//! programming language memory models?", MSPC'12). A reader tries again if a writer has changed the words meanwhile.
//! Nothing here is `unsafe`.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

use crate::value::Value;

/// A value that threads can share in memory. All access is relaxed: the end of a parallel loop
/// publishes.
pub trait AtomicValue: Value {
    /// A cell that threads share.
    type Cell: Send + Sync;

    /// A cell that holds `self`.
    fn cell(self) -> Self::Cell;

    /// What the cell holds.
    fn load(cell: &Self::Cell) -> Self;

    /// Puts `self` into the cell, where no other thread writes at the same time.
    fn store(self, cell: &Self::Cell);

    /// Puts `new` into the cell if it still holds `old`, else tells what it holds. It may fail
    /// though it holds `old`.
    fn exchange(cell: &Self::Cell, old: Self, new: Self) -> Result<(), Self>;
}

macro_rules! atomic {
    ($type:ty, $cell:ty, $to:expr, $from:expr) => {
        impl AtomicValue for $type {
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
    };
}

use std::convert::identity as same;

atomic!(u32, AtomicU32, same, same);
atomic!(u64, AtomicU64, same, same);
atomic!(i32, AtomicU32, i32::cast_unsigned, u32::cast_signed);
atomic!(i64, AtomicU64, i64::cast_unsigned, u64::cast_signed);
atomic!(f32, AtomicU32, f32::to_bits, f32::from_bits);
atomic!(f64, AtomicU64, f64::to_bits, f64::from_bits);
atomic!(bool, AtomicBool, same, same);

/// Words of the largest value.
const MAX_WORDS: usize = 4;
const WORD_BYTES: usize = size_of::<u64>();

/// The bytes of a value in words; those past its end are zero.
type Words = [u64; MAX_WORDS];

/// A value that is kept in memory word by word. [`derive(Value)`](derive@crate::Value) makes one.
pub trait PackedValue: Value {
    /// A cell for as many words as the value has: [`CellOf`] says which.
    type Cell: WordCell;
}

/// Number of words of a value, to choose its cell.
pub struct NumWords<const WORDS: usize>;

/// The number of words that a value of this many bytes has.
pub const fn num_words(bytes: usize) -> usize {
    bytes.div_ceil(WORD_BYTES)
}

/// The cell for values of some number of words.
#[diagnostic::on_unimplemented(message = "a value of a field has 1 to 32 bytes")]
pub trait CellOf {
    /// That cell.
    type Cell: WordCell;
}

impl CellOf for NumWords<1> {
    type Cell = AtomicU64;
}
impl CellOf for NumWords<2> {
    type Cell = SequenceLock<2>;
}
impl CellOf for NumWords<3> {
    type Cell = SequenceLock<3>;
}
impl CellOf for NumWords<4> {
    type Cell = SequenceLock<4>;
}

/// Words that are read and written together.
pub trait WordCell: Send + Sync {
    /// A cell that holds these.
    fn new(words: Words) -> Self;
    /// What it holds.
    fn load(&self) -> Words;
    /// Replaces what it holds.
    fn store(&self, words: Words);
    /// Replaces `old`, or tells what it holds instead.
    fn exchange(&self, old: Words, new: Words) -> Result<(), Words>;
}

impl WordCell for AtomicU64 {
    fn new(words: Words) -> Self {
        AtomicU64::new(words[0])
    }

    #[inline]
    fn load(&self) -> Words {
        [self.load(Ordering::Relaxed), 0, 0, 0]
    }

    #[inline]
    fn store(&self, words: Words) {
        self.store(words[0], Ordering::Relaxed);
    }

    #[inline]
    fn exchange(&self, old: Words, new: Words) -> Result<(), Words> {
        let relaxed = Ordering::Relaxed;
        let found = self.compare_exchange_weak(old[0], new[0], relaxed, relaxed);
        found.map(|_| ()).map_err(|found| [found, 0, 0, 0])
    }
}

/// Words under a sequence lock.
pub struct SequenceLock<const WORDS: usize> {
    /// Odd while a thread writes; grows with every write.
    version: AtomicU32,
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> SequenceLock<WORDS> {
    #[inline]
    fn words(&self) -> Words {
        let word = |place: usize| self.words.get(place).map_or(0, |w| w.load(Ordering::Relaxed));
        std::array::from_fn(word)
    }

    /// Waits until no other thread writes, and keeps others from writing; the version before.
    fn lock(&self) -> u32 {
        loop {
            let version = self.version.load(Ordering::Relaxed);
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            if version.is_multiple_of(2)
                && self
                    .version
                    .compare_exchange_weak(version, version.wrapping_add(1), acquire, relaxed)
                    .is_ok()
            {
                // A reader that sees one of the words to come also sees the odd version.
                fence(Ordering::Release);
                return version;
            }
            std::hint::spin_loop();
        }
    }

    fn unlock(&self, version: u32) {
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    fn write(&self, words: Words) {
        self.words.iter().zip(words).for_each(|(mine, word)| mine.store(word, Ordering::Relaxed));
    }
}

impl<const WORDS: usize> WordCell for SequenceLock<WORDS> {
    fn new(words: Words) -> Self {
        let words = std::array::from_fn(|place| AtomicU64::new(words[place]));
        SequenceLock { version: AtomicU32::new(0), words }
    }

    #[inline]
    fn load(&self) -> Words {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let words = self.words();
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                return words;
            }
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn store(&self, words: Words) {
        let version = self.lock();
        self.write(words);
        self.unlock(version);
    }

    fn exchange(&self, old: Words, new: Words) -> Result<(), Words> {
        let version = self.lock();
        let found = self.words();
        if found == old {
            self.write(new);
        }
        self.unlock(version);
        if found == old { Ok(()) } else { Err(found) }
    }
}

/// The words of a value.
#[inline]
fn to_words<T: Value>(value: T) -> Words {
    let mut bytes = [0; MAX_WORDS * WORD_BYTES];
    value.write(&mut bytes[..T::KIND.bytes()]);
    bytemuck::cast(bytes)
}

#[inline]
fn from_words<T: Value>(words: Words) -> T {
    T::read(&bytemuck::bytes_of(&words)[..T::KIND.bytes()])
}

impl<T: PackedValue> AtomicValue for T {
    type Cell = T::Cell;

    fn cell(self) -> Self::Cell {
        WordCell::new(to_words(self))
    }

    #[inline]
    fn load(cell: &Self::Cell) -> Self {
        from_words(WordCell::load(cell))
    }

    #[inline]
    fn store(self, cell: &Self::Cell) {
        WordCell::store(cell, to_words(self));
    }

    #[inline]
    fn exchange(cell: &Self::Cell, old: Self, new: Self) -> Result<(), Self> {
        WordCell::exchange(cell, to_words(old), to_words(new)).map_err(from_words)
    }
}

/// Pairs of numbers. Larger tuples would need names: they are structs.
macro_rules! pairs {
    ($($a:ty),* ; $b:tt) => { $(pairs!(@ $a; $b);)* };
    (@ $a:ty; [$($b:ty),*]) => {
        $(impl PackedValue for ($a, $b) {
            type Cell = <NumWords<{ num_words(<($a, $b)>::KIND.bytes()) }> as CellOf>::Cell;
        })*
    };
}

pairs!(u32, i32, f32, u64, i64, f64; [u32, i32, f32, u64, i64, f64]);

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that replace and fold a large value at once neither tear nor lose one.
    #[test]
    fn large_values_are_replaced_whole() {
        const THREADS: u64 = 4;
        const TURNS: u64 = 20_000;
        let cell = (0u64, 0u64).cell();
        let same = |(a, b): (u64, u64)| assert_eq!(a.wrapping_mul(3), b, "both words of one value");
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..TURNS {
                        let mut old = <(u64, u64)>::load(&cell);
                        same(old);
                        let next = |old: (u64, u64)| (old.0 + 1, (old.0 + 1) * 3);
                        while let Err(found) = AtomicValue::exchange(&cell, old, next(old)) {
                            same(found);
                            old = found;
                        }
                    }
                });
            }
        });
        assert_eq!(<(u64, u64)>::load(&cell), (THREADS * TURNS, THREADS * TURNS * 3));
    }

    #[test]
    fn pairs_of_eight_bytes_are_one_atomic() {
        assert_eq!(size_of::<<(u32, f32) as AtomicValue>::Cell>(), 8);
        let cell = (7u32, -0.5f32).cell();
        assert_eq!(<(u32, f32)>::load(&cell), (7, -0.5));
        (8, f32::INFINITY).store(&cell);
        assert_eq!(<(u32, f32)>::load(&cell), (8, f32::INFINITY));
    }
}
