//! Programs, the engines that run one host's part of them, and the loop of rounds.
//!
//! A user writes a [`VertexProgram`], or a [`Relaxation`] where one label per vertex is all there
//! is, or an [`EdgeProgram`] where every edge changes both its ends. An [`Engine`] works through a host's edges its own way. [`run()`] is the only loop: compute,
//! reduce, apply, broadcast, until nothing is left to do. Reading order: [`program`], [`engine`],
//! [`mod@run`], [`pace`], [`report`], [`strategy`], [`relaxing`], [`stepping`], [`sides`], then
//! [`engines`].

mod bands;
pub mod degrees;
pub mod edges;
pub mod engine;
pub mod engines;
mod helpers;
pub mod pace;
pub mod program;
pub mod relaxing;
pub mod report;
pub mod run;
pub mod sides;
pub mod simulated;
mod slices;
mod spares;
mod speed;
pub mod stepping;
pub mod strategy;
mod waiting;
pub mod ways;

pub use edges::EdgeView;
pub use engine::{Engine, Measure};
pub use pace::{Pace, Pacing};
pub use parton_sync::Tally;
pub use program::{EdgeProgram, Edges, Properties, Relaxation, Tip, Vertex, VertexProgram};
pub use report::{HostReport, RoundReport, RunReport};
pub use run::{Limits, Watch, run};
pub use waiting::Held;
