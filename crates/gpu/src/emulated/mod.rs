//! A device that is none: it runs kernels on the processor, for tests.
//!
//! The text of kernels is the same as for a GPU. It finds what a GPU would not show: reads of memory
//! that was never written, writes next to an allocation, threads that wait for each other forever,
//! arguments of the wrong size, and a host that does not wait before it reads.

mod arena;
mod compiler;
mod library;
mod settings;

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use arena::Arena;
use library::{Argument, Function};
pub use settings::Settings;

use crate::cuda::nvrtc::Nvrtc;
use crate::driver::{Address, DeviceInfo, Driver, Kernel, Launch, Mark, Pinned};
use crate::error::{Error, Result};

/// What users call the device.
const DEVICE: &str = "emulated:0";
/// Threads of a block that GPUs allow.
const MAX_THREADS: u32 = 1024;
/// Blocks that one multiprocessor runs at once.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 2;

/// One host's emulated device. Kernels of one can read what those of another have written, as if both were one
/// device; each has its own limit of memory.
pub struct Emulated {
    info: DeviceInfo,
    settings: Settings,
    pool: u64,
    state: Mutex<State>,
}

/// Number of emulated devices so far: each has memory of its own.
static POOLS: AtomicU64 = AtomicU64::new(1);

/// All that changes.
#[derive(Default)]
struct State {
    device: Arena,
    pinned: Arena,
    queue: Vec<Work>,
    functions: Vec<Function>,
    /// What went wrong first. Nothing works from then on, as on a GPU.
    failure: Option<String>,
    num_calls: u64,
    num_launches: u64,
    num_allocations: u64,
    num_marks: u64,
}

/// Queued work.
enum Work {
    Copy {
        from: u64,
        to: u64,
        bytes: usize,
    },
    Fill {
        at: u64,
        byte: u8,
        bytes: usize,
    },
    Launch {
        function: Function,
        launch: Launch,
        arguments: Vec<Argument>,
        seed: u64,
    },
    /// A place that the host may wait for.
    Mark(Mark),
    /// A kernel that a test makes fault.
    Fault {
        function: Function,
    },
}

/// The error of an action that failed.
fn failed(action: &'static str, reason: impl Into<String>) -> Error {
    Error::Driver { device: DEVICE.into(), action, reason: reason.into() }
}

impl Emulated {
    /// A device.
    pub fn new(settings: Settings) -> Emulated {
        let info = DeviceInfo {
            name: DEVICE.into(),
            model: "emulated on the processor".into(),
            driver: env!("CARGO_PKG_VERSION").into(),
            architecture: "host".into(),
            memory: settings.memory,
            multiprocessors: 2,
            threads_per_block: 64,
        };
        // No GPU has such a number.
        let pool = u64::MAX - POOLS.fetch_add(1, Ordering::Relaxed);
        Emulated { info, settings, pool, state: Mutex::default() }
    }

    /// A device that is lost after this many calls.
    pub fn failing_after(calls: u64) -> Emulated {
        Emulated::new(Settings { failing_after: Some(calls), ..Settings::default() })
    }

    /// The most bytes of memory that were allocated at once.
    pub fn peak_memory(&self) -> u64 {
        self.lock().device.peak
    }

    /// Number of copies, fills and launches that are queued and not done.
    pub fn num_queued(&self) -> usize {
        self.lock().queue.iter().filter(|work| !matches!(work, Work::Mark(_))).count()
    }

    /// Number of calls so far, as [`Settings::failing_after`] counts them.
    pub fn num_calls(&self) -> u64 {
        self.lock().num_calls
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts a call. An error if the device has failed.
    fn enter(&self, action: &'static str) -> Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        if self.settings.failing_after.is_some_and(|calls| state.num_calls >= calls) {
            return Err(failed(action, "lost"));
        }
        state.num_calls += 1;
        match &state.failure {
            Some(failure) => Err(failed(action, failure.clone())),
            None => Ok(state),
        }
    }

    /// As [`Emulated::enter`], with all queued work done.
    fn wait(&self, action: &'static str) -> Result<MutexGuard<'_, State>> {
        let mut state = self.enter(action)?;
        state.flush().map_err(|reason| failed(action, reason))?;
        Ok(state)
    }

    fn queue(
        &self,
        mut state: MutexGuard<'_, State>,
        action: &'static str,
        work: Work,
    ) -> Result<()> {
        state.queue.push(work);
        if !self.settings.is_deferred {
            // A GPU shows failures of kernels later. That only the next call does is near enough.
            let is_launch = matches!(state.queue.last(), Some(Work::Launch { .. }));
            let done = state.flush();
            return if is_launch { Ok(()) } else { done.map_err(|reason| failed(action, reason)) };
        }
        Ok(())
    }
}

impl State {
    /// Does all queued work, and looks for damage.
    fn flush(&mut self) -> Result<(), String> {
        self.flush_first(self.queue.len())
    }

