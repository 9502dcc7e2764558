//! What one needs to write a program or an algorithm, and to run it.
//!
//! ```
//! use parton::prelude::*;
//! ```

pub use crate::algorithms::{Access, Algorithm, Answer, Column, Fact, Job, Needs, Options, Values};
pub use crate::engine::{Edges, Pace, Properties, Relaxation, Tally, Vertex, VertexProgram};
pub use crate::graph::{GlobalId, Graph, LocalId, Weight, with_csr};
pub use crate::run::{Outcome, Run};
pub use crate::sync::reduction::{Latest, Max, Min, Or, Sum};
pub use crate::sync::{Reduction, Substrate};
