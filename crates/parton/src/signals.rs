//! Signals: what is half-written goes away with the process.

use std::io;

use parton::graph::save;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Code of a process that a signal ended, less the number of the signal.
const SIGNALLED: i32 = 128;

/// Makes interrupts and requests to end take temporary files along.
pub(crate) fn end_cleanly() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _abandoned = save::abandon();
            // Not by way of handlers and destructors: other threads are in the midst of work.
            signal_hook::low_level::exit(SIGNALLED + signal);
        }
    })?;
    Ok(())
}