    /// Does so much of the queued work.
    fn flush_first(&mut self, count: usize) -> Result<(), String> {
        let rest = self.queue.split_off(count);
        for work in std::mem::replace(&mut self.queue, rest) {
            let done = self.perform(work);
            if let Err(reason) = done {
                self.failure = Some(reason.clone());
                return Err(reason);
            }
        }
        Ok(())
    }

    fn remove_mark(&mut self, mark: Mark) {
        self.queue.retain(|work| !matches!(work, Work::Mark(queued) if *queued == mark));
    }

    fn perform(&mut self, work: Work) -> Result<(), String> {
        match work {
            // SAFETY: both parts lie in allocations, which are not freed before the queue is empty.
            Work::Copy { from, to, bytes } => unsafe {
                std::ptr::copy(from as *const u8, to as *mut u8, bytes);
            },
            // SAFETY: as above.
            Work::Fill { at, byte, bytes } => unsafe { (at as *mut u8).write_bytes(byte, bytes) },
            Work::Launch { function, launch, mut arguments, seed } => {
                function.run(launch, &mut arguments, seed)?;
                let checked = self.device.check().and_then(|()| self.pinned.check());
                checked.map_err(|damage| format!("kernel `{}` {damage}", function.name()))?;
            }
            Work::Mark(_) => {}
            Work::Fault { function } => {
                return Err(format!("kernel `{}` faulted", function.name()));
            }
        }
        Ok(())
    }

    /// An error unless these bytes lie in the device's memory.
    fn require(&self, action: &'static str, address: Address, bytes: usize) -> Result<()> {
        if bytes == 0 || self.device.has(address.0, bytes) {
            return Ok(());
        }
        Err(failed(action, format!("{bytes} bytes at {:#x} are not allocated", address.0)))
    }
}

/// An error unless this is part of it.
fn require_part(action: &'static str, pinned: &Pinned, part: &Range<usize>) -> Result<()> {
    if part.start <= part.end && part.end <= pinned.bytes {
        return Ok(());
    }
    Err(failed(action, format!("{part:?} is not part of {} pinned bytes", pinned.bytes)))
}

impl Driver for Emulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> NonZeroU64 {
        // No GPU has this number.
        NonZeroU64::MAX
    }

    fn pool(&self) -> u64 {
        self.pool
    }

    fn free_memory(&self) -> Result<u64> {
        Ok(self.settings.memory - self.enter("ask for free memory")?.device.used)
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        let mut state = self.enter("allocate")?;
        if bytes == 0 {
            return Err(failed("allocate", "no bytes"));
        }
        let is_full = self.settings.full_after.is_some_and(|most| state.num_allocations >= most);
        state.num_allocations += 1;
        let free = if is_full { 0 } else { self.settings.memory - state.device.used };
        let address = if bytes as u64 <= free { state.device.allocate(bytes) } else { None };
        let needed = bytes as u64;
        address.map(Address).ok_or_else(|| Error::OutOfMemory {
            device: DEVICE.into(),
            needed,
            free,
        })
    }

