//! One host's share of a run of a compiled program: which engine runs it, and what comes of it.
//!
//! Only what an engine has to know of a program is compiled for each program. All else is compiled once, here: users'
//! crates are small and quick to compile.

mod sums;

use std::time::Instant;

use parton_engine::device::Device;
use parton_engine::{
    Engine, EngineInfo, Limits, Pacing, RunReport, StationaryProgram, Watch, check_weights,
    engines, run,
};
use parton_graph::Weight;
use parton_partition::Partition;
use parton_sync::{Error, Result, Substrate};

use crate::code::{Code, Outline};
use crate::communication::Communication;
use crate::compiled::{FieldValues, Program};
use crate::gather::{Control, GatherPlaces, GatherStart, Gathering};
use crate::processor::{OnProcessors, ProgramWeight};
use crate::relaxed::{Delta, RelaxSetting};
use crate::steps::{OperatorReport, Place, STEPS, Steps};

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

/// A run that goes on.
struct Running<'r, 's> {
    began: Instant,
    substrate: &'r mut Substrate<'s>,
    watch: &'r mut dyn Watch,
}

impl HostShare<'_> {
    /// Runs this host's share of a program. Every host must call this.
    pub fn run<P: Program>(
        &self,
        program: &P,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Answered> {
        let mut running = Running { began: Instant::now(), substrate, watch };
        let engine = self.choose(P::NAME, P::ENGINES, running.substrate)?;
        // The constants come first: where one is false, nothing behind it is compiled.
        if P::IS_RELAXATION
            && engine != STEPS
            && let Some(answered) = self.relax(program, engine, &mut running)?
        {
            return Ok(answered);
        }
        if P::IS_VERTEX_PROGRAM
            && engine != STEPS
            && let Some(places) = P::GATHER
            && let Some(answered) = self.gather(program, (places, engine), &mut running)?
        {
            return Ok(answered);
        }
        let partition = running.substrate.partition();
        check_weights::<P::Weight>(partition)?;
        let place = match self.device {
            None => Place::Processors(&on_processors(program, partition)),
            Some(device) => Place::Device(device, P::Weight::KIND),
        };
        self.follow(program, partition, place, &mut running)
    }

    /// The engine that was asked for, or the one that suits; or another where only some hosts have a device and
    /// that one would not run. Every host must call this.
    fn choose(
        &self,
        name: &str,
        known: &'static [&'static EngineInfo],
        substrate: &mut Substrate<'_>,
    ) -> Result<&'static EngineInfo> {
        let fail = |why: String| Error::Program { program: name.into(), why };
        let engine = match self.engine {
            Some(asked) => *known.iter().find(|engine| engine.name == asked).ok_or_else(|| {
                let known: Vec<_> = known.iter().map(|engine| engine.name).collect();
                fail(format!(
                    "engine {asked} does not run programs of its shape; these do: {}",
                    known.join(", ")
                ))
            })?,
            None => known[0],
        };
        if engines::mixes_with_devices(engine) || !substrate.partition().is_beside_devices() {
            return Ok(engine);
        }
        let mine = if self.device.is_some() { 1 } else { 2 };
        let is_mixed = substrate.net().all_reduce(mine, |a: u32, b| a | b)? == 3;
        match (is_mixed, self.engine) {
            (false, _) => Ok(engine),
            (true, None) => Ok(mixing_engine(known)),
            (true, Some(_)) => Err(fail(format!(
                "engine {} runs where all hosts have a device, or none has",
                engine.name
            ))),
        }
    }

    /// Runs a program operator by operator.
    fn follow<'a>(
        &self,
        code: &'a dyn Outline,
        partition: &'a Partition,
        place: Place<'a, '_>,
        running: &mut Running<'_, '_>,
    ) -> Result<Answered> {
        let mut steps = Steps::new(code, partition, self.communication, place)?;
        let (setup_seconds, report) = self.finish(&mut steps, running)?;
        let (columns, operators) = (steps.results()?, steps.operators(&report));
        Ok(Answered { columns, engine: STEPS, setup_seconds, report, operators })
    }

    /// Runs an engine to its end. Returns how long it took to get ready, and the report.
    fn finish(
        &self,
        engine: &mut dyn Engine,
        running: &mut Running<'_, '_>,
    ) -> Result<(f64, RunReport)> {
        let setup_seconds = running.began.elapsed().as_secs_f64();
        let Running { substrate, watch, .. } = running;
        let report = run(engine, substrate, self.pacing, self.limits, *watch)?;
        Ok((setup_seconds, report))
    }

    /// Runs a relaxation; `None` if labels may outgrow their type.
    fn relax<P: Program>(
        &self,
        program: &P,
        engine: &'static EngineInfo,
        running: &mut Running<'_, '_>,
    ) -> Result<Option<Answered>> {
        let partition = running.substrate.partition();
        let setting = RelaxSetting { delta: self.delta, is_symmetric: partition.is_symmetric() };
        let Some(relaxed) = program.relaxed(setting) else { return Ok(None) };
        if !self.sums_fit && !sums::fit(program, &relaxed, running.substrate)? {
            return Ok(None);
        }
        let mut relaxing = engines::relaxation(engine, self.device, &relaxed, partition)?;
        let (setup_seconds, report) = self.finish(&mut *relaxing, running)?;
        let columns = P::labelled(relaxing.labels()?);
        Ok(Some(Answered { columns, engine, setup_seconds, report, operators: Vec::new() }))
    }

    /// Runs a vertex program; `None` if it ends before its first round.
    fn gather<P: Program>(
        &self,
        program: &P,
        (places, engine): (GatherPlaces, &'static EngineInfo),
        running: &mut Running<'_, '_>,
    ) -> Result<Option<Answered>> {
        let partition = running.substrate.partition();
        check_weights::<P::Weight>(partition)?;
        let operators = on_processors(program, partition);
        let place = Place::Processors(&operators);
        let mut steps = Steps::new(program, partition, self.communication, place)?;
        let reached = reach(&mut steps, places, running.substrate)?;
        let (Some(host), true) = (steps.host(), reached) else { return Ok(None) };
        let start = P::gather_states(host);
        let control = Control::new(program, places, steps.uniform());
        let degrees = steps.take_degrees();
        // Gathers answer from their states: what led to them is dropped.
        let rest = P::IS_ROTATED.then_some(steps);
        let rounds = self.limits.max_rounds.unwrap_or(u64::MAX);
        let [out, into] = &degrees;
        let given = GatherStart { control, start: &start, degrees: [out, into], rounds };
        let gathering = P::Gathered::new(given);
        let stationary = StationaryProgram::of(&gathering, self.device.is_some());
        let engine = self.suiting(engine, stationary, running.substrate)?;
        let mut gathering = engines::vertex_program(engine, self.device, gathering, partition)?;
        let (setup_seconds, report) = self.finish(&mut *gathering, running)?;
        let states = gathering.states()?;
        let has_underflow = gathering.program().has_underflow(&states);
        check_underflow(P::NAME, has_underflow, running.substrate)?;
        let columns = match rest {
            None => P::Gathered::results(&states),
            Some(mut steps) => {
                if let Some(host) = steps.host() {
                    P::keep_states(host, &states);
                }
                conclude(&mut steps, places, running.substrate)?
            }
        };
        Ok(Some(Answered { columns, engine, setup_seconds, report, operators: Vec::new() }))
    }

    /// The engine that was asked for, or the one that suits a stationary program on this partition. Every host must
    /// call this.
    fn suiting(
        &self,
        engine: &'static EngineInfo,
        stationary: Option<StationaryProgram>,
        substrate: &mut Substrate<'_>,
    ) -> Result<&'static EngineInfo> {
        match stationary {
            Some(stationary) if self.engine.is_none() => Ok(stationary.engine(substrate)?.0),
            _ => Ok(engine),
        }
    }
}

