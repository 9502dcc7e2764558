//! How an emulated device behaves, and which failures are planted in it.

/// Variables of the environment that stand for settings: how tests of the command plant failures.
const MEMORY_VARIABLE: &str = "PARTON_EMULATED_MEMORY";
const LOST_VARIABLE: &str = "PARTON_EMULATED_LOST_AFTER";
const FAULT_VARIABLE: &str = "PARTON_EMULATED_FAULT_AT";
const FULL_VARIABLE: &str = "PARTON_EMULATED_FULL_AFTER";
/// Size of the device's memory unless the variable says another.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// How an emulated device behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of memory.
    pub memory: u64,
    /// True if queued work is done as late as allowed, when the host waits for it. A host that reads
    /// too early then reads the past. False if it is done at once, for hosts that poll memory.
    pub is_deferred: bool,
    /// Determines the order in which blocks and threads run.
    pub seed: u64,
    /// Number of calls that succeed. The device is lost from then on. Compiling is none, since it does
    /// not need the device, and whether it is done depends on what was compiled before.
    pub failing_after: Option<u64>,
    /// The launch, counted from 1, whose kernel faults.
    pub faulting_launch: Option<u64>,
    /// Number of allocations that succeed. No memory is left from then on.
    pub full_after: Option<u64>,
    /// Architectures that NVRTC compiles kernels for, too, as far as it knows them: it refuses some of
    /// what g++ takes.
    pub architectures: &'static [&'static str],
}

impl Default for Settings {
    fn default() -> Settings {
        let number =
            |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
        Settings {
            memory: number(MEMORY_VARIABLE).unwrap_or(DEFAULT_MEMORY),
            is_deferred: true,
            seed: 1,
            architectures: &[],
            failing_after: number(LOST_VARIABLE),
            faulting_launch: number(FAULT_VARIABLE),
            full_after: number(FULL_VARIABLE),
        }
    }
}
