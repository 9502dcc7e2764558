//! Expressions as C++ over the names of the prelude.

use super::acts::vertex;
use super::{Writer, name};
use crate::emit::cuda::{float, operator_name};
use crate::program::ir::{Binary, Dir, Expr, ExprKind, Unary};

impl Writer<'_> {
    pub(super) fn text(&self, expr: &Expr) -> String {
        let ty = name(expr.ty);
        match &expr.kind {
            ExprKind::Integer(value) => format!("(({ty}){value}ull)"),
            ExprKind::Float(value) => float(&format!("{value:?}"), ty),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Constant(name) => format!("Numbers<{ty}>::{name}_()"),
            ExprKind::Local(id) => format!("local_{}", id.0),
            ExprKind::Scalar(id) => format!("value_of<{ty}>(host.scalars[{}])", id.0),
            ExprKind::Read(id, at) => format!("host.column_{}.values[{}]", id.0, vertex(*at)),
            ExprKind::Weight => "weight".into(),
            ExprKind::Degree(Dir::In, at) => format!("host.in_degrees[{}]", vertex(*at)),
            ExprKind::Degree(_, at) => format!("host.out_degrees[{}]", vertex(*at)),
            ExprKind::Vertex(at) => format!("host.globals[{}]", vertex(*at)),
            ExprKind::Id(of) => self.text(of),
            ExprKind::Element(..) => unreachable!("lists are read by code that hosts run alike"),
            ExprKind::NumVertices => "host.num_vertices".into(),
            ExprKind::NumEdges => "host.num_edges".into(),
            ExprKind::Unary(Unary::Negate, a) => format!("p_neg({})", self.text(a)),
            ExprKind::Unary(Unary::Not, a) => format!("p_not({})", self.text(a)),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b),
            ExprKind::Method(method, parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.text(part)).collect();
                format!("p_{method}({})", parts.join(", "))
            }
            ExprKind::Cast(a) => format!("p_cast<{ty}>({})", self.text(a)),
            ExprKind::If(a, b, c) => {
                format!("({} ? {} : {})", self.text(a), self.text(b), self.text(c))
            }
        }
    }

    fn binary(&self, operator: Binary, a: &Expr, b: &Expr) -> String {
        let is_float = a.ty.is_float();
        let (a, b) = (self.text(a), self.text(b));
        match operator {
            Binary::And => format!("({a} && {b})"),
            Binary::Or => format!("({a} || {b})"),
            Binary::Add | Binary::Sub | Binary::Mul if self.checks && !is_float => {
                let name = operator_name(operator).replace("p_", "fitting_");
                format!("{name}(host, {a}, {b})")
            }
            _ => format!("{}({a}, {b})", operator_name(operator)),
        }
    }
}
