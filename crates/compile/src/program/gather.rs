//! Programs that are stationary gathers: in every round every vertex collects one value from all its
//! neighbours and computes its next state from the fold. They become a `VertexProgram` that `pull` with its row
//! blocks, `push`, `frontier`, `spmv` and devices run.
//!
//! Found on the lowered form. One operator visits edges. What follows it without a decision, loops over vertices
//! and swaps, is the *tail* and runs in `apply`. All else up to the operator's next run must be code that all
//! hosts run alike, or loops over vertices that only fold into scalars: *looking ahead*, `apply` folds them one
//! round early, and nobody uses the result if there is no next round.

mod live;

use std::collections::BTreeSet;

use parton_plan::{ColumnRole, Folding, Instruction, OperatorPart};

use super::ir::{Act, ActKind, ExprKind, FieldId, ScalarId, each_expression};
use super::lower::{Lowered, OperatorCode};
use super::vertex_form::{self, FormKind, VertexForm};

/// What is special about a stationary gather.
#[derive(Debug)]
pub struct Gather {
    /// What follows the operator at every vertex.
    pub tail: Vec<TailPart>,
    /// Loops over vertices that fold into scalars for the next round.
    pub ahead: Vec<usize>,
    /// Where sums over all vertices travel.
    pub slots: Vec<Slot>,
    /// Whether what a round leaves in columns depends on what arrived and on columns that never change.
    pub forgets_state: bool,
    /// Whether vertices do the same in every round, whatever they add up to and however many rounds there were.
    pub is_local: bool,
}

/// A part of what follows the operator at every vertex.
#[derive(Debug)]
pub enum TailPart {
    /// A loop over vertices.
    Vertices(usize),
    /// Two fields trade places.
    Swap(FieldId, FieldId),
}

/// A sum over all vertices.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The loop that looks ahead which it belongs to; `None`: the operator and its tail.
    pub ahead: Option<usize>,
    /// The scalar.
    pub scalar: ScalarId,
    /// Whether it is a sum of real numbers; else of whole ones, or whether any holds.
    pub is_real: bool,
    /// Its place among those.
    pub place: usize,
}

/// Sums that the tally of a round has place for, of each kind.
const MAX_SLOTS: usize = 4;

/// Finds out whether a program is a stationary gather; else why it is none.
pub fn recognise(lowered: &Lowered) -> Result<VertexForm, &'static str> {
    let plan = &lowered.plan;
    let edge = vertex_form::edge(lowered)?;
    let planned = &plan.operators[edge.operator];
    if !plan.lists.is_empty() || planned.is_partial {
        return Err("not every vertex takes part in every round");
    }
    let code = &lowered.operators[edge.operator];
    // A plain field travels as it was before the operator's own part at vertices.
    let is_field = plan.columns[edge.message.0].role == ColumnRole::Field;
    if is_field && writes(&code.before, edge.message) {
        return Err("what vertices send is written by the operator that sends it");
    }
    // Neighbours that were told nothing must have nothing to do.
    if !code.arrive.iter().all(|act| matches!(act.kind, ActKind::Absorb(..))) {
        return Err("what neighbours do depends on whether they were told something");
    }
    let run = Instruction::Run(edge.operator);
    let at =
        plan.instructions.iter().position(|one| *one == run).ok_or("its operator never runs")?;
    let (tail, after) = tail(lowered, at + 1);
    let Between { ahead, assigned } = between(lowered, edge.operator, after)
        .ok_or("between two rounds there are loops over vertices that write fields")?;
    let mut gather =
        Gather { tail, ahead, slots: Vec::new(), forgets_state: false, is_local: false };
    gather.slots = slots(lowered, edge.operator, &gather)
        .ok_or("more is folded over all vertices than the sums of a round have place for")?;
    if sends_changing(code, edge.message, &gather.slots, &assigned) {
        return Err("what vertices send depends on a scalar that changes from round to round");
    }
    let state = live::state(lowered, &edge, &gather);
    gather.forgets_state = live::forgets_state(lowered, &edge, &gather, &state);
    let is_summed = !gather.slots.is_empty();
    let mut form = VertexForm { edge, after, state, kind: FormKind::Gather(gather) };
    let is_local = !is_summed && form.scalars(lowered).iter().all(|id| !assigned.contains(&id.0));
    if let FormKind::Gather(gather) = &mut form.kind {
        gather.is_local = is_local;
    }
    Ok(form)
}

impl Gather {
    /// The columns that `apply` may change.
    pub fn changed(&self, lowered: &Lowered, operator: usize) -> BTreeSet<FieldId> {
        let swapped = self.tail.iter().flat_map(|part| match part {
            TailPart::Swap(a, b) => vec![*a, *b],
            TailPart::Vertices(_) => Vec::new(),
        });
        let mut changed: BTreeSet<FieldId> = swapped.collect();
        for act in self.acts_of_apply(lowered, operator) {
            act.walk(&mut |act| match act.kind {
                ActKind::Write(id, ..) | ActKind::Absorb(id, ..) => _ = changed.insert(id),
                _ => {}
            });
        }
        changed
    }

    /// Statements of `apply`, and of loops that look ahead, in their order.
    pub(super) fn acts_of_apply<'l>(&self, lowered: &'l Lowered, operator: usize) -> Vec<&'l Act> {
        let own = vertex_form::own_acts(&lowered.operators[operator]);
        let tail = self.tail.iter().filter_map(|part| match part {
            TailPart::Vertices(number) => Some(&lowered.operators[*number].before),
            TailPart::Swap(..) => None,
        });
        let ahead = self.ahead.iter().map(|number| &lowered.operators[*number].before);
        own.chain(tail.chain(ahead).flatten()).collect()
    }
}

