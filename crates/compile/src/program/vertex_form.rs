//! Programs that are a `VertexProgram`: one operator visits edges, one value travels along each, and one fold
//! receives it. Engines for vertex programs and devices run them. [`gather`] finds those in which
//! all vertices take part in every round, [`rotate`] those in which vertices wake their neighbours.

use std::collections::BTreeSet;

use parton_plan::{ColumnRole, Folding, Instruction, ProgramShape};
use proc_macro2::TokenStream;
use quote::quote;

use super::emit::{ROUNDED_OTHERWISE, is_rounded_otherwise_on_devices};
use super::gather::{self, Gather};
use super::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, VertexPlace, each_expression,
};
use super::lower::{Lowered, OperatorCode};
use super::rotate::{self, Rotated};

/// A program as a vertex program.
#[derive(Debug)]
pub struct VertexForm {
    /// What travels along edges.
    pub edge: MessageEdge,
    /// The instruction at which the program goes on after a round, or after all of them.
    pub after: usize,
    /// Columns that outlast a round.
    pub state: Vec<FieldId>,
    /// Who takes part in a round.
    pub kind: FormKind,
}

/// Who takes part in a round.
#[derive(Debug)]
pub enum FormKind {
    /// All vertices.
    Gather(Gather),
    /// Those that something has arrived at.
    Rotated(Rotated),
}

/// What travels along edges.
#[derive(Debug)]
pub struct MessageEdge {
    /// The operator that visits edges.
    pub operator: usize,
    /// Which edges messages travel along.
    pub dir: Dir,
    /// The end that sends, as the operator sees it.
    pub sender: VertexPlace,
    /// The column that travels.
    pub message: FieldId,
    /// How contributions become one.
    pub fold: Folding,
    /// The column of contributions.
    pub accumulator: FieldId,
    /// What an edge makes of a message.
    pub along: Expr,
}

/// Finds out whether a program is a vertex program, and notes it in the plan; or why it is none.
pub fn recognise(lowered: &mut Lowered) -> Option<VertexForm> {
    let (engines, shape, form): (&[&str], _, _) = match gather::recognise(lowered) {
        Ok(form) => {
            let shape = ProgramShape::Gather { operator: form.edge.operator };
            (&["pull", "push", "frontier", "spmv", "steps"], shape, form)
        }
        Err(why) => {
            lowered.plan.fit.refusals.push(("a stationary gather".into(), why.into()));
            let (form, is_any_order) = match rotate::recognise(lowered) {
                Ok(found) => found,
                Err(why) => {
                    let refusal = ("a rotated vertex program".into(), why.into());
                    lowered.plan.fit.refusals.push(refusal);
                    return None;
                }
            };
            let shape = ProgramShape::Rotated { operator: form.edge.operator, is_any_order };
            (&["frontier", "push", "pull", "spmv", "steps"], shape, form)
        }
    };
    lowered.plan.shape = shape;
    lowered.plan.fit.engines = engines.iter().map(ToString::to_string).collect();
    lowered.plan.fit.off_devices.form = form.off_devices(lowered).map(String::from);
    Some(form)
}

