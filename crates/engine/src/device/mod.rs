//! What computes for a host other than the threads of this process: the seam between programs and
//! devices.
//!
//! A program reaches a device as text ([`program`]): its functions, translated from Rust by
//! `#[device]`, its types and its parameters. A [`Device`] builds an engine from that, and nothing
//! but bytes comes back. Algorithms that are no such programs leave their local work to a device:
//! [`intersections`] of lists, and [`ballots`]. Compiled programs that are none of these give it their
//! [`operators`].

mod adapter;
pub mod ballots;
pub mod intersections;
pub mod operators;
pub mod program;

use parton_graph::WeightKind;
use parton_graph::bits::BitSet;
use parton_partition::Partition;
use parton_sync::{Error, Result, ValueKind};

pub use adapter::device_operators;
pub(crate) use adapter::{device_program, device_relaxation};
pub use ballots::Ballots;
pub use intersections::{Intersections, SortedLists};
pub use operators::{Operators, OperatorsRequest};
pub use parton_macros::DeviceType;
pub use program::{DeviceFunction, DeviceProgram, DeviceReduction, DeviceType, Parameter};

pub use crate::techniques::bucket_window::{BucketWindow, WorkedOff};

use crate::engine::Engine;
use crate::program::{Edges, Properties, Round};
use crate::registry::EngineInfo;

/// A device that can compute for a host.
pub trait Device: Send + Sync {
    /// What users call it: `gpu:0`.
    fn name(&self) -> String;

    /// Waits until the device has done all that was asked of it.
    fn wait(&self) -> Result<()> {
        Ok(())
    }

    /// An engine of this kind for a relaxation.
    fn relaxation<'a>(
        &'a self,
        engine: &EngineInfo,
        request: RelaxationRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Box<dyn DeviceEngine + 'a>>;

    /// An engine of this kind for a vertex program.
    fn vertex_program<'a>(
        &'a self,
        engine: &EngineInfo,
        request: ProgramRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Box<dyn DeviceEngine + 'a>>;

    /// The columns and operators of a compiled program.
    fn operators<'a>(
        &'a self,
        request: OperatorsRequest<'a>,
        partition: &'a Partition,
    ) -> Result<Box<dyn Operators + 'a>>;

    /// Counts of common entries of these lists, which one of `num_hosts` hosts has.
    fn intersections<'a>(
        &'a self,
        lists: SortedLists<'_>,
        num_hosts: usize,
    ) -> Result<Box<dyn Intersections + 'a>>;

    /// Counts of the labels that neighbours along these edges have. `shared` are the masters that have
    /// neighbours on other hosts, too.
    fn ballots<'a>(
        &'a self,
        partition: &'a Partition,
        edges: Edges,
        shared: &BitSet,
    ) -> Result<Box<dyn Ballots + 'a>>;
}

/// A relaxation as a device sees it.
pub struct RelaxationRequest<'p> {
    /// Functions `start`, `relax`, and `passes` and `bucket` where the program has its own; types
    /// `Label`, `Weight` and `Fold`.
    pub program: DeviceProgram<'p>,
    /// How labels travel.
    pub label: ValueKind,
    /// The weights that the program asks for.
    pub weight: WeightKind,
    /// Which edges labels travel along.
    pub edges: Edges,
    /// As [`Relaxation::first_wins`](crate::Relaxation::first_wins) says.
    pub first_wins: bool,
    /// As [`Relaxation::passes_unchanged`](crate::Relaxation::passes_unchanged) says.
    pub passes_unchanged: bool,
    /// Whether the program stops labels at some edges.
    pub filters: bool,
}

/// A vertex program as a device sees it.
pub struct ProgramRequest<'p> {
    /// Functions `init`, `scatter`, `along` and `apply`; types `State`, `Message`, `Accumulated`,
    /// `Weight`, `Messages` and `Fold`.
    pub program: DeviceProgram<'p>,
    /// Bytes of a state.
    pub state_bytes: usize,
    /// How messages travel.
    pub message: ValueKind,
    /// How contributions travel.
    pub accumulated: ValueKind,
    /// Whether the order of folding contributions can be seen in the result.
    pub is_ordered: bool,
    /// Whether several messages of a vertex may become one.
    pub messages_commute: bool,
    /// The weights that the program asks for.
    pub weight: WeightKind,
    /// What the engine may rely on.
    pub properties: Properties,
    /// What the program asks of the first round.
    pub round: Round,
}

/// An engine on a device.
pub trait DeviceEngine: Engine {
    /// Copies the labels, or states, of this host's masters, one after another as they lie in memory.
    fn read_values(&self, into: &mut [u8]) -> Result<()>;

    /// Takes over the parameters of a program that has learnt something. Arrays stay as they are.
    fn update_parameters(&mut self, program: &DeviceProgram<'_>) -> Result<()>;

    /// Learns what the program asks of the next round.
    fn prepare_round(&mut self, _: Round) -> Result<()> {
        Ok(())
    }
}

/// The error for a program that has no form for devices.
pub(crate) fn untranslated(device: &dyn Device) -> Error {
    Error::DeviceMisfit {
        device: device.name(),
        reason: "the program has no form for devices: mark its `impl` with `#[device]`".into(),
    }
}
