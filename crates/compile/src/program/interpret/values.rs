//! Arithmetic on bits that are read as a type.

use crate::program::ir::{Binary, Fold, Ty, Unary};

/// A number as bits.
trait Number: Copy + PartialOrd {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn to_f64(self) -> f64;
    fn to_i128(self) -> i128;
    fn of_f64(value: f64) -> Self;
    fn of_i128(value: i128) -> Self;
    fn constant(name: &str) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn saturating(self, other: Self, name: &str) -> Self;
    fn float(self, name: &str) -> Self;
    fn least(self, other: Self) -> Self;
    fn most(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($type:ty: $of:expr, $bits:expr;)+) => {
        $(impl Number for $type {
            fn of(bits: u64) -> Self { $of(bits) }
            fn bits(self) -> u64 { $bits(self) }
            fn to_f64(self) -> f64 { self as f64 }
            fn to_i128(self) -> i128 { self.into() }
            fn of_f64(value: f64) -> Self { value as $type }
            fn of_i128(value: i128) -> Self { value as $type }
            fn constant(name: &str) -> Self { if name == "MAX" { <$type>::MAX } else { <$type>::MIN } }
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn div(self, other: Self) -> Self { self.wrapping_div(other) }
            fn rem(self, other: Self) -> Self { self.wrapping_rem(other) }
            fn saturating(self, other: Self, name: &str) -> Self {
                match name {
                    "saturating_add" => self.saturating_add(other),
                    "saturating_sub" => self.saturating_sub(other),
                    _ => self.saturating_mul(other),
                }
            }
            fn float(self, name: &str) -> Self {
                match name {
                    "abs" if self < Self::of(0) => Self::of(0).wrapping_sub(self),
                    _ => self,
                }
            }
            fn least(self, other: Self) -> Self { self.min(other) }
            fn most(self, other: Self) -> Self { self.max(other) }
        })+
    };
}

macro_rules! floats {
    ($($type:ty: $of:expr, $bits:expr;)+) => {
        $(impl Number for $type {
            fn of(bits: u64) -> Self { $of(bits) }
            fn bits(self) -> u64 { $bits(self) }
            fn to_f64(self) -> f64 { self.into() }
            fn to_i128(self) -> i128 { self as i128 }
            fn of_f64(value: f64) -> Self { value as $type }
            fn of_i128(value: i128) -> Self { value as $type }
            fn constant(name: &str) -> Self {
                match name {
                    "MAX" => <$type>::MAX,
                    "MIN" => <$type>::MIN,
                    "INFINITY" => <$type>::INFINITY,
                    "NEG_INFINITY" => <$type>::NEG_INFINITY,
                    "EPSILON" => <$type>::EPSILON,
                    _ => <$type>::MIN_POSITIVE,
                }
            }
            fn add(self, other: Self) -> Self { self + other }
            fn sub(self, other: Self) -> Self { self - other }
            fn mul(self, other: Self) -> Self { self * other }
            fn div(self, other: Self) -> Self { self / other }
            fn rem(self, other: Self) -> Self { self % other }
            fn saturating(self, _: Self, _: &str) -> Self { self }
            fn float(self, name: &str) -> Self {
                match name {
                    "abs" => self.abs(),
                    "sqrt" => self.sqrt(),
                    "ln" => self.ln(),
                    "exp" => self.exp(),
                    "floor" => self.floor(),
                    _ => self.ceil(),
                }
            }
            fn least(self, other: Self) -> Self { self.min(other) }
            fn most(self, other: Self) -> Self { self.max(other) }
        })+
    };
}

integers! {
    u32: |bits| bits as u32, u64::from;
    u64: |bits| bits, |value| value;
    i32: |bits| (bits as u32).cast_signed(), |value: i32| u64::from(value.cast_unsigned());
    i64: u64::cast_signed, i64::cast_unsigned;
}
floats! {
    f32: |bits| f32::from_bits(bits as u32), |value: f32| u64::from(value.to_bits());
    f64: f64::from_bits, f64::to_bits;
}

/// Calls code with the type of numbers that bits are read as; truth values count as 0 and 1.
macro_rules! numbers {
    ($ty:expr, $type:ident => $code:expr) => {
        match $ty {
            Ty::U64 => {
                type $type = u64;
                $code
            }
            Ty::I32 => {
                type $type = i32;
                $code
            }
            Ty::I64 => {
                type $type = i64;
                $code
            }
            Ty::F32 => {
                type $type = f32;
                $code
            }
            Ty::F64 => {
                type $type = f64;
                $code
            }
            _ => {
                type $type = u32;
                $code
            }
        }
    };
}

