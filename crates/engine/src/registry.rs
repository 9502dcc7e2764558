//! Engines by name: what each is called, and how it is built for a program.

use std::borrow::Cow;

use parton_partition::Partition;
use parton_sync::{Error, Result};

use crate::engine::Engine;
use crate::program::{Relaxation, VertexProgram};

/// An engine that users can ask for by name. Engines are the same if their names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// What users call it.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

impl EngineInfo {
    /// The error for a program that this engine does not run.
    pub(crate) fn misfit(&self, what: &'static str) -> Error {
        Error::Misfit { engine: self.name, what }
    }
}

/// An engine that runs a relaxation.
pub trait RelaxationEngine<P: Relaxation>: Engine {
    /// The labels of this host's masters, final when the run is over.
    fn labels(&self) -> Result<Vec<P::Label>>;
}

/// An engine that runs a vertex program.
pub trait ProgramEngine<P: VertexProgram>: Engine {
    /// The states of this host's masters, final when the run is over.
    fn states(&self) -> Result<Cow<'_, [P::State]>>;

    /// The program, with what it has learnt.
    fn program(&self) -> &P;
}

/// How an engine of the registry is built. An engine overrides what it runs.
pub(crate) trait BuildEngine {
    const INFO: EngineInfo;

    fn relaxation<'a, P: Relaxation>(
        _: &'a P,
        _: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        Err(Self::INFO.misfit("relaxations"))
    }

    fn vertex_program<'a, P: VertexProgram + 'a>(
        _: P,
        _: &'a Partition,
    ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
        Err(Self::INFO.misfit("vertex programs"))
    }
}

/// Makes a registry of engines: a constant for each, the list of all, and functions that build one for a
/// program.
macro_rules! engines {
    ($($constant:ident: $engine:ty,)+) => {
        $(
            #[doc = concat!("The engine `", stringify!($engine), "`.")]
            pub const $constant: &EngineInfo = &<$engine as BuildEngine>::INFO;
        )+

        /// Every engine that runs programs of any algorithm.
        pub const ALL: &[&EngineInfo] = &[$($constant),+];

        /// An engine for a relaxation, on the device if there is one, else on this process's threads.
        pub fn relaxation<'a, P: Relaxation>(
            engine: &EngineInfo,
            device: Option<&'a dyn Device>,
            program: &'a P,
            partition: &'a Partition,
        ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
            check_weights::<P::Weight>(partition)?;
            if let Some(device) = device {
                return device_relaxation(device, engine, program, partition);
            }
            $(if engine == $constant {
                return <$engine>::relaxation(program, partition);
            })+
            Err(engine.misfit("relaxations"))
        }

        /// An engine for a vertex program, on the device if there is one, else on this process's
        /// threads.
        pub fn vertex_program<'a, P: VertexProgram + 'a>(
            engine: &EngineInfo,
            device: Option<&'a dyn Device>,
            program: P,
            partition: &'a Partition,
        ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
            check_weights::<P::Weight>(partition)?;
            if let Some(device) = device {
                return device_program(device, engine, program, partition);
            }
            $(if engine == $constant {
                return <$engine>::vertex_program(program, partition);
            })+
            Err(engine.misfit("vertex programs"))
        }
    };
}

pub(crate) use engines;
