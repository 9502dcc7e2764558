//! Programs written as plain functions over a graph in one memory, run on many hosts.
//!
//! The [surface] is what such a function uses: [`Graph`], [`Vertex`], [`Field`], [`Worklist`]. Called as it is, the
//! function runs on one thread, and is its own oracle. The attribute [`macro@program`] compiles it to a [`Code`],
//! which the engine [`Steps`] runs operator by operator. Where it recognises the shape, it also makes a `Relaxation`
//! or a `VertexProgram`, which other engines and devices run.
//!
//! Reading order: [`surface`], [`code`], [`mod@column`], [`host`], [`processor`], [`steps`], [`gather`],
//! [`compiled`], [`share`].

pub mod code;
pub mod column;
pub mod communication;
pub mod compiled;
pub mod gather;
pub mod host;
pub mod processor;
pub mod relaxed;
pub mod share;
pub mod steps;
pub mod surface;
pub mod weights;

pub use code::{Code, Element, Outline, Uniform};
pub use column::AnyColumn;
pub use communication::Communication;
pub use compiled::{FieldValues, NotRelaxed, Program, Typed, Venue};
pub use gather::{Control, GatherPlaces, GatherStart, Gathering, NotGathering, Told};
pub use host::{Host, HostData, Tallies};
pub use parton_engine as engine;
pub use parton_macros::{device, program};
pub use parton_plan as plan;
pub use parton_sync::{Reduction, reduction};
pub use processor::ProgramWeight;
pub use relaxed::{Delta, MAX_BUCKETS, RelaxSetting};
pub use share::{Answered, HostShare};
pub use steps::{OperatorReport, STEPS, Steps};
pub use surface::{Edge, Field, Graph, Improve, Vertex, Worklist};
