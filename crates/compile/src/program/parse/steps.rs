//! The code outside operators.

use syn::spanned::Spanned;
use syn::{Error, Expr as Source, Pat, Result, Stmt};

use super::scope::{Binding, Level};
use super::syntax::{
    NO_EFFECT, ONE_NAME, OTHER_FUNCTIONS, argument_of, compound, ident, index, loop_variable,
    pattern_name, value_type,
};
use super::{Parser, expressions};
use crate::program::ir::{
    Binary, Expr, ExprKind, ListMembers, Operator, Over, Step, Ty, VertexPlace,
};

impl Parser {
    pub(super) fn steps(&mut self, statements: &[Stmt], out: &mut Vec<Step>) {
        for statement in statements {
            if let Err(error) = self.step(statement, out) {
                self.errors.push(error);
            }
        }
    }

    /// Code of a block of its own.
    fn block(&mut self, statements: &[Stmt]) -> Vec<Step> {
        let mut steps = Vec::new();
        self.inside(Level::Uniform, |parser| parser.steps(statements, &mut steps));
        steps
    }

    fn step(&mut self, statement: &Stmt, out: &mut Vec<Step>) -> Result<()> {
        match statement {
            Stmt::Local(local) => self.declaration(local, out),
            Stmt::Expr(expression, _) => self.action(expression, out),
            Stmt::Macro(call) => Err(Error::new_spanned(
                call,
                "macros are not supported: return a field and look at it after the run",
            )),
            Stmt::Item(item) => Err(Error::new_spanned(item, "items belong outside the program")),
        }
    }

    fn declaration(&mut self, local: &syn::Local, out: &mut Vec<Step>) -> Result<()> {
        let Some(name) = pattern_name(&local.pat) else {
            return Err(Error::new_spanned(&local.pat, ONE_NAME));
        };
        let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else {
            return Err(Error::new_spanned(local, "a `let` needs a value"));
        };
        let annotated = match &local.pat {
            Pat::Type(typed) => Some(&*typed.ty),
            _ => None,
        };
        if let Some(members) = self.worklist(&init.expr)? {
            let list = self.scope.add_list(name);
            out.push(Step::List(list, members));
            return Ok(());
        }
        if let Some(value) = self.field_start(&init.expr)? {
            if let Some(inner) = annotated.and_then(|ty| argument_of(ty, "Field")) {
                self.scope.unify(value.ty, value_type(inner)?, inner.span())?;
            }
            let field = self.scope.add_field(name, value.ty);
            out.push(Step::Start(field, value));
            return Ok(());
        }
        let value = self.expression(&init.expr)?;
        if let Some(ty) = annotated {
            self.scope.unify(value.ty, value_type(ty)?, ty.span())?;
        }
        let scalar = self.scope.add_scalar(name, value.ty);
        out.push(Step::Assign(scalar, value));
        Ok(())
    }

