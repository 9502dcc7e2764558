//! Expressions without effects.

use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr as Source, Lit, Result, UnOp};

use super::Parser;
use super::scope::{Binding, Level, Literal};
use super::syntax::{NO_REFERENCES, OTHER_FUNCTIONS, ident, index, value_type};
use crate::program::ir::{Binary, Dir, Expr, ExprKind, ScalarId, Ty, Unary, VertexPlace};

/// Methods of numbers: the name, and whether the result is a truth value.
const METHODS: &[(&str, bool)] = &[
    ("min", false),
    ("max", false),
    ("abs", false),
    ("sqrt", false),
    ("ln", false),
    ("exp", false),
    ("floor", false),
    ("ceil", false),
    ("clamp", false),
    ("saturating_add", false),
    ("saturating_sub", false),
    ("saturating_mul", false),
    ("wrapping_add", false),
    ("wrapping_sub", false),
    ("wrapping_mul", false),
    ("is_finite", true),
    ("is_nan", true),
];

/// Constants of types of numbers.
const CONSTANTS: &[&str] = &["MAX", "MIN", "INFINITY", "NEG_INFINITY", "EPSILON", "MIN_POSITIVE"];

impl Parser {
    /// An expression.
    pub(super) fn expression(&mut self, source: &Source) -> Result<Expr> {
        let span = source.span();
        match source {
            Source::Paren(inner) => self.expression(&inner.expr),
            Source::Group(inner) => self.expression(&inner.expr),
            Source::Lit(literal) => self.literal(&literal.lit),
            Source::Path(path) => self.path(path),
            Source::Index(_) => {
                let (field, at) = self.element(source)?;
                let ty = self.scope.fields[field.0].ty;
                Ok(Expr::new(ExprKind::Read(field, at), ty, span))
            }
            Source::Field(field) => self.member(field),
            Source::Unary(unary) => {
                let operator = match unary.op {
                    UnOp::Neg(_) => Unary::Negate,
                    UnOp::Not(_) => Unary::Not,
                    _ => return Err(Error::new_spanned(unary, NO_REFERENCES)),
                };
                let operand = self.expression(&unary.expr)?;
                let ty = operand.ty;
                Ok(Expr::new(ExprKind::Unary(operator, Box::new(operand)), ty, span))
            }
            Source::Binary(binary) => self.binary(binary),
            Source::Cast(cast) => {
                let ty = value_type(&cast.ty)?;
                let operand = self.expression(&cast.expr)?;
                Ok(Expr::new(ExprKind::Cast(Box::new(operand)), ty, span))
            }
            Source::MethodCall(call) => self.method(call),
            Source::Call(call) => self.conversion(call),
            Source::If(choice) => self.choice(choice),
            Source::Block(block) if block.label.is_none() => self.only_value(&block.block, source),
            other => Err(Error::new_spanned(other, unsupported(other))),
        }
    }