/// The statements that make the message of a vertex.
pub(super) fn sending(code: &OperatorCode, message: FieldId) -> &[Act] {
    if writes(&code.before, message) { &code.before } else { &code.derive }
}

/// Whether statements set a column.
fn writes(acts: &[Act], column: FieldId) -> bool {
    let mut found = false;
    for act in acts {
        act.walk(&mut |act| found |= matches!(act.kind, ActKind::Write(id, ..) if id == column));
    }
    found
}

/// Loops over vertices and swaps from an instruction on, and the instruction after them.
fn tail(lowered: &Lowered, mut at: usize) -> (Vec<TailPart>, usize) {
    let mut parts = Vec::new();
    loop {
        match lowered.plan.instructions.get(at) {
            Some(Instruction::Run(number)) if is_of_vertices(lowered, *number) => {
                parts.push(TailPart::Vertices(*number));
            }
            Some(Instruction::Swap(a, b)) => parts.push(TailPart::Swap(FieldId(*a), FieldId(*b))),
            _ => return (parts, at),
        }
        at += 1;
    }
}

fn is_of_vertices(lowered: &Lowered, operator: usize) -> bool {
    let planned = &lowered.plan.operators[operator];
    planned.parts.iter().all(|part| *part == OperatorPart::Before) && planned.requires.is_empty()
}

/// What happens between the tail and the operator's next run.
#[derive(Default)]
struct Between {
    /// Loops over vertices.
    ahead: Vec<usize>,
    /// Scalars that are set.
    assigned: BTreeSet<usize>,
}

/// What happens between the tail and the operator's next run; `None` if anything is there that vertices would have to
/// take part in, but for folding into scalars.
fn between(lowered: &Lowered, operator: usize, from: usize) -> Option<Between> {
    let plan = &lowered.plan;
    let (mut seen, mut next, mut between) = (BTreeSet::new(), vec![from], Between::default());
    while let Some(at) = next.pop() {
        let Some(instruction) = plan.instructions.get(at).filter(|_| seen.insert(at)) else {
            continue;
        };
        match instruction {
            Instruction::Assign { scalar, .. } => {
                between.assigned.insert(*scalar);
                next.push(at + 1);
            }
            Instruction::Branch { otherwise, .. } => next.extend([at + 1, *otherwise]),
            Instruction::Jump(to) => next.push(*to),
            Instruction::Run(number) if *number == operator => {}
            Instruction::Run(number) => {
                let planned = &plan.operators[*number];
                let is_fine = is_of_vertices(lowered, *number)
                    && planned.writes.is_empty()
                    && planned
                        .scalars
                        .iter()
                        .all(|scalar| *scalar < lowered.program.num_parameters);
                if !is_fine {
                    return None;
                }
                between.ahead.push(*number);
                next.push(at + 1);
            }
            _ => return None,
        }
    }
    Some(between)
}

/// Whether what vertices send depends on a scalar that is not the same in every round. They send at the end of a round,
/// before the scalars of the next one are known.
fn sends_changing(
    code: &OperatorCode,
    message: FieldId,
    slots: &[Slot],
    assigned: &BTreeSet<usize>,
) -> bool {
    let mut is_changing = false;
    each_expression(sending(code, message), &mut |part| {
        if let ExprKind::Scalar(id) = part.kind {
            let is_summed = slots.iter().any(|slot| slot.scalar == id);
            is_changing |= is_summed || assigned.contains(&id.0);
        }
    });
    is_changing
}

/// Where the sums over all vertices travel; `None` if there are too many, or other folds.
fn slots(lowered: &Lowered, operator: usize, gather: &Gather) -> Option<Vec<Slot>> {
    let plan = &lowered.plan;
    let tail = gather.tail.iter().filter_map(|part| match part {
        TailPart::Vertices(number) => Some((None, *number)),
        TailPart::Swap(..) => None,
    });
    let ahead = gather.ahead.iter().map(|number| (Some(*number), *number));
    let own: Vec<_> = [(None, operator)].into_iter().chain(tail).collect();
    let told: Vec<usize> =
        own.iter().flat_map(|(_, op)| plan.operators[*op].tallies.clone()).collect();
    // What is summed up in a round is known at its end, not within it.
    let is_asked = |op: &usize| plan.operators[*op].scalars.iter().any(|one| told.contains(one));
    if own.iter().any(|(_, op)| is_asked(op)) {
        return None;
    }
    let mut slots: Vec<Slot> = Vec::new();
    for (ahead, operator) in own.into_iter().chain(ahead) {
        for &scalar in &plan.operators[operator].tallies {
            if slots.iter().any(|slot| slot.ahead == ahead && slot.scalar.0 == scalar) {
                continue;
            }
            let ty = lowered.program.scalars[scalar].ty;
            match plan.tallies[scalar]? {
                Folding::Sum | Folding::Or => {}
                Folding::Min | Folding::Max => return None,
            }
            let is_real = ty.is_float();
            let place = slots.iter().filter(|slot| slot.is_real == is_real).count();
            if place == MAX_SLOTS {
                return None;
            }
            slots.push(Slot { ahead, scalar: ScalarId(scalar), is_real, place });
        }
    }
    Some(slots)
}
