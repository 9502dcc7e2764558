//! Values of a message: raw, or packed as differences to a base.
//!
//! Integers are taken as points on a circle of 2^32 or 2^64: a base and a difference are added
//! with wrap-around. So "unreached", the greatest integer there is, lies right beside zero, and one
//! unreached vertex among small distances costs nothing.

use parton_graph::parallel;

use std::borrow::Cow;

use super::bits::{BitWriter, bytes_of, field_at, padding_is_zero};
use super::decode::Section;
use super::header::Values;
use super::share::{numbers_per_task, tasks};
use super::{ValueKind, WireError};

/// The shortest span of the circle that has all values on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ValueRange {
    /// The value it starts with.
    base: u64,
    /// The greatest difference to the base.
    length: u64,
}

impl ValueRange {
    /// Bits of a difference to the base.
    fn width(self) -> u8 {
        (u64::BITS - self.length.leading_zeros()) as u8
    }
}

/// One encoding of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// Where packed values lie; `None` for raw ones.
    packed: Option<ValueRange>,
    pub(super) bytes: u64,
}

impl Choice {
    pub(super) fn encoding(self) -> Values {
        self.packed.map_or(Values::Raw, |span| Values::Packed { width: span.width() })
    }

    /// The values as they are.
    pub(super) fn raw(kind: ValueKind, count: usize) -> Choice {
        Choice { packed: None, bytes: count as u64 * kind.bytes() as u64 }
    }

    /// The values as differences to the start of a span that has them all.
    pub(super) fn packed(kind: ValueKind, span: ValueRange, count: usize) -> Choice {
        Choice { packed: Some(span), bytes: packed_bytes(kind, span.width(), count) }
    }

    /// The smaller encoding of `count` values on a span, raw if both are equal.
    pub(super) fn smallest(kind: ValueKind, span: Option<ValueRange>, count: usize) -> Choice {
        let raw = Choice::raw(kind, count);
        let packed = span.map(|span| Choice::packed(kind, span, count));
        packed.filter(|packed| packed.bytes < raw.bytes).unwrap_or(raw)
    }
}

fn packed_bytes(kind: ValueKind, width: u8, count: usize) -> u64 {
    kind.bytes() as u64 + bytes_of(count as u64 * u64::from(width))
}

/// An integer that can be packed.
trait Integer: Copy + Ord + Send + Sync {
    const ZERO: Self;
    const MAX: Self;
    const BYTES: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
    fn from_u64(x: u64) -> Self;
    fn to_u64(self) -> u64;
    fn plus(self, difference: Self) -> Self;
    fn minus(self, base: Self) -> Self;
    /// The point on the other side of the circle.
    fn opposite(self) -> Self;
}

macro_rules! integer {
    ($type:ty) => {
        impl Integer for $type {
            const ZERO: Self = 0;
            const MAX: Self = <$type>::MAX;
            const BYTES: usize = size_of::<$type>();

            #[inline]
            fn load(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("bytes of one value"))
            }

            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn from_u64(x: u64) -> Self {
                x as $type
            }

            #[inline]
            fn to_u64(self) -> u64 {
                self.into()
            }

            #[inline]
            fn plus(self, difference: Self) -> Self {
                self.wrapping_add(difference)
            }

            #[inline]
            fn minus(self, base: Self) -> Self {
                self.wrapping_sub(base)
            }

            #[inline]
            fn opposite(self) -> Self {
                self ^ (1 << (<$type>::BITS - 1))
            }
        }
    };
}

integer!(u8);
integer!(u32);
integer!(u64);

/// Calls a function that is generic over `Integer` with the integer of a kind; `None` if there is
/// none.
macro_rules! for_integer {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            ValueKind::U8 => Some($function::<u8>($($argument),*)),
            ValueKind::U32 => Some($function::<u32>($($argument),*)),
            ValueKind::U64 => Some($function::<u64>($($argument),*)),
            ValueKind::Plain(_) => None,
        }
    };
}

/// The span of values that may be packed, of which there is at least one.
pub(super) fn span(kind: ValueKind, values: &[u8]) -> Option<ValueRange> {
    for_integer!(kind, shortest_span(values))
}

/// A span that is no longer than that of some values with others. Of the values only those at the
/// ends of their own span are looked at again.
pub(super) fn widened(kind: ValueKind, own: ValueRange, others: &[u8]) -> ValueRange {
    let ends = [own.base, own.base.wrapping_add(own.length)].map(u64::to_le_bytes);
    let ends = ends.iter().flat_map(|end| &end[..kind.bytes()]);
    let wide = span(kind, &ends.chain(others).copied().collect::<Vec<u8>>());
    wide.filter(|wide| wide.length > own.length).unwrap_or(own)
}

