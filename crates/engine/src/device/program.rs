//! A program as a device gets it: text of its functions, definitions of its types, and parameters.
//!
//! The text is CUDA C++ over the names that `kernels/prelude.cu` of the crate `parton-gpu` defines.
//! `#[device]` writes it from the Rust source of a program; no program is written twice.

use std::any::type_name;
use std::fmt::Write;
use std::marker::PhantomData;

use parton_graph::{GlobalId, LocalId};
use parton_sync::Reduction;
use parton_sync::reduction::{Latest, Max, Min, Or, Sum};

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

/// A function beside a program that functions of the program call. `#[device]` before the function
/// implements this for a type of the same name.
pub trait DeviceFunction {
    /// Defines the function, and before it what it mentions.
    fn define(definitions: &mut Definitions);
}

/// What programs need beside their own functions, each once, in the order in which C++ needs it.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Names, with what defines them.
    known: Vec<(String, String)>,
    text: String,
}

impl Definitions {
    /// Notes that a definition is being made. Returns whether it has to be made.
    ///
    /// # Panics
    /// If the name means something else already.
    pub fn begin(&mut self, name: &str, definition: &str) -> bool {
        if let Some((_, known)) = self.known.iter().find(|known| known.0 == name) {
            assert!(known == definition, "a program uses two different things called `{name}`");
            return false;
        }
        self.known.push((name.into(), definition.into()));
        true
    }

    /// Adds a definition that was begun.
    pub fn end(&mut self, definition: &str) {
        self.text.push_str(definition);
        if !definition.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Adds a definition, unless it is there already.
    pub fn add(&mut self, name: &str, definition: impl FnOnce() -> String) {
        let definition = definition();
        if self.begin(name, &definition) {
            self.end(&definition);
        }
    }

    /// All definitions.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives a type another name.
    pub fn alias<T: DeviceType>(&mut self, name: &str) {
        T::define(self);
        self.rename(name, &T::name());
    }

    fn rename(&mut self, name: &str, of: &str) {
        if name != of {
            self.add(name, || format!("typedef {of} {name};"));
        }
    }

    /// Adds a constant: a function without parameters.
    pub fn constant(&mut self, name: &str, value: impl Constant) {
        let (ty, value) = value.text();
        self.add(name, || format!("DEVICE {ty} {name}() {{ return {value}; }}"));
    }

    /// Adds a struct of these fields, each with its type in C++.
    pub fn structure<T: DeviceType>(&mut self, fields: &[(&str, String)]) {
        let name = T::name();
        let members = fields.iter().map(|(field, ty)| format!("    {ty} {field};\n"));
        let equal: Vec<_> =
            fields.iter().map(|(field, _)| format!("{field} == other.{field}")).collect();
        self.add(&name, || {
            format!(
                "struct {name} {{\n{}    \
                 DEVICE_MEMBER bool operator==(const {name}& other) const {{ return {}; }}\n    \
                 DEVICE_MEMBER bool operator!=(const {name}& other) const {{ \
                 return !(*this == other); }}\n}};\n\
                 static_assert(sizeof({name}) == {}, \"laid out as in Rust\");",
                members.collect::<String>(),
                equal.join(" && "),
                size_of::<T>(),
            )
        });
    }

    /// Adds a reduction whose functions have this text.
    pub fn reduction<R: DeviceReduction<Value: DeviceType>>(&mut self, functions: &str) {
        R::Value::define(self);
        let (name, value) = (R::name(), R::Value::name());
        self.add(&name, || format!("struct {name} {{\ntypedef {value} Value;\n{functions}}};"));
    }
}

/// A constant that functions of programs mention: a number or a truth value.
pub trait Constant: Copy {
    /// Its type in C++, and an expression of that type.
    fn text(self) -> (&'static str, String);
}

macro_rules! constant {
    ($($type:ty: $name:literal, |$value:ident| $text:expr;)+) => {
        $(impl Constant for $type {
            fn text(self) -> (&'static str, String) {
                let $value = self;
                ($name, $text)
            }
        })+
    };
}

constant! {
    u32: "u32", |value| format!("{value}u");
    i32: "i32", |value| format!("(i32){}u", value as u32);
    u64: "u64", |value| format!("{value}ull");
    usize: "u64", |value| format!("{value}ull");
    i64: "i64", |value| format!("(i64){}ull", value as u64);
    f32: "f32", |value| format!("p_float_of_bits((u32){}u)", value.to_bits());
    f64: "f64", |value| format!("p_float_of_bits((u64){}ull)", value.to_bits());
    bool: "bool", |value| value.to_string();
    LocalId: "LocalId", |value| format!("{}u", value.0);
    GlobalId: "GlobalId", |value| format!("{}ull", value.0);
}

/// A reduction that a device knows.
pub trait DeviceReduction: Reduction {
    /// The C++ type with the static functions `identity` and `combine`.
    fn name() -> String;