    fn literal(&mut self, literal: &Lit) -> Result<Expr> {
        let span = literal.span();
        let (kind, suffix, unknown) = match literal {
            Lit::Bool(value) => {
                return Ok(Expr::new(ExprKind::Bool(value.value), Ty::Bool, span));
            }
            Lit::Int(value) => {
                (ExprKind::Integer(value.base10_parse()?), value.suffix(), Literal::Integer)
            }
            Lit::Float(value) => {
                (ExprKind::Float(value.base10_parse()?), value.suffix(), Literal::Float)
            }
            other => {
                return Err(Error::new_spanned(
                    other,
                    "values are numbers and truth values: text belongs outside the program",
                ));
            }
        };
        let ty = match Ty::NAMED.iter().find(|(name, _)| *name == suffix) {
            Some((_, ty)) => *ty,
            None if suffix.is_empty() => self.scope.unknown(unknown),
            None => return Err(Error::new_spanned(literal, super::NO_SUCH_TYPE)),
        };
        let kind = match kind {
            ExprKind::Integer(value) if ty.is_float() => ExprKind::Float(value as f64),
            kind => kind,
        };
        Ok(Expr::new(kind, ty, span))
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<Expr> {
        let span = path.span();
        if let Some(name) = path.path.get_ident() {
            return match self.scope.find(&name.to_string()) {
                Some(Binding::Scalar(id)) => {
                    let ty = self.scope.scalars[id.0].ty;
                    Ok(Expr::new(ExprKind::Scalar(id), ty, span))
                }
                Some(Binding::Local(id, _)) => {
                    let ty = self.scope.locals[id.0].ty;
                    Ok(Expr::new(ExprKind::Local(id), ty, span))
                }
                Some(Binding::Vertex(at)) => Ok(Expr::new(ExprKind::Vertex(at), Ty::Vertex, span)),
                Some(Binding::Field(_)) => Err(Error::new_spanned(
                    path,
                    format!("a field has a value per vertex: write `{name}[v]`"),
                )),
                Some(_) => Err(Error::new_spanned(path, format!("`{name}` is not a value"))),
                None => Err(Error::new_spanned(
                    path,
                    format!("`{name}` is not a value of this program: pass it as a parameter"),
                )),
            };
        }
        let names: Vec<_> = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
        if let [ty, constant] = &names[..]
            && let Some((_, ty)) = Ty::NAMED.iter().find(|(name, _)| name == ty)
            && let Some(constant) = CONSTANTS.iter().find(|name| *name == constant)
        {
            return Ok(Expr::new(ExprKind::Constant(constant), *ty, span));
        }
        Err(Error::new_spanned(path, "this constant is not known here: pass it as a parameter"))
    }

    /// `edge.weight`; ends of edges are vertices.
    fn member(&mut self, field: &syn::ExprField) -> Result<Expr> {
        let span = field.span();
        let is_weight = matches!(&field.member, syn::Member::Named(name) if name == "weight");
        if let Some(name) = ident(&field.base)
            && let Some(Binding::Edge(_)) = self.scope.find(&name.to_string())
            && is_weight
        {
            return match self.weight {
                Some(ty) => Ok(Expr::new(ExprKind::Weight, ty, span)),
                None => Err(Error::new_spanned(
                    field,
                    "edges of a `Graph<()>` have no weights: write `Graph<u32>`",
                )),
            };
        }
        let at = self.vertex(&Source::Field(field.clone()))?;
        Ok(Expr::new(ExprKind::Vertex(at), Ty::Vertex, span))
    }

    /// A vertex that an operator sees: the active one, or an end of the edge.
    pub(super) fn vertex(&mut self, source: &Source) -> Result<VertexPlace> {
        let refused = "an operator sees its vertex and the other ends of its edges, nothing further away: \
                       bring the value here through a field, one edge at a time";
        match source {
            Source::Paren(inner) => self.vertex(&inner.expr),
            Source::Path(path) => match path.path.get_ident() {
                Some(name) => match self.scope.find(&name.to_string()) {
                    Some(Binding::Vertex(at)) => Ok(at),
                    Some(Binding::Scalar(_)) => Err(Error::new_spanned(
                        source,
                        format!(
                            "`{name}` is on one host and operators run on all: outside operators set its \
                             value, inside compare `v == {name}`"
                        ),
                    )),
                    _ => Err(Error::new_spanned(source, refused)),
                },
                None => Err(Error::new_spanned(source, refused)),
            },
            Source::Field(field) => {
                let edge = ident(&field.base).and_then(|name| self.scope.find(&name.to_string()));
                match (edge, &field.member) {
                    (Some(Binding::Edge(dir)), syn::Member::Named(end)) => match (dir, end) {
                        (Dir::Out | Dir::Both, end) if end == "target" => Ok(VertexPlace::Far),
                        (Dir::Out | Dir::Both, end) if end == "source" => Ok(VertexPlace::Active),
                        (Dir::In, end) if end == "source" => Ok(VertexPlace::Far),
                        (Dir::In, end) if end == "target" => Ok(VertexPlace::Active),
                        _ => Err(Error::new_spanned(
                            end,
                            "an edge has a `source`, a `target` and a `weight`",
                        )),
                    },
                    _ => Err(Error::new_spanned(source, refused)),
                }
            }
            other => Err(Error::new_spanned(other, refused)),
        }
    }

    /// `field[vertex]`.
    pub(super) fn element(
        &mut self,
        source: &Source,
    ) -> Result<(crate::program::ir::FieldId, VertexPlace)> {
        let Some((name, vertex)) = index(source) else {
            let is_of_call = matches!(source, Source::Index(element) if matches!(*element.expr, Source::Call(_)));
            let why = if is_of_call {
                OTHER_FUNCTIONS
            } else {
                "expected a field of a vertex: `field[v]`"
            };
            return Err(Error::new_spanned(source, why));
        };
        let Some(Binding::Field(field)) = self.scope.find(&name.to_string()) else {
            return Err(Error::new_spanned(
                source,
                format!("`{name}` is not a field: values of vertices live in `graph.field(…)`"),
            ));
        };
        if self.scope.level == Level::Uniform {
            return Err(Error::new_spanned(
                source,
                "the value of one vertex is on one host: add it up over all vertices in an operator \
                 (`if v == root { found = value[v]; }` is a sum: `found += value[v]`)",
            ));
        }
        Ok((field, self.vertex(vertex)?))
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Result<Expr> {
        let operator = operator(&binary.op).ok_or_else(|| {
            Error::new_spanned(
                binary,
                "an assignment is not a value: make it a statement of its own",
            )
        })?;
        let (left, right) = (self.expression(&binary.left)?, self.expression(&binary.right)?);
        let ty = match operator {
            Binary::Shl | Binary::Shr => left.ty,
            _ => self.scope.unify(left.ty, right.ty, binary.span())?,
        };
        let ty = if operator.is_truth() { Ty::Bool } else { ty };
        let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
        Ok(Expr::new(kind, ty, binary.span()))
    }

    fn method(&mut self, call: &syn::ExprMethodCall) -> Result<Expr> {
        let (span, name) = (call.span(), call.method.to_string());
        let receiver = ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
        if let Some(Binding::Graph) = receiver {
            return self.graph_method(call);
        }
        if let Some(Binding::VertexList(length)) = receiver {
            return list_method(call, length);
        }
        if matches!(&name[..], "lower" | "raise" | "take" | "pop") {
            return Err(Error::new_spanned(
                call,
                format!(
                    "`{name}` changes its field: make it a statement or the whole condition of an `if`; to \
                     the right of `&&` and `||` it may not run"
                ),
            ));
        }
        let receiver = self.expression(&call.receiver)?;
        if name == "id" && receiver.ty == Ty::Vertex && call.args.is_empty() {
            return Ok(Expr::new(ExprKind::Id(Box::new(receiver)), Ty::U32, span));
        }
        let Some((name, is_truth)) = METHODS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = METHODS.iter().map(|(name, _)| *name).collect();
            return Err(Error::new_spanned(
                &call.method,
                format!("`{name}` is not known here; known are {}", known.join(", ")),
            ));
        };
        let mut ty = receiver.ty;
        let mut parts = vec![receiver];
        for argument in &call.args {
            let part = self.expression(argument)?;
            ty = self.scope.unify(ty, part.ty, argument.span())?;
            parts.push(part);
        }
        let ty = if *is_truth { Ty::Bool } else { ty };
        Ok(Expr::new(ExprKind::Method(name, parts), ty, span))
    }

    fn graph_method(&mut self, call: &syn::ExprMethodCall) -> Result<Expr> {
        let span = call.span();
        let kind = match (&call.method.to_string()[..], call.args.first()) {
            ("num_vertices", None) => ExprKind::NumVertices,
            ("num_edges", None) => ExprKind::NumEdges,
            ("out_degree", Some(vertex)) => ExprKind::Degree(Dir::Out, self.vertex(vertex)?),
            ("in_degree", Some(vertex)) => ExprKind::Degree(Dir::In, self.vertex(vertex)?),
            (name, _) => {
                return Err(Error::new_spanned(
                    &call.method,
                    format!(
                        "`{name}` is not a value: values of a graph are `num_vertices()`, `num_edges()`, \
                         `out_degree(v)` and `in_degree(v)`"
                    ),
                ));
            }
        };
        Ok(Expr::new(kind, Ty::U64, span))
    }

    /// `f64::from(x)`.
    fn conversion(&mut self, call: &syn::ExprCall) -> Result<Expr> {
        if let Source::Path(path) = &*call.func
            && let [ty, from] = &path.path.segments.iter().collect::<Vec<_>>()[..]
            && from.ident == "from"
            && let Some((_, ty)) = Ty::NAMED.iter().find(|(name, _)| ty.ident == name)
            && let Some(argument) = call.args.first()
        {
            let operand = self.expression(argument)?;
            return Ok(Expr::new(ExprKind::Cast(Box::new(operand)), *ty, call.span()));
        }
        Err(Error::new_spanned(call, OTHER_FUNCTIONS))
    }

    fn choice(&mut self, choice: &syn::ExprIf) -> Result<Expr> {
        let condition = self.expression(&choice.cond)?;
        let then = self.only_value(&choice.then_branch, &choice.cond)?;
        let Some((_, otherwise)) = &choice.else_branch else {
            return Err(Error::new_spanned(choice, "an `if` that is a value needs an `else`"));
        };
        let otherwise = self.expression(otherwise)?;
        let ty = self.scope.unify(then.ty, otherwise.ty, choice.span())?;
        let kind = ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr::new(kind, ty, choice.span()))
    }