pub(super) fn float(value: f64, ty: Ty) -> u64 {
    numbers!(ty, T => T::of_f64(value).bits())
}

pub(super) fn constant(name: &str, ty: Ty) -> u64 {
    numbers!(ty, T => T::constant(name).bits())
}

pub(super) fn unary(operator: Unary, ty: Ty, a: u64) -> u64 {
    match (operator, ty) {
        (Unary::Not, Ty::Bool) => u64::from(a == 0),
        (Unary::Not, ty) => to_type(!a, ty, ty),
        (Unary::Negate, ty) if ty.is_float() => {
            numbers!(ty, T => T::of_f64(-T::of(a).to_f64()).bits())
        }
        (Unary::Negate, ty) => numbers!(ty, T => T::of(0).sub(T::of(a)).bits()),
    }
}

/// An operator on two operands of a type.
pub(super) fn binary(operator: Binary, ty: Ty, a: u64, b: u64) -> u64 {
    use Binary::*;
    match operator {
        BitAnd | And => a & b,
        BitOr | Or => a | b,
        BitXor => a ^ b,
        Shl => numbers!(ty, T => T::of_i128(T::of(a).to_i128() << (b & 31)).bits()),
        Shr => numbers!(ty, T => T::of_i128(T::of(a).to_i128() >> (b & 31)).bits()),
        _ => numbers!(ty, T => {
            let (a, b) = (T::of(a), T::of(b));
            match operator {
                Add => a.add(b).bits(),
                Sub => a.sub(b).bits(),
                Mul => a.mul(b).bits(),
                Div => a.div(b).bits(),
                Rem => a.rem(b).bits(),
                Eq => u64::from(a == b),
                Ne => u64::from(a != b),
                Lt => u64::from(a < b),
                Le => u64::from(a <= b),
                Gt => u64::from(a > b),
                _ => u64::from(a >= b),
            }
        }),
    }
}

/// Whether a sum, difference or product of whole numbers does not fit its type.
pub(super) fn wraps(operator: Binary, ty: Ty, a: u64, b: u64) -> bool {
    if ty.is_float() {
        return false;
    }
    numbers!(ty, T => {
        let (x, y) = (T::of(a).to_i128(), T::of(b).to_i128());
        let exact = match operator {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            _ => return false,
        };
        exact != T::of(binary(operator, ty, a, b)).to_i128()
    })
}

/// A method of a number of a type.
pub(super) fn method(name: &str, ty: Ty, parts: &[u64]) -> u64 {
    numbers!(ty, T => {
        let first = T::of(parts[0]);
        let second = T::of(parts.get(1).copied().unwrap_or(0));
        match name {
            "min" => first.least(second).bits(),
            "max" => first.most(second).bits(),
            "clamp" => first.most(second).least(T::of(parts[2])).bits(),
            "wrapping_add" => first.add(second).bits(),
            "wrapping_sub" => first.sub(second).bits(),
            "wrapping_mul" => first.mul(second).bits(),
            "is_finite" => u64::from(first.to_f64().is_finite()),
            "is_nan" => u64::from(first.to_f64().is_nan()),
            name if name.starts_with("saturating") => first.saturating(second, name).bits(),
            name => first.float(name).bits(),
        }
    })
}

/// Bits of one type as those of another.
pub(super) fn to_type(bits: u64, from: Ty, to: Ty) -> u64 {
    let is_float = from.is_float();
    let (real, whole) = numbers!(from, T => (T::of(bits).to_f64(), if is_float { 0 } else { T::of(bits).to_i128() }));
    match (is_float, to) {
        (_, Ty::Bool) => bits & 1,
        (true, to) => numbers!(to, T => T::of_f64(real).bits()),
        (false, to) => numbers!(to, T => T::of_i128(whole).bits()),
    }
}

/// Two values folded into one.
pub fn folded(fold: Fold, ty: Ty, old: u64, new: u64) -> u64 {
    match fold {
        Fold::Min => {
            if binary(Binary::Lt, ty, new, old) != 0 {
                new
            } else {
                old
            }
        }
        Fold::Max => {
            if binary(Binary::Gt, ty, new, old) != 0 {
                new
            } else {
                old
            }
        }
        Fold::Sum => binary(Binary::Add, ty, old, new),
        Fold::Less => binary(Binary::Sub, ty, old, new),
        Fold::Or => old | new,
    }
}
