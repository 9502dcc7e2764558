//! Parton: graph analytics for graphs that outgrow one processor.
//!
//! This crate is the facade over Parton's libraries and the home of the `parton` command.
//!
//! ```
//! use parton::graph::generate::Spec;
//! use parton::graph::progress::Silent;
//! use parton::graph::stats::Summary;
//!
//! let graph = Spec::parse("grid:3x2")?.generate(&Silent)?;
//! assert_eq!(Summary::of(&graph).edges, 14);
//! # Ok::<(), parton::graph::Error>(())
//! ```

pub use parton_algorithms as algorithms;
pub use parton_engine as engine;
pub use parton_graph as graph;
pub use parton_net as net;
pub use parton_partition as partition;
pub use parton_sync as sync;

#[cfg(feature = "cli")]
pub mod cli;
mod defaults;
mod error;
pub mod output;
pub mod prelude;
mod run;

pub use error::{Error, Result};
pub use run::{IntoInput, Outcome, Run, relax, run};
