//! Restructuring and communication: operators split into parts between which values travel, expressions of
//! one vertex hoisted out of loops over edges, worklists as sets, and the values that each part needs where
//! (Abelian, sections 3.2 and 3.3).
//!
//! An operator becomes up to five parts. *Derive* computes at all masters what edges read of neighbours.
//! *Before* runs at active masters up to the loop over edges. *Edges* runs wherever edges are, and only folds
//! into accumulators. *After* runs at active masters with what their own edges gathered, *arrive* at masters
//! that neighbours contributed to.

mod control;
mod described;
mod hoist;
mod saved;
mod split;

use parton_plan::{
    ColumnRole, CompiledPlan, EdgeDirection, EdgeSide, EngineFit, OperatorPart, OperatorTraffic,
    PlannedOperator as Planned, ProgramShape,
};
use syn::Result;

use super::classify::{Verdict, classify};
use super::emit::device;
use super::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, Named, Operator, Over, ParsedProgram,
    each_expression,
};
use super::restructure::restructure;
use control::Control;

/// A program ready to run: the plan, and the code that it numbers.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program, with a field for every column.
    pub program: ParsedProgram,
    /// What happens when.
    pub plan: CompiledPlan,
    /// The code of operators.
    pub operators: Vec<OperatorCode>,
    /// Expressions outside operators.
    pub values: Vec<Expr>,
}

/// The code of an operator.
#[derive(Clone, Debug, Default)]
pub struct OperatorCode {
    /// At all masters.
    pub derive: Vec<Act>,
    /// At active masters.
    pub before: Vec<Act>,
    /// At edges.
    pub edges: Option<(Dir, Vec<Act>)>,
    /// At active masters, after their edges.
    pub after: Vec<Act>,
    /// At masters that neighbours contributed to.
    pub arrive: Vec<Act>,
}

/// Lowers a program.
pub fn lower(program: ParsedProgram) -> Result<Lowered> {
    let mut program = restructure(program)?;
    let verdicts = classify(&program)?;
    let num_fields = program.fields.len();
    let mut lowering = Lowering {
        roles: vec![ColumnRole::Field; num_fields],
        program: program.clone(),
        operators: Vec::new(),
        planned: Vec::new(),
        verdicts: verdicts.into_iter(),
    };
    let mut control = Control::default();
    let body = std::mem::take(&mut program.body);
    control.steps(&body, &mut lowering)?;
    let Lowering { program, roles, operators, planned, .. } = lowering;
    let mut plan = CompiledPlan {
        name: program.name.clone(),
        scalars: program.scalars.iter().map(|scalar| scalar.name.clone()).collect(),
        tallies: tallies(&program, &operators)?,
        columns: Vec::new(),
        lists: program.lists.clone(),
        operators: planned,
        instructions: control.instructions,
        results: program.results.iter().map(|field| field.0).collect(),
        degrees: degrees(&operators, &control.values),
        shape: ProgramShape::Steps,
        fit: EngineFit { engines: vec!["steps".into()], ..EngineFit::default() },
    };
    plan.columns = columns(&program, &roles, &plan);
    let mut lowered = Lowered { program, plan, operators, values: control.values };
    lowered.plan.fit.off_devices.steps = device(&lowered).err().map(String::from);
    Ok(lowered)
}

/// How each scalar is folded.
fn tallies(
    program: &ParsedProgram,
    operators: &[OperatorCode],
) -> Result<Vec<Option<parton_plan::Folding>>> {
    let mut found = vec![None; program.scalars.len()];
    let mut error = None;
    for parts in operators {
        parts.each_act(&mut |act| {
            if let ActKind::Tally(id, fold, _) = &act.kind {
                let fold = accumulator(*fold);
                if found[id.0].is_some_and(|other| other != fold) {
                    let why = format!(
                        "`{}` is folded two ways by different loops: use two scalars",
                        program.scalars[id.0].name
                    );
                    error = Some(syn::Error::new(act.span, why));
                }
                found[id.0] = Some(fold);
            }
        });
    }
    error.map_or(Ok(found), Err)
}

