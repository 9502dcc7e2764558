//! Hosts that compute on a GPU.
//!
//! Reading order: [`driver`], then what stands on it: [`memory`] and [`module`]. The drivers are
//! [`cuda`], and [`emulated`] for tests; [`discover`] finds them. Then a host's data on the device
//! (`rows`, `field`), the engines, and [`host`], which chooses one.

pub mod cuda;
pub mod discover;
pub mod driver;
pub mod emulated;
mod engines;
pub mod error;
mod field;
pub mod host;
mod launch;
pub mod memory;
pub mod module;
mod rows;

pub use error::{Error, Result};
pub use host::GpuHost;