    fn only_value(&mut self, block: &syn::Block, at: &Source) -> Result<Expr> {
        match &block.stmts[..] {
            [syn::Stmt::Expr(value, None)] => self.expression(value),
            _ => Err(Error::new_spanned(
                at,
                "branches of a value are single expressions here: bind the rest with `let` before the `if`",
            )),
        }
    }
}

/// What an operator is called.
pub(super) fn operator(operator: &BinOp) -> Option<Binary> {
    Some(match operator {
        BinOp::Add(_) => Binary::Add,
        BinOp::Sub(_) => Binary::Sub,
        BinOp::Mul(_) => Binary::Mul,
        BinOp::Div(_) => Binary::Div,
        BinOp::Rem(_) => Binary::Rem,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        BinOp::BitXor(_) => Binary::BitXor,
        BinOp::BitAnd(_) => Binary::BitAnd,
        BinOp::BitOr(_) => Binary::BitOr,
        BinOp::Shl(_) => Binary::Shl,
        BinOp::Shr(_) => Binary::Shr,
        BinOp::Eq(_) => Binary::Eq,
        BinOp::Lt(_) => Binary::Lt,
        BinOp::Le(_) => Binary::Le,
        BinOp::Ne(_) => Binary::Ne,
        BinOp::Ge(_) => Binary::Ge,
        BinOp::Gt(_) => Binary::Gt,
        _ => return None,
    })
}