/// A span of less than half the circle cannot cross both zero and the point opposite. So if any is
/// short enough to be worth packing, the circle cut open at one of the two shows it.
fn shortest_span<I: Integer>(values: &[u8]) -> ValueRange {
    let extremes = |(least, greatest): (I, I), value: I| (least.min(value), greatest.max(value));
    let nothing = (I::MAX, I::ZERO);
    let of_some = |values: &[u8]| {
        let values = values.chunks_exact(I::BYTES).map(I::load);
        values.fold((nothing, nothing), |(plain, turned), x| {
            (extremes(plain, x), extremes(turned, x.opposite()))
        })
    };
    let count = values.len() / I::BYTES;
    let some = tasks(count)
        .into_iter()
        .map(|task| &values[task.start * I::BYTES..][..task.len() * I::BYTES]);
    let of_tasks = parallel::map_owned(some, |_, values| of_some(values));
    let both = |(a, b): (I, I), (c, d): (I, I)| (a.min(c), b.max(d));
    let (plain, turned) = of_tasks
        .into_iter()
        .fold((nothing, nothing), |all, some| (both(all.0, some.0), both(all.1, some.1)));
    let length = |(least, greatest): (I, I)| greatest.minus(least);
    let (base, length) = match length(plain) <= length(turned) {
        true => (plain.0, length(plain)),
        false => (turned.0.opposite(), length(turned)),
    };
    ValueRange { base: base.to_u64(), length: length.to_u64() }
}

/// Appends values in an encoding that was chosen for them.
pub(super) fn write(out: &mut Vec<u8>, kind: ValueKind, choice: Choice, values: &[u8]) {
    match choice.packed {
        None => parallel::extend(out, values),
        Some(span) => {
            for_integer!(kind, pack(out, span, values)).expect("only integers are packed")
        }
    }
}

fn pack<I: Integer>(out: &mut Vec<u8>, span: ValueRange, values: &[u8]) {
    let (base, width) = (I::from_u64(span.base), span.width().into());
    out.extend_from_slice(&span.base.to_le_bytes()[..I::BYTES]);
    if width == 0 {
        return;
    }
    let pack_some = |out: &mut Vec<u8>, values: &[u8]| {
        let mut writer = BitWriter::new(out);
        for value in values.chunks_exact(I::BYTES) {
            writer.put(I::load(value).minus(base).to_u64(), width);
        }
        writer.finish();
    };
    // The values of a task, but for the last, fill whole bytes.
    let per_task = numbers_per_task(values.len() / I::BYTES) * I::BYTES;
    if values.len() <= per_task {
        return pack_some(out, values);
    }
    let packed = parallel::map_owned(values.chunks(per_task), |_, values| {
        let mut bytes = Vec::with_capacity(values.len());
        pack_some(&mut bytes, values);
        bytes
    });
    out.extend(packed.iter().flatten());
}

/// Reads `count` values from the bytes after a header; the bytes after the values.
pub(super) fn read<'a>(
    kind: ValueKind,
    encoding: Values,
    body: Section<'a>,
    count: usize,
) -> Result<(Cow<'a, [u8]>, Section<'a>), WireError> {
    match encoding {
        Values::Raw => {
            let (values, rest) = body.split(Choice::raw(kind, count).bytes)?;
            Ok((Cow::Borrowed(values.bytes), rest))
        }
        Values::Packed { width } => {
            let (packed, rest) = body.split(packed_bytes(kind, width, count))?;
            let (base, fields) = packed.bytes.split_at(kind.bytes());
            if !padding_is_zero(fields, count as u64 * u64::from(width)) {
                return Err(WireError::Padding { at: rest.start - 1 });
            }
            let values = for_integer!(kind, unpack(base, fields, width.into(), count));
            Ok((Cow::Owned(values.expect("only integers are packed")), rest))
        }
    }
}

fn unpack<I: Integer>(base: &[u8], fields: &[u8], width: u32, count: usize) -> Vec<u8> {
    if width == 0 {
        return base.repeat(count);
    }
    let base = I::load(base);
    let mut values = vec![0; count * I::BYTES];
    let per_task = numbers_per_task(count);
    parallel::for_each_owned(values.chunks_mut(per_task * I::BYTES), |task, values| {
        let mut bit = task * per_task * width as usize;
        for value in values.chunks_exact_mut(I::BYTES) {
            base.plus(I::from_u64(field_at(fields, bit, width))).store(value);
            bit += width as usize;
        }
    });
    values
}
