//! Signals: a process that is interrupted removes its temporary files.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::save;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::team::CommandStage;

/// A process that a signal ended exits with this plus the number of the signal.
const SIGNAL_CODE_BASE: i32 = 128;

/// A launcher signals all ranks as soon as one has died. This is the time to learn which one.
const LOSS_NOTICE_DELAY: Duration = Duration::from_millis(300);
/// If none has died, all ranks were told to end. This is the time until all of them know.
const ALL_SIGNALLED_DELAY: Duration = Duration::from_millis(200);

/// Removes temporary files when the process is interrupted or told to end.
pub(crate) fn end_cleanly(stage: Arc<CommandStage>, is_distributed: bool) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _abandoned = save::abandon();
            if is_distributed && signal == SIGTERM {
                std::thread::sleep(LOSS_NOTICE_DELAY);
                if stage.ending().is_none() {
                    stage.ignore_losses();
                    std::thread::sleep(ALL_SIGNALLED_DELAY);
                }
            }
            let code = stage.ending().map_or(SIGNAL_CODE_BASE + signal, i32::from);
            // Without exit handlers and destructors, because other threads still work.
            signal_hook::low_level::exit(code);
        }
    })?;
    Ok(())
}