    /// `Worklist::new()`, `Worklist::from([v])`, `graph.vertices().collect()`.
    fn worklist(&mut self, source: &Source) -> Result<Option<ListMembers>> {
        if let Source::MethodCall(call) = source
            && call.method == "collect"
            && self.is_all_vertices(&call.receiver)
        {
            return Ok(Some(ListMembers::All));
        }
        let Source::Call(call) = source else { return Ok(None) };
        let Source::Path(path) = &*call.func else { return Ok(None) };
        let names: Vec<_> = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
        match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [.., "Worklist", "new"] => Ok(Some(ListMembers::None)),
            [.., "Worklist", "from"] => match call.args.first() {
                Some(Source::Array(array)) => {
                    let vertices = array.elems.iter().map(|vertex| self.uniform_vertex(vertex));
                    Ok(Some(ListMembers::These(vertices.collect::<Result<_>>()?)))
                }
                _ => Err(Error::new_spanned(call, "expected an array: `Worklist::from([root])`")),
            },
            _ => Ok(None),
        }
    }

    fn is_all_vertices(&self, source: &Source) -> bool {
        let Source::MethodCall(call) = source else { return false };
        let receiver = ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
        call.method == "vertices" && matches!(receiver, Some(Binding::Graph))
    }

    /// A parameter that is a vertex.
    fn uniform_vertex(&mut self, source: &Source) -> Result<Expr> {
        let vertex = self.expression(source)?;
        match vertex.ty {
            Ty::Vertex => Ok(vertex),
            _ => Err(Error::new_spanned(source, "expected a parameter of type `Vertex`")),
        }
    }

    /// `graph.field(value)`, `graph.field_with(|v| value)`, `other.clone()`.
    fn field_start(&mut self, source: &Source) -> Result<Option<Expr>> {
        let Source::MethodCall(call) = source else { return Ok(None) };
        let receiver = ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
        match (receiver, &call.method.to_string()[..], call.args.first()) {
            (Some(Binding::Graph), "field", Some(value)) => self.expression(value).map(Some),
            (Some(Binding::Graph), "field_with", Some(Source::Closure(closure))) => {
                let vertex = closure.inputs.first().and_then(pattern_name).ok_or_else(|| {
                    Error::new_spanned(closure, "the closure has one parameter, a vertex")
                })?;
                let value = self.inside(Level::Vertex, |parser| {
                    parser.scope.bind(vertex, Binding::Vertex(VertexPlace::Active));
                    parser.expression(&closure.body)
                })?;
                Ok(Some(value))
            }
            (Some(Binding::Field(field)), "clone", None) => {
                let ty = self.scope.fields[field.0].ty;
                Ok(Some(Expr::new(ExprKind::Read(field, VertexPlace::Active), ty, call.span())))
            }
            _ => Ok(None),
        }
    }

    fn action(&mut self, source: &Source, out: &mut Vec<Step>) -> Result<()> {
        match source {
            Source::ForLoop(each) if self.is_all_vertices(&each.expr) => {
                let vertex = loop_variable(&each.pat)?;
                self.operator(Over::All, vertex, &each.body, source, out)
            }
            Source::ForLoop(each) if self.vertex_list(&each.expr).is_some() => {
                self.each_of_list(each, out)
            }
            Source::ForLoop(counted) => self.counted(counted, out),
            Source::While(repeated) => self.repeated(repeated, source, out),
            Source::Loop(forever) => {
                let body = self.looped(&forever.body.stmts);
                out.push(Step::Loop(body));
                Ok(())
            }
            Source::Break(leave)
                if self.loops > 0 && leave.expr.is_none() && leave.label.is_none() =>
            {
                out.push(Step::Break);
                Ok(())
            }
            Source::Break(leave) => {
                Err(Error::new_spanned(leave, "`break` ends the innermost loop"))
            }
            Source::If(choice) => self.branch(choice, out),
            Source::Block(block) => {
                out.extend(self.block(&block.block.stmts));
                Ok(())
            }
            Source::Assign(assign) => self.assignment(&assign.left, None, &assign.right, out),
            Source::Binary(binary) => match compound(&binary.op) {
                Some(operator) => self.assignment(&binary.left, Some(operator), &binary.right, out),
                None => Err(Error::new_spanned(binary, NO_EFFECT)),
            },
            Source::MethodCall(call) if call.method == "push" => {
                let list =
                    ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
                let (Some(Binding::List(list)), Some(vertex)) = (list, call.args.first()) else {
                    return Err(Error::new_spanned(call, "vertices are pushed to a `Worklist`"));
                };
                let vertex = self.uniform_vertex(vertex)?;
                out.push(Step::Join(list, vertex));
                Ok(())
            }
            Source::Call(call) => self.swap(call, out),
            other => Err(Error::new_spanned(other, expressions::unsupported(other))),
        }
    }

    /// `std::mem::swap(&mut a, &mut b)` of two fields.
    fn swap(&mut self, call: &syn::ExprCall, out: &mut Vec<Step>) -> Result<()> {
        let is_swap = matches!(&*call.func, Source::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "swap"));
        let fields: Vec<_> = call
            .args
            .iter()
            .filter_map(|argument| match argument {
                Source::Reference(reference) => ident(&reference.expr),
                _ => None,
            })
            .filter_map(|name| match self.scope.find(&name.to_string()) {
                Some(Binding::Field(field)) => Some(field),
                _ => None,
            })
            .collect();
        match (is_swap, &fields[..]) {
            (true, [a, b]) => {
                let (one, other) = (self.scope.fields[a.0].ty, self.scope.fields[b.0].ty);
                self.scope.unify(one, other, call.span())?;
                out.push(Step::Swap(*a, *b));
                Ok(())
            }
            _ => Err(Error::new_spanned(
                call,
                "other functions are not seen by the compiler; two fields trade places with \
                 `std::mem::swap(&mut a, &mut b)`",
            )),
        }
    }

    pub(super) fn looped(&mut self, statements: &[Stmt]) -> Vec<Step> {
        self.loops += 1;
        let body = self.block(statements);
        self.loops -= 1;
        body
    }

    pub(super) fn operator(
        &mut self,
        over: Over,
        vertex: Option<&syn::Ident>,
        body: &syn::Block,
        source: &Source,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        let body = self.inside(Level::Vertex, |parser| {
            if let Some(vertex) = vertex {
                parser.scope.bind(vertex, Binding::Vertex(VertexPlace::Active));
            }
            parser.acts(&body.stmts)
        });
        out.push(Step::Operator(Operator { over, body, span: source.span() }));
        Ok(())
    }

    fn branch(&mut self, choice: &syn::ExprIf, out: &mut Vec<Step>) -> Result<()> {
        let condition = self.expression(&choice.cond)?;
        let then = self.block(&choice.then_branch.stmts);
        let otherwise = match choice.else_branch.as_ref().map(|(_, otherwise)| &**otherwise) {
            Some(Source::Block(block)) => self.block(&block.block.stmts),
            Some(other) => {
                let mut steps = Vec::new();
                self.action(other, &mut steps)?;
                steps
            }
            None => Vec::new(),
        };
        out.push(Step::If(condition, then, otherwise));
        Ok(())
    }

    fn assignment(
        &mut self,
        left: &Source,
        operator: Option<Binary>,
        right: &Source,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        if let Some((name, vertex)) = index(left) {
            let Some(Binding::Field(field)) = self.scope.find(&name.to_string()) else {
                return Err(Error::new_spanned(left, format!("`{name}` is not a field")));
            };
            if operator.is_some() {
                return Err(Error::new_spanned(
                    left,
                    "outside operators the value of a vertex can only be set: `field[root] = value`",
                ));
            }
            let (vertex, value) = (self.uniform_vertex(vertex)?, self.expression(right)?);
            self.scope.unify(self.scope.fields[field.0].ty, value.ty, right.span())?;
            out.push(Step::Point(field, vertex, value));
            return Ok(());
        }
        let bound = ident(left).and_then(|name| self.scope.find(&name.to_string()));
        if let (Some(Binding::Field(_)), Source::Call(call)) = (bound, right) {
            return Err(Error::new_spanned(call, OTHER_FUNCTIONS));
        }
        let Some(Binding::Scalar(scalar)) = bound else {
            return Err(Error::new_spanned(
                left,
                "expected a scalar, or a field of one vertex: to fill a whole field, loop over \
                 `graph.vertices()`",
            ));
        };
        let ty = self.scope.scalars[scalar.0].ty;
        let mut value = self.expression(right)?;
        let ty = self.scope.unify(ty, value.ty, right.span())?;
        if let Some(operator) = operator {
            let old = Expr::new(ExprKind::Scalar(scalar), ty, left.span());
            let kind = ExprKind::Binary(operator, Box::new(old), Box::new(value));
            value = Expr::new(kind, ty, right.span());
        }
        out.push(Step::Assign(scalar, value));
        Ok(())
    }
}
