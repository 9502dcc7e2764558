//! Names of types, constants and functions, and what device code calls them.

use quote::ToTokens;
use syn::{GenericArgument, Path, PathArguments};

use super::Parser;
use crate::ir::{Kind, Type};

/// Constants that types of numbers have in device code.
const TYPE_CONSTANTS: &[&str] = &[
    "MAX",
    "MIN",
    "INFINITY",
    "NEG_INFINITY",
    "NAN",
    "EPSILON",
    "MIN_POSITIVE",
    "BITS",
    "ZERO",
    "LEAST",
    "GREATEST",
    "ROUNDS",
];

/// A user's name in device code: words of C++ and names of the prelude do not end like this.
pub(crate) fn mangle(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    letters.chain(['_']).collect()
}

/// The type that device code knows by this name of Rust's.
pub(super) fn known_type(name: &str) -> Option<Type> {
    Some(Type::Known(match name {
        "u32" => "u32",
        "i32" => "i32",
        "u64" | "usize" => "u64",
        "i64" | "isize" => "i64",
        "f32" => "f32",
        "f64" => "f64",
        "bool" => "bool",
        "LocalId" => "LocalId",
        "GlobalId" => "GlobalId",
        "Vertex" => "Vertex",
        "Tally" => "Tally",
        _ => return None,
    }))
}

/// Whether a name is written as constants are.
pub(super) fn is_constant(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl Parser {
    /// A type in the source.
    pub(super) fn ty(&mut self, ty: &syn::Type) -> Type {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.type_of_path(&path.path, ty),
            syn::Type::Reference(reference) => self.ty(&reference.elem),
            syn::Type::Paren(paren) => self.ty(&paren.elem),
            syn::Type::Group(group) => self.ty(&group.elem),
            syn::Type::Slice(slice) => Type::Slice(Box::new(self.ty(&slice.elem))),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Type::Known("Unit"),
            syn::Type::Array(_) | syn::Type::Path(_) => self.user_type(ty),
            _ => {
                self.refuse(
                    ty,
                    "a device does not know this type: take a number, `bool`, an `Option`, or a \
                     struct with `derive(DeviceType)`",
                );
                Type::Known("Unit")
            }
        }
    }

    fn type_of_path(&mut self, path: &Path, ty: &syn::Type) -> Type {
        let last = path.segments.last().expect("paths have segments");
        let name = last.ident.to_string();
        if path.segments.len() == 2
            && path.segments[0].ident == "Self"
            && let Some(known) = self.associated.iter().find(|known| **known == name)
        {
            return Type::Known(known);
        }
        if path.segments.len() == 1 && self.type_parameters.contains(&name) {
            return self.user_type(ty);
        }
        if let Some(known) = known_type(&name) {
            return known;
        }
        match name.as_str() {
            "u8" | "u16" | "i8" | "i16" => {
                self.refuse(
                    ty,
                    "a device has no integers of less than 32 bits: take `u32` or `i32`",
                );
            }
            "u128" | "i128" | "char" | "str" | "String" | "Vec" | "Box" => {
                let message = format!("a device has no `{name}`: take numbers of 32 or 64 bits");
                self.refuse(ty, message);
            }
            "Option" => {
                if let PathArguments::AngleBracketed(arguments) = &last.arguments
                    && let Some(GenericArgument::Type(of)) = arguments.args.first()
                {
                    return Type::Option(Box::new(self.ty(of)));
                }
                self.refuse(ty, "write what the option is of: `Option<u32>`");
            }
            "Self" => self.refuse(ty, "a device has no `Self` as a value: name its fields"),
            _ => return self.user_type(ty),
        }
        Type::Known("Unit")
    }

    /// A type that implements `DeviceType`, as the compiler of Rust will check.
    fn user_type(&mut self, ty: &syn::Type) -> Type {
        let name = mangle(&ty.to_token_stream().to_string());
        self.mentions.types.entry(name.clone()).or_insert_with(|| ty.clone());
        Type::User(name)
    }

    /// The type whose constant or function a path names: `u32` of `u32::MAX`, `D` of `D::from_f64`.
    pub(super) fn type_before(&mut self, path: &Path) -> Option<Type> {
        let mut before = path.clone();
        before.segments.pop();
        before.segments.pop_punct();
        let names: Vec<_> = before.segments.iter().map(|part| part.ident.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match names[..] {
            [name] if self.type_parameters.iter().any(|known| known == name) => {
                let ty = syn::Type::Path(syn::TypePath { qself: None, path: before.clone() });
                Some(self.user_type(&ty))
            }
            [name] | ["std" | "core", name] => known_type(name),
            ["Self", name] => {
                self.associated.iter().find(|known| **known == name).map(|known| Type::Known(known))
            }
            _ => None,
        }
    }

    /// A path that is a value and no local.
    pub(super) fn constant(&mut self, path: &Path, of: &syn::Expr) -> Option<Kind> {
        let last = path.segments.last().expect("paths have segments").ident.to_string();
        if !is_constant(&last) {
            return None;
        }
        if TYPE_CONSTANTS.contains(&last.as_str())
            && let Some(ty) = self.type_before(path)
        {
            return Some(Kind::TypeConstant(ty, format!("{last}_")));
        }
        let name = mangle(&path.to_token_stream().to_string().replace(' ', ""));
        self.mentions.constants.entry(name.clone()).or_insert_with(|| of.clone());
        Some(Kind::Constant(name))
    }
}
