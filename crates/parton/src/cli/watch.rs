//! Progress on standard error: a bar on a terminal; elsewhere a line every ten seconds, so that
//! batch logs stay short and short runs stay silent.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::engine::{Measure, Tally};
use crate::graph::progress::{Progress, Unit};
use crate::sync::Volume;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::cli::exit::{say, tell};
use crate::cli::origin::{self, Origin};
use crate::cli::show;

const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two pictures of a bar, while nothing else changes it.
const TICK: Duration = Duration::from_millis(120);

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

/// A stage of the work, and what it is counted in.
struct Stage {
    name: String,
    unit: Unit,
    total: Option<u64>,
    began: Instant,
    last_line: Instant,
}

impl Stage {
    fn new(name: &str, unit: Unit, total: Option<u64>) -> Self {
        let now = Instant::now();
        Stage { name: name.into(), unit, total, began: now, last_line: now }
    }

    /// How much is done after this time, and how fast.
    fn so_far(&self, done: u64, time: Duration) -> String {
        let rate = (done as f64 / time.as_secs_f64().max(1e-3)) as u64;
        let amount = |amount| match self.unit {
            Unit::Bytes => show::bytes(amount),
            Unit::Edges => format!("{} edges", show::count(amount)),
            Unit::Runs => format!("{} runs", show::count(amount)),
        };
        match (self.total, self.unit) {
            (Some(total), Unit::Runs) => format!("{done} of {}", amount(total)),
            (None, Unit::Runs) => amount(done),
            (Some(total), _) => {
                let percent = (100 * done / total.max(1)).min(100);
                format!("{percent} % of {}, {}/s", amount(total), amount(rate))
            }
            (None, _) => format!("{}, {}/s", amount(done), amount(rate)),
        }
    }

    /// The bar of this stage on a terminal.
    fn bar(&self) -> ProgressBar {
        let (bar, template) = match (self.total, self.unit) {
            (Some(total), Unit::Bytes) => (
                ProgressBar::new(total),
                "{msg:12} {wide_bar} {percent:>3} % of {decimal_total_bytes}, \
                 {decimal_bytes_per_sec}, {eta} left",
            ),
            (Some(total), Unit::Edges) => (
                ProgressBar::new(total),
                "{msg:12} {wide_bar} {percent:>3} % of {human_len} edges, {per_sec}, {eta} left",
            ),
            (Some(total), Unit::Runs) => {
                (ProgressBar::new(total), "{msg:12} {wide_bar} {pos} of {len} runs, {eta} left")
            }
            (None, Unit::Bytes) => (
                ProgressBar::new_spinner(),
                "{spinner} {wide_msg} {decimal_bytes}, {decimal_bytes_per_sec}, {elapsed}",
            ),
            (None, _) => (ProgressBar::new_spinner(), "{spinner} {wide_msg} {elapsed}"),
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.set_message(self.name.clone());
        bar.enable_steady_tick(TICK);
        bar
    }
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
            let stage = Mutex::new(Stage::new("", Unit::Edges, None));
            Display::Lines(Lines { stage, done: AtomicU64::new(0) })
        };
        Watch { kind, origins: Mutex::default() }
    }

    /// Says how a graph is understood, and keeps it for [`Watch::signed`]; once, even if a command looks
    /// at it several times.
    pub(crate) fn has_read(&self, origin: Origin) {
        let mut origins = self.origins.lock().expect("no thread panicked holding this lock");
        if origins.iter().any(|known| known.is_same(&origin)) {
            return;
        }
        if let Some(note) = origin.note() {
            self.note(&note);
        }
        origins.push(origin);
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
                tell(text);
            }
            Display::Lines(_) => tell(text),
        }
    }

    /// Prints a warning, even if quiet.
    pub(crate) fn warn(&self, text: &str) {
        self.finish();
        if !matches!(self.kind, Display::Mute) {
            say(text);
        }
    }

    /// Shows what comes before the first round, then rounds as they end.
    pub(crate) fn rounds(&self) -> Rounds<'_> {
        self.begin(Stage::new("setup", Unit::Edges, None));
        Rounds {
            watch: self,
            has_begun: false,
            is_measured: false,
            number: 0,
            amounts: String::new(),
            measure: String::new(),
            parts: String::new(),
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        if let Display::Bar(bar) = &self.kind {
            bar.lock().expect("no thread panicked holding this lock").finish_and_clear();
        }
    }

    /// Begins another stage: a new bar, or a new name for lines. A stage that was long leaves a line.
    fn begin(&self, stage: Stage) {
        match &self.kind {
            Display::Mute | Display::Quiet => {}
            Display::Bar(bar) => {
                let mut bar = bar.lock().expect("no thread panicked holding this lock");
                bar.finish_and_clear();
                *bar = stage.bar();
            }
            Display::Lines(lines) => {
                let mut now = lines.stage.lock().expect("no thread panicked holding this lock");
                let last = std::mem::replace(&mut *now, stage);
                let (done, time) = (lines.done.swap(0, Ordering::Relaxed), last.began.elapsed());
                if !last.name.is_empty() && time >= LINE_INTERVAL {
                    let seconds = show::seconds(time.as_secs_f64());
                    let amount = match done {
                        0 => String::new(),
                        _ => format!("{}, ", last.so_far(done, time)),
                    };
                    tell(&format!("{}: {amount}done after {seconds}", last.name));
                }
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
            }
            Display::Lines(lines) => {
                let mut stage = lines.stage.lock().expect("no thread panicked holding this lock");
                if stage.last_line.elapsed() >= LINE_INTERVAL {
                    stage.last_line = Instant::now();
                    tell(&format!("{}: {}", stage.name, text()));
                }
            }
        }
    }
}

