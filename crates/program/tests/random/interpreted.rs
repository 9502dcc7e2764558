//! A lowered program run by the engine for compiled programs without compiling it: its parts are interpreted.

use std::marker::PhantomData;

use parton_compile::program::emit::{DeviceText, device};
use parton_compile::program::interpret::{View, evaluate, folded, identity};
use parton_compile::program::ir::{
    Act, ActKind, Dir, FieldId, Fold, ScalarId, Ty, VariableId, VertexPlace,
};
use parton_compile::program::lower::Lowered;
use parton_compile::program::recognise::Relaxed;
use parton_engine::ProgramForm;
use parton_engine::device::operators::OperatorText;
use parton_graph::LocalId;
use parton_program::plan::{self, Class, ColumnRole, CompiledPlan, OperatorPart};
use parton_program::reduction::{Max, Min, Or, Reduction, Sum};
use parton_program::{
    AnyColumn, Code, Element, FieldValues, Host, HostData, Outline, Program, RelaxSetting, Tallies,
    Typed, Uniform, column, host,
};
use parton_sync::value::Number;

use super::relaxed::InterpretedRelaxation;

/// A program with its arguments.
///
/// `R` is how two labels become one, where it is a relaxation.
pub(crate) struct Interpreted<R = Min<u32>> {
    pub(crate) lowered: Lowered,
    arguments: Vec<u64>,
    /// Its operators for devices.
    device: Result<OperatorText<'static>, &'static str>,
    relaxed: Option<Relaxed>,
    reduction: PhantomData<R>,
}

// SAFETY: what keeps the form from being shared are its spans. Outside of a macro these are plain numbers, and
// nobody reads them here.
unsafe impl<R: Sync> Sync for Interpreted<R> {}

/// Calls code with the type of a column.
macro_rules! with_type {
    ($ty:expr, $type:ident => $code:expr) => {
        match $ty {
            Ty::U32 | Ty::Vertex | Ty::Variable(_) => {
                type $type = u32;
                $code
            }
            Ty::U64 => {
                type $type = u64;
                $code
            }
            Ty::I32 => {
                type $type = i32;
                $code
            }
            Ty::I64 => {
                type $type = i64;
                $code
            }
            Ty::F32 => {
                type $type = f32;
                $code
            }
            Ty::F64 => {
                type $type = f64;
                $code
            }
            Ty::Bool => {
                type $type = bool;
                $code
            }
        }
    };
}

/// The same for folds of numbers; truth values are only or-ed.
macro_rules! with_fold {
    ($fold:expr, $ty:expr, $reduction:ident => $code:expr) => {
        match ($fold, $ty) {
            (_, Ty::Bool) => { type $reduction = Or<bool>; $code }
            (plan::Folding::Min, ty) => with_number!(ty, Min, $reduction => $code),
            (plan::Folding::Max, ty) => with_number!(ty, Max, $reduction => $code),
            (_, ty) => with_number!(ty, Sum, $reduction => $code),
        }
    };
}

macro_rules! with_number {
    ($ty:expr, $fold:ident, $reduction:ident => $code:expr) => {
        match $ty {
            Ty::U64 => {
                type $reduction = $fold<u64>;
                $code
            }
            Ty::I32 => {
                type $reduction = $fold<i32>;
                $code
            }
            Ty::I64 => {
                type $reduction = $fold<i64>;
                $code
            }
            Ty::F32 => {
                type $reduction = $fold<f32>;
                $code
            }
            Ty::F64 => {
                type $reduction = $fold<f64>;
                $code
            }
            _ => {
                type $reduction = $fold<u32>;
                $code
            }
        }
    };
}

impl<R> Interpreted<R> {
    /// A program as the attribute would compile it. Its text stays in memory, as that of the attribute does.
    pub(crate) fn new(lowered: Lowered, arguments: Vec<u64>, relaxed: Option<Relaxed>) -> Self {
        let device = device(&lowered).map(|DeviceText { text, kernels }| {
            let kernels: Vec<&str> = kernels.into_iter().map(|name| &*name.leak()).collect();
            OperatorText { text: text.leak(), kernels: kernels.leak() }
        });
        Interpreted { lowered, arguments, device, relaxed, reduction: PhantomData }
    }

    fn ty(&self, id: FieldId) -> Ty {
        self.lowered.program.fields[id.0].ty
    }

    fn role(&self, id: FieldId) -> ColumnRole {
        self.lowered.plan.columns[id.0].role
    }

    fn read(&self, host: &Host<'_, u32>, id: FieldId, vertex: LocalId) -> u64 {
        match self.role(id) {
            ColumnRole::Accumulator(fold) => {
                with_fold!(fold, self.ty(id), R => Element::to_bits(host.folded::<R>(id.0).get(vertex)))
            }
            _ => with_type!(self.ty(id), T => Element::to_bits(host.values::<T>(id.0).get(vertex))),
        }
    }

