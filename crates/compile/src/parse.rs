//! From syntax to the [intermediate form](crate::ir): resolves names, drops references, and refuses
//! what a device does not know. All mistakes are collected, each at its place in the source.

mod branches;
mod calls;
mod expressions;
mod methods;
mod names;
mod patterns;
mod statements;

use std::collections::HashMap;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, FnArg, ImplItem, ImplItemFn, ItemFn, ItemImpl, ReturnType, Signature};

use crate::ir::{
    Expression, Function, FunctionParameter, Kind, Local, LocalIndex, LocalRole, Mentions, Passing,
    Type,
};
use crate::signatures::{Contract, Trait};
use names::mangle;

/// The functions of an `impl` block, and what they mention.
pub struct Parsed {
    /// In the order of the source.
    pub functions: Vec<Function>,
    /// What they mention.
    pub mentions: Mentions,
}

/// Parses those functions of an `impl` block that run on devices.
pub fn block(item: &ItemImpl, of: &Trait) -> Result<Parsed, Error> {
    let mut parser = Parser::new(of.has_program);
    for parameter in item.generics.type_params() {
        parser.type_parameters.push(parameter.ident.to_string());
    }
    parser.associated = of.associated;
    let mut functions = Vec::new();
    for part in &item.items {
        if let ImplItem::Fn(function) = part
            && let Some(contract) = of.contract(&function.sig.ident.to_string())
        {
            functions.push(parser.method(function, contract));
        }
    }
    for contract in of.contracts.iter().filter(|contract| !contract.is_optional) {
        if !functions.iter().any(|function| function.name == contract.name) {
            let message =
                format!("a device needs the function `{}` of this program", contract.name);
            parser.errors.push(Error::new_spanned(&item.self_ty, message));
        }
    }
    parser.finish(functions)
}

/// Parses a free function that functions of programs call.
pub fn helper(item: &ItemFn) -> Result<Parsed, Error> {
    let mut parser = Parser::new(false);
    let function = parser.free_function(item);
    parser.finish(vec![function])
}

/// What is known while one `impl` block or function is parsed.
struct Parser {
    /// Whether functions have a `self`.
    has_program: bool,
    type_parameters: Vec<String>,
    /// Types `Self::Name` that device code knows.
    associated: &'static [&'static str],
    /// Of the current function.
    locals: Vec<Local>,
    scopes: Vec<HashMap<String, LocalIndex>>,
    /// Values inside which the parser is: C++ cannot leave the function from there.
    num_values: usize,
    /// Loops around, inside the innermost value.
    num_loops: usize,
    mentions: Mentions,
    errors: Vec<Error>,
}

impl Parser {
    fn new(has_program: bool) -> Self {
        Parser {
            has_program,
            type_parameters: Vec::new(),
            associated: &[],
            locals: Vec::new(),
            scopes: Vec::new(),
            num_values: 0,
            num_loops: 0,
            mentions: Mentions::default(),
            errors: Vec::new(),
        }
    }

    fn finish(self, functions: Vec<Function>) -> Result<Parsed, Error> {
        let combine = |mut all: Error, error| {
            all.combine(error);
            all
        };
        match self.errors.into_iter().reduce(combine) {
            Some(error) => Err(error),
            None => Ok(Parsed { functions, mentions: self.mentions }),
        }
    }

    /// Notes a mistake, underlining all of `at`.
    fn refuse(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) {
        self.errors.push(Error::new_spanned(at, message));
    }

    /// Notes a mistake, and yields an expression in place of the wrong one.
    fn wrong(&mut self, at: &impl ToTokens, message: impl std::fmt::Display) -> Expression {
        self.refuse(at, message);
        Expression { kind: Kind::Unit, span: at.span() }
    }

    /// Binds a name in the innermost scope.
    fn bind(&mut self, name: &str, role: LocalRole, is_mutable: bool) -> LocalIndex {
        let id = LocalIndex(self.locals.len());
        let base = mangle(name);
        let is_free = |name: &String| self.locals.iter().all(|local| local.name != *name);
        let numbered = (2..).map(|number| format!("{base}{number}"));
        let name_in_text = std::iter::once(base.clone()).chain(numbered).find(is_free);
        let name_in_text = name_in_text.expect("there are many numbers");
        self.locals.push(Local { name: name_in_text, is_mutable, role });
        self.scopes.last_mut().expect("functions have a scope").insert(name.into(), id);
        id
    }

