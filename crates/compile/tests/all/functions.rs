//! Functions of every supported construct, on random and on troublesome arguments.

use parton_engine::device::program::{Definitions, DeviceFunction};
use parton_engine::{DeviceType, device};

use crate::harness::{Outcome, Random, Slot, compile, wrapper};

const INPUTS: usize = 10_000;
const OFFSET: u32 = 17;
const TENTH: f32 = 0.1;

/// A function, with a check of its translation.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ident),*) -> $result:ty $body:block)+) => {
        $(#[device]
        fn $name($($argument: $type),*) -> $result $body)+

        #[test]
        fn translated_functions_agree_to_the_bit() {
            let mut text = Definitions::default();
            let mut wrappers = String::new();
            $({
                <$name as DeviceFunction>::define(&mut text);
                let types: &[&str] = &[$(stringify!($type)),*];
                let arguments: Vec<_> = types.iter().enumerate().map(|(place, ty)| {
                    format!("from_slot<{ty}>(a[{place}])")
                }).collect();
                let call = format!(
                    "to_slots(results, {}_({}));", stringify!($name), arguments.join(", "),
                );
                wrappers += &wrapper(stringify!($name), types.len(), &call);
            })+
            let compiled = compile(&format!("{}{wrappers}", text.text()));
            let mut random = Random(1);
            $({
                let inputs: Vec<($($type,)*)> =
                    (0..INPUTS).map(|_| ($(random.value::<$type>(),)*)).collect();
                let arguments: Vec<u64> = inputs.iter().flat_map(|&($($argument,)*)| {
                    [$(Slot::bits($argument)),*]
                }).collect();
                for results in compiled.call(stringify!($name), &[], &arguments, INPUTS) {
                    for (&input, result) in inputs.iter().zip(results) {
                        let ($($argument,)*) = input;
                        let expected = $name($($argument),*).slots();
                        let found = <$result as Outcome>::known(result);
                        assert_eq!(found, expected, "{}{input:?}", stringify!($name));
                    }
                }
            })+
        }
    };
}

/// A struct, with a field that C++ has another use for.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Sample {
    weight: f64,
    count: u32,
    signed: i32,
}

/// Writes through references.
#[device]
fn bump(sample: &mut Sample, by: u32) -> u32 {
    let old = sample.count;
    sample.count += by;
    sample.weight *= 0.1;
    old
}

/// Calls another function.
#[device]
fn twice(x: u32) -> u32 {
    once_more(x) * 2
}

#[device]
fn once_more(x: u32) -> u32 {
    x + OFFSET
}

