//! One host's share of a run: the engine that runs its program, and the values of its masters.

use crate::engine::device::Device;
use crate::engine::{
    self, EngineInfo, Limits, Pacing, ProgramForm, Relaxation, RunReport, StationaryProgram,
    VertexProgram, engines,
};
use crate::error::Result;
use crate::graph::nearest::did_you_mean;
use crate::sync::Substrate;

/// What the hosts have to know.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) engine: Option<String>,
    pub(super) pacing: Pacing,
    pub(super) limits: Limits,
}

/// The values of one host's masters.
pub(super) struct HostOutcome<V> {
    pub(super) values: Vec<V>,
    pub(super) engine: &'static str,
    pub(super) report: RunReport,
}

/// The general engines for a program on one host.
pub(super) fn run_program<P: VertexProgram>(
    program: P,
    substrate: &mut Substrate<'_>,
    device: Option<&dyn Device>,
    settings: &Settings,
) -> Result<HostOutcome<P::State>> {
    let suits = match StationaryProgram::of(&program, device.is_some()) {
        Some(stationary) if settings.engine.is_none() => stationary.engine(substrate)?.0,
        _ => engines::suiting(ProgramForm::of_program(&program)),
    };
    let info = settings.engine(suits)?;
    let mut engine = engines::vertex_program(info, device, program, substrate.partition())?;
    let report = settings.run(&mut *engine, substrate)?;
    Ok(HostOutcome { values: engine.states()?.to_vec(), engine: info.name, report })
}

/// The engines for a relaxation on one host.
pub(super) fn run_relaxation<P: Relaxation>(
    program: &P,
    substrate: &mut Substrate<'_>,
    device: Option<&dyn Device>,
    settings: &Settings,
) -> Result<HostOutcome<P::Label>> {
    let info = settings.engine(engines::suiting(ProgramForm::of_relaxation(program)))?;
    let mut engine = engines::relaxation(info, device, program, substrate.partition())?;
    let report = settings.run(&mut *engine, substrate)?;
    Ok(HostOutcome { values: engine.labels()?, engine: info.name, report })
}

impl Settings {
    /// The engine that was asked for, or the one that suits.
    fn engine(&self, suits: &'static EngineInfo) -> Result<&'static EngineInfo> {
        let Some(name) = &self.engine else { return Ok(suits) };
        engines::ALL.iter().copied().find(|engine| engine.name == name).ok_or_else(|| {
            let names: Vec<_> = engines::ALL.iter().map(|engine| engine.name).collect();
            let meant = did_you_mean(name, names.iter().copied());
            let message = format!("unknown engine '{name}'{meant}; known are {}", names.join(", "));
            crate::algorithms::Error::Request(message).into()
        })
    }

    fn run(
        &self,
        engine: &mut dyn engine::Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<RunReport> {
        Ok(engine::run(engine, substrate, self.pacing, self.limits, &mut ())?)
    }
}
