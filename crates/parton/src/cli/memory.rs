//! Where memory ends: what this process may use, and the sentence with which it ends if it gets no more.
//!
//! The system would kill a process that exceeds its machine or its control group. [`guard`] has it refuse
//! memory before that, so that every end is an allocation that fails, and every such end is [`out_of_memory`].

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::cli::exit::{Failure, OUT_OF_MEMORY};
use crate::graph::memory::{self, Amount, limits};

/// Bytes that this process may use, and what says so; 0 while nothing does.
static LIMIT: AtomicU64 = AtomicU64::new(0);
static SOURCE: AtomicU64 = AtomicU64::new(0);
/// Bytes that a plan says are needed; 0 where there is no plan.
static NEED: AtomicU64 = AtomicU64::new(0);
/// Whether a thread is ending the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What would help, whatever the command does.
const HELP: &str = "raise the limit, start ranks on more machines (mpirun), or see `parton plan`";

const SOURCES: [limits::LimitSource; 4] = [
    limits::LimitSource::Machine,
    limits::LimitSource::ControlGroup,
    limits::LimitSource::AddressSpace,
    limits::LimitSource::Data,
];

/// The limits of this process, before [`guard`] lowered one.
static LIMITS: OnceLock<limits::MemoryLimits> = OnceLock::new();

/// The limits of this process, which shares its machine with `processes` of the same command.
pub(crate) fn limits(processes: usize) -> limits::MemoryLimits {
    LIMITS.get_or_init(limits::MemoryLimits::of_process).shared_by(processes)
}

/// Keeps this process, with this many threads, from being killed for what it uses. A control group that is too
/// small for a process without a graph is refused.
pub(crate) fn guard(processes: usize, threads: usize) -> Result<(), Failure> {
    let limits = limits(processes);
    if let Some(limit) = limits.least(threads) {
        LIMIT.store(limit.bytes, Ordering::Relaxed);
        let source = SOURCES.iter().position(|known| *known == limit.source);
        SOURCE.store(source.unwrap_or(0) as u64, Ordering::Relaxed);
    }
    // Pages of code are the group's, too. What is left of it once they are gone from memory is no use.
    let code = CODE_GROWTH * code_bytes();
    if let Some(bytes) = limits.control_group.filter(|bytes| *bytes < code + LEAST_BYTES) {
        return Err(Failure::out_of_memory(format!(
            "without a graph, this process takes more memory than {}, which may be used ({}): raise the limit",
            Amount(bytes.into()),
            limits::LimitSource::ControlGroup
        )));
    }
    let control_group = limits.control_group.map(|bytes| bytes - code);
    limits::MemoryLimits { control_group, ..limits }.guard(threads);
    Ok(())
}

/// What a process takes beside its code and a graph.
const LEAST_BYTES: u64 = 4 << 20;

/// How much more code a run uses than this process has used when it begins.
const CODE_GROWTH: u64 = 2;

/// Bytes of files, which are programs and libraries, in this process's memory.
fn code_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap_or_default();
    let kib = line.trim().strip_suffix("kB").and_then(|number| number.trim().parse::<u64>().ok());
    kib.map_or(0, |kib| kib << 10)
}

/// Refuses threads whose stacks have no room, and with them what systems need to start threads: where that is
/// missing, systems end the process by a signal.
pub(crate) fn check_stacks(threads: usize) -> Result<(), Failure> {
    let bytes = (threads as u64 * limits::STACK_BYTES).saturating_add(SPARE_BYTES);
    if memory::is_there(bytes as usize) {
        return Ok(());
    }
    Err(Failure::out_of_memory(format!(
        "not enough memory to start {threads} threads, which reserve {}: {HELP}",
        Amount(bytes.into())
    )))
}

/// What is used beside stacks before the first plan.
const SPARE_BYTES: u64 = 4 << 20;

/// What the run was planned to need, for the message if that was too little.
pub(crate) fn plan_for(bytes: u64) {
    NEED.store(bytes, Ordering::Relaxed);
}

/// Whether threads cannot start because there is no memory for their stacks.
pub(crate) fn lacks_stacks() -> bool {
    !memory::is_there(2 * limits::STACK_BYTES as usize)
}

/// Ends the process, which asked for this much memory and got none: for a global allocator. Needs no
/// memory itself.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    if ENDING.swap(true, Ordering::AcqRel) {
        // Another thread says so.
        loop {
            std::thread::park();
        }
    }
    let mut text = [0; 512];
    let length = describe(&mut text, bytes);
    // If even standard error is closed, the message has no reader.
    let _ = io::stderr().write_all(&text[..length]);
    let _abandoned = crate::graph::save::abandon();
    signal_hook::low_level::exit(OUT_OF_MEMORY.into())
}

/// Writes the message; returns its length. What does not fit is left out.
fn describe(text: &mut [u8], bytes: usize) -> usize {
    let whole = text.len();
    let mut free = text;
    let _ = write!(free, "parton: out of memory: {} more cannot be had", Amount(bytes as u128));
    let (limit, need) = (LIMIT.load(Ordering::Relaxed), NEED.load(Ordering::Relaxed));
    if need > 0 {
        let _ = write!(free, ", about {} are needed in all", Amount(need.into()));
    }
    if limit > 0 {
        let source = SOURCES[SOURCE.load(Ordering::Relaxed) as usize % SOURCES.len()];
        let _ = write!(free, ", {} may be used ({source})", Amount(limit.into()));
    }
    let _ = writeln!(free, ": {HELP}");
    whole - free.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_fits_and_says_what_is_known() {
        let mut text = [0; 512];
        let length = describe(&mut text, usize::MAX);
        let said = std::str::from_utf8(&text[..length]).unwrap();
        assert!(
            said.starts_with("parton: out of memory: 18446744.1 TB more cannot be had"),
            "{said}"
        );
        assert!(said.ends_with("`parton plan`\n"), "{said}");
        let mut short = [0; 20];
        assert_eq!(describe(&mut short, 5), 20);
    }
}
