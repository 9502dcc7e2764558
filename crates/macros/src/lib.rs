//! Macros: `derive(Value)` makes a small struct a value that fields hold and messages carry,
//! `#[device]` and `derive(DeviceType)` bring programs and their types to devices.
//!
//! The fields of a value travel one after the other, without padding. In memory they lie in one
//! atomic of 8 bytes, or in up to four words under a sequence lock.

mod device_type;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Index, Member, Path, Result, parse_quote};

/// Makes a struct of values a value: one of at least one field, and of at most 32 bytes.
///
/// `#[value(crate = path)]` names the crate `parton_sync` where it is known under another path.
#[proc_macro_derive(Value, attributes(value))]
pub fn derive_value(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Translates a program, a reduction or a function for devices.
///
/// Before `impl Relaxation for …` and `impl VertexProgram for …` it adds the method `device` to the
/// block; before `impl Reduction for …` it implements `DeviceReduction`. Before a free function it lets
/// translated functions call that one.
///
/// Translated functions consist of numbers of 32 and 64 bits, `bool`, `Option`, and structs with
/// `derive(DeviceType)`; of `let`, assignments, `if`, `match`, `for` over ranges, `return`, `as`,
/// operators, and common methods of numbers and options. They see fields of `self`, which must
/// implement `Parameter`, and constants of numbers. Anything else is an error at its place.
///
/// `#[device(crate = path)]` names the crate `parton_engine` where it is known under another path.
#[proc_macro_attribute]
pub fn device(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    parton_compile::device(arguments.into(), item.into()).into()
}

/// Makes a `#[repr(C)]` struct of numbers a type that devices know, and a parameter of programs.
///
/// Its fields have names and leave no padding between them. `#[device(crate = path)]` names the crate
/// `parton_engine` where it is known under another path.
#[proc_macro_derive(DeviceType, attributes(device))]
pub fn derive_device_type(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    device_type::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a value has no type parameters"));
    }
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a value is a struct"));
    };
    if data.fields.is_empty() {
        return Err(Error::new_spanned(name, "a value has at least one field"));
    }
    let sync = crate_path(&input.attrs)?;
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let locals: Vec<_> = (0..types.len()).map(|place| format_ident!("field_{place}")).collect();
    let members = data.fields.iter().enumerate().map(|(place, field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(place)),
    });
    let members: Vec<_> = members.collect();
    // The only field of a struct may be an integer, which is packed.
    let kind = match &types[..] {
        [only] => quote!(<#only as #sync::Value>::KIND),
        _ => quote!(#sync::ValueKind::Plain(0 #(+ <#types as #sync::Value>::KIND.bytes())*)),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #sync::Value for #name {
            const KIND: #sync::ValueKind = #kind;

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                #(let (#locals, bytes) =
                    bytes.split_at(<#types as #sync::Value>::KIND.bytes());)*
                let _ = bytes;
                #name { #(#members: <#types as #sync::Value>::read(#locals)),* }
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                #(let (#locals, bytes) =
                    bytes.split_at_mut(<#types as #sync::Value>::KIND.bytes());
                <#types as #sync::Value>::write(self.#members, #locals);)*
                let _ = bytes;
            }
        }

        #[automatically_derived]
        impl #sync::atomic::PackedValue for #name {
            type Cell = <#sync::atomic::NumWords<
                { #sync::atomic::num_words(<#name as #sync::Value>::KIND.bytes()) },
            > as #sync::atomic::CellOf>::Cell;
        }
    })
}

/// The path of the crate that has the traits.
fn crate_path(attributes: &[Attribute]) -> Result<Path> {
    let mut path = parse_quote!(::parton_sync);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("value")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = path`"));
            }
            path = meta.value()?.parse()?;
            Ok(())
        })?;
    }
    Ok(path)
}

/// Compiles a plain function over a graph to a program for many hosts.
///
/// The function stays as it is. Beside it stands a type of the same name: `name::run` runs it on hosts,
/// `name::sequential` is the function, `name::explain` says what the compiler found out.
///
/// `#[program(crate = path)]` names the module `parton::program` where it is known under another path.
#[proc_macro_attribute]
pub fn program(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    parton_compile::program::program(arguments.into(), item.into()).into()
}
