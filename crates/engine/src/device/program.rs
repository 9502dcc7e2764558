//! A program as a device gets it: text of its functions, definitions of its types, and parameters.
//!
//! The text is CUDA C++ over the names that `kernels/prelude.cu` of the crate `parton-gpu` defines.
//! `#[device]` writes it from the Rust source of a program; no program is written twice.

mod definitions;
mod parameters;
mod types;

use std::any::type_name;
use std::fmt::Write;

pub use definitions::{Constant, Definitions, DeviceFunction, DeviceReduction};
pub use parameters::{Encoder, Parameter, Word};
pub use types::{DeviceType, name_of};

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
        let definitions = encoder.definitions.text();
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