functions! {
    fn add_unsigned(a: u32, b: u32) -> u32 { a + b * 3 - 7 }
    fn add_signed(a: i32, b: i32) -> i32 { a + b - 2 * a }
    fn multiply_wide(a: u64, b: u64) -> u64 { a * b + (a ^ b) }
    fn multiply_signed_wide(a: i64, b: i64) -> i64 { a * b - (-a) }
    fn divide(a: u32, b: u32) -> u32 { a / (b | 1) + a % (b | 1) }
    fn divide_signed(a: i32, b: i32) -> i32 {
        if b == 0 || b == -1 { 5 } else { a / b * 3 + a % b }
    }
    fn divide_wide(a: i64, b: i64) -> i64 { if b == 0 || b == -1 { a } else { (a / b) ^ (a % b) } }
    fn shift(a: u32, by: u32) -> u32 { (a << by) ^ (a >> by) }
    fn shift_signed(a: i32, by: u32) -> i32 { (a << by) ^ (a >> by) }
    fn shift_wide(a: u64, by: i32) -> u64 { (a << by) | (a >> (by & 7)) }
    fn shift_assign(a: i64, by: u64) -> i64 {
        let mut x = a;
        x <<= by;
        x ^= a;
        x >>= 3;
        x
    }
    fn bits(a: u64, b: u64) -> u32 {
        (a & b).count_ones() + (a | b).leading_zeros() * 100 + (a ^ b).trailing_zeros() * 10_000
    }
    fn bits_narrow(a: i32) -> u32 {
        a.count_ones() + a.leading_zeros() * 64 + a.trailing_zeros() * 4096 + (!a as u32 & 1)
    }
    fn saturate(a: u32, b: u32) -> u32 {
        a.saturating_add(b) ^ a.saturating_sub(b) ^ a.saturating_mul(b)
    }
    fn saturate_signed(a: i32, b: i32) -> i32 {
        a.saturating_add(b) ^ a.saturating_sub(b).wrapping_mul(3) ^ a.saturating_mul(b)
    }
    fn saturate_wide(a: i64, b: i64) -> i64 {
        a.saturating_mul(b) ^ a.saturating_add(b) ^ a.saturating_sub(b).wrapping_neg()
    }
    fn saturate_unsigned_wide(a: u64, b: u64) -> u64 { a.saturating_mul(b) ^ a.saturating_add(b) }
    fn wrap(a: u32, b: u32) -> u32 {
        a.wrapping_add(b) ^ a.wrapping_sub(b).wrapping_shl(b) ^ a.wrapping_mul(b).wrapping_shr(b)
    }
    fn differ(a: i32, b: i32) -> u32 { a.abs_diff(b) }
    fn differ_wide(a: u64, b: u64) -> u64 { a.abs_diff(b).max(3) }
    fn clamp_signed(a: i64, b: i64) -> i64 { a.clamp(-100, 100).max(b.clamp(i64::MIN, 7)) }
    fn float_arithmetic(a: f32, b: f32) -> f32 { a * 0.1 + b / 3.0 - (a - b) * 1e-3 }
    fn double_arithmetic(a: f64, b: f64) -> f64 { (a + 0.1) * b - a / b + 2.0 * 0.3 }
    fn float_remainder(a: f32, b: f32) -> f32 { a % b }
    fn double_remainder(a: f64) -> f64 { a % 0.7 }
    fn square_root(a: f64, b: f32) -> f64 { a.sqrt() + f64::from(b.sqrt()) }
    fn fused(a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }
    fn fused_narrow(a: f32, b: f32) -> f32 { a.mul_add(b, 0.3) }
    fn absolute(a: f64, b: f32) -> f64 { a.abs() - f64::from((-b).abs()) }
    fn rounded(a: f64, b: f32) -> f64 { a.floor() - f64::from(b.ceil()) }
    fn nearest(a: f64, b: f64) -> f64 {
        // Rust leaves the sign of zero open.
        if a == 0.0 && b == 0.0 { 0.0 } else { a.min(b) * 0.5 + a.max(b) * 0.25 }
    }
    fn nearest_narrow(a: f32, b: f32) -> f32 {
        if a == 0.0 && b == 0.0 { 0.0 } else if a < 0.0 { a.min(b) } else { a.max(b) }
    }
    fn clamp_float(a: f32) -> f32 { a.clamp(-1.5, 2.5) }
    fn compare(a: f64, b: f64) -> u32 {
        (a < b) as u32 | ((a <= b) as u32) << 1 | ((a == b) as u32) << 2
            | u32::from(a != b) << 3 | u32::from(a > b) << 4 | u32::from(a >= b) << 5
    }
    fn classify(a: f32) -> u32 {
        let class: u32 = if a.is_nan() { 1 } else if a.is_infinite() { 2 } else { 3 };
        if a.is_finite() && a > 0.0 { class + 10 } else { class }
    }
    fn cast_to_unsigned(a: f64, b: f32) -> u64 { a as u64 ^ b as u64 ^ (a as u32 as u64) << 7 }
    fn cast_to_signed(a: f64, b: f32) -> i64 { a as i64 ^ b as i64 ^ (b as i32 as i64) << 9 }
    fn cast_narrow(a: f32) -> u32 { a as u32 }
    fn cast_narrow_signed(a: f64) -> i32 { a as i32 }
    fn cast_from_integers(a: u64, b: i64) -> f64 { a as f64 * 0.5 + b as f64 }
    fn cast_to_single(a: u64, b: f64) -> f32 { a as f32 + b as f32 + (a as i32) as f32 }
    fn cast_between(a: i32, b: u64) -> u64 { a as u64 ^ (b as i32) as u64 ^ a as u32 as u64 }
    fn cast_bare() -> f64 { (1 << 24) as f64 * 0.5 + (-3) as f64 }
    fn move_bits(a: f32, b: u64) -> u64 {
        let pattern = f64::from_bits(b & 0x7fef_ffff_ffff_ffff).to_bits();
        pattern ^ u64::from(f32::from_bits(a.to_bits() & 0x7f7f_ffff).to_bits())
    }
    fn constants(a: u32, b: f64) -> f64 {
        let top = u32::MAX - a.min(OFFSET);
        if b > f64::MAX || b == f64::NEG_INFINITY {
            f64::INFINITY
        } else {
            top as f64 * f64::EPSILON + f64::from(TENTH) + std::f64::consts::PI
        }
    }
    fn match_numbers(a: u32, b: i32) -> u32 {
        let first: u32 = match a {
            0 => 7,
            1 | 2 => 8,
            OFFSET => 9,
            3..=30 => 10,
            x if x % 2 == 0 => x / 2,
            other => other.wrapping_mul(3),
        };
        first ^ match b { -1 => 1, i32::MIN..0 => 2, _ => 4 }
    }
    fn match_value(a: u32, b: u32) -> f32 {
        let scale = match a % 3 { 0 => 0.5, 1 => b as f32, _ => { let half = b / 2; half as f32 } };
        scale * 3.0
    }
    fn if_value(a: u64, b: u64) -> u64 {
        let larger = if a > b { a } else if b > 100 { b - 1 } else { 0 };
        larger + (if a == b { 1 } else { 2 })
    }
    fn options(a: u32, b: u32) -> Option<u32> {
        let half = a.is_multiple_of(2).then_some(a / 2);
        if let Some(half) = half && half > b && half != 77 { return None; }
        let Some(known) = half else { return Some(3) };
        match half {
            Some(0) => None,
            Some(x) if x == b => Some(x + known),
            Some(_) | None => (b > 5).then(|| b - 5),
        }
    }
    fn option_methods(a: i32, b: i32) -> i32 {
        let positive = (a > 0).then_some(a);
        let none: Option<i32> = None;
        let doubled = positive.map(|x| x / 2 + b % 5).unwrap_or(-1);
        let known = positive.is_some_and(|x| x > b) as i32 + none.is_none_or(|x| x == 1) as i32;
        doubled + positive.map_or(3, |x| x & b) + known + none.is_some() as i32
            + (positive == Some(5)) as i32
    }
    fn option_of_literal(a: f32) -> Option<f64> { (a > 0.1).then_some(0.1) }
    fn early_return(a: u32, b: u32) -> u32 {
        if a < b { return b - a; }
        let rest: u32 = match a % 4 { 0 => return 1, 1 => 2, _ => a };
        rest * 2
    }
    fn sum_loop(a: u32, b: u32) -> u32 {
        let mut sum: u32 = 0;
        for i in 0..a % 20 {
            if i == b % 7 { continue; }
            if i > 15 { break; }
            sum += i * b;
        }
        for i in 250u32..=255 { sum ^= i << 2; }
        for i in 0..3 { sum += b >> i; }
        sum
    }
    fn sum_floats(a: f32) -> f32 {
        let mut sum = a;
        for i in 1..=10 { sum = sum * 0.1 + i as f32; }
        sum
    }
    fn inclusive_to_the_end(a: u32) -> u32 {
        let mut count: u32 = 0;
        for i in u32::MAX - a % 5..=u32::MAX { count += i & 1; }
        count
    }
    fn shadow(a: u32, b: u32) -> u32 {
        let x = a;
        let x = x + b;
        let y = { let x = x * 2; x + 1 };
        let signed: i32 = if x > y { -1 } else { 1 };
        x ^ y ^ signed as u32
    }
    fn truth(a: bool, b: bool, c: u32) -> bool {
        let mut x = a & b | !a ^ b;
        x |= c > 7 && (b || c.is_multiple_of(3));
        x == (!a & b)
    }
    fn structs(a: f64, b: u32, c: i32) -> f64 {
        let mut sample = Sample { count: b, weight: a, signed: c };
        let old = bump(&mut sample, 3);
        let taken = std::mem::take(&mut sample.signed);
        let before = std::mem::replace(&mut sample.weight, 0.25);
        let other = Sample { weight: 2.0, ..sample };
        before + other.weight + f64::from(old ^ sample.count) + f64::from(taken)
    }
    fn helpers(a: u32, b: u32) -> u32 { twice(a) ^ once_more(b) }
    fn assigned_later(a: u64, b: u64) -> u64 {
        let x: u64;
        let mut y: u64 = if a > b { a } else { 3 };
        if y > 7 {
            x = a;
            y += 1;
        } else {
            x = match b { 0 => 1, z => z - 1 };
            y ^= 5;
        }
        x ^ y ^ y.is_multiple_of(b) as u64
    }
}