/// Shows the rounds of a run, as one of its hosts sees them.
pub(crate) struct Rounds<'w> {
    watch: &'w Watch,
    has_begun: bool,
    /// True once a round was judged by a value: lines then wait for it.
    is_measured: bool,
    /// The last round, what happened in it, and what it is judged by.
    number: u64,
    amounts: String,
    measure: String,
    /// How many parts of the run are done.
    parts: String,
}

impl Rounds<'_> {
    fn say(&self) {
        self.watch.say(|| self.line());
    }

    fn line(&self) -> String {
        let Rounds { number, amounts, measure, parts, .. } = self;
        format!("{parts}round {number}: {measure}{amounts}")
    }
}

impl crate::engine::Watch for Rounds<'_> {
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.watch.begin(Stage::new("run", Unit::Edges, None));
        }
        let changed = show::count(total.changed);
        self.number = round;
        self.amounts = match sent.iter().map(Volume::total).sum() {
            0 => format!("{changed} changed"),
            sent => format!("{changed} changed, {} sent by host 0", show::bytes(sent)),
        };
        if !self.is_measured {
            self.say();
        }
    }

    fn measured(&mut self, _: u64, Measure { name, value, goal }: Measure) {
        self.is_measured = true;
        let goal = goal.map_or(String::new(), |goal| format!(" (ends at {goal:e})"));
        self.measure = format!("{name} {value:.2e}{goal}, ");
        self.say();
    }

    fn advanced(&mut self, done: u64, all: u64, what: &'static str) {
        self.parts = format!("{} of {} {what}, ", show::count(done), show::count(all));
        self.say();
    }
}

/// The progress of a host that reads its share of an input, beside the other hosts of its process.
pub(crate) struct ShareProgress<'w> {
    pub(crate) watch: &'w Watch,
    /// True for one host of a process. It says which stage has begun; shares are about equal.
    pub(crate) speaks: bool,
    /// Hosts of this process.
    pub(crate) hosts: u64,
}

impl Progress for ShareProgress<'_> {
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>) {
        if self.speaks {
            self.watch.stage(name, unit, total.map(|total| total * self.hosts));
        }
    }

    fn advance(&self, amount: u64) {
        self.watch.advance(amount);
    }
}

impl Progress for Watch {
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>) {
        self.begin(Stage::new(name, unit, total));
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
                    let so_far = stage.so_far(done, stage.began.elapsed());
                    tell(&format!("{}: {so_far}", stage.name));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_amounts_and_rates() {
        let second = Duration::from_secs(1);
        for (unit, total, done, expected) in [
            (Unit::Bytes, Some(4_000_000_000), 1_000_000_000, "25 % of 4.0 GB, 500.0 MB/s"),
            (Unit::Bytes, None, 3_000_000, "3.0 MB, 1.5 MB/s"),
            (Unit::Edges, Some(2000), 500, "25 % of 2,000 edges, 250 edges/s"),
            // Shares are only about equal: more may come than was said.
            (Unit::Edges, Some(2000), 2100, "100 % of 2,000 edges, 1,050 edges/s"),
            (Unit::Edges, None, 0, "0 edges, 0 edges/s"),
            (Unit::Runs, Some(12), 3, "3 of 12 runs"),
        ] {
            let stage = Stage::new("reading", unit, total);
            assert_eq!(stage.so_far(done, 2 * second), expected);
        }
    }

    #[test]
    fn rounds_say_what_they_are_judged_by() {
        use crate::engine::Watch as _;
        let watch = Watch::new(true, false);
        let mut rounds = watch.rounds();
        let total = Tally { changed: 1234, ..Tally::default() };
        rounds.round(7, &total, &[]);
        assert_eq!(rounds.line(), "round 7: 1,234 changed");
        rounds.measured(7, Measure { name: "residual", value: 0.00123, goal: Some(1e-6) });
        assert_eq!(rounds.line(), "round 7: residual 1.23e-3 (ends at 1e-6), 1,234 changed");
        rounds.advanced(16, 4096, "sources");
        assert!(rounds.line().starts_with("16 of 4,096 sources, round 7: "));
    }
}
