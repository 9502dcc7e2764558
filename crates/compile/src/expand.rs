//! What `#[device]` adds to the source.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Error, Item, ItemFn, ItemImpl, Path, Result, parse_quote};

use crate::emit::cuda;
use crate::ir::Mentions;
use crate::parse::{self, Parsed};
use crate::signatures::Trait;

/// Expands `#[device]`: the item as it was, and beside it what devices need. Where something cannot be
/// translated, the errors stand beside the unchanged item.
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    // The compiler explains what it cannot parse.
    let Ok(parsed) = syn::parse2::<Item>(item.clone()) else { return item };
    let expanded = crate_path(arguments).and_then(|engine| match parsed {
        Item::Impl(block) => expand_impl(&engine, block),
        Item::Fn(function) => expand_function(&engine, &function),
        other => Err(Error::new_spanned(other, "`#[device]` stands before an `impl` or a `fn`")),
    });
    expanded.unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        quote!(#item #errors)
    })
}

/// The path of the crate that has the traits: `parton_engine` by default.
fn crate_path(arguments: TokenStream) -> Result<Path> {
    let mut path = parse_quote!(::parton_engine);
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("crate") {
            return Err(meta.error("expected `crate = path`"));
        }
        path = meta.value()?.call(Path::parse_mod_style)?;
        Ok(())
    });
    parser.parse2(arguments)?;
    Ok(path)
}

fn expand_impl(engine: &Path, mut block: ItemImpl) -> Result<TokenStream> {
    let name = block.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
    let known = name.and_then(|name| Trait::by_name(&name.ident.to_string()));
    let Some(known) = known else {
        let message = "a device runs implementations of `Relaxation`, `VertexProgram` and \
                       `Reduction`";
        return Err(Error::new_spanned(&block.self_ty, message));
    };
    let Parsed { functions, mentions } = parse::block(&block, &known)?;
    let texts = functions.iter().map(|function| cuda::function(function, known.has_program));
    let text = cuda::indent(&texts.collect::<String>());
    if !known.has_program {
        return expand_reduction(engine, &block, &mentions, &text);
    }
    let optional = known.contracts.iter().filter(|contract| contract.is_optional);
    let own = optional.map(|contract| contract.name);
    let own = own.filter(|name| functions.iter().any(|function| function.name == *name));
    let types = match known.name {
        "Relaxation" => quote! {
            .with_type::<Self::Label>("Label")
            .with_type::<Self::Weight>("Weight")
            .with_reduction::<Self::Reduction>("Fold")
        },
        _ => quote! {
            .with_type::<Self::State>("State")
            .with_type::<Self::Message>("Message")
            .with_type::<#engine::program::Accumulated<Self>>("Accumulated")
            .with_type::<Self::Weight>("Weight")
            .with_reduction::<Self::Messages>("Messages")
            .with_reduction::<Self::Reduction>("Fold")
        },
    };
    let of_user =
        mentions.types.iter().map(|(name, ty)| quote_spanned!(at(ty)=> .with_type::<#ty>(#name)));
    let constants = mentions
        .constants
        .iter()
        .map(|(name, constant)| quote_spanned!(at(constant)=> .with_constant(#name, #constant)));
    let helpers = mentions
        .functions
        .values()
        .map(|path| quote_spanned!(at(path)=> .with_function::<#path>()));
    let parameters = mentions
        .fields
        .iter()
        .map(|(name, field)| quote_spanned!(at(field)=> .with(#name, &self.#field)));
    block.items.push(parse_quote! {
        fn device(&self) -> ::core::option::Option<#engine::device::DeviceProgram<'_>> {
            ::core::option::Option::Some(
                #engine::device::DeviceProgram::new(#text, &[#(#own),*])
                    #types #(#of_user)* #(#constants)* #(#helpers)* #(#parameters)*
            )
        }
    });
    Ok(quote!(#block))
}

/// Generated code that the compiler complains about at this place, and that sees generated names.
fn at(place: &impl Spanned) -> Span {
    Span::call_site().located_at(place.span())
}

/// Calls that define what a text mentions.
fn define(engine: &Path, mentions: &Mentions) -> TokenStream {
    let types = mentions
        .types
        .iter()
        .map(|(name, ty)| quote_spanned!(at(ty)=> definitions.alias::<#ty>(#name);));
    let constants = mentions.constants.iter().map(
        |(name, constant)| quote_spanned!(at(constant)=> definitions.constant(#name, #constant);),
    );
    let functions = mentions.functions.values().map(|path| {
        quote_spanned! {at(path)=>
            <#path as #engine::device::DeviceFunction>::define(definitions);
        }
    });
    quote!(#(#types)* #(#constants)* #(#functions)*)
}

fn expand_reduction(
    engine: &Path,
    block: &ItemImpl,
    mentions: &Mentions,
    text: &str,
) -> Result<TokenStream> {
    if !block.generics.params.is_empty() {
        let message = "a reduction on a device has no parameters: write one per type";
        return Err(Error::new_spanned(&block.generics, message));
    }
    let (ty, define) = (&block.self_ty, define(engine, mentions));
    Ok(quote! {
        #block

        impl #engine::device::DeviceReduction for #ty {
            fn name() -> ::std::string::String {
                #engine::device::program::name_of::<Self>()
            }

            fn define(definitions: &mut #engine::device::program::Definitions) {
                #define
                definitions.reduction::<Self>(#text);
            }
        }
    })
}

/// A type of the function's name carries its text: both come along with one `use`.
fn expand_function(engine: &Path, function: &ItemFn) -> Result<TokenStream> {
    let Parsed { functions, mentions } = parse::helper(function)?;
    let parsed = &functions[0];
    if let Some(path) = mentions.functions.get(&parsed.name) {
        return Err(Error::new_spanned(path, "a device does not know recursion: write a `for`"));
    }
    let (text, name_in_text) = (cuda::indent(&cuda::function(parsed, false)), &parsed.name);
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let conditions: Vec<_> = conditions.collect();
    let about = format!("The function [`{name}()`] for devices.");
    let define = define(engine, &mentions);
    Ok(quote! {
        #function

        #(#conditions)*
        #[doc = #about]
        #[allow(dead_code, non_camel_case_types)]
        #visibility enum #name {}

        #(#conditions)*
        impl #engine::device::DeviceFunction for #name {
            fn define(definitions: &mut #engine::device::program::Definitions) {
                if definitions.begin(#name_in_text, #text) {
                    #define
                    definitions.end(#text);
                }
            }
        }
    })
}
