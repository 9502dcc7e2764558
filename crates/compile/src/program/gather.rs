//! Programs that are stationary gathers: in every round every vertex collects one value from all its
//! neighbours and computes its next state from the fold. They become a `VertexProgram`, so that `pull` with its
//! row blocks, `push`, `frontier` and devices run them.
//!
//! Found on the lowered form. One operator visits edges. What follows it without a decision, loops over vertices
//! and swaps, is the *tail* and runs in `apply`. All else up to the operator's next run must be code that all
//! hosts run alike, or loops over vertices that only fold into scalars: *looking ahead*, `apply` folds them one
//! round early, and nobody uses the result if there is no next round.

use std::collections::BTreeSet;

use parton_plan::{ColumnRole, Folding, Instruction, OperatorPart, ProgramShape};

use super::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, VertexPlace, each_expression,
};
use super::lower::Lowered;

/// A stationary gather.
#[derive(Debug)]
pub struct Gathered {
    /// The operator that visits edges.
    pub operator: usize,
    /// Which edges messages travel along.
    pub dir: Dir,
    /// The column that travels.
    pub message: FieldId,
    /// How contributions become one.
    pub fold: Folding,
    /// The column of contributions.
    pub accumulator: FieldId,
    /// What an edge makes of a message.
    pub along: Expr,
    /// What follows the operator at every vertex.
    pub tail: Vec<TailPart>,
    /// The instruction after the tail.
    pub after_tail: usize,
    /// Loops over vertices that fold into scalars for the next round.
    pub ahead: Vec<usize>,
    /// Where sums over all vertices travel.
    pub slots: Vec<Slot>,
    /// Columns that outlast a round.
    pub state: Vec<FieldId>,
    /// Whether what a round leaves in columns depends on what arrived and on columns that never change.
    pub forgets_state: bool,
    /// Whether every round does the same, whatever vertices add up to and however many rounds there were.
    pub is_local: bool,
}

impl Gathered {
    /// Statements of `apply`, and of loops that look ahead, in their order.
    pub fn acts_of_apply<'l>(&self, lowered: &'l Lowered) -> Vec<&'l Act> {
        let code = &lowered.operators[self.operator];
        let tail = self.tail.iter().filter_map(|part| match part {
            TailPart::Vertices(number) => Some(&lowered.operators[*number].before),
            TailPart::Swap(..) => None,
        });
        let ahead = self.ahead.iter().map(|number| &lowered.operators[*number].before);
        let own = [&code.before, &code.after, &code.arrive];
        own.into_iter().chain(tail).chain(ahead).flatten().collect()
    }

    /// The scalars that vertices and edges use.
    pub fn scalars(&self, lowered: &Lowered) -> Vec<ScalarId> {
        let mut used = BTreeSet::new();
        let code = &lowered.operators[self.operator];
        let mut note = |part: &Expr| {
            if let ExprKind::Scalar(id) = part.kind {
                used.insert(id);
            }
        };
        self.along.walk(&mut note);
        for act in self.acts_of_apply(lowered).into_iter().chain(&code.derive) {
            each_expression(std::slice::from_ref(act), &mut note);
        }
        used.into_iter().collect()
    }

    /// Columns that `apply` may change.
    pub fn changed(&self, lowered: &Lowered) -> BTreeSet<FieldId> {
        let swapped = self.tail.iter().flat_map(|part| match part {
            TailPart::Swap(a, b) => vec![*a, *b],
            TailPart::Vertices(_) => Vec::new(),
        });
        let mut changed: BTreeSet<FieldId> = swapped.collect();
        for act in self.acts_of_apply(lowered) {
            act.walk(&mut |act| match act.kind {
                ActKind::Write(id, ..) | ActKind::Absorb(id, ..) => _ = changed.insert(id),
                _ => {}
            });
        }
        changed
    }
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

