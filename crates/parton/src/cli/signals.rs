//! Signals: a process that is interrupted removes its temporary files, and so does one that loses a
//! file that it has mapped.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::{mapped, save};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::cli::exit::{self, say};
use crate::cli::team::CommandStage;

/// A process that a signal ended exits with this plus the number of the signal.
const SIGNAL_CODE_BASE: i32 = 128;

/// A launcher signals all ranks as soon as one has died. This is the time to learn which one.
const LOSS_NOTICE_DELAY: Duration = Duration::from_millis(300);
/// If none has died, all ranks were told to end. This is the time until all of them know.
const ALL_SIGNALLED_DELAY: Duration = Duration::from_millis(200);

/// Removes temporary files when the process is interrupted or told to end.
pub(crate) fn end_cleanly(stage: Arc<CommandStage>, is_distributed: bool) -> io::Result<()> {
    // A file that grows beyond a limit is a failed write, not the end of the process.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    mapped::on_fault(|file| {
        say(&format!(
            "{file}: cannot read: it was cut short, or its disk failed, while it was in use"
        ));
        let _abandoned = save::abandon();
        signal_hook::low_level::exit(exit::IO.into());
    })?;
    // `nohup` has these ignored, and so it stays.
    let optional = [SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(optional))?;
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

/// Whether the process that started this one has a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