/// Which degrees are asked for.
fn degrees(operators: &[OperatorCode], values: &[Expr]) -> [bool; 2] {
    let mut asked = [false; 2];
    let mut note = |part: &Expr| {
        if let ExprKind::Degree(dir, _) = part.kind {
            asked[usize::from(dir == Dir::In)] = true;
        }
    };
    values.iter().for_each(|value| value.walk(&mut note));
    for acts in operators.iter().flat_map(OperatorCode::all) {
        each_expression(acts, &mut note);
    }
    asked
}

fn columns(
    program: &ParsedProgram,
    roles: &[ColumnRole],
    plan: &CompiledPlan,
) -> Vec<parton_plan::PlannedColumn> {
    let mut is_shared: Vec<bool> = (0..roles.len())
        .map(|column| {
            plan.operators.iter().any(|operator| {
                operator.traffic.reads.iter().any(|(read, _)| *read == column)
                    || operator.traffic.messages.contains(&column)
                    || operator.traffic.folds.iter().any(|(fold, _)| *fold == column)
            })
        })
        .collect();
    for instruction in &plan.instructions {
        if let parton_plan::Instruction::Swap(a, b) = instruction {
            let either = is_shared[*a] || is_shared[*b];
            (is_shared[*a], is_shared[*b]) = (either, either);
        }
    }
    let each = program.fields.iter().zip(roles).zip(is_shared);
    each.map(|((field, role), is_shared)| parton_plan::PlannedColumn {
        name: field.name.clone(),
        ty: field.ty.name().into(),
        role: *role,
        is_shared,
    })
    .collect()
}

impl OperatorCode {
    /// Calls `visit` with every statement.
    pub(crate) fn each_act<'a>(&'a self, visit: &mut dyn FnMut(&'a Act)) {
        self.of_vertices().for_each(|acts| acts.iter().for_each(|act| act.walk(visit)));
        if let Some((_, body)) = &self.edges {
            body.iter().for_each(|act| act.walk(visit));
        }
    }

    fn of_vertices(&self) -> impl Iterator<Item = &Vec<Act>> {
        [&self.derive, &self.before, &self.after, &self.arrive].into_iter()
    }

    /// The statements of all parts.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Vec<Act>> {
        self.of_vertices().chain(self.edges.as_ref().map(|(_, body)| body))
    }
}

struct Lowering {
    program: ParsedProgram,
    roles: Vec<ColumnRole>,
    operators: Vec<OperatorCode>,
    planned: Vec<Planned>,
    verdicts: std::vec::IntoIter<Verdict>,
}

impl Lowering {
    /// A column that the compiler adds.
    fn add(
        &mut self,
        name: String,
        ty: super::ir::Ty,
        role: ColumnRole,
        span: proc_macro2::Span,
    ) -> FieldId {
        self.program.fields.push(Named { name, ty, span });
        self.roles.push(role);
        FieldId(self.program.fields.len() - 1)
    }

    /// Lowers the next operator and returns its number. Values that it requires are numbered by `value`.
    fn operator(
        &mut self,
        operator: &Operator,
        value: &mut dyn FnMut(&Expr) -> usize,
    ) -> Result<usize> {
        let verdict = self.verdicts.next().expect("a verdict for every operator");
        let parts = split::split(self, operator)?;
        let number = self.operators.len();
        let line = operator.span.start().line;
        let mut requires = Vec::new();
        for (condition, why) in &verdict.requires {
            requires.push((value(condition), why.clone()));
        }
        let mut planned = Planned {
            name: format!("{}:{line}", self.program.name),
            list: match operator.over {
                Over::All => None,
                Over::List(list) => Some(list.0),
            },
            class: verdict.class,
            direction: parts.edges.as_ref().map(|(dir, _)| direction(*dir)),
            is_partial: contains_activate(&parts.before),
            traffic: OperatorTraffic::default(),
            writes: Vec::new(),
            scalars: Vec::new(),
            tallies: Vec::new(),
            requires,
            parts: parts.present(),
            accesses: described::accesses(operator),
            elimination: described::elimination(&self.program, operator),
        };
        self.describe(&parts, &mut planned);
        self.operators.push(parts);
        self.planned.push(planned);
        Ok(number)
    }