/// Why an expression is refused, and what to write instead.
pub(super) fn unsupported(source: &Source) -> &'static str {
    match source {
        Source::Macro(_) => {
            "macros print, panic or allocate, which operators cannot: return a field and look at it after \
             the run"
        }
        Source::Closure(_) => "closures are only known in `graph.field_with(|v| …)`",
        Source::Array(_) | Source::Repeat(_) | Source::Tuple(_) | Source::Struct(_) => {
            "a value is one number: use one field per number"
        }
        Source::Return(_) => "a program ends with its last expression: leave loops with `break`",
        Source::Try(_) | Source::Unsafe(_) | Source::Await(_) | Source::Async(_) => {
            "programs compute with numbers alone"
        }
        Source::Match(_) => "`match` is not supported: write `if` and `else`",
        Source::Reference(_) => NO_REFERENCES,
        _ => "this is not supported in a program: see docs/compiler-reference.md for what is",
    }
}

/// `seeds.len()` and `seeds.is_empty()` of a list of vertices that is a parameter.
fn list_method(call: &syn::ExprMethodCall, length: ScalarId) -> Result<Expr> {
    let span = call.span();
    let value = Expr::new(ExprKind::Scalar(length), Ty::U64, span);
    match (&call.method.to_string()[..], call.args.is_empty()) {
        ("len", true) => Ok(value),
        ("is_empty", true) => {
            let none = Expr::new(ExprKind::Integer(0), Ty::U64, span);
            let kind = ExprKind::Binary(Binary::Eq, Box::new(value), Box::new(none));
            Ok(Expr::new(kind, Ty::Bool, span))
        }
        _ => Err(Error::new_spanned(
            &call.method,
            "of a list of vertices `len()` and `is_empty()` are known, and `for &v in list`",
        )),
    }
}
