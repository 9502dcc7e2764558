//! Edge weights: none, `u32`, `f32` or `f64`, chosen once per graph.

use std::fmt::Debug;

use bytemuck::Pod;

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

    /// The nearest weight of this type; nothing for `()`.
    fn from_f64(value: f64) -> Self;

    /// The weight of two merged edges that carried `self` and `other`; integers saturate.
    fn plus(self, other: Self) -> Self;
}

impl Weight for () {
    const KIND: WeightKind = WeightKind::None;
    fn to_f64(self) -> f64 {
        1.0
    }
    fn from_f64(_: f64) {}
    fn plus(self, (): ()) {}
}

impl Weight for u32 {
    const KIND: WeightKind = WeightKind::U32;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value.round() as u32
    }
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Weight for f32 {
    const KIND: WeightKind = WeightKind::F32;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Weight for f64 {
    const KIND: WeightKind = WeightKind::F64;
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
}
