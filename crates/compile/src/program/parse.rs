//! From the source of a function to the intermediate form: names, types, and the code outside operators.
//!
//! Everything that is not understood is an error at its place in the source, and all errors are found in
//! one pass.

mod expressions;
mod folds;
mod loops;
mod operators;
mod scope;
mod settle;
mod steps;
mod syntax;

use syn::spanned::Spanned;
use syn::{Error, Expr as Source, FnArg, ItemFn, Result, ReturnType, Stmt, Type};

use super::ir::{FieldId, ParsedProgram, ScalarId, Ty};
use scope::{Binding, Level, Scope};
pub(super) use syntax::is_vertex_list;
use syntax::{argument_of, graph_weight, ident, is_named, pattern_name, value_type};

pub(super) const NO_SUCH_TYPE: &str = "values are u32, u64, i32, i64, f32, f64 or bool";

/// The program that a function is.
pub fn parse(function: &ItemFn) -> Result<ParsedProgram> {
    let mut parser = Parser {
        scope: Scope::new(),
        weight: None,
        vertex_lists: Vec::new(),
        errors: Vec::new(),
        loops: 0,
    };
    let result = parser.program(function);
    let errors = std::mem::take(&mut parser.errors);
    match (result, errors.into_iter().reduce(joined)) {
        (Ok(program), None) => Ok(settle::settle(program, &parser.scope)),
        (Err(error), None) | (Ok(_), Some(error)) => Err(error),
        (Err(last), Some(error)) => Err(joined(error, last)),
    }
}

fn joined(mut first: Error, second: Error) -> Error {
    first.combine(second);
    first
}

struct Parser {
    scope: Scope,
    weight: Option<Ty>,
    /// Lengths of parameters that are lists of vertices.
    vertex_lists: Vec<ScalarId>,
    errors: Vec<Error>,
    /// Loops around the current step.
    loops: usize,
}

impl Parser {
    fn program(&mut self, function: &ItemFn) -> Result<ParsedProgram> {
        let signature = &function.sig;
        if let Some(asyncness) = signature.asyncness {
            return Err(Error::new_spanned(asyncness, "a program is a plain function"));
        }
        if !signature.generics.params.is_empty() {
            return Err(Error::new_spanned(
                &signature.generics,
                "programs have no type parameters: write one function per type",
            ));
        }
        let num_parameters = self.parameters(function)?;
        let mut body = Vec::new();
        let (last, before) = match function.block.stmts.split_last() {
            Some((Stmt::Expr(last, None), before)) => (last, before),
            _ => {
                return Err(Error::new_spanned(
                    &signature.ident,
                    "a program ends with the fields it returns",
                ));
            }
        };
        self.steps(before, &mut body);
        let results = self.results(last, &signature.output)?;
        Ok(ParsedProgram {
            name: signature.ident.to_string(),
            weight: self.weight,
            num_parameters,
            scalars: self.scope.scalars.clone(),
            vertex_lists: self.vertex_lists.clone(),
            fields: self.scope.fields.clone(),
            lists: self.scope.lists.clone(),
            locals: self.scope.locals.clone(),
            body,
            results,
        })
    }

    fn parameters(&mut self, function: &ItemFn) -> Result<usize> {
        let signature = &function.sig;
        let mut arguments = signature.inputs.iter();
        let first = arguments.next().and_then(|argument| match argument {
            FnArg::Typed(argument) => Some((pattern_name(&argument.pat)?, &*argument.ty)),
            FnArg::Receiver(_) => None,
        });
        let graph = first.and_then(|(name, ty)| Some((name, graph_weight(ty)?)));
        let Some((name, weight)) = graph else {
            return Err(Error::new_spanned(
                &signature.ident,
                "the first parameter is the graph: `graph: &Graph<()>`, or `&Graph<u32>` with weights",
            ));
        };
        self.weight = weight?;
        self.scope.bind(name, Binding::Graph);
        for argument in arguments {
            let FnArg::Typed(argument) = argument else { continue };
            let Some(name) = pattern_name(&argument.pat) else {
                return Err(Error::new_spanned(&argument.pat, "a parameter has a name"));
            };
            if is_vertex_list(&argument.ty) {
                let length = self.scope.add_scalar(name, Ty::U64);
                self.scope.bind(name, Binding::VertexList(length));
                self.vertex_lists.push(length);
                continue;
            }
            let ty = match is_named(&argument.ty, "Vertex") {
                true => Ty::Vertex,
                false => value_type(&argument.ty)?,
            };
            self.scope.add_scalar(name, ty);
        }
        Ok(signature.inputs.len() - 1)
    }

    /// The fields at the end of the program, which have the types that the signature says.
    fn results(&mut self, last: &Source, output: &ReturnType) -> Result<Vec<FieldId>> {
        let values: Vec<&Source> = match last {
            Source::Tuple(tuple) => tuple.elems.iter().collect(),
            value => vec![value],
        };
        let types: Vec<&Type> = match output {
            ReturnType::Type(_, ty) => match &**ty {
                Type::Tuple(tuple) => tuple.elems.iter().collect(),
                ty => vec![ty],
            },
            ReturnType::Default => Vec::new(),
        };
        let refused = "a program returns fields: `Field<u32>`, or several in parentheses";
        if values.len() != types.len() {
            return Err(Error::new_spanned(last, refused));
        }
        let mut results = Vec::new();
        for (value, ty) in values.iter().zip(types) {
            let binding = ident(value).and_then(|name| self.scope.find(&name.to_string()));
            let (Some(Binding::Field(field)), Some(inner)) = (binding, argument_of(ty, "Field"))
            else {
                return Err(Error::new_spanned(value, refused));
            };
            let ty = value_type(inner)?;
            self.scope.unify(self.scope.fields[field.0].ty, ty, value.span())?;
            results.push(field);
        }
        Ok(results)
    }

    /// Runs something in a block of its own.
    fn inside<T>(&mut self, level: Level, run: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.scope.enter(level);
        let result = run(self);
        self.scope.leave(outside);
        result
    }
}
