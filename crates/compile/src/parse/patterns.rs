//! Patterns of `match`, `if let` and `let … else`.

use syn::{Expr, Pat, RangeLimits};

use super::Parser;
use super::names::is_constant;
use crate::ir::{Kind, LocalRole, Pattern};

impl Parser {
    /// A pattern; names that it binds go to the innermost scope.
    pub(super) fn pattern(&mut self, pattern: &Pat) -> Pattern {
        match pattern {
            Pat::Wild(_) => Pattern::Any,
            Pat::Tuple(tuple) if tuple.elems.is_empty() => Pattern::Any,
            Pat::Paren(paren) => self.pattern(&paren.pat),
            Pat::Reference(reference) => self.pattern(&reference.pat),
            Pat::Ident(name) if name.ident == "None" => Pattern::None,
            Pat::Ident(name) if is_constant(&name.ident.to_string()) => {
                let ident = &name.ident;
                self.value_pattern(&syn::parse_quote!(#ident))
            }
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let is_mutable = name.mutability.is_some();
                Pattern::Bind(self.bind(&name.ident.to_string(), LocalRole::Plain, is_mutable))
            }
            Pat::Path(path) => self.value_pattern(&Expr::Path(path.clone())),
            Pat::Lit(literal) => self.value_pattern(&Expr::Lit(literal.clone())),
            Pat::Verbatim(tokens) => match syn::parse2::<Expr>(tokens.clone()) {
                Ok(value) => self.value_pattern(&value),
                Err(_) => self.wrong_pattern(pattern),
            },
            Pat::Range(range) => {
                let from = range.start.as_ref().map(|from| self.value(from));
                let is_inclusive = matches!(range.limits, RangeLimits::Closed(_));
                let to = range.end.as_ref().map(|to| (self.value(to), is_inclusive));
                Pattern::Range(from, to)
            }
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                Pattern::Some(Box::new(self.pattern(&some.elems[0])))
            }
            Pat::Or(either) => {
                let known = self.locals.len();
                let cases = either.cases.iter().map(|case| self.pattern(case)).collect();
                if self.locals.len() > known {
                    let message = "a device does not bind names in `|`: write an arm for each";
                    self.refuse(pattern, message);
                }
                Pattern::Either(cases)
            }
            _ => self.wrong_pattern(pattern),
        }
    }

    fn value_pattern(&mut self, value: &Expr) -> Pattern {
        let value = self.value(value);
        match value.kind {
            Kind::Unit => Pattern::Any,
            _ => Pattern::Value(value),
        }
    }

    fn wrong_pattern(&mut self, pattern: &Pat) -> Pattern {
        self.refuse(
            pattern,
            "a device does not know this pattern: write a literal, a constant, a name, `_`, \
             `Some(…)` or `None`",
        );
        self.bind_all(pattern);
        Pattern::Any
    }

    /// Binds the names of a pattern that was refused, so that no error follows from that one.
    pub(super) fn bind_all(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => _ = self.bind(&name.ident.to_string(), LocalRole::Plain, true),
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.bind_all(part)),
            Pat::TupleStruct(tuple) => tuple.elems.iter().for_each(|part| self.bind_all(part)),
            Pat::Struct(parts) => parts.fields.iter().for_each(|part| self.bind_all(&part.pat)),
            Pat::Slice(slice) => slice.elems.iter().for_each(|part| self.bind_all(part)),
            Pat::Reference(reference) => self.bind_all(&reference.pat),
            Pat::Paren(paren) => self.bind_all(&paren.pat),
            Pat::Type(typed) => self.bind_all(&typed.pat),
            _ => {}
        }
    }
}
