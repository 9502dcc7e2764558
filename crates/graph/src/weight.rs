//! Edge weights: none, `u32`, `f32` or `f64`, chosen once per graph.

use std::fmt::Debug;

use bytemuck::Pod;

/// A number that a type of weights cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("weight {value} cannot be a {} number", kind.describe())]
pub struct UnfitWeight {
    /// The number.
    pub value: f64,
    /// The type.
    pub kind: WeightKind,
}

/// The type of a graph's edge weights, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WeightKind {
    /// Unweighted.
    None = 0,
    /// Unsigned 32-bit integers.
    U32 = 1,
    /// Single precision.
    F32 = 2,
    /// Double precision.
    F64 = 3,
}

impl WeightKind {
    /// All kinds, in the order of their numbers in files.
    pub const ALL: [WeightKind; 4] =
        [WeightKind::None, WeightKind::U32, WeightKind::F32, WeightKind::F64];

    /// The name used in reports and options.
    pub fn name(self) -> &'static str {
        match self {
            WeightKind::None => "none",
            WeightKind::U32 => "u32",
            WeightKind::F32 => "f32",
            WeightKind::F64 => "f64",
        }
    }

    /// What numbers of this type are called in messages.
    fn describe(self) -> &'static str {
        match self {
            WeightKind::None => "missing",
            WeightKind::U32 => "whole 32-bit",
            WeightKind::F32 => "single-precision",
            WeightKind::F64 => "double-precision",
        }
    }

    /// Bytes per edge.
    pub fn bytes(self) -> usize {
        match self {
            WeightKind::None => 0,
            WeightKind::U32 | WeightKind::F32 => 4,
            WeightKind::F64 => 8,
        }
    }
}

/// What one edge carries: `()` for unweighted graphs, otherwise a number.
pub trait Weight: Pod + Default + PartialEq + PartialOrd + Debug + Send + Sync {
    /// This type, as a value.
    const KIND: WeightKind;

    /// The weight as a double; an edge without weight counts as 1. Exact for every kind.
    fn to_f64(self) -> f64;

    /// The weight without its fraction; an edge without weight counts as 1. Weights below 0 give 0.
    fn to_u64(self) -> u64;

    /// The weight of this type; nothing for `()`. Integers take whole numbers from 0 to 2³² − 1,
    /// single precision rounds and takes what stays finite.
    fn try_from_f64(value: f64) -> Result<Self, UnfitWeight>;

    /// [`Weight::try_from_f64`] for a number that is known to fit.
    ///
    /// # Panics
    /// When it does not.
    #[inline]
    fn from_f64(value: f64) -> Self {
        Self::try_from_f64(value).unwrap_or_else(|unfit| panic!("{unfit}"))
    }
}

impl Weight for () {
    const KIND: WeightKind = WeightKind::None;
    #[inline]
    fn to_f64(self) -> f64 {
        1.0
    }
    #[inline]
    fn to_u64(self) -> u64 {
        1
    }
    fn try_from_f64(_: f64) -> Result<(), UnfitWeight> {
        Ok(())
    }
}

impl Weight for u32 {
    const KIND: WeightKind = WeightKind::U32;
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn try_from_f64(value: f64) -> Result<u32, UnfitWeight> {
        let weight = value as u32;
        let fits = f64::from(weight) == value;
        if fits { Ok(weight) } else { Err(UnfitWeight { value, kind: Self::KIND }) }
    }
}

impl Weight for f32 {
    const KIND: WeightKind = WeightKind::F32;
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self as u64
    }
    #[inline]
    fn try_from_f64(value: f64) -> Result<f32, UnfitWeight> {
        let weight = value as f32;
        let fits = weight.is_finite() || !value.is_finite();
        if fits { Ok(weight) } else { Err(UnfitWeight { value, kind: Self::KIND }) }
    }
}

impl Weight for f64 {
    const KIND: WeightKind = WeightKind::F64;
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self as u64
    }
    #[inline]
    fn try_from_f64(value: f64) -> Result<f64, UnfitWeight> {
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_type_cannot_hold_is_an_error_that_names_it() {
        for value in [-5.5, -1.0, 0.5, 4_294_967_296.0, f64::NAN, f64::INFINITY] {
            let unfit = u32::try_from_f64(value).unwrap_err();
            let said = format!("weight {value} cannot be a whole 32-bit number");
            assert_eq!(unfit.to_string(), said);
        }
        assert_eq!(u32::try_from_f64(4_294_967_295.0), Ok(u32::MAX));
        assert_eq!(u32::try_from_f64(-0.0), Ok(0));
        assert_eq!(f32::try_from_f64(0.1), Ok(0.1));
        assert!(f32::try_from_f64(-1e300).is_err());
        assert_eq!(f32::try_from_f64(f64::NEG_INFINITY), Ok(f32::NEG_INFINITY));
        assert_eq!(<()>::try_from_f64(-5.5), Ok(()));
    }
}
