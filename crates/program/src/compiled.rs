//! A compiled program as a whole, and what it returns.

use parton_engine::device::operators::OperatorText;
use parton_engine::{
    EngineInfo, EngineList, ProgramForm, Relaxation, Vertex, VertexProgram, engines,
};
use parton_sync::reduction::Min;
use parton_sync::{Result, Value};

use crate::code::{Code, Element};
use crate::gather::{GatherPlaces, Gathering};
use crate::host::HostData;
use crate::relaxed::RelaxSetting;
use crate::steps::STEPS;

/// A compiled program with its arguments. The attribute `program` implements this.
pub trait Program: Code + Sized {
    /// What it returns.
    type Output;
    /// The program as a relaxation, if it is one.
    type Relaxed: Relaxation;
    /// What a vertex of a vertex program knows.
    type GatherState: Copy + Send + Sync;
    /// The program as a vertex program, if it is one.
    type Gathered<'a>: Gathering<'a> + VertexProgram<State = Self::GatherState>
    where
        Self: 'a;
    /// Its name.
    const NAME: &'static str;
    /// As what engines other than [`STEPS`] see it; `None` if they do not run it.
    const FORM: Option<ProgramForm>;
    /// Whether it is a relaxation that adds whole numbers which may not fit their type.
    const MAY_WRAP: bool;
    /// The engines that run it, the one that suits first.
    const ENGINES: &'static [&'static EngineInfo] = const { &engines_for(Self::FORM) }.as_slice();
    /// Whether it is a relaxation.
    const IS_RELAXATION: bool = matches!(Self::FORM, Some(ProgramForm::Relaxation { .. }));
    /// Whether it is a relaxation whose labels grow along edges by what is added to them.
    const ADDS: bool = matches!(Self::FORM, Some(ProgramForm::Relaxation { adds: true, .. }));
    /// Its operators for devices, or why they do not run there.
    const DEVICE: Result<OperatorText<'static>, &'static str>;
    /// Where a vertex program goes on, if it is one.
    const GATHER: Option<GatherPlaces>;
    /// Whether it is a vertex program.
    const IS_VERTEX_PROGRAM: bool = Self::GATHER.is_some();
    /// Whether it is a vertex program in which vertices wake their neighbours.
    const IS_ROTATED: bool = matches!(Self::FORM, Some(ProgramForm::Rotated));
    /// Whether it is one whose hosts need not wait for each other.
    const IS_ANY_ORDER: bool = false;

    /// What the compiler made of it.
    fn compiled_plan() -> &'static parton_plan::CompiledPlan;

    /// The engine that suits where only some hosts compute on devices.
    fn mixing_engine() -> &'static EngineInfo {
        crate::share::mixing_engine(Self::ENGINES)
    }

    /// Runs it as it is written, on one thread.
    fn sequential(&self, graph: &crate::surface::Graph<Self::Weight>) -> Self::Output;

    /// The columns it returns, without values.
    fn no_values() -> Vec<FieldValues>;

    /// The columns of what it returns.
    fn columns(output: Self::Output) -> Vec<FieldValues>;

    /// What it returns, of all vertices.
    fn output(columns: Vec<FieldValues>) -> Self::Output;

    /// No label of a relaxation starts with more than this, in a graph with this number of
    /// vertices.
    fn start_bound(&self, _vertices: f64) -> f64 {
        0.0
    }

    /// What this host's masters know before the first round of a vertex program.
    fn gather_states(_host: &HostData<'_>) -> Vec<Self::GatherState> {
        Vec::new()
    }

    /// Gives the columns of this host what its masters know after the last round of a rotated vertex program.
    fn keep_states(_host: &HostData<'_>, _states: &[Self::GatherState]) {}

    /// The program as a relaxation, if it is one.
    fn relaxed(&self, setting: RelaxSetting) -> Option<Self::Relaxed>;

    /// The column it returns, of the labels of a relaxation.
    fn labelled(labels: Vec<<Self::Relaxed as Relaxation>::Label>) -> Vec<FieldValues>;
}

/// The engines that fit a form, and the one that runs all compiled programs.
const fn engines_for(form: Option<ProgramForm>) -> EngineList {
    match form {
        Some(form) => engines::fitting(form).with(STEPS),
        None => EngineList::only(STEPS),
    }
}

/// Where a program runs: on hosts of this process, or as this host's share of a job.
pub trait Venue {
    /// What can go wrong.
    type Error;
    /// What comes back, with the fields that the program returns.
    type Outcome<O>;

    /// Runs a program.
    fn run<P: Program>(&mut self, program: &P) -> Result<Self::Outcome<P::Output>, Self::Error>;
}

/// The values of vertices, of any type.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the types'")]
pub enum FieldValues {
    U32(Vec<u32>),
    U64(Vec<u64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
}

/// A type that [`FieldValues`] know.
pub trait Typed: Element {
    /// FieldValues of this type.
    fn values(values: Vec<Self>) -> FieldValues;

    /// The values, which are of this type.
    ///
    /// # Panics
    /// When they are of another type.
    fn of_values(values: FieldValues) -> Vec<Self>;
}

macro_rules! typed {
    ($($type:ty: $variant:ident),+) => {
        $(impl Typed for $type {
            fn values(values: Vec<Self>) -> FieldValues {
                FieldValues::$variant(values)
            }

            fn of_values(values: FieldValues) -> Vec<Self> {
                match values {
                    FieldValues::$variant(values) => values,
                    _ => panic!("the compiler knows the type of a field"),
                }
            }
        })+

        impl FieldValues {
            /// Values of the type with this name, which `fill` writes as they lie in memory.
            pub(crate) fn read(
                ty: &str,
                count: usize,
                fill: impl FnOnce(&mut [u8]) -> Result<()>,
            ) -> Result<FieldValues> {
                match ty {
                    $(stringify!($type) => {
                        let mut bytes = vec![0; count * <$type as Value>::KIND.bytes()];
                        fill(&mut bytes)?;
                        let values = bytes.chunks_exact(<$type as Value>::KIND.bytes());
                        Ok(FieldValues::$variant(values.map(<$type as Value>::read).collect()))
                    })+
                    _ => unreachable!("the compiler knows the types of columns"),
                }
            }

            /// FieldValues of vertices in the order of their numbers, of those of all hosts: each host's vertices
            /// beside its values.
            ///
            /// # Panics
            /// When hosts have values of different types.
            pub fn gathered(vertices: usize, hosts: Vec<(Vec<u32>, FieldValues)>) -> FieldValues {
                match hosts.first() {
                    $(Some((_, FieldValues::$variant(_))) => {
                        let mut all = vec![<$type>::default(); vertices];
                        for (ids, values) in hosts {
                            for (id, value) in ids.into_iter().zip(<$type>::of_values(values)) {
                                all[id as usize] = value;
                            }
                        }
                        FieldValues::$variant(all)
                    })+
                    None => FieldValues::U32(Vec::new()),
                }
            }
        }
    };
}

typed!(u32: U32, u64: U64, i32: I32, i64: I64, f32: F32, f64: F64, bool: Bool);

/// The relaxation of a program that is none.
pub enum NotRelaxed {}

impl Relaxation for NotRelaxed {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, _: Vertex<'_>) -> Option<u32> {
        match *self {}
    }

    fn relax(&self, _: u32, (): ()) -> u32 {
        match *self {}
    }
}