impl VertexForm {
    /// As what engines see it.
    pub(super) fn program_form(&self, root: &TokenStream) -> TokenStream {
        let form = quote!(#root::engine::ProgramForm);
        match self.kind {
            FormKind::Gather(_) => quote!(#form::VertexProgram { stationary: true }),
            FormKind::Rotated(_) => quote!(#form::Rotated),
        }
    }

    /// The code of the operator that visits edges.
    pub(super) fn code<'l>(&self, lowered: &'l Lowered) -> &'l OperatorCode {
        &lowered.operators[self.edge.operator]
    }

    /// Statements of `apply`, and of loops that look ahead, in their order.
    pub(super) fn acts_of_apply<'l>(&self, lowered: &'l Lowered) -> Vec<&'l Act> {
        match &self.kind {
            FormKind::Gather(gather) => gather.acts_of_apply(lowered, self.edge.operator),
            FormKind::Rotated(_) => own_acts(self.code(lowered)).collect(),
        }
    }

    /// The scalars that vertices and edges use.
    pub(super) fn scalars(&self, lowered: &Lowered) -> Vec<ScalarId> {
        let mut used = BTreeSet::new();
        self.each_expression(lowered, &mut |part| {
            if let ExprKind::Scalar(id) = part.kind {
                used.insert(id);
            }
        });
        used.into_iter().collect()
    }

    /// Calls `visit` with every expression of the program.
    pub(super) fn each_expression<'l>(
        &'l self,
        lowered: &'l Lowered,
        visit: &mut dyn FnMut(&'l Expr),
    ) {
        self.edge.along.walk(visit);
        for act in self.acts_of_apply(lowered).into_iter().chain(&self.code(lowered).derive) {
            each_expression(std::slice::from_ref(act), visit);
        }
    }

    /// Whether whole numbers without a sign may fall below 0.
    pub(super) fn may_underflow(&self, lowered: &Lowered) -> bool {
        let mut found = false;
        for act in self.acts_of_apply(lowered) {
            act.walk(&mut |act| {
                if let ActKind::Absorb(into, _, Fold::Less, _) = act.kind {
                    found |= lowered.program.fields[into.0].ty.is_unsigned();
                }
            });
        }
        found
    }

    /// Why it does not run on devices, if so.
    pub(super) fn off_devices(&self, lowered: &Lowered) -> Option<&'static str> {
        let mut is_rounded_otherwise = false;
        self.each_expression(lowered, &mut |part| {
            is_rounded_otherwise |= is_rounded_otherwise_on_devices(part);
        });
        if is_rounded_otherwise {
            return Some(ROUNDED_OTHERWISE);
        }
        let is_gather = matches!(self.kind, FormKind::Gather(_));
        (is_gather && self.may_underflow(lowered))
            .then_some("of gathers, only processors find out whether a number falls below 0")
    }
}

/// What an operator does at a vertex that something has arrived at.
pub(super) fn own_acts(code: &OperatorCode) -> impl Iterator<Item = &Act> {
    [&code.before, &code.after, &code.arrive].into_iter().flatten()
}

/// What edges do: one fold, of a value that one end sends; else why that is not so.
pub(super) fn edge(lowered: &Lowered) -> Result<MessageEdge, &'static str> {
    let plan = &lowered.plan;
    let mut with_edges = plan.operators.iter().enumerate().filter(|(_, op)| op.direction.is_some());
    let (operator, planned) = with_edges.next().ok_or("no operator visits edges")?;
    if with_edges.next().is_some() {
        return Err("several operators visit edges");
    }
    if !planned.requires.is_empty() {
        return Err("its operator has conditions that are checked when it runs");
    }
    if plan.instructions.iter().filter(|one| **one == Instruction::Run(operator)).count() != 1 {
        return Err("its operator runs at several places");
    }
    let (dir, body) = lowered.operators[operator].edges.as_ref().expect("it visits edges");
    let [Act { kind: ActKind::Fold(accumulator, place, _, along, _), .. }] = &body[..] else {
        return Err("edges do more than to fold one value");
    };
    let sender = match place {
        VertexPlace::Active => VertexPlace::Far,
        VertexPlace::Far => VertexPlace::Active,
    };
    let mut read = None;
    let mut is_message = true;
    along.walk(&mut |part| match part.kind {
        ExprKind::Read(column, at) => {
            is_message &= at == sender && read.is_none_or(|known| known == column);
            read = Some(column);
        }
        ExprKind::Vertex(_) | ExprKind::Degree(..) | ExprKind::Local(_) => is_message = false,
        _ => {}
    });
    if !is_message {
        return Err("an edge needs more than one value of the vertex that sends");
    }
    // Where only some vertices visit their edges, a message that nobody reads says that they do.
    let first_message = planned.traffic.messages.first().map(|column| FieldId(*column));
    let message = read.or(first_message).ok_or("edges read nothing of the vertex that sends")?;
    let ColumnRole::Accumulator(fold) = plan.columns[accumulator.0].role else {
        unreachable!("edges fold into accumulators")
    };
    let ty = |column: FieldId| lowered.program.fields[column.0].ty;
    if ty(*accumulator) == Ty::Bool || (read.is_some() && ty(message) == Ty::Bool) {
        return Err("truth values travel: engines for vertex programs send numbers");
    }
    let dir = match (dir, sender) {
        (Dir::Both, _) => Dir::Both,
        (dir, VertexPlace::Active) => *dir,
        (Dir::Out, VertexPlace::Far) => Dir::In,
        (Dir::In, VertexPlace::Far) => Dir::Out,
    };
    let (accumulator, along) = (*accumulator, along.clone());
    Ok(MessageEdge { operator, dir, sender, message, fold, accumulator, along })
}
