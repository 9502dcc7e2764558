//! FieldAccess analysis: which field an operator reads, writes or reduces, at which vertex, under which guards
//! (Abelian, section 3.1).

use proc_macro2::Span;

use super::ir::{Act, ActKind, Binary, Expr, ExprKind, FieldId, Fold, VertexPlace};

/// An access to a field.
#[derive(Clone, Debug)]
pub struct FieldAccess<'a> {
    /// The field.
    pub field: FieldId,
    /// What is done.
    pub how: How,
    /// At which vertex.
    pub place: VertexPlace,
    /// Whether it happens for every edge.
    pub in_edges: bool,
    /// The number of the block that acts on the neighbour alone, if it is in one.
    pub block: Option<usize>,
    /// What holds where it happens.
    pub guards: Vec<&'a Expr>,
    /// What is written.
    pub value: Option<&'a Expr>,
    /// Where it stands.
    pub span: Span,
}

/// What is done to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its value is used.
    Read,
    /// It gets a value.
    Write,
    /// A value is folded in.
    Reduce(Fold),
}

/// All accesses of an operator.
pub fn accesses(body: &[Act]) -> Vec<FieldAccess<'_>> {
    let mut analysis =
        Analysis { found: Vec::new(), guards: Vec::new(), in_edges: false, block: None, blocks: 0 };
    analysis.acts(body);
    analysis.found
}

/// The conditions that all hold where a condition does.
pub(crate) fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::Binary(Binary::And, a, b) => {
            let mut all = conjuncts(a);
            all.extend(conjuncts(b));
            all
        }
        _ => vec![condition],
    }
}

/// Whether a statement inside a loop over edges concerns the neighbour alone: it reads and writes nothing
/// else, so that the neighbour's master can run it once, after all edges.
pub(crate) fn acts_on_far_alone(act: &Act) -> bool {
    match &act.kind {
        ActKind::Push(_, VertexPlace::Far) => true,
        ActKind::If(condition, then, otherwise) => {
            otherwise.is_empty()
                && is_far_alone(condition)
                && then.iter().all(is_effect_on_far)
                && then.iter().any(|act| !matches!(act.kind, ActKind::Tally(..)))
        }
        _ => false,
    }
}

fn is_effect_on_far(act: &Act) -> bool {
    match &act.kind {
        ActKind::Write(_, VertexPlace::Far, value) => value.is_uniform(),
        ActKind::Tally(_, Fold::Or, value) => matches!(value.kind, ExprKind::Bool(true)),
        _ => acts_on_far_alone(act),
    }
}

/// Whether an expression is known at the neighbour.
pub(crate) fn is_far_alone(expr: &Expr) -> bool {
    !expr.any(&|part| match part.kind {
        ExprKind::Local(_) | ExprKind::Weight => true,
        ExprKind::Read(_, at) | ExprKind::Degree(_, at) | ExprKind::Vertex(at) => {
            at == VertexPlace::Active
        }
        _ => false,
    })
}

struct Analysis<'a> {
    found: Vec<FieldAccess<'a>>,
    guards: Vec<&'a Expr>,
    in_edges: bool,
    block: Option<usize>,
    blocks: usize,
}

impl<'a> Analysis<'a> {
    fn add(&mut self, field: FieldId, how: How, place: VertexPlace, span: Span) {
        let (in_edges, block) = (self.in_edges, self.block);
        let guards = self.guards.clone();
        self.found.push(FieldAccess {
            field,
            how,
            place,
            in_edges,
            block,
            guards,
            value: None,
            span,
        });
    }

    fn reads(&mut self, expr: &'a Expr) {
        expr.walk(&mut |part| {
            if let ExprKind::Read(field, place) = part.kind {
                self.add(field, How::Read, place, part.span);
            }
        });
    }

    /// Reads of a condition happen under its own conjuncts as well.
    fn condition(&mut self, condition: &'a Expr) {
        let known = self.guards.len();
        self.guards.extend(conjuncts(condition));
        self.reads(condition);
        self.guards.truncate(known);
    }

    fn acts(&mut self, acts: &'a [Act]) {
        for act in acts {
            let outside = self.block;
            if self.in_edges && outside.is_none() && acts_on_far_alone(act) {
                self.block = Some(self.blocks);
                self.blocks += 1;
            }
            self.act(act);
            self.block = outside;
        }
    }

    fn act(&mut self, act: &'a Act) {
        match &act.kind {
            ActKind::Write(field, place, value) => {
                self.reads(value);
                self.add(*field, How::Write, *place, act.span);
                self.found.last_mut().expect("just added").value = Some(value);
            }
            ActKind::Fold(field, place, fold, value, then) => {
                self.reads(value);
                self.add(*field, How::Reduce(*fold), *place, act.span);
                let outside = self.block.replace(self.blocks);
                self.blocks += 1;
                self.acts(then);
                self.block = outside;
            }
            ActKind::If(condition, then, otherwise) => {
                self.condition(condition);
                let known = self.guards.len();
                self.guards.extend(conjuncts(condition));
                self.acts(then);
                self.guards.truncate(known);
                self.acts(otherwise);
            }
            ActKind::Edges(_, body) => {
                self.in_edges = true;
                self.acts(body);
                self.in_edges = false;
            }
            _ => act.expressions().into_iter().for_each(|value| self.reads(value)),
        }
    }
}