/// Finds out whether a program is a stationary gather, and notes it in the plan.
pub fn recognise(lowered: &mut Lowered) -> Option<Gathered> {
    let plan = &lowered.plan;
    let mut with_edges = plan.operators.iter().enumerate().filter(|(_, op)| op.direction.is_some());
    let (operator, planned) = with_edges.next()?;
    let is_fine = with_edges.next().is_none()
        && plan.lists.is_empty()
        && !planned.is_partial
        && planned.requires.is_empty();
    let at = plan.instructions.iter().position(|one| *one == Instruction::Run(operator))?;
    let mut runs = plan.instructions.iter().filter(|one| **one == Instruction::Run(operator));
    if !is_fine || runs.nth(1).is_some() {
        return None;
    }
    let (dir, message, fold, accumulator, along) = edge(lowered, operator)?;
    let (tail, after_tail) = tail(lowered, at + 1);
    let Between { ahead, assigned } = between(lowered, operator, after_tail)?;
    let mut gathered = Gathered {
        operator,
        dir,
        message,
        fold,
        accumulator,
        along,
        tail,
        after_tail,
        ahead,
        slots: Vec::new(),
        state: Vec::new(),
        forgets_state: false,
        is_local: false,
    };
    gathered.slots = slots(lowered, &gathered)?;
    gathered.state = state(lowered, &gathered);
    gathered.forgets_state = forgets_state(lowered, &gathered);
    let is_fixed = |scalar: &ScalarId| !assigned.contains(&scalar.0);
    gathered.is_local = gathered.slots.is_empty() && gathered.scalars(lowered).iter().all(is_fixed);
    lowered.plan.shape = ProgramShape::Gather { operator };
    Some(gathered)
}

/// What edges do: one fold, of a value that one end sends.
fn edge(lowered: &Lowered, operator: usize) -> Option<(Dir, FieldId, Folding, FieldId, Expr)> {
    let code = &lowered.operators[operator];
    let (dir, body) = code.edges.as_ref()?;
    let [Act { kind: ActKind::Fold(accumulator, place, _, along, _), .. }] = &body[..] else {
        return None;
    };
    let sender = match place {
        VertexPlace::Active => VertexPlace::Far,
        VertexPlace::Far => VertexPlace::Active,
    };
    let mut message = None;
    let mut is_fine = true;
    along.walk(&mut |part| match part.kind {
        ExprKind::Read(column, at) => {
            is_fine &= at == sender && message.is_none_or(|known| known == column);
            message = Some(column);
        }
        ExprKind::Vertex(_) | ExprKind::Degree(..) | ExprKind::Local(_) => is_fine = false,
        _ => {}
    });
    let message = message.filter(|_| is_fine)?;
    let (message_ty, ty) =
        (lowered.program.fields[message.0].ty, lowered.program.fields[accumulator.0].ty);
    let ColumnRole::Accumulator(fold) = lowered.plan.columns[accumulator.0].role else {
        return None;
    };
    // A plain field travels as it was before the operator's own part at vertices.
    let is_field = lowered.plan.columns[message.0].role == ColumnRole::Field;
    let is_written = is_field && writes(&code.before, message);
    // Neighbours that were told nothing must have nothing to do.
    let is_absorbing = code.arrive.iter().all(|act| matches!(act.kind, ActKind::Absorb(..)));
    let dir = match (dir, sender) {
        (Dir::Both, _) => Dir::Both,
        (dir, VertexPlace::Active) => *dir,
        (Dir::Out, VertexPlace::Far) => Dir::In,
        (Dir::In, VertexPlace::Far) => Dir::Out,
    };
    (message_ty != Ty::Bool && ty != Ty::Bool && !is_written && is_absorbing)
        .then(|| (dir, message, fold, *accumulator, along.clone()))
}

