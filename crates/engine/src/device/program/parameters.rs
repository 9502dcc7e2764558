//! Fields of a program as words that a device's functions read.

use std::marker::PhantomData;

use parton_graph::{GlobalId, LocalId};

use super::{Definitions, DeviceType};

/// A field of a program that its functions read on a device: a number, an option of one, or an array.
pub trait Parameter {
    /// Its type in C++.
    fn name() -> String;

    /// Adds its words, and definitions of types.
    fn encode<'p>(&'p self, into: &mut Encoder<'p>);
}

/// Eight bytes of the struct that holds a program's parameters on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'p> {
    /// These.
    Bits(u64),
    /// The address at which a device has a copy of this array.
    Array(&'p [u8]),
}

/// The bytes of values that a device knows.
fn bytes_of<T: DeviceType>(values: &[T]) -> &[u8] {
    // SAFETY: all bytes of a `DeviceType` are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}

/// Collects the parameters of a program.
#[derive(Clone, Debug, Default)]
pub struct Encoder<'p> {
    pub(super) words: Vec<Word<'p>>,
    pub(super) definitions: Definitions,
}

impl<'p> Encoder<'p> {
    /// Adds one word.
    pub fn push(&mut self, word: Word<'p>) {
        self.words.push(word);
    }

    /// Adds a value as it lies in memory, in whole words.
    pub fn push_value<T: DeviceType>(&mut self, value: &T) {
        T::define(&mut self.definitions);
        for part in bytes_of(std::slice::from_ref(value)).chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..part.len()].copy_from_slice(part);
            self.push(Word::Bits(u64::from_ne_bytes(word)));
        }
    }

    /// Adds an array: where its elements are, and how many.
    fn push_array<T: DeviceType>(&mut self, array: &'p [T]) {
        T::define(&mut self.definitions);
        self.push(Word::Array(bytes_of(array)));
        self.push(Word::Bits(array.len() as u64));
    }

    /// Where definitions of types go.
    pub fn definitions(&mut self) -> &mut Definitions {
        &mut self.definitions
    }
}

macro_rules! scalar_parameter {
    ($($type:ty: $name:literal => |$value:ident| $bits:expr),+ $(,)?) => {
        $(impl Parameter for $type {
            fn name() -> String {
                $name.into()
            }

            fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
                let $value = *self;
                into.push(Word::Bits($bits));
            }
        })+
    };
}

scalar_parameter! {
    u32: "u32" => |value| value.into(),
    i32: "i32" => |value| value as u32 as u64,
    u64: "u64" => |value| value,
    i64: "i64" => |value| value as u64,
    f32: "f32" => |value| value.to_bits().into(),
    f64: "f64" => |value| value.to_bits(),
    usize: "u64" => |value| value as u64,
    LocalId: "LocalId" => |value| value.0.into(),
    GlobalId: "GlobalId" => |value| value.0,
}

impl Parameter for bool {
    fn name() -> String {
        "bool".into()
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push(Word::Bits((*self).into()));
    }
}

/// A word that says whether there is a value, and the words of the value.
impl<T: Parameter + Default> Parameter for Option<T> {
    fn name() -> String {
        format!("OptionParameter<{}>", T::name())
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push(Word::Bits(self.is_some().into()));
        match self {
            Some(value) => value.encode(into),
            // As many words as a value takes, and the types that it needs.
            None => {
                let value = T::default();
                let definitions = std::mem::take(&mut into.definitions);
                let mut like = Encoder { words: Vec::new(), definitions };
                value.encode(&mut like);
                into.words.extend(like.words.iter().map(|_| Word::Bits(0)));
                into.definitions = like.definitions;
            }
        }
    }
}

/// Two words: where the elements are, and how many.
impl<T: DeviceType> Parameter for &[T] {
    fn name() -> String {
        format!("Slice<{}>", T::name())
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push_array(self);
    }
}

impl<T: DeviceType> Parameter for Vec<T> {
    fn name() -> String {
        <&[T] as Parameter>::name()
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push_array(self);
    }
}

impl<T: DeviceType, const N: usize> Parameter for [T; N] {
    fn name() -> String {
        <Self as DeviceType>::name()
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push_value(self);
    }
}

/// A reference to a parameter is one, too.
impl<T: Parameter> Parameter for &T {
    fn name() -> String {
        T::name()
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        T::encode(self, into);
    }
}

impl<T> Parameter for PhantomData<T> {
    fn name() -> String {
        "Unit".into()
    }

    fn encode<'p>(&'p self, into: &mut Encoder<'p>) {
        into.push(Word::Bits(0));
    }
}