    fn free(&self, address: Address) {
        let mut state = self.lock();
        // A failure stays in the state, where the next call finds it.
        let _ = state.flush();
        if let Err(reason) = state.device.free(address.0) {
            state.failure.get_or_insert(reason);
        }
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Pinned> {
        let mut state = self.enter("allocate pinned memory")?;
        let address = state.pinned.allocate(bytes);
        let needed = bytes as u64;
        let address =
            address.ok_or_else(|| Error::OutOfPinned { device: DEVICE.into(), needed })?;
        Ok(Pinned { host: address as *mut u8, address: Address(address), bytes })
    }

    fn free_pinned(&self, pinned: &Pinned) {
        let mut state = self.lock();
        let _ = state.flush();
        if let Err(reason) = state.pinned.free(pinned.address.0) {
            state.failure.get_or_insert(reason);
        }
    }

    fn upload(&self, to: Address, bytes: &[u8]) -> Result<()> {
        let mut state = self.wait("upload")?;
        state.require("upload", to, bytes.len())?;
        let (from, to, bytes) = (bytes.as_ptr() as u64, to.0, bytes.len());
        state.perform(Work::Copy { from, to, bytes }).map_err(|reason| failed("upload", reason))
    }

    fn download(&self, from: Address, into: &mut [u8]) -> Result<()> {
        let mut state = self.wait("download")?;
        state.require("download", from, into.len())?;
        let (from, to, bytes) = (from.0, into.as_mut_ptr() as u64, into.len());
        state.perform(Work::Copy { from, to, bytes }).map_err(|reason| failed("download", reason))
    }

    fn queue_upload(&self, to: Address, from: &Pinned, part: Range<usize>) -> Result<()> {
        let state = self.enter("upload")?;
        require_part("upload", from, &part)?;
        state.require("upload", to, part.len())?;
        let from = from.address.plus(part.start).0;
        self.queue(state, "upload", Work::Copy { from, to: to.0, bytes: part.len() })
    }

    fn queue_download(&self, from: Address, to: &Pinned, part: Range<usize>) -> Result<()> {
        let state = self.enter("download")?;
        require_part("download", to, &part)?;
        state.require("download", from, part.len())?;
        let to = to.address.plus(part.start).0;
        self.queue(state, "download", Work::Copy { from: from.0, to, bytes: part.len() })
    }

    fn queue_copy(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        let state = self.enter("copy")?;
        state.require("copy", from, bytes)?;
        state.require("copy", to, bytes)?;
        self.queue(state, "copy", Work::Copy { from: from.0, to: to.0, bytes })
    }

    fn queue_fill(&self, at: Address, byte: u8, bytes: usize) -> Result<()> {
        let state = self.enter("fill")?;
        state.require("fill", at, bytes)?;
        self.queue(state, "fill", Work::Fill { at: at.0, byte, bytes })
    }

    fn compile(&self, text: &str) -> Result<Vec<u8>> {
        if !self.settings.architectures.is_empty() {
            let nvrtc = Nvrtc::get()?;
            // Newer versions drop old ones.
            let known = nvrtc.architectures();
            let is_known = |wanted: &&&str| known.iter().any(|known| known == *wanted);
            for architecture in self.settings.architectures.iter().filter(is_known) {
                nvrtc.compile(DEVICE, architecture, text)?;
            }
        }
        compiler::compile(text)
    }

    fn compiler(&self) -> Result<String> {
        let mut identity = compiler::identity()?;
        for architecture in self.settings.architectures {
            identity.push_str(&Nvrtc::get()?.identity(architecture));
        }
        Ok(identity)
    }

    fn load(&self, image: &[u8], kernels: &[&str]) -> Result<Vec<Kernel>> {
        let mut state = self.enter("load kernels")?;
        let loaded =
            library::load(image, kernels).map_err(|reason| failed("load kernels", reason))?;
        let first = state.functions.len();
        state.functions.extend(loaded);
        Ok((first..state.functions.len()).map(Kernel).collect())
    }

    fn blocks_at_once(&self, _: Kernel, threads: u32) -> Result<u32> {
        drop(self.enter("ask for occupancy")?);
        let fits = (1..=MAX_THREADS).contains(&threads);
        Ok(if fits { self.info.multiprocessors * BLOCKS_PER_MULTIPROCESSOR } else { 0 })
    }

    fn launch(&self, kernel: Kernel, launch: Launch, arguments: &[&[u8]]) -> Result<()> {
        let mut state = self.enter("launch a kernel")?;
        let function = state.functions[kernel.0].clone();
        let refuse = |reason: String| Err(failed("launch a kernel", reason));
        if launch.blocks == 0 || launch.threads == 0 || launch.threads > MAX_THREADS {
            return refuse(format!("{launch:?} is not possible"));
        }
        let at_once = self.info.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
        if launch.is_cooperative && launch.blocks > at_once {
            return refuse(format!("{} blocks do not all run at once", launch.blocks));
        }
        function.check(arguments).or_else(refuse)?;
        state.num_launches += 1;
        if self.settings.faulting_launch == Some(state.num_launches) {
            return self.queue(state, "launch a kernel", Work::Fault { function });
        }
        // Not zero, which the generator of the shim cannot leave.
        let seed = (self.settings.seed ^ state.num_launches << 32).max(1);
        let arguments = arguments.iter().map(|bytes| Argument::new(bytes)).collect();
        self.queue(state, "launch a kernel", Work::Launch { function, launch, arguments, seed })
    }

    fn new_mark(&self) -> Result<Mark> {
        let mut state = self.enter("make a mark")?;
        state.num_marks += 1;
        Ok(Mark(state.num_marks))
    }

    fn free_mark(&self, mark: Mark) {
        self.lock().remove_mark(mark);
    }

    fn set_mark(&self, mark: Mark) -> Result<()> {
        let mut state = self.enter("set a mark")?;
        state.remove_mark(mark);
        self.queue(state, "set a mark", Work::Mark(mark))
    }

    fn wait_for(&self, mark: Mark) -> Result<()> {
        let mut state = self.enter("wait for the device")?;
        let place = state.queue.iter().position(|work| matches!(work, Work::Mark(m) if *m == mark));
        let done = state.flush_first(place.map_or(0, |place| place + 1));
        done.map_err(|reason| failed("wait for the device", reason))
    }

    fn synchronize(&self) -> Result<()> {
        self.wait("wait for the device").map(drop)
    }
}
