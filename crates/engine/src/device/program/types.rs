//! Types that a device knows.

use std::any::type_name;

use parton_graph::{GlobalId, LocalId};

use super::Definitions;

/// A type that lies in a device's memory as it lies in a host's.
///
/// # Safety
///
/// The C++ type of this name must have the size, the alignment and the meaning of the Rust type. Its
/// bytes must all be initialised, and any bytes that the device writes must be a value.
pub unsafe trait DeviceType: Copy + Send + Sync + 'static {
    /// Its name in C++.
    fn name() -> String;

    /// What defines that name, in order; nothing for types of the prelude.
    fn define(_definitions: &mut Definitions) {}
}

macro_rules! prelude_type {
    ($($type:ty: $name:literal),+ $(,)?) => {
        $(
            // SAFETY: the prelude gives this name to the same type.
            unsafe impl DeviceType for $type {
                fn name() -> String {
                    $name.into()
                }
            }
        )+
    };
}

prelude_type! {
    u32: "u32", i32: "i32", u64: "u64", i64: "i64", f32: "f32", f64: "f64",
    (): "Unit", LocalId: "LocalId", GlobalId: "GlobalId",
}

// SAFETY: C++ writes a truth value as 0 or 1 in one byte.
unsafe impl DeviceType for bool {
    fn name() -> String {
        "bool".into()
    }
}

// SAFETY: `Array` of the prelude holds that many elements and nothing else.
unsafe impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn name() -> String {
        format!("Array<{}, {N}>", T::name())
    }

    fn define(definitions: &mut Definitions) {
        T::define(definitions);
    }
}

/// The name in C++ of a type that is not in the prelude: its path in Rust.
pub fn name_of<T: ?Sized>() -> String {
    let letters = type_name::<T>().chars();
    letters.map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}