/// Whether statements set a column.
pub(super) fn writes(acts: &[Act], column: FieldId) -> bool {
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

/// What is between the tail and the operator's next run, or the end.
#[derive(Default)]
struct Between {
    /// Loops over vertices.
    ahead: Vec<usize>,
    /// Scalars that get a value.
    assigned: BTreeSet<usize>,
}

/// What is between the tail and the operator's next run; `None` if anything is there that vertices would have to
/// take part in.
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

/// Where the sums over all vertices travel; `None` if there are too many, or other folds.
fn slots(lowered: &Lowered, gathered: &Gathered) -> Option<Vec<Slot>> {
    let plan = &lowered.plan;
    let tail = gathered.tail.iter().filter_map(|part| match part {
        TailPart::Vertices(number) => Some((None, *number)),
        TailPart::Swap(..) => None,
    });
    let ahead = gathered.ahead.iter().map(|number| (Some(*number), *number));
    let own: Vec<_> = [(None, gathered.operator)].into_iter().chain(tail).collect();
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

/// Columns whose values at the end of a round somebody reads later.
fn state(lowered: &Lowered, gathered: &Gathered) -> Vec<FieldId> {
    let code = &lowered.operators[gathered.operator];
    let mut live: BTreeSet<FieldId> = lowered.program.results.iter().copied().collect();
    loop {
        let mut before = live.clone();
        live_before_apply(lowered, gathered, &mut before);
        live_before(&code.derive, &mut before);
        before.insert(gathered.message);
        live_before(&code.before, &mut before);
        live_before(&code.derive, &mut before);
        before.retain(|id| lowered.plan.columns[id.0].role == ColumnRole::Field);
        if before.is_subset(&live) {
            return live.into_iter().collect();
        }
        live.extend(before);
    }
}

/// What must be known before `apply`, if `live` is asked for after it.
fn live_before_apply(lowered: &Lowered, gathered: &Gathered, live: &mut BTreeSet<FieldId>) {
    let code = &lowered.operators[gathered.operator];
    for &number in &gathered.ahead {
        live_before(&lowered.operators[number].before, live);
    }
    for part in gathered.tail.iter().rev() {
        match part {
            TailPart::Vertices(number) => live_before(&lowered.operators[*number].before, live),
            TailPart::Swap(a, b) => {
                let (had_a, had_b) = (live.remove(a), live.remove(b));
                live.extend(had_a.then_some(*b));
                live.extend(had_b.then_some(*a));
            }
        }
    }
    for acts in [&code.arrive, &code.after, &code.before] {
        live_before(acts, live);
    }
}

/// Whether `apply` needs nothing that it has changed in the round before. A subtraction that fails does so in one
/// round and not in another.
fn forgets_state(lowered: &Lowered, gathered: &Gathered) -> bool {
    let mut live: BTreeSet<FieldId> = gathered.state.iter().copied().collect();
    live_before_apply(lowered, gathered, &mut live);
    let mut subtracts = false;
    for act in gathered.acts_of_apply(lowered) {
        act.walk(&mut |act| subtracts |= matches!(act.kind, ActKind::Absorb(_, _, Fold::Less, _)));
    }
    let changed = gathered.changed(lowered);
    let needs = |id: &FieldId| *id != gathered.accumulator && live.contains(id);
    !subtracts && !changed.iter().any(needs)
}

/// What must be known before some statements, if `live` is asked for after them.
fn live_before(acts: &[Act], live: &mut BTreeSet<FieldId>) {
    for act in acts.iter().rev() {
        match &act.kind {
            ActKind::Write(field, _, _) => _ = live.remove(field),
            ActKind::If(_, then, otherwise) => {
                let mut other = live.clone();
                live_before(then, live);
                live_before(otherwise, &mut other);
                live.extend(other);
            }
            ActKind::Absorb(into, _, _, then) => {
                let mut changed = live.clone();
                live_before(then, &mut changed);
                live.extend(changed);
                live.insert(*into);
            }
            _ => {}
        }
        if let Some(value) = act.expressions() {
            value.walk(&mut |part| {
                if let ExprKind::Read(field, _) = part.kind {
                    live.insert(field);
                }
            });
        }
    }
}
