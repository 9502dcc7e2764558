//! Progress on standard error: a bar on a terminal; elsewhere a line every ten seconds, so that
//! batch logs stay short and short runs stay silent.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::engine::{Measure, Tally};
use crate::graph::progress::Progress;
use crate::sync::Volume;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::cli::exit::say;
use crate::cli::origin::{self, Origin};
use crate::cli::show;

const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows progress and notes.
pub(crate) struct Watch {
    kind: Display,
    /// The graphs that were read so far.
    origins: Mutex<Vec<Origin>>,
}

enum Display {
    /// Another process prints for this one.
    Mute,
    Quiet,
    Bar(Mutex<ProgressBar>),
    Lines(Lines),
}

struct Lines {
    stage: Mutex<Stage>,
    done: AtomicU64,
}

struct Stage {
    name: String,
    total: Option<u64>,
    last_line: Instant,
}

impl Watch {
    /// Shows only warnings if `quiet`, and nothing unless this process `speaks` for all.
    pub(crate) fn new(quiet: bool, speaks: bool) -> Self {
        let kind = if !speaks {
            Display::Mute
        } else if quiet {
            Display::Quiet
        } else if stderr().is_terminal() {
            Display::Bar(Mutex::new(ProgressBar::hidden()))
        } else {
            let stage = Stage { name: String::new(), total: None, last_line: Instant::now() };
            Display::Lines(Lines { stage: Mutex::new(stage), done: AtomicU64::new(0) })
        };
        Watch { kind, origins: Mutex::default() }
    }

    /// Says how a graph is understood, and keeps it for [`Watch::signed`].
    pub(crate) fn has_read(&self, origin: Origin) {
        if let Some(note) = origin.note() {
            self.note(&note);
        }
        self.origins.lock().expect("no thread panicked holding this lock").push(origin);
    }

    /// The report, with what made it: all graphs that were read, the version, the command line.
    pub(crate) fn signed(&self, mut report: Value) -> Value {
        let origins = self.origins.lock().expect("no thread panicked holding this lock");
        origin::sign(&mut report, &origins);
        report
    }

    /// Prints a note, which is not part of the result.
    pub(crate) fn note(&self, text: &str) {
        match &self.kind {
            Display::Mute | Display::Quiet => {}
            Display::Bar(bar) => {
                bar.lock().expect("no thread panicked holding this lock").finish_and_clear();
                eprintln!("{text}");
            }
            Display::Lines(_) => eprintln!("{text}"),
        }
    }

    /// Prints a warning, even if quiet.
    pub(crate) fn warn(&self, text: &str) {
        self.finish();
        if !matches!(self.kind, Display::Mute) {
            say(text);
        }
    }

    /// Shows rounds as they end.
    pub(crate) fn rounds(&self) -> Rounds<'_> {
        self.begin("run", ProgressBar::new_spinner(), "{spinner} {wide_msg}", None);
        Rounds { watch: self }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        if let Display::Bar(bar) = &self.kind {
            bar.lock().expect("no thread panicked holding this lock").finish_and_clear();
        }
    }

    /// Begins another stage: a new bar, or a new name for lines.
    fn begin(&self, name: &str, new: ProgressBar, template: &str, total: Option<u64>) {
        match &self.kind {
            Display::Mute | Display::Quiet => {}
            Display::Bar(bar) => {
                new.set_style(ProgressStyle::with_template(template).expect("a valid template"));
                new.set_message(name.to_owned());
                let mut bar = bar.lock().expect("no thread panicked holding this lock");
                bar.finish_and_clear();
                *bar = new;
            }
            Display::Lines(lines) => {
                let mut stage = lines.stage.lock().expect("no thread panicked holding this lock");
                *stage = Stage { name: name.to_owned(), total, last_line: Instant::now() };
                lines.done.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Shows how far the current stage is.
    fn say(&self, text: impl FnOnce() -> String) {
        match &self.kind {
            Display::Mute | Display::Quiet => {}
            Display::Bar(bar) => {
                let bar = bar.lock().expect("no thread panicked holding this lock");
                bar.set_message(text());
                bar.tick();
            }
            Display::Lines(lines) => {
                let mut stage = lines.stage.lock().expect("no thread panicked holding this lock");
                if stage.last_line.elapsed() >= LINE_INTERVAL {
                    stage.last_line = Instant::now();
                    eprintln!("{}: {}", stage.name, text());
                }
            }
        }
    }
}

/// Shows the rounds of a run, as one of its hosts sees them.
pub(crate) struct Rounds<'w> {
    watch: &'w Watch,
}

impl crate::engine::Watch for Rounds<'_> {
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]) {
        self.watch.say(|| {
            let changed = show::count(total.changed);
            let sent: u64 = sent.iter().map(Volume::total).sum();
            match sent {
                0 => format!("round {round}: {changed} changed"),
                _ => format!(
                    "round {round}: {changed} changed, {} sent by host 0",
                    show::bytes(sent)
                ),
            }
        });
    }

    fn measured(&mut self, round: u64, Measure { name, value }: Measure) {
        self.watch.say(|| format!("round {round}: {name} {value:.6}"));
    }
}

impl Progress for Watch {
    fn stage(&self, name: &str, total: Option<u64>) {
        let (new, template) = match total {
            Some(total) => (ProgressBar::new(total), "{msg:9} {wide_bar} {percent:>3} % {eta:>4}"),
            None => (ProgressBar::new_spinner(), "{msg:9} {spinner} {human_pos} {elapsed}"),
        };
        self.begin(name, new, template, total);
    }

    fn advance(&self, amount: u64) {
        match &self.kind {
            Display::Mute | Display::Quiet => {}
            Display::Bar(bar) => {
                bar.lock().expect("no thread panicked holding this lock").inc(amount);
            }
            Display::Lines(lines) => {
                let done = lines.done.fetch_add(amount, Ordering::Relaxed) + amount;
                let mut stage = lines.stage.lock().expect("no thread panicked holding this lock");
                if stage.last_line.elapsed() >= LINE_INTERVAL {
                    stage.last_line = Instant::now();
                    let so_far = match stage.total {
                        Some(total) => format!("{} %", 100 * done / total.max(1)),
                        None => show::count(done),
                    };
                    eprintln!("{}: {so_far}", stage.name);
                }
            }
        }
    }
}
