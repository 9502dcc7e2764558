//! Shapes of source code that several parts of the parser look for.

use syn::{Error, Expr as Source, Pat, Result, Type};

use super::NO_SUCH_TYPE;
use crate::program::ir::{Binary, Expr, ExprKind, Ty, Unary};

/// Why a statement that is only a value is refused.
pub(super) const NO_EFFECT: &str =
    "this has no effect: set a field or a scalar with `=` or `+=`, or name the value with `let`";
/// Why a call is refused.
pub(super) const OTHER_FUNCTIONS: &str = "other functions are not seen by the compiler: write what it does here, or \
     compute the value before and pass it as a parameter";
/// Why a pattern is refused.
pub(super) const ONE_NAME: &str = "a `let` binds one name here: write one `let` for each";
/// Why `&` and `*` are refused.
pub(super) const NO_REFERENCES: &str =
    "values have no references here: take the value itself, without `&` and `*`";

/// The opposite of a condition.
pub(super) fn negated(condition: Expr) -> Expr {
    let span = condition.span;
    Expr::new(ExprKind::Unary(Unary::Not, Box::new(condition)), Ty::Bool, span)
}

/// The name of a variable of a loop; nothing for `_`.
pub(super) fn loop_variable(pattern: &Pat) -> Result<Option<&syn::Ident>> {
    match pattern {
        Pat::Wild(_) => Ok(None),
        pattern => pattern_name(pattern)
            .map(Some)
            .ok_or_else(|| Error::new_spanned(pattern, "expected one name")),
    }
}

/// The operator of a compound assignment.
pub(super) fn compound(operator: &syn::BinOp) -> Option<Binary> {
    use syn::BinOp::*;
    Some(match operator {
        AddAssign(_) => Binary::Add,
        SubAssign(_) => Binary::Sub,
        MulAssign(_) => Binary::Mul,
        DivAssign(_) => Binary::Div,
        RemAssign(_) => Binary::Rem,
        BitXorAssign(_) => Binary::BitXor,
        BitAndAssign(_) => Binary::BitAnd,
        BitOrAssign(_) => Binary::BitOr,
        ShlAssign(_) => Binary::Shl,
        ShrAssign(_) => Binary::Shr,
        _ => return None,
    })
}

/// The name that an expression is.
pub(super) fn ident(source: &Source) -> Option<&syn::Ident> {
    match source {
        Source::Path(path) => path.path.get_ident(),
        Source::Paren(inner) => ident(&inner.expr),
        _ => None,
    }
}

/// `name[inside]`.
pub(super) fn index(source: &Source) -> Option<(&syn::Ident, &Source)> {
    match source {
        Source::Index(element) => Some((ident(&element.expr)?, &element.index)),
        Source::Paren(inner) => index(&inner.expr),
        _ => None,
    }
}

/// The only name that a pattern binds, by value.
pub(super) fn pattern_name(pattern: &Pat) -> Option<&syn::Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
        Pat::Type(typed) => pattern_name(&typed.pat),
        _ => None,
    }
}

/// The type of a value.
pub(super) fn value_type(ty: &Type) -> Result<Ty> {
    let found = match ty {
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let known = Ty::NAMED.iter().find(|(name, _)| found.as_deref() == Some(*name));
    known.map(|(_, ty)| *ty).ok_or_else(|| Error::new_spanned(ty, NO_SUCH_TYPE))
}

/// Whether a type is a list of vertices: `&[Vertex]`.
pub(in crate::program) fn is_vertex_list(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    matches!(&*reference.elem, Type::Slice(slice) if is_named(&slice.elem, "Vertex"))
}

pub(super) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// The type in angle brackets after a name.
pub(super) fn argument_of<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// The weights of `&Graph<W>`, if it is that.
pub(super) fn graph_weight(ty: &Type) -> Option<Result<Option<Ty>>> {
    let Type::Reference(reference) = ty else { return None };
    let inner = argument_of(&reference.elem, "Graph")?;
    match inner {
        Type::Tuple(unit) if unit.elems.is_empty() => Some(Ok(None)),
        inner => Some(match value_type(inner) {
            Ok(ty @ (Ty::U32 | Ty::F32 | Ty::F64)) => Ok(Some(ty)),
            _ => Err(Error::new_spanned(inner, "weights are (), u32, f32 or f64")),
        }),
    }
}
