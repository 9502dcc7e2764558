//! A graph over many hosts: who masters which vertex, where every edge lives, and over which
//! routes hosts keep their copies consistent.
//!
//! ```text
//! input ─ my rows ─ policy ─ shuffle ─ layout ─ routes ─ Partition
//! ```
//!
//! Every host reads its own rows of the input, asks the policy for the owner of each edge, and sends edges to their
//! owners. It numbers the vertices that its edges touch. Once, it agrees with every peer on the ordered list of
//! vertices that the two share. No host ever holds the whole graph or an array with an entry per vertex of it.
//! Reading order: [`input`], [`blocks`], [`policy`], `shuffle`, `in_edges`, [`layout`], `local_edges`, `edge_set`,
//! [`routes`], [`partition`].

pub mod blocks;
mod dictionary;
mod directory;
mod edge_set;
pub mod error;
mod exchange;
pub mod grid;
mod id_set;
mod in_edges;
pub mod input;
pub mod layout;
mod local_edges;
mod lookup;
pub mod neighbourhoods;
pub mod partition;
pub mod policies;
pub mod policy;
pub mod quality;
pub mod routes;
pub mod saved;
mod shuffle;
pub mod sketch;
pub mod survey;

pub use dictionary::Originals;
pub use edge_set::Coverage;
pub use error::{Error, Result};
pub use input::{Fit, Input};
pub use partition::{Order, Partition, Plan};
pub use policy::Policy;
pub use routes::{End, Role, RouteId};
pub use survey::Survey;
