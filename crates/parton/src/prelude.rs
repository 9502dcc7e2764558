//! What one needs to write a program or an algorithm, and to run it: `use parton::prelude::*`.
//!
//! | to write | take |
//! |---|---|
//! | a program of one label per vertex that only improves | [`Relaxation`] |
//! | any other program of vertices | [`VertexProgram`], [`Vertex`], [`Tally`], [`Properties`] |
//! | a form of it for GPUs | [`macro@device`] before its `impl`, [`derive@DeviceType`] for its state |
//! | a struct that fields hold and messages carry | [`derive@Value`] |
//! | an algorithm for the command | [`Algorithm`], [`Job`], [`Answer`], [`certificate`] |
//! | options of its own | [`options!`](crate::algorithms::options!), [`OptionSet`], [`Root`] |
//!
//! The macros name the crate whose traits they implement, which is known here by a path of `parton`:
//!
//! ```
//! use parton::prelude::*;
//!
//! /// How long the way to a vertex is, and the vertex before it.
//! #[derive(Clone, Copy, PartialEq, Value)]
//! #[value(crate = parton::sync)]
//! struct Way {
//!     length: f32,
//!     from: u32,
//! }
//! ```

pub use crate::algorithms::{
    Access, Algorithm, Answer, Column, EdgeNeed, Fact, Job, Needs, OptionSet, Options, Result,
    Root, Values, WeightNeed, certificate, traversal,
};
pub use crate::engine::{
    DeviceType, Edges, EngineInfo, Pace, Properties, Relaxation, Tally, Vertex, VertexProgram,
    device, engines,
};
pub use crate::graph::{GlobalId, Graph, LocalId, Weight, with_csr};
pub use crate::outcome::Outcome;
pub use crate::run::Run;
pub use crate::sync::reduction::{Latest, Max, Min, Or, Sum};
pub use crate::sync::{Reduction, Substrate, Value};