/// The engine of these that suits where only some hosts compute on devices.
pub(crate) fn mixing_engine(known: &[&'static EngineInfo]) -> &'static EngineInfo {
    let mut engines = known.iter().copied();
    engines.find(|engine| engines::mixes_with_devices(engine)).unwrap_or(STEPS)
}

/// Makes the operators of a program of the facts which columns other hosts see.
fn on_processors<'a, C: Code>(
    code: &'a C,
    partition: &'a Partition,
) -> impl Fn(&[bool]) -> Box<dyn OnProcessors<'a> + 'a> {
    move |is_shared| C::Weight::on_processors(code, partition, is_shared)
}

/// Runs a program up to the operator that an engine for vertex programs runs. Returns whether it came there.
fn reach(
    steps: &mut Steps<'_>,
    places: GatherPlaces,
    substrate: &mut Substrate<'_>,
) -> Result<bool> {
    steps.reach(places.operator, substrate)
}

/// Goes on after that operator to the end. Returns the columns that the program returns.
fn conclude(
    steps: &mut Steps<'_>,
    places: GatherPlaces,
    substrate: &mut Substrate<'_>,
) -> Result<Vec<FieldValues>> {
    steps.finish(places, substrate)?;
    steps.results()
}

/// An error if a number without a sign became less than 0 on any host. Every host must call this.
fn check_underflow(
    program: &str,
    has_underflow: bool,
    substrate: &mut Substrate<'_>,
) -> Result<()> {
    match substrate.net().all_reduce(u32::from(has_underflow), |a, b| a | b)? {
        0 => Ok(()),
        _ => {
            let why = "a number without a sign became less than 0".into();
            Err(Error::Program { program: program.into(), why })
        }
    }
}
