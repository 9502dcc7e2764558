//! `derive(DeviceType)`: a flat struct lies in a device's memory as it lies in a host's.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, Path, Result, Token, Type, parse_quote,
};

/// Integers and other types that no device has.
const UNKNOWN: &[&str] = &["u8", "u16", "i8", "i16", "u128", "i128", "usize", "isize", "char"];

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = checked_fields(input)?;
    let engine = crate_path(&input.attrs)?;
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let names = fields.iter().filter_map(|field| field.ident.as_ref());
    let names: Vec<_> = names.map(|name| format!("{name}_")).collect();
    let program = quote!(#engine::device::program);
    let defines = types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> <#ty as #program::DeviceType>::define(definitions);));
    let padding = format!(
        "`{name}` has padding, which a device would leave uninitialised: order its fields by size, \
         and fill up its end"
    );
    Ok(quote! {
        const _: () = ::core::assert!(
            ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            #padding,
        );

        // SAFETY: C++ lays the struct out as Rust does with `repr(C)`, there is no padding, and any
        // bytes that a device writes to fields are values.
        #[automatically_derived]
        unsafe impl #program::DeviceType for #name {
            fn name() -> ::std::string::String {
                #program::name_of::<Self>()
            }

            fn define(definitions: &mut #program::Definitions) {
                #(#defines)*
                definitions.structure::<Self>(
                    &[#((#names, <#types as #program::DeviceType>::name())),*],
                );
            }
        }

        #[automatically_derived]
        impl #program::Parameter for #name {
            fn name() -> ::std::string::String {
                <Self as #program::DeviceType>::name()
            }

            fn encode<'p>(&'p self, into: &mut #program::Encoder<'p>) {
                into.push_value(self);
            }
        }
    })
}

/// The fields of a struct that a device can have.
fn checked_fields(input: &DeriveInput) -> Result<&Punctuated<Field, Token![,]>> {
    let name = &input.ident;
    if !input.generics.params.is_empty() {
        let message = "a type for devices has no parameters: write one per type";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a type for devices is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "a type for devices has fields with names"));
    };
    if fields.named.is_empty() {
        return Err(Error::new_spanned(name, "a type for devices has at least one field"));
    }
    if !is_repr_c(&input.attrs)? {
        let message = "a type for devices lies in memory as C++ lays it out: add `#[repr(C)]`";
        return Err(Error::new_spanned(name, message));
    }
    let mut errors = fields.named.iter().filter_map(|field| refused(&field.ty));
    match errors.next() {
        None => Ok(&fields.named),
        Some(first) => Err(errors.fold(first, |mut all, error| {
            all.combine(error);
            all
        })),
    }
}

fn refused(ty: &Type) -> Option<Error> {
    let message = "a device does not know this type: take `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, \
                   `bool`, an array of them, or a struct with `derive(DeviceType)`";
    let is_known = match ty {
        Type::Path(path) => {
            let last = path.path.segments.last().map(|last| last.ident.to_string());
            last.is_some_and(|last| !UNKNOWN.contains(&last.as_str()))
        }
        Type::Array(array) => return refused(&array.elem),
        _ => false,
    };
    (!is_known).then(|| Error::new_spanned(ty, message))
}

fn is_repr_c(attributes: &[Attribute]) -> Result<bool> {
    let mut is_c = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C");
            if meta.path.is_ident("packed") || meta.path.is_ident("align") {
                return Err(meta.error("a type for devices has the layout of `repr(C)` alone"));
            }
            Ok(())
        })?;
    }
    Ok(is_c)
}

fn crate_path(attributes: &[Attribute]) -> Result<Path> {
    let mut path = parse_quote!(::parton_engine);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("device")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = path`"));
            }
            path = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(path)
}
