//! Methods and functions that device code knows.

/// What the arguments of a method are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// This many values.
    Values(usize),
    /// This many values, and a closure of that many parameters.
    Closure(usize, usize),
    /// None, and the method is the value itself.
    Vanishes,
}

/// The function of the prelude for a method, and the arguments beside the receiver.
pub(super) fn method(name: &str) -> Option<(&'static str, Shape)> {
    use Shape::{Closure, Values, Vanishes};
    Some(match name {
        "min" => ("p_min", Values(1)),
        "max" => ("p_max", Values(1)),
        "clamp" => ("p_clamp", Values(2)),
        "abs" => ("p_abs", Values(0)),
        "abs_diff" => ("p_abs_diff", Values(1)),
        "saturating_add" => ("p_saturating_add", Values(1)),
        "saturating_sub" => ("p_saturating_sub", Values(1)),
        "saturating_mul" => ("p_saturating_mul", Values(1)),
        "saturating_plus" => ("p_saturating_plus", Values(1)),
        "plus" => ("p_plus", Values(1)),
        "wrapping_add" => ("p_wrapping_add", Values(1)),
        "wrapping_sub" => ("p_wrapping_sub", Values(1)),
        "wrapping_mul" => ("p_wrapping_mul", Values(1)),
        "wrapping_neg" => ("p_wrapping_neg", Values(0)),
        "wrapping_shl" => ("p_wrapping_shl", Values(1)),
        "wrapping_shr" => ("p_wrapping_shr", Values(1)),
        "count_ones" => ("p_count_ones", Values(0)),
        "leading_zeros" => ("p_leading_zeros", Values(0)),
        "trailing_zeros" => ("p_trailing_zeros", Values(0)),
        "is_multiple_of" => ("p_is_multiple_of", Values(1)),
        "sqrt" => ("p_sqrt", Values(0)),
        "floor" => ("p_floor", Values(0)),
        "ceil" => ("p_ceil", Values(0)),
        "mul_add" => ("p_mul_add", Values(2)),
        "to_bits" => ("p_to_bits", Values(0)),
        "to_f64" => ("p_to_f64", Values(0)),
        "to_u64" => ("p_to_u64", Values(0)),
        "is_nan" => ("p_is_nan", Values(0)),
        "is_finite" => ("p_is_finite", Values(0)),
        "is_infinite" => ("p_is_infinite", Values(0)),
        "unwrap_or" => ("p_unwrap_or", Values(1)),
        "is_some" => ("p_is_some", Values(0)),
        "is_none" => ("p_is_none", Values(0)),
        "map" => ("p_map", Closure(0, 1)),
        "map_or" => ("p_map_or", Closure(1, 1)),
        "is_some_and" => ("p_is_some_and", Closure(0, 1)),
        "is_none_or" => ("p_is_none_or", Closure(0, 1)),
        "then_some" => ("p_then_some", Values(1)),
        "then" => ("p_then", Closure(0, 0)),
        "id" => ("p_id", Values(0)),
        "index" => ("p_index", Values(0)),
        "len" => ("p_len", Values(0)),
        "clone" | "copied" | "cloned" | "as_ref" => ("", Vanishes),
        _ => return None,
    })
}

/// What to write instead of a method that device code does not know.
pub(super) fn instead_of(name: &str) -> &'static str {
    match name {
        "into" | "try_into" => "write `as`, or `u64::from(…)`",
        "unwrap" | "expect" => "a device cannot panic: write `unwrap_or(…)`, or `match`",
        "unwrap_or_else" | "unwrap_or_default" => "write `unwrap_or(…)`",
        "checked_add" | "checked_sub" | "checked_mul" => "write `saturating_…` or `wrapping_…`",
        "powi" | "powf" | "exp" | "ln" | "log2" | "sin" | "cos" | "tanh" => {
            "devices round it differently: compute it on the host, and keep it in a field"
        }
        "iter" | "into_iter" => "write a `for` over a range",
        _ => "write it with operators, or as a function marked `#[device]`",
    }
}

/// A function of a type of numbers: what the prelude calls it, if it needs the type.
pub(super) fn type_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "from_bits" => "p_from_bits",
        "from_f64" => "p_from_f64",
        "from_weight" => "p_from_weight",
        _ => return None,
    })
}
