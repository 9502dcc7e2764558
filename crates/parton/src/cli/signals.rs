//! Signals: what is half-written goes away with the process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::save;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::team::CommandStage;

/// Code of a process that a signal ended, less the number of the signal.
const SIGNALLED: i32 = 128;

/// A launcher ends all ranks as soon as one has died. They should know which before they go.
const NEWS_OF_LOSS: Duration = Duration::from_millis(300);
/// If none has, all were told to end, and none should take the others' end for a loss.
const ALL_TOLD: Duration = Duration::from_millis(200);

/// Makes interrupts and requests to end take temporary files along.
pub(crate) fn end_cleanly(stage: Arc<CommandStage>, is_distributed: bool) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _abandoned = save::abandon();
            if is_distributed && signal == SIGTERM {
                std::thread::sleep(NEWS_OF_LOSS);
                if stage.ending().is_none() {
                    stage.ignore_losses();
                    std::thread::sleep(ALL_TOLD);
                }
            }
            let code = stage.ending().map_or(SIGNALLED + signal, i32::from);
            // Not by way of handlers and destructors: other threads are in the midst of work.
            signal_hook::low_level::exit(code);
        }
    })?;
    Ok(())
}