    fn resolve(&self, name: &str) -> Option<LocalIndex> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    fn role(&self, local: LocalIndex) -> LocalRole {
        self.locals[local.0].role
    }

    /// Runs `parse` in a scope of its own.
    fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = parse(self);
        self.scopes.pop();
        result
    }

    /// A function of a trait, whose types the trait tells.
    fn method(&mut self, function: &ImplItemFn, contract: &Contract) -> Function {
        self.check_signature(&function.sig);
        let arguments = function.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(typed) => Some(typed),
        });
        let arguments: Vec<_> = arguments.collect();
        if arguments.len() != contract.parameters.len() {
            let expected = contract.parameters.len();
            self.refuse(&function.sig.inputs, format!("expected {expected} parameters"));
        }
        self.function(contract.name.into(), contract.result.clone(), &function.block, |parser| {
            let known = contract.parameters.iter();
            let pairs = arguments.iter().zip(known);
            let parse = |(typed, (ty, passing)): (&&syn::PatType, &(Type, Passing))| {
                parser.parameter(&typed.pat, ty.clone(), *passing)
            };
            pairs.map(parse).collect()
        })
    }

    /// A free function, whose types are as it says.
    fn free_function(&mut self, item: &ItemFn) -> Function {
        self.check_signature(&item.sig);
        let result = match &item.sig.output {
            ReturnType::Default => Type::Known("Unit"),
            ReturnType::Type(_, ty) => self.ty(ty),
        };
        let name = mangle(&item.sig.ident.to_string());
        self.function(name, result, &item.block, |parser| {
            let mut parameters = Vec::new();
            for input in &item.sig.inputs {
                match input {
                    FnArg::Typed(typed) => {
                        let passing = match &*typed.ty {
                            syn::Type::Reference(to) if to.mutability.is_some() => Passing::Mutable,
                            syn::Type::Reference(_) => Passing::Shared,
                            _ => Passing::Value,
                        };
                        let ty = parser.ty(&typed.ty);
                        parameters.push(parser.parameter(&typed.pat, ty, passing));
                    }
                    FnArg::Receiver(receiver) => parser.refuse(
                        receiver,
                        "a function for devices stands outside of `impl`, without `self`",
                    ),
                }
            }
            parameters
        })
    }

    fn check_signature(&mut self, signature: &Signature) {
        if signature.generics.type_params().next().is_some()
            || signature.generics.const_params().next().is_some()
        {
            let message = "a function for devices has no type parameters: write one per type";
            self.refuse(&signature.generics, message);
        }
        if let Some(token) = &signature.asyncness {
            self.refuse(token, "a function for devices is not `async`");
        }
        if let Some(token) = &signature.unsafety {
            self.refuse(token, "a function for devices is not `unsafe`");
        }
    }

    fn function(
        &mut self,
        name: String,
        result: Type,
        body: &syn::Block,
        parameters: impl FnOnce(&mut Self) -> Vec<FunctionParameter>,
    ) -> Function {
        self.locals.clear();
        let (parameters, body) = self.scoped(|parser| (parameters(parser), parser.block(body)));
        Function { name, parameters, result, body, locals: std::mem::take(&mut self.locals) }
    }

    fn parameter(&mut self, pattern: &syn::Pat, ty: Type, passing: Passing) -> FunctionParameter {
        let role = match (&ty, passing) {
            (Type::Known("Vertex"), _) => LocalRole::Vertex,
            (Type::Known("Tally"), _) => LocalRole::Tally,
            (_, Passing::Mutable) => LocalRole::Reference,
            _ => LocalRole::Plain,
        };
        let local = match pattern {
            syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                Some(self.bind(&name.ident.to_string(), role, name.mutability.is_some()))
            }
            syn::Pat::Reference(reference) if passing == Passing::Shared => {
                return self.parameter(&reference.pat, ty, passing);
            }
            syn::Pat::Wild(_) => None,
            syn::Pat::Tuple(tuple) if tuple.elems.is_empty() => None,
            other => {
                self.refuse(other, "a device does not take parameters apart: give it a name");
                self.bind_all(other);
                None
            }
        };
        FunctionParameter { local, ty, passing }
    }
}

/// An expression of this kind.
fn expression(kind: Kind, span: Span) -> Expression {
    Expression { kind, span }
}