    fn fold_of(&self, scalar: usize) -> Fold {
        match self.lowered.plan.tallies[scalar] {
            Some(plan::Folding::Min) => Fold::Min,
            Some(plan::Folding::Max) => Fold::Max,
            Some(plan::Folding::Or) => Fold::Or,
            _ => Fold::Sum,
        }
    }

    fn acts(&self, acts: &[Act], at: &mut At<'_, '_, R>, tallies: &mut Tallies) {
        acts.iter().for_each(|act| self.act(act, at, tallies));
    }

    fn act(&self, act: &Act, at: &mut At<'_, '_, R>, tallies: &mut Tallies) {
        let host = at.host;
        match &act.kind {
            ActKind::Let(id, value) | ActKind::Set(id, value) => {
                at.locals[id.0] = evaluate(value, at)
            }
            ActKind::Write(id, _, value) => {
                let value = evaluate(value, at);
                with_type!(self.ty(*id), T => {
                    let column = host.values::<T>(id.0);
                    match self.role(*id) {
                        ColumnRole::Message => host::send(column, at.near, T::of_bits(value)),
                        _ => host::set(column, at.near, T::of_bits(value)),
                    }
                });
            }
            ActKind::Fold(id, place, _, value, _) => {
                let value = evaluate(value, at);
                let ColumnRole::Accumulator(fold) = self.role(*id) else {
                    unreachable!("an accumulator")
                };
                with_fold!(fold, self.ty(*id), R => {
                    host::contribute(host.folded::<R>(id.0), at.vertex(*place), Element::of_bits(value));
                });
            }
            ActKind::Absorb(into, from, fold, then) => {
                let (old, given) =
                    (self.read(host, *into, at.near), self.read(host, *from, at.near));
                let ty = self.ty(*into);
                if *fold == Fold::Less && ty.is_unsigned() && given > old {
                    return host.underflow();
                }
                let new = folded(*fold, ty, old, given);
                if new != old {
                    with_type!(ty, T => host::set(host.values::<T>(into.0), at.near, T::of_bits(new)));
                    self.acts(then, at, tallies);
                }
            }
            ActKind::Tally(id, fold, value) => {
                let (value, ty) = (evaluate(value, at), self.lowered.program.scalars[id.0].ty);
                tallies.fold_bits(id.0, value, |a, b| folded(*fold, ty, a, b));
            }
            ActKind::Push(list, _) => host.push(list.0, at.near),
            ActKind::If(condition, then, otherwise) => {
                let branch = if evaluate(condition, at) != 0 { then } else { otherwise };
                self.acts(branch, at, tallies);
            }
            ActKind::Activate => host.activate(at.near),
            ActKind::Edges(..) | ActKind::Gather(..) => unreachable!("lowering leaves none"),
        }
    }

    fn at<'h, 'a>(
        &'h self,
        host: &'h Host<'a, u32>,
        near: LocalId,
        far: LocalId,
        weight: u32,
    ) -> At<'h, 'a, R> {
        let locals = vec![0; self.lowered.program.locals.len()];
        At { code: self, host, near, far, weight, locals, checks: false }
    }
}

/// What a statement sees.
struct At<'h, 'a, R> {
    code: &'h Interpreted<R>,
    host: &'h Host<'a, u32>,
    near: LocalId,
    far: LocalId,
    weight: u32,
    locals: Vec<u64>,
    /// Whether whole numbers that do not fit their type end the run.
    checks: bool,
}

impl<R> At<'_, '_, R> {
    fn vertex(&self, place: VertexPlace) -> LocalId {
        match place {
            VertexPlace::Active => self.near,
            VertexPlace::Far => self.far,
        }
    }
}

impl<R> View for At<'_, '_, R> {
    fn local(&self, id: VariableId) -> u64 {
        self.locals[id.0]
    }

    fn scalar(&self, id: ScalarId) -> u64 {
        self.host.uniform().scalars[id.0]
    }

    fn read(&self, id: FieldId, place: VertexPlace) -> u64 {
        self.code.read(self.host, id, self.vertex(place))
    }

    fn weight(&self) -> u64 {
        u64::from(self.weight)
    }

    fn degree(&self, dir: Dir, place: VertexPlace) -> u64 {
        match dir {
            Dir::In => self.host.in_degree(self.vertex(place)),
            _ => self.host.out_degree(self.vertex(place)),
        }
    }

    fn id(&self, place: VertexPlace) -> u64 {
        u64::from(self.host.id(self.vertex(place)))
    }

    fn size(&self) -> (u64, u64) {
        let uniform = self.host.uniform();
        (uniform.num_vertices, uniform.num_edges)
    }

    fn wrapped(&self) {
        self.host.fitting(((), self.checks));
    }
}

/// What code outside operators sees.
struct Outside<'h>(Uniform<'h>);

