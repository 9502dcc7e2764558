//! A compiled program as a whole: where it runs, and what it returns.

use std::time::Instant;

use parton_engine::device::Device;
use parton_engine::device::operators::{OperatorText, Operators};
use parton_engine::{
    EngineInfo, EngineList, Limits, Pacing, ProgramForm, Relaxation, RunReport, StationaryProgram,
    Vertex, VertexProgram, Watch, engines, run,
};
use parton_graph::{Weight, WeightKind};
use parton_sync::reduction::Min;
use parton_sync::value::Number;
use parton_sync::{Error, Result, Substrate, Value};

use crate::code::{Code, Element};
use crate::communication::Communication;
use crate::gather::{Control, GatherPlaces, GatherStart, Gathering};
use crate::host::Host;
use crate::relaxed::{Delta, RelaxSetting};
use crate::steps::{OperatorReport, STEPS, Steps};
use crate::weights::WeightRange;

/// A compiled program with its arguments. The attribute `program` implements this.
pub trait Program: Code + Sized {
    /// What it returns.
    type Output;
    /// The program as a relaxation, if it is one.
    type Relaxed: Relaxation;
    /// What a vertex of a vertex program knows.
    type GatherState: Copy + Send + Sync;
    /// The program as a vertex program, if it is one.
    type Gathered<'a>: Gathering<'a, Self> + VertexProgram<State = Self::GatherState>
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
    /// Whether it is a vertex program in which vertices wake their neighbours.
    const IS_ROTATED: bool = matches!(Self::FORM, Some(ProgramForm::Rotated));
    /// Whether it is one whose hosts need not wait for each other.
    const IS_ANY_ORDER: bool = false;

    /// What the compiler made of it.
    fn compiled_plan() -> &'static parton_plan::CompiledPlan;

    /// The engine that suits where only some hosts compute on devices.
    fn mixing_engine() -> &'static EngineInfo {
        let mut engines = Self::ENGINES.iter().copied();
        engines.find(|engine| engines::mixes_with_devices(engine)).unwrap_or(STEPS)
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
    fn gather_states(_host: &Host<'_, Self::Weight>) -> Vec<Self::GatherState> {
        Vec::new()
    }

    /// Gives the columns of this host what its masters know after the last round of a rotated vertex program.
    fn keep_states(_host: &Host<'_, Self::Weight>, _states: &[Self::GatherState]) {}

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

/// How one host runs its share of a program.
pub struct HostShare<'s> {
    /// The engine; `None`: the one that suits.
    pub engine: Option<&'s str>,
    /// Which communication `steps` optimises.
    pub communication: Communication,
    /// When hosts wait for each other.
    pub pacing: Pacing,
    /// When to stop.
    pub limits: Limits,
    /// The width of buckets of labels, for engine `delta`.
    pub delta: Delta,
    /// Whether it is known that weights are not less than 0 and that sums of them fit their type.
    pub sums_fit: bool,
    /// What computes for this host; `None`: threads of this process.
    pub device: Option<&'s dyn Device>,
}

/// One host's share of an answer.
pub struct Answered {
    /// The columns that the program returns, of this host's masters.
    pub columns: Vec<FieldValues>,
    /// The engine that ran.
    pub engine: &'static EngineInfo,
    /// How long it took to get ready.
    pub setup_seconds: f64,
    /// Rounds, work, time and bytes.
    pub report: RunReport,
    /// What each operator took, where the program ran operator by operator.
    pub operators: Vec<OperatorReport>,
}

impl HostShare<'_> {
    /// Runs this host's share of a program. Every host must call this.
    pub fn run<P: Program>(
        &self,
        program: &P,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Answered> {
        let began = Instant::now();
        let partition = substrate.partition();
        let engine = match self.engine {
            Some(name) => *P::ENGINES
                .iter()
                .find(|engine| engine.name == name)
                .ok_or_else(|| unfit::<P>(name))?,
            None => P::ENGINES[0],
        };
        let engine = self.beside_devices::<P>(engine, substrate)?;
        let setting = RelaxSetting { delta: self.delta, is_symmetric: partition.is_symmetric() };
        let relaxed = match P::IS_RELAXATION && engine != STEPS {
            true => program.relaxed(setting),
            false => None,
        };
        if let Some(relaxed) = relaxed
            && (self.sums_fit || sums_fit(program, &relaxed, substrate)?)
        {
            let mut running = engines::relaxation(engine, self.device, &relaxed, partition)?;
            let setup_seconds = began.elapsed().as_secs_f64();
            let report = run(&mut *running, substrate, self.pacing, self.limits, watch)?;
            let columns = P::labelled(running.labels()?);
            return Ok(Answered { columns, engine, setup_seconds, report, operators: Vec::new() });
        }
        if let Some(places) = P::GATHER.filter(|_| engine != STEPS)
            && let Some(answered) = self.gather(program, (places, engine), substrate, watch)?
        {
            return Ok(answered);
        }
        let (code, communication) = (erased(program), self.communication);
        match self.device {
            None => {
                let steps = Steps::new(code, partition, communication)?;
                self.follow(steps, began, substrate, watch)
            }
            Some(device) => {
                let steps = Steps::on_device(code, partition, communication, device)?;
                self.follow(steps, began, substrate, watch)
            }
        }
    }

    /// The engine, or another where only some hosts have a device and this one would not run. Every host must
    /// call this.
    fn beside_devices<P: Program>(
        &self,
        engine: &'static EngineInfo,
        substrate: &mut Substrate<'_>,
    ) -> Result<&'static EngineInfo> {
        if engines::mixes_with_devices(engine) || !substrate.partition().is_beside_devices() {
            return Ok(engine);
        }
        let mine = if self.device.is_some() { 1 } else { 2 };
        let is_mixed = substrate.net().all_reduce(mine, |a: u32, b| a | b)? == 3;
        match (is_mixed, self.engine) {
            (false, _) => Ok(engine),
            (true, None) => Ok(P::mixing_engine()),
            (true, Some(_)) => Err(Error::Program {
                program: P::NAME.into(),
                why: format!(
                    "engine {} runs where all hosts have a device, or none has",
                    engine.name
                ),
            }),
        }
    }

