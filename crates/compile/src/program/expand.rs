//! What stands in place of a function with the attribute `program`: the function itself, and a type of the
//! same name that compiles it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemFn, Pat, Result};

use super::{emit, lower, parse, recognise, vertex_form};

/// Expands the attribute `program`. The function is there even where the program is refused, so that what
/// else is wrong with it is found, too.
pub fn program(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return item };
    match compiled(arguments, &function) {
        Ok(compiled) => quote!(#item #compiled),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#item #error)
        }
    }
}

/// A program with everything that is found out about it.
pub struct CompiledFunction {
    /// Its plan and its code.
    pub lowered: lower::Lowered,
    /// The relaxation that it is, if any.
    pub relaxed: Option<recognise::Relaxed>,
    /// The vertex program that it is, if any.
    pub form: Option<vertex_form::VertexForm>,
}

/// Finds out everything about a program.
pub fn compile(function: &ItemFn) -> Result<CompiledFunction> {
    let mut lowered = lower::lower(parse::parse(function)?)?;
    let relaxed = recognise::recognise(&mut lowered);
    let form = if relaxed.is_none() { vertex_form::recognise(&mut lowered) } else { None };
    Ok(CompiledFunction { lowered, relaxed, form })
}

fn compiled(arguments: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let root = crate_path(arguments)?;
    let CompiledFunction { lowered, relaxed, form } = compile(function)?;
    let (names, types): (Vec<_>, Vec<_>) = function.sig.inputs.iter().filter_map(parameter).unzip();
    let cfgs = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let output = match &function.sig.output {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let is_list = types.iter().map(|ty| parse::is_vertex_list(ty)).collect();
    let expansion = Expansion { function, root, names, types, is_list, cfgs, output };
    let (face, body) =
        (expansion.face(), expansion.body(&lowered, relaxed.as_ref(), form.as_ref()));
    Ok(quote!(#face #body))
}

/// What is known of the function.
struct Expansion<'f> {
    function: &'f ItemFn,
    root: TokenStream,
    /// Names and types of parameters, the graph first.
    names: Vec<&'f syn::Ident>,
    types: Vec<&'f syn::Type>,
    /// Which of them are lists of vertices.
    is_list: Vec<bool>,
    cfgs: Vec<&'f syn::Attribute>,
    output: TokenStream,
}

impl Expansion<'_> {
    /// The type of the function's name, and what users call.
    fn face(&self) -> TokenStream {
        let Expansion { function, root, names, types, is_list, cfgs, output } = self;
        let (name, visibility) = (&function.sig.ident, &function.vis);
        let inputs = function.sig.inputs.iter();
        let (fields, input_types) = (&names[1..], &types[1..]);
        let field_types =
            input_types.iter().zip(&is_list[1..]).map(|(ty, is_list)| match is_list {
                true => quote!(Vec<#root::Vertex>),
                false => quote!(#ty),
            });
        let values = fields.iter().zip(&is_list[1..]).map(|(field, is_list)| match is_list {
            true => quote!(#field: #field.to_vec()),
            false => quote!(#field),
        });
        let copy = (!is_list.contains(&true)).then(|| quote!(Copy,));
        let about = format!("The program [`{name}`](fn@{name}), compiled for many hosts.");
        quote! {
            #(#cfgs)*
            #[doc = #about]
            #[allow(non_camel_case_types)]
            #[derive(Clone, #copy Debug)]
            #visibility struct #name {
                #(
                    #[doc = "A parameter of the program."]
                    pub #fields: #field_types,
                )*
            }

            #(#cfgs)*
            #[allow(dead_code)]
            impl #name {
                /// What the compiler found out about the program, as text.
                pub fn explain() -> String {
                    #root::plan::text(<Self as #root::Program>::compiled_plan())
                }

                /// What the compiler found out about the program, as JSON.
                pub fn explain_json() -> String {
                    #root::plan::json(<Self as #root::Program>::compiled_plan())
                }

                /// Runs the program as it is written, on one thread.
                pub fn sequential(#(#inputs),*) -> #output {
                    #name(#(#names),*)
                }

                /// Runs the program on many hosts.
                pub fn run<V: #root::Venue>(
                    venue: &mut V
                    #(, #fields: #input_types)*
                ) -> Result<V::Outcome<#output>, V::Error> {
                    venue.run(&#name { #(#values),* })
                }
            }
        }
    }

    /// What engines call.
    fn body(
        &self,
        lowered: &lower::Lowered,
        relaxed: Option<&recognise::Relaxed>,
        form: Option<&vertex_form::VertexForm>,
    ) -> TokenStream {
        let Expansion { function, root, names, types, is_list, cfgs, output } = self;
        let (name, fields) = (&function.sig.ident, &names[1..]);
        let (code, plan) = (emit::code(lowered, name, root), emit::plan(&lowered.plan, root));
        let program_form = program_form(relaxed, form, root);
        let (relaxed, relaxation) = recognise::emit(lowered, relaxed, root);
        let (gathers, gathering) = emit::vertex_form(lowered, form, root);
        let results = results(lowered, root);
        let engine = quote!(#root::engine::device);
        let device = match emit::device(lowered) {
            Ok(emit::DeviceText { text, kernels }) => {
                quote!(Ok(#engine::operators::OperatorText { text: #text, kernels: &[#(#kernels),*] }))
            }
            Err(why) => quote!(Err(#why)),
        };
        let arguments = fields.iter().zip(&is_list[1..]).map(|(field, is_list)| match is_list {
            true => quote!(&self.#field),
            false => quote!(self.#field),
        });
        let graph = match types[0] {
            syn::Type::Reference(reference) => &*reference.elem,
            other => other,
        };
        let text = name.to_string();
        quote! {
            #(#cfgs)*
            #[allow(unused, clippy::all, clippy::pedantic)]
            const _: () = {
                #relaxation
                #gathering

                #code

                impl #root::Program for #name {
                    type Output = #output;
                    const NAME: &'static str = #text;
                    const FORM: Option<#root::engine::ProgramForm> = #program_form;
                    const DEVICE: Result<#engine::operators::OperatorText<'static>, &'static str> = #device;

                    fn compiled_plan() -> &'static #root::plan::CompiledPlan {
                        static PLAN: ::std::sync::OnceLock<#root::plan::CompiledPlan> =
                            ::std::sync::OnceLock::new();
                        PLAN.get_or_init(|| #plan)
                    }

                    fn sequential(&self, graph: &#graph) -> Self::Output {
                        #name(graph #(, #arguments)*)
                    }

                    #results
                    #relaxed
                    #gathers
                }
            };
        }
    }
}

/// A program as engines see it.
fn program_form(
    relaxed: Option<&recognise::Relaxed>,
    form: Option<&vertex_form::VertexForm>,
    root: &TokenStream,
) -> TokenStream {
    let form = relaxed
        .map(|relaxed| relaxed.form(root))
        .or_else(|| form.map(|form| form.program_form(root)));
    match form {
        Some(form) => quote!(Some(#form)),
        None => quote!(None),
    }
}

/// How the columns of an answer become what the function returns.
fn results(lowered: &lower::Lowered, root: &TokenStream) -> TokenStream {
    let fields =
        lowered.program.results.iter().map(|id| emit::rust(lowered.program.fields[id.0].ty));
    let types: Vec<_> = fields.collect();
    let field = quote!(#root::Field);
    let made = types.iter().map(|ty| {
        quote!(#field::from(<#ty as #root::Typed>::of_values(columns.next().expect("one per field"))))
    });
    let made: Vec<_> = made.collect();
    let output = match &made[..] {
        [only] => quote!(#only),
        _ => quote!((#(#made),*)),
    };
    let parts: Vec<_> =
        (0..types.len()).map(|place| quote::format_ident!("part_{place}")).collect();
    let bound = match &parts[..] {
        [only] => quote!(#only),
        _ => quote!((#(#parts),*)),
    };
    quote! {
        fn no_values() -> Vec<#root::FieldValues> {
            vec![#(<#types as #root::Typed>::values(Vec::new())),*]
        }

        fn columns(output: Self::Output) -> Vec<#root::FieldValues> {
            let #bound = output;
            vec![#(<#types as #root::Typed>::values(#parts.into_values())),*]
        }

        fn output(columns: Vec<#root::FieldValues>) -> Self::Output {
            let mut columns = columns.into_iter();
            #output
        }
    }
}

fn parameter(argument: &FnArg) -> Option<(&syn::Ident, &syn::Type)> {
    let FnArg::Typed(typed) = argument else { return None };
    match &*typed.pat {
        Pat::Ident(name) => Some((&name.ident, &*typed.ty)),
        _ => None,
    }
}

/// The path of the crate that has the types: `crate = path`.
fn crate_path(arguments: TokenStream) -> Result<TokenStream> {
    if arguments.is_empty() {
        return Ok(quote!(::parton::program));
    }
    let parser = |input: syn::parse::ParseStream<'_>| {
        input.parse::<syn::Token![crate]>()?;
        input.parse::<syn::Token![=]>()?;
        input.parse::<syn::Path>()
    };
    let path = syn::parse::Parser::parse2(parser, arguments)?;
    Ok(quote!(#path))
}