impl View for Outside<'_> {
    fn local(&self, _: VariableId) -> u64 {
        unreachable!("outside operators")
    }

    fn scalar(&self, id: ScalarId) -> u64 {
        self.0.scalars[id.0]
    }

    fn read(&self, _: FieldId, _: VertexPlace) -> u64 {
        unreachable!("outside operators")
    }

    fn weight(&self) -> u64 {
        unreachable!("outside operators")
    }

    fn degree(&self, _: Dir, _: VertexPlace) -> u64 {
        unreachable!("outside operators")
    }

    fn id(&self, _: VertexPlace) -> u64 {
        unreachable!("outside operators")
    }

    fn size(&self) -> (u64, u64) {
        (self.0.num_vertices, self.0.num_edges)
    }
}

impl<R: Sync> Outline for Interpreted<R> {
    fn plan(&self) -> &CompiledPlan {
        &self.lowered.plan
    }

    fn arguments(&self) -> Vec<u64> {
        self.arguments.clone()
    }

    fn column(&self, number: usize, proxies: usize, is_shared: bool) -> Box<dyn AnyColumn> {
        let ty = self.ty(FieldId(number));
        match self.role(FieldId(number)) {
            ColumnRole::Accumulator(fold) => {
                with_fold!(fold, ty, R => column::accumulator::<R>(proxies, is_shared))
            }
            ColumnRole::Message => with_type!(ty, T => column::messages::<T>(proxies, is_shared)),
            _ => with_type!(ty, T => column::values::<T>(proxies, is_shared)),
        }
    }

    fn value(&self, number: usize, uniform: Uniform<'_>) -> u64 {
        evaluate(&self.lowered.values[number], &Outside(uniform))
    }

    fn device(&self) -> Result<OperatorText<'_>, &'static str> {
        self.device
    }

    fn identity(&self, scalar: usize) -> u64 {
        identity(self.fold_of(scalar), self.lowered.program.scalars[scalar].ty)
    }

    fn combine(&self, scalar: usize, a: u64, b: u64) -> u64 {
        folded(self.fold_of(scalar), self.lowered.program.scalars[scalar].ty, a, b)
    }
}

impl<R: Sync> Code for Interpreted<R> {
    type Weight = u32;

    fn start(&self, column: usize, value: usize, host: &Host<'_, u32>) {
        host.each(|near, _| {
            let bits = evaluate(&self.lowered.values[value], &self.at(host, near, near, 0));
            with_type!(self.ty(FieldId(column)), T => host.values::<T>(column).put(near, T::of_bits(bits)));
        });
    }

    fn part(&self, operator: usize, part: OperatorPart, host: &Host<'_, u32>) {
        let checks = self.lowered.plan.operators[operator].class == Class::Settling;
        if part != OperatorPart::Edges {
            return host.each(|near, tallies| {
                let parts = &self.lowered.operators[operator];
                let acts = match part {
                    OperatorPart::Derive => &parts.derive,
                    OperatorPart::Before => &parts.before,
                    OperatorPart::After => &parts.after,
                    _ => &parts.arrive,
                };
                let mut at = At { checks, ..self.at(host, near, near, 0) };
                self.acts(acts, &mut at, tallies);
            });
        }
        let direction = self.lowered.plan.operators[operator].direction.expect("it has edges");
        host.each_row(direction, |near, row, tallies| {
            row.each(
                |_| {},
                |far, weight| {
                    if let Some((_, body)) = &self.lowered.operators[operator].edges {
                        let mut at = At { checks, ..self.at(host, near, far, weight) };
                        self.acts(body, &mut at, tallies);
                    }
                },
            );
        });
    }
}

/// Returns its fields as they are.
impl<R: Reduction> Program for Interpreted<R>
where
    R::Value: Number + Typed,
{
    type Output = Vec<FieldValues>;
    type Relaxed = InterpretedRelaxation<R>;
    const NAME: &'static str = "interpreted";
    type GatherState = u32;
    type Gathered<'a> = parton_program::NotGathering;
    const FORM: Option<ProgramForm> =
        Some(ProgramForm::Relaxation { passes_unchanged: true, first_wins: false, adds: true });
    const MAY_WRAP: bool = true;
    const DEVICE: Result<OperatorText<'static>, &'static str> = Err("it is interpreted");
    const GATHER: Option<parton_program::GatherPlaces> = None;

    fn gather_states(_: &HostData<'_>) -> Vec<u32> {
        Vec::new()
    }

    fn compiled_plan() -> &'static CompiledPlan {
        unreachable!("not compiled")
    }

    fn sequential(&self, _: &parton_program::Graph<u32>) -> Vec<FieldValues> {
        unreachable!("interpreted, too")
    }

    fn no_values() -> Vec<FieldValues> {
        Vec::new()
    }

    fn columns(output: Vec<FieldValues>) -> Vec<FieldValues> {
        output
    }

    fn output(columns: Vec<FieldValues>) -> Vec<FieldValues> {
        columns
    }

    fn relaxed(&self, setting: RelaxSetting) -> Option<InterpretedRelaxation<R>> {
        let relaxed = self.relaxed.clone()?;
        Some(InterpretedRelaxation::new(relaxed, self.arguments.clone(), setting))
    }

    fn labelled(labels: Vec<R::Value>) -> Vec<FieldValues> {
        vec![R::Value::values(labels)]
    }
}
