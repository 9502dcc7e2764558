//! What the functions of a program mention: functions, types, constants and reductions.

use parton_graph::{GlobalId, LocalId};
use parton_sync::Reduction;
use parton_sync::reduction::{Latest, Max, Min, Or, Sum};

use super::DeviceType;

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

    pub(super) fn rename(&mut self, name: &str, of: &str) {
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