    /// What the parts of an operator read and write where.
    fn describe(&self, parts: &OperatorCode, planned: &mut Planned) {
        fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
            if !list.contains(&item) {
                list.push(item);
            }
        }
        let side = |place| match place {
            super::ir::VertexPlace::Active => EdgeSide::Near,
            super::ir::VertexPlace::Far => EdgeSide::Far,
        };
        if let Some((_, body)) = &parts.edges {
            each_expression(body, &mut |part| {
                if let ExprKind::Read(column, place) = part.kind
                    && self.roles[column.0] != ColumnRole::Message
                {
                    note(&mut planned.traffic.reads, (column.0, side(place)));
                }
            });
            for act in body {
                act.walk(&mut |act| {
                    if let ActKind::Fold(column, place, ..) = act.kind {
                        note(&mut planned.traffic.folds, (column.0, side(place)));
                    }
                });
            }
        }
        for acts in parts.of_vertices() {
            for act in acts {
                act.walk(&mut |act| match act.kind {
                    ActKind::Write(column, ..) if self.roles[column.0] == ColumnRole::Message => {
                        note(&mut planned.traffic.messages, column.0);
                    }
                    ActKind::Write(column, ..) | ActKind::Absorb(column, ..) => {
                        note(&mut planned.writes, column.0);
                    }
                    _ => {}
                });
            }
        }
        for acts in parts.all() {
            each_expression(acts, &mut |part| {
                if let ExprKind::Scalar(id) = part.kind {
                    note(&mut planned.scalars, id.0);
                }
            });
        }
        let is_told_otherwise = |act: &Act| match &act.kind {
            ActKind::Absorb(..) => true,
            ActKind::If(condition, ..) => matches!(condition.kind, ExprKind::Read(column, _)
                if matches!(self.roles[column.0], ColumnRole::Accumulator(_))),
            _ => false,
        };
        planned.traffic.tells_by_folds = !parts.arrive.iter().all(is_told_otherwise);
        parts.each_act(&mut |act| {
            if let ActKind::Tally(id, ..) = act.kind {
                note(&mut planned.tallies, id.0);
            }
        });
    }
}

impl OperatorCode {
    fn present(&self) -> Vec<OperatorPart> {
        let parts = [
            (OperatorPart::Derive, !self.derive.is_empty()),
            (OperatorPart::Before, !self.before.is_empty()),
            (OperatorPart::Edges, self.edges.is_some()),
            (OperatorPart::After, !self.after.is_empty()),
            (OperatorPart::Arrive, !self.arrive.is_empty()),
        ];
        parts.into_iter().filter_map(|(part, is_there)| is_there.then_some(part)).collect()
    }
}

fn contains_activate(acts: &[Act]) -> bool {
    let mut found = false;
    for act in acts {
        act.walk(&mut |act| found |= matches!(act.kind, ActKind::Activate));
    }
    found
}

/// What an accumulator folds for a fold.
pub(crate) fn accumulator(fold: Fold) -> parton_plan::Folding {
    match fold {
        Fold::Min => parton_plan::Folding::Min,
        Fold::Max => parton_plan::Folding::Max,
        Fold::Sum | Fold::Less => parton_plan::Folding::Sum,
        Fold::Or => parton_plan::Folding::Or,
    }
}

fn direction(dir: Dir) -> EdgeDirection {
    match dir {
        Dir::Out => EdgeDirection::Out,
        Dir::In => EdgeDirection::In,
        Dir::Both => EdgeDirection::Both,
    }
}
