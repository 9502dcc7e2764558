//! Engines by name: what each is called, which programs it is for, and how it is built for one.

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

/// What engines go by when they say which programs they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramForm {
    /// A [`Relaxation`].
    Relaxation {
        /// As [`Relaxation::passes_unchanged`] says.
        passes_unchanged: bool,
        /// As [`Relaxation::first_wins`] says.
        first_wins: bool,
        /// Labels are sums over the edges of a path.
        adds: bool,
    },
    /// Another [`VertexProgram`].
    VertexProgram {
        /// As [`Properties::stationary`](crate::Properties::stationary) says.
        stationary: bool,
    },
    /// A [`VertexProgram`] that is not stationary, made by the compiler: a vertex acts when something has arrived, and
    /// wakes its neighbours. Many or few vertices may send in a round.
    Rotated,
}

impl ProgramForm {
    /// The form of a relaxation. What its labels are is not known.
    pub fn of_relaxation<P: Relaxation>(program: &P) -> Self {
        ProgramForm::Relaxation {
            // Labels that some edges stop do not pass all edges unchanged.
            passes_unchanged: program.passes_unchanged() && !P::FILTERS,
            first_wins: program.first_wins(),
            adds: false,
        }
    }

    /// The form of a vertex program.
    pub fn of_program<P: VertexProgram>(program: &P) -> Self {
        ProgramForm::VertexProgram { stationary: program.properties().stationary }
    }
}

/// Programs that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Programs {
    None,
    All,
    /// Relaxations whose labels are sums.
    Adding,
    /// Programs whose rounds go from many senders to few and back. Relaxations whose labels edges change, where the first
    /// label that arrives is the best; rotated vertex programs.
    LevelByLevel,
    /// Relaxations whose labels pass edges unchanged.
    PassingUnchanged,
    /// Vertex programs in which every vertex sends in every round.
    Stationary,
}

impl Programs {
    /// Whether a program may be among these. Of one of unknown form nobody can say that it is not.
    pub(crate) const fn may_contain(self, form: Option<ProgramForm>) -> bool {
        match form {
            Some(form) => self.contain(form),
            None => true,
        }
    }

    const fn contain(self, form: ProgramForm) -> bool {
        match (self, form) {
            (Programs::None, _) => false,
            (Programs::All, _) => true,
            (Programs::Adding, ProgramForm::Relaxation { adds, .. }) => adds,
            (
                Programs::LevelByLevel,
                ProgramForm::Relaxation { first_wins, passes_unchanged, .. },
            ) => first_wins && !passes_unchanged,
            (Programs::LevelByLevel, ProgramForm::Rotated) => true,
            (Programs::PassingUnchanged, ProgramForm::Relaxation { passes_unchanged, .. }) => {
                passes_unchanged
            }
            (Programs::Stationary, ProgramForm::VertexProgram { stationary }) => stationary,
            _ => false,
        }
    }
}

/// What the registry knows of an engine.
pub(crate) struct Registered {
    pub(crate) info: &'static EngineInfo,
    pub(crate) fits: Programs,
    pub(crate) suits: Programs,
    pub(crate) mixes_with_devices: bool,
}

/// Engines for programs of one form, the one that suits first.
#[derive(Clone, Copy, Debug)]
pub struct EngineList {
    engines: [&'static EngineInfo; EngineList::CAPACITY],
    len: usize,
}

impl EngineList {
    /// There is no list of more engines: one that needs them does not compile.
    const CAPACITY: usize = 16;

    /// The engines of a registry that fit: first the ones that suit, then the others, each in the order of the registry.
    pub(crate) const fn of(registry: &[Registered], form: ProgramForm) -> Self {
        let mut list = EngineList { engines: [registry[0].info; Self::CAPACITY], len: 0 };
        let mut at = 0;
        while at < 2 * registry.len() {
            let entry = &registry[at % registry.len()];
            let is_turn = entry.suits.contain(form) == (at < registry.len());
            if is_turn && entry.fits.contain(form) {
                list = list.with(entry.info);
            }
            at += 1;
        }
        list
    }

    /// The list of one engine.
    pub const fn only(engine: &'static EngineInfo) -> Self {
        EngineList { engines: [engine; Self::CAPACITY], len: 1 }
    }

    /// The list with one more engine at its end.
    pub const fn with(mut self, engine: &'static EngineInfo) -> Self {
        self.engines[self.len] = engine;
        self.len += 1;
        self
    }

    /// The engines.
    pub const fn as_slice(&self) -> &[&'static EngineInfo] {
        self.engines.split_at(self.len).0
    }
}

/// How an engine of the registry is built, and for which programs. An engine overrides what it runs.
pub(crate) trait BuildEngine {
    const INFO: EngineInfo;

    /// The programs that it is offered for.
    const FITS: Programs = Programs::All;

    /// Those of them that it runs where nothing is known of the graph and no other engine is asked for.
    const SUITS: Programs = Programs::None;

    /// Whether it also runs where only some hosts compute on devices.
    const MIXES_WITH_DEVICES: bool = true;

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

        const REGISTRY: &[Registered] = &[$(Registered {
            info: $constant,
            fits: <$engine as BuildEngine>::FITS,
            suits: <$engine as BuildEngine>::SUITS,
            mixes_with_devices: <$engine as BuildEngine>::MIXES_WITH_DEVICES,
        }),+];

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
            $(if const { <$engine as BuildEngine>::FITS.may_contain(P::FORM) } && engine == $constant {
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