    /// What defines that name; nothing for reductions of the prelude.
    fn define(_definitions: &mut Definitions) {}
}

macro_rules! prelude_reduction {
    ($($name:ident),+) => {
        $(impl<T: DeviceType> DeviceReduction for $name<T>
        where
            $name<T>: Reduction<Value = T>,
        {
            fn name() -> String {
                format!("{}<{}>", stringify!($name), T::name())
            }

            fn define(definitions: &mut Definitions) {
                T::define(definitions);
            }
        })+
    };
}

prelude_reduction!(Min, Max, Sum, Or, Latest);

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
    words: Vec<Word<'p>>,
    definitions: Definitions,
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

/// A program as a device gets it.
#[derive(Clone, Debug)]
pub struct DeviceProgram<'p> {
    /// Functions of the program, over the types below.
    functions: &'static str,
    /// Members of the struct `Program`.
    members: String,
    /// Names by which the functions know types, with the names of these types in Rust.
    types: Vec<(String, &'static str)>,
    encoder: Encoder<'p>,
    /// Functions that the program has its own form of.
    own: &'static [&'static str],
}

impl<'p> DeviceProgram<'p> {
    /// A program of these functions: their text, and the names of those among them that a program
    /// need not have.
    pub fn new(functions: &'static str, own: &'static [&'static str]) -> Self {
        DeviceProgram {
            functions,
            own,
            members: String::new(),
            types: Vec::new(),
            encoder: Encoder::default(),
        }
    }

    /// Gives a type another name, by which the functions know it.
    pub fn with_type<T: DeviceType>(mut self, name: &str) -> Self {
        self.encoder.definitions.alias::<T>(name);
        self.types.push((name.into(), type_name::<T>()));
        self
    }

    /// Whether the functions know this type by that name.
    pub(super) fn knows<T>(&self, name: &str) -> bool {
        self.types.iter().any(|known| known.0 == name && known.1 == type_name::<T>())
    }

    /// Gives a reduction another name, by which kernels know it.
    pub fn with_reduction<R: DeviceReduction>(mut self, name: &str) -> Self {
        R::define(&mut self.encoder.definitions);
        self.encoder.definitions.rename(name, &R::name());
        self
    }

    /// Adds a constant that the functions mention.
    pub fn with_constant(mut self, name: &str, value: impl Constant) -> Self {
        self.encoder.definitions.constant(name, value);
        self
    }

    /// Adds a function that the functions call.
    pub fn with_function<F: DeviceFunction>(mut self) -> Self {
        F::define(&mut self.encoder.definitions);
        self
    }

    /// Adds a parameter: a field of the program.
    pub fn with<P: Parameter>(mut self, name: &str, parameter: &'p P) -> Self {
        writeln!(self.members, "    alignas(8) {} {name};", P::name()).expect("strings grow");
        parameter.encode(&mut self.encoder);
        self
    }

    /// The text that follows the prelude: types, parameters, functions.
    pub fn text(&self) -> String {
        let Self { functions, members, encoder, .. } = self;
        let definitions = &encoder.definitions.text;
        // An empty struct takes a byte in C++: a program without parameters has one word as well.
        let members = if encoder.words.is_empty() { "    u64 nothing;\n" } else { members };
        format!("{definitions}struct Program {{\n{members}}};\n{functions}")
    }

    /// The parameters, in the order of the members of `Program`.
    pub fn words(&self) -> &[Word<'p>] {
        &self.encoder.words
    }

    /// Whether the program has its own form of a function that it need not have.
    pub fn has_own(&self, function: &str) -> bool {
        self.own.contains(&function)
    }
}