    /// Runs a program operator by operator.
    fn follow<C: Code + ?Sized, O: Operators + ?Sized>(
        &self,
        mut steps: Steps<'_, C, O>,
        began: Instant,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Answered> {
        let setup_seconds = began.elapsed().as_secs_f64();
        let report = run(&mut steps, substrate, self.pacing, self.limits, watch)?;
        let columns = steps.results()?;
        let operators = steps.operators(&report);
        Ok(Answered { columns, engine: STEPS, setup_seconds, report, operators })
    }

    /// Runs a vertex program; `None` if it ends before its first round.
    fn gather<P: Program>(
        &self,
        program: &P,
        (places, engine): (GatherPlaces, &'static EngineInfo),
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<Answered>> {
        let began = Instant::now();
        let partition = substrate.partition();
        let mut steps = Steps::new(erased(program), partition, self.communication)?;
        if !steps.reach(places.operator, substrate)? {
            return Ok(None);
        }
        let control = Control::new(program, places, steps.uniform());
        let start = P::gather_states(steps.host());
        let degrees = steps.take_degrees();
        // Gathers answer from their states: what led to them is dropped.
        let rest = P::IS_ROTATED.then_some(steps);
        let rounds = self.limits.max_rounds.unwrap_or(u64::MAX);
        let [out, into] = &degrees;
        let given = GatherStart { control, start: &start, degrees: [out, into], rounds };
        let gathering = P::Gathered::new(given);
        let engine = match StationaryProgram::of(&gathering, self.device.is_some()) {
            Some(stationary) if self.engine.is_none() => stationary.engine(substrate)?.0,
            _ => engine,
        };
        let mut running = engines::vertex_program(engine, self.device, gathering, partition)?;
        let setup_seconds = began.elapsed().as_secs_f64();
        let report = run(&mut *running, substrate, self.pacing, self.limits, watch)?;
        let states = running.states()?;
        let mine = u32::from(running.program().has_underflow(&states));
        if substrate.net().all_reduce(mine, |a, b| a | b)? != 0 {
            let why = "a number without a sign became less than 0".into();
            return Err(Error::Program { program: P::NAME.into(), why });
        }
        let columns = match rest {
            None => P::Gathered::results(&states),
            Some(mut steps) => {
                P::keep_states(steps.host(), &states);
                steps.finish(places, substrate)?;
                steps.results()?
            }
        };
        Ok(Some(Answered { columns, engine, setup_seconds, report, operators: Vec::new() }))
    }
}

/// The code of a program, whichever it is: users' crates compile the engine `steps` once for each type of weights.
fn erased<P: Program>(program: &P) -> &dyn Code<Weight = P::Weight> {
    program
}

/// Whether labels only grow along edges, and none can outgrow its type: no path visits a vertex twice. Otherwise
/// the program runs operator by operator, which finds out. Every host must call this.
fn sums_fit<P: Program>(
    program: &P,
    relaxed: &P::Relaxed,
    substrate: &mut Substrate<'_>,
) -> Result<bool> {
    type Label<P> = <<P as Program>::Relaxed as Relaxation>::Label;
    type RelaxedWeight<P> = <<P as Program>::Relaxed as Relaxation>::Weight;
    if !P::ADDS || !(P::MAY_WRAP || Label::<P>::ROUNDS) {
        return Ok(true);
    }
    let weights = match RelaxedWeight::<P>::KIND {
        WeightKind::None => WeightRange::NONE,
        _ => WeightRange::find(substrate)?,
    };
    if Label::<P>::ROUNDS {
        return Ok(weights.least >= 0.0);
    }
    let vertices = substrate.partition().num_vertices() as f64;
    let greatest = RelaxedWeight::<P>::from_f64(weights.greatest);
    let step = relaxed.relax(Label::<P>::ZERO, greatest).to_f64();
    Ok(program.start_bound(vertices) + step * vertices < Label::<P>::GREATEST.to_f64())
}

fn unfit<P: Program>(engine: &str) -> Error {
    let known: Vec<_> = P::ENGINES.iter().map(|engine| engine.name).collect();
    let why = format!(
        "engine {engine} does not run programs of its shape; these do: {}",
        known.join(", ")
    );
    Error::Program { program: P::NAME.into(), why }
}
