//! What can go wrong with a device.

use crate::memory::MemoryPlan;

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
    /// The machine does not have enough memory that the device copies from.
    #[error(
        "{device}: not enough memory: {needed} bytes of the machine's memory are needed for copies, and it \
         cannot pin as many"
    )]
    OutOfPinned {
        /// Which device.
        device: String,
        /// What was asked for.
        needed: u64,
    },
    /// A host's part of the graph is known not to fit, before anything was uploaded.
    #[error(
        "{device}: not enough memory: this host's part of the graph needs {} ({} for edges, {} for \
         vertices, {} for messages), and {} {}; {}",
        shown(.plan.total()), shown(.plan.edges), shown(.plan.vertices), shown(.plan.messages),
        shown(*.free), if *.is_limited { "are allowed by `device_memory`" } else { "are free" },
        remedy(*.hosts, .plan.total(), *.free)
    )]
    DoesNotFit {
        /// Which device.
        device: String,
        /// What is needed.
        plan: MemoryPlan,
        /// What there is.
        free: u64,
        /// Whether there is more, which the user does not allow to be used.
        is_limited: bool,
        /// Number of hosts that the graph was cut for.
        hosts: u64,
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

/// A size for people.
fn shown(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// What would fit.
fn remedy(hosts: u64, needed: u64, free: u64) -> String {
    let all = u128::from(hosts) * u128::from(needed);
    let enough = all.div_ceil(u128::from(free.max(1))).max(u128::from(hosts) + 1);
    format!(
        "about {enough} hosts with such a device would do (`hosts` {enough}), or leave more of the \
         graph to hosts without one (`devices` gpu,cpu and `host_weights`)"
    )
}
