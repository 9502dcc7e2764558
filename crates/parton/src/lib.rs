//! Parton: graph analytics for graphs that outgrow one processor.
//!
//! | to | use |
//! |---|---|
//! | run a program of your own on many hosts | [`run()`], [`relax()`], and the builder [`Run`] |
//! | write one | [`mod@program`]: a plain function; [`prelude`]: `Relaxation`, `VertexProgram` |
//! | give it the command line of `parton` | [`cli::main`] |
//! | write a table of answers | [`output`] |
//! | read, make and write graphs | [`graph`] |
//! | cut graphs over hosts | [`partition`] |
//! | know what a run is going to need | [`planning`] |
//! | scale out an engine of your own | [`sync::Substrate`] |
//!
//! `docs/own-algorithm.md` leads from nothing to an algorithm of your own on the command line.
//!
//! ```
//! use parton::prelude::*;
//!
//! /// The least vertex that reaches each vertex.
//! struct Least;
//!
//! impl Relaxation for Least {
//!     type Label = u32;
//!     type Reduction = Min<u32>;
//!     type Weight = ();
//!
//!     fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
//!         Some(vertex.id().0 as u32)
//!     }
//!
//!     fn relax(&self, label: u32, (): ()) -> u32 {
//!         label
//!     }
//! }
//!
//! // Two hosts, whose parts of the path are joined by one edge.
//! let outcome = parton::relax(Least, "path:6", 2)?;
//! assert_eq!(outcome.values, [0; 6]);
//! assert!(outcome.report.sent().total() > 0);
//! # Ok::<(), parton::Error>(())
//! ```
//!
//! Features: `cli`, on by default, is the command and [`cli`]; without it, none of the command's
//! dependencies are compiled. `remote`, off by default, reads and writes behind URLs.

pub use parton_algorithms as algorithms;
pub use parton_engine as engine;
pub use parton_gpu as gpu;
pub use parton_graph as graph;
pub use parton_net as net;
pub use parton_partition as partition;
pub use parton_sync as sync;

#[cfg(feature = "cli")]
pub mod cli;
mod defaults;
mod devices;
mod error;
mod host_weights;
mod outcome;
pub mod output;
pub mod planning;
pub mod prelude;
pub mod program;
mod run;

pub use devices::DeviceList;
pub use error::{Error, Result};
pub use host_weights::HostWeights;
pub use outcome::Outcome;
pub use parton_program::program;
pub use program::{On, ProgramOutcome};
pub use run::{IntoInput, Run, relax, run};
