//! Programs, the engines that run one host's part of them, and the loop of rounds.
//!
//! A user writes a [`VertexProgram`], or a [`Relaxation`] where one label per vertex is enough, or an
//! [`EdgeProgram`] where every edge changes both its ends. An [`Engine`] works through a host's edges its
//! own way. [`run()`] is the only loop: compute, reduce, apply, broadcast, until nothing is left to do.
//!
//! Reading order: [`program`], [`engine`], [`mod@run`], [`registry`], [`pace`], [`report`], then a host's
//! data in [`state`], the [`techniques`] that engines compose, and the [`engines`].

pub mod device;
pub mod engine;
pub mod engines;
mod meter;
pub mod pace;
pub mod program;
pub mod registry;
pub mod report;
pub mod run;
pub mod simulated;
pub mod state;
pub mod suitable;
pub mod techniques;

pub use device::DeviceType;
pub use engine::{Conclusion, Engine, Measure, Next, Overlapped, Paced};
pub use pace::{Pace, Pacing};
pub use parton_macros::device;
pub use parton_sync::Tally;
pub use program::filtering::{Filter, LeftOut, SharedSource};
pub use program::{
    Accumulated, EdgeProgram, Edges, Properties, Relaxation, Round, Tip, Vertex, VertexProgram,
};
pub use registry::{EngineInfo, EngineList, ProgramEngine, ProgramForm, RelaxationEngine};
pub use report::{HostReport, RoundReport, RoundTimes, RunReport};
pub use run::{Limits, Watch, run};
pub use state::directions::{DirectionRows, Directions};
pub use state::edges::{EdgeRows, EdgeView, check_weights};
pub use state::{degrees, sides};
pub use suitable::StationaryProgram;
pub use techniques::row_blocks::row_blocks;
pub use techniques::throttle::Throttled;
pub use techniques::tiles::{TileMemory, tile_memory};
