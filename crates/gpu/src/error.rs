//! What can go wrong with a device.

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such device, or no way to it.
    #[error("{0}")]
    Missing(String),
    /// The device does not have enough memory.
    #[error("{device}: not enough memory: {needed} bytes are needed, {free} are free")]
    OutOfMemory {
        /// Which device.
        device: String,
        /// What was asked for.
        needed: u64,
        /// What there was.
        free: u64,
    },
    /// A kernel does not compile: a mistake of Parton, or of the program's text.
    #[error("{device}: the kernels of this program do not compile:\n{log}")]
    Compile {
        /// Which device.
        device: String,
        /// What the compiler said.
        log: String,
    },
    /// The driver reported a failure.
    #[error("{device}: {action}: {reason}")]
    Driver {
        /// Which device.
        device: String,
        /// What Parton was doing.
        action: &'static str,
        /// What the driver said.
        reason: String,
    },
}
