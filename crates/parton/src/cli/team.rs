//! The processes that work on one command: this one alone, or all that a launcher started.
//!
//! All ranks of a launcher must end alike, with one message and one exit code. A rank that finds a
//! failure by itself (a missing file, a full disk) tells the others before any rank goes on: see
//! [`Team::together`]. Ranks cannot agree on the loss of one of them: each remaining rank says so by
//! itself, and the launcher ends them all.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::engine::{self, Measure, Tally};
use crate::graph::save;
use crate::graph::source::Slice;
use crate::net::transports::mpi::{Loss, WAITING_THREAD};
use crate::net::{Cluster, LaunchError, Launcher, Net};
use crate::sync::Volume;

use crate::cli::exit::{Failure, HOST_LOST, say};
use crate::cli::task;
use crate::defaults::threads_per_host;

/// The processes that work on this command.
pub(crate) struct Team {
    /// The ranks of the launcher; `None` if this process works alone.
    ranks: Option<Ranks>,
    stage: Arc<CommandStage>,
}

struct Ranks {
    cluster: Cluster,
    launcher: Launcher,
}

/// How far this process is in its command. A rank that reports the loss of another says when it was.
#[derive(Default)]
pub(crate) struct CommandStage {
    stage: AtomicU8,
    rounds: AtomicU64,
    /// True if a rank is gone: the launcher will end this process.
    lost: AtomicBool,
    /// One more than the code that this process is about to end with; 0 while it works.
    ending: AtomicU64,
}

const BEFORE_ROUNDS: u8 = 0;
const IN_ROUNDS: u8 = 1;
const AFTER_ROUNDS: u8 = 2;

/// After this long, a rank says whom it waits for while MPI starts; and again after each such time.
const START_NOTICE_DELAY: Duration = Duration::from_secs(30);
/// After this long, MPI is not going to start.
const START_PATIENCE: Duration = Duration::from_secs(600);

/// How long a rank waits after its last message, so that the others can print theirs.
const GRACE_AFTER_LOSS: Duration = Duration::from_millis(1200);

impl CommandStage {
    /// The code that this process is about to end with, if it is.
    pub(crate) fn ending(&self) -> Option<u8> {
        self.ending.load(Ordering::Acquire).checked_sub(1).map(|code| code as u8)
    }

    /// The process is about to end with a code.
    pub(crate) fn end_with(&self, code: u8) {
        self.ending.store(u64::from(code) + 1, Ordering::Release);
    }

    /// Ignores losses from now on: all ranks end because they were told to.
    pub(crate) fn ignore_losses(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// The first round begins.
    pub(crate) fn rounds_begin(&self) {
        self.stage.store(IN_ROUNDS, Ordering::Relaxed);
    }

    /// The rounds are over.
    pub(crate) fn rounds_are_over(&self) {
        self.stage.store(AFTER_ROUNDS, Ordering::Relaxed);
    }

    fn now(&self) -> String {
        let rounds = self.rounds.load(Ordering::Relaxed);
        match self.stage.load(Ordering::Relaxed) {
            BEFORE_ROUNDS => "before the first round".into(),
            IN_ROUNDS => format!("in round {}", rounds + 1),
            _ => format!("after round {rounds}, the last"),
        }
    }

    /// Reports the loss of a rank, removes temporary files, and has the launcher end all ranks.
    fn end_after(&self, loss: &Loss, me: usize) {
        say(&format!("host {me}: host {} was lost {}", loss.host(), self.now()));
        let _abandoned = save::abandon();
        // The launcher ends the other ranks as soon as this one has ended.
        std::thread::sleep(GRACE_AFTER_LOSS);
        loss.abort(HOST_LOST);
        signal_hook::low_level::exit(HOST_LOST.into());
    }
}

/// Counts rounds for [`CommandStage`], and passes them on to another watch.
pub(crate) struct RoundCounter<'c> {
    pub(crate) stage: &'c CommandStage,
    pub(crate) then: Option<&'c mut dyn engine::Watch>,
}

impl engine::Watch for RoundCounter<'_> {
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]) {
        self.stage.rounds.store(round, Ordering::Relaxed);
        if let Some(watch) = &mut self.then {
            watch.round(round, total, sent);
        }
    }

    fn advanced(&mut self, done: u64, all: u64, what: &'static str) {
        if let Some(watch) = &mut self.then {
            watch.advanced(done, all, what);
        }
    }

    fn measured(&mut self, round: u64, measure: Measure) {
        if let Some(watch) = &mut self.then {
            watch.measured(round, measure);
        }
    }
}

impl Team {
    /// Brings the ranks together, if a launcher started several.
    pub(crate) fn assemble() -> Result<Self, Failure> {
        let stage = Arc::<CommandStage>::default();
        let Some(launcher) = Launcher::detect().filter(|launcher| launcher.ranks() > 1) else {
            return Ok(Team { ranks: None, stage });
        };
        let launcher = launcher.with_library(named_library(std::env::args_os().skip(1)));
        let waiting = watch_start(&launcher);
        let (lost, me) = (stage.clone(), launcher.rank());
        let on_loss = move |loss: Loss| {
            if !lost.lost.swap(true, Ordering::AcqRel) {
                lost.end_with(HOST_LOST);
                let lost = lost.clone();
                // In a thread of its own: the caller is the thread that answers other ranks.
                std::thread::spawn(move || lost.end_after(&loss, me));
            }
        };
        let cluster = Cluster::mpi(&launcher, on_loss);
        drop(waiting);
        // All ranks find the same mistake, and rank 0 reports it. The others wait: a launcher would
        // end rank 0 before that if another rank ended first.
        let refuse = |error: &dyn Display| match launcher.rank() {
            0 => Failure::usage(error.to_string()),
            _ => {
                std::thread::sleep(GRACE_AFTER_LOSS);
                Failure::usage("").silenced()
            }
        };
        let cluster = cluster.map_err(|error| refuse(&error))?.patience(task::PATIENCE);
        Ok(Team { ranks: Some(Ranks { cluster, launcher }), stage })
    }

    /// Refuses ranks that run different programs or have different arguments.
    pub(crate) fn check_likeness(&mut self) -> Result<(), Failure> {
        let Some(ranks) = &mut self.ranks else { return Ok(()) };
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        let arguments = arguments.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let build = format!("{} ({:016x})", env!("CARGO_PKG_VERSION"), build());
        let own = [build, arguments].join("\n").into_bytes();
        let all = ranks.cluster.launch(|net| net.all_gather(own.clone())).map_err(Failure::from)?;
        let all: Vec<(String, String)> = all[0]
            .iter()
            .map(|card| {
                let card = String::from_utf8_lossy(card);
                let (build, arguments) = card.split_once('\n').unwrap_or_default();
                (build.to_owned(), arguments.to_owned())
            })
            .collect();
        let (build, arguments) = &all[0];
        let other = all.iter().enumerate().find(|(_, card)| **card != all[0]);
        let problem = match other {
            None => return Ok(()),
            Some((rank, (other, _))) if other != build => {
                format!("rank 0 runs parton {build}, but rank {rank} parton {other}")
            }
            Some((rank, (_, other))) => {
                format!("rank 0 was told `parton {arguments}`, but rank {rank} `parton {other}`")
            }
        };
        Err(Failure::usage(format!("{problem}: all ranks must be started alike")))
    }

    /// Refuses ranks that do not see the same input. `look` tells what a rank sees: what must be the
    /// same, then what need not be if a look at all of it (`true`) finds no difference.
    pub(crate) fn check_input(
        &mut self,
        name: &str,
        look: impl Fn(bool) -> Result<(String, String), Failure>,
    ) -> Result<(), Failure> {
        for at_all in [false, true] {
            let seen = self.together(look(at_all))?;
            let Some(ranks) = &mut self.ranks else { return Ok(()) };
            let own = [&*seen.0, &*seen.1].join("\n").into_bytes();
            let all = ranks.cluster.launch(|net| net.all_gather(own.clone()));
            let all = all.map_err(Failure::from)?.swap_remove(0);
            let text = |rank: usize| String::from_utf8_lossy(&all[rank]).replace('\n', ", ");
            let differs = |card: &Vec<u8>| {
                let mut lines = [card, &all[0]].map(|card| card.split(|&byte| byte == b'\n'));
                lines[0].next() != lines[1].next()
            };
            if let Some(rank) = all.iter().position(differs) {
                return Err(self.agreed(Failure::bad_data(format!(
                    "{name}: rank 0 sees {}, but rank {rank} {}: all ranks must see the same input",
                    text(0),
                    text(rank)
                ))));
            }
            if all.iter().all(|card| *card == all[0]) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// True if this process prints for all ranks.
    pub(crate) fn speaks(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.launcher.rank() == 0)
    }

    /// How far this process is in its command.
    pub(crate) fn stage(&self) -> &Arc<CommandStage> {
        &self.stage
    }

    /// True if hosts are processes.
    pub(crate) fn is_distributed(&self) -> bool {
        self.ranks.is_some()
    }

    /// Processes of this command on this machine, which share its memory.
    pub(crate) fn processes_here(&self) -> usize {
        let placement = self.ranks.as_ref().and_then(|ranks| ranks.cluster.placement());
        placement.map_or(1, |placement| placement.local_ranks)
    }

    /// The number of hosts: that of the ranks, or else as asked, or else `default`.
    pub(crate) fn hosts(&self, asked: Option<usize>, default: usize) -> Result<usize, Failure> {
        match (&self.ranks, asked) {
            (None, asked) => Ok(asked.unwrap_or(default)),
            (Some(ranks), Some(asked)) if asked != ranks.launcher.ranks() => {
                let (launcher, ranks) = (ranks.launcher.name(), ranks.launcher.ranks());
                Err(Failure::usage(format!(
                    "--hosts asks for {asked} hosts, but {launcher} started {ranks} ranks, which \
                     are the hosts: leave --hosts out, or start {asked}"
                )))
            }
            (Some(ranks), _) => Ok(ranks.launcher.ranks()),
        }
    }

    /// The share of this process where the work on a file is divided.
    pub(crate) fn share(&self) -> Slice {
        let share = |ranks: &Ranks| {
            let launcher = &ranks.launcher;
            Slice { index: launcher.rank(), of: launcher.ranks() }
        };
        self.ranks.as_ref().map_or(Slice::WHOLE, share)
    }

    /// Threads of each host: as asked, or its share of the cores.
    pub(crate) fn threads(&self, asked: Option<NonZeroUsize>, hosts: usize) -> usize {
        match (self.ranks.as_ref().and_then(|ranks| ranks.cluster.placement()), asked) {
            (Some(placement), None) => placement.threads,
            _ => threads_per_host(asked, hosts),
        }
    }

    /// The hosts on this machine, and those of this process, given how many there are in all.
    pub(crate) fn neighbours(&self, hosts: usize) -> (Vec<usize>, Vec<usize>) {
        let placement = self.ranks.as_ref().and_then(|ranks| ranks.cluster.placement());
        match (&self.ranks, placement) {
            (Some(ranks), Some(placement)) => {
                let machine = placement.machine.iter().map(|host| host.index()).collect();
                (machine, vec![ranks.launcher.rank()])
            }
            _ => ((0..hosts).collect(), (0..hosts).collect()),
        }
    }

    /// A warning if the launcher put more ranks on a machine than it has cores.
    pub(crate) fn warning(&self) -> Option<String> {
        let placement = self.ranks.as_ref()?.cluster.placement()?;
        let (ranks, cores) = (placement.local_ranks, placement.cores);
        (ranks > cores).then(|| {
            format!(
                "{ranks} ranks share {cores} core{} of this machine: they take turns, and more than \
                 {cores} are not faster",
                if cores == 1 { "" } else { "s" }
            )
        })
    }

    /// Runs the closure on all hosts; returns what the hosts of this process return.
    pub(crate) fn launch<R: Send>(
        &mut self,
        hosts: usize,
        threads: usize,
        closure: impl Fn(&mut Net) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let Some(ranks) = &mut self.ranks else {
            return Ok(task::cluster(hosts, threads).launch(closure)?);
        };
        ranks.cluster.set_threads_per_host(threads);
        let outcome = ranks.cluster.launch(closure).map_err(Failure::from);
        self.together(outcome)
    }

    /// Combines the outcomes of all ranks: if one failed, all fail with the same message and code.
    /// Every rank must call this.
    pub(crate) fn together<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let Some(ranks) = &mut self.ranks else { return outcome };
        let own = outcome.as_ref().err().map_or(Vec::new(), Failure::to_bytes);
        let all = ranks.cluster.launch(|net| net.all_gather(own.clone()));
        let all = match all.map_err(|error: LaunchError<crate::net::Error>| Failure::from(error)) {
            Ok(mut all) => all.swap_remove(0),
            Err(lost) => return Err(self.agreed(lost)),
        };
        let failures: Vec<_> = all
            .iter()
            .enumerate()
            .filter_map(|(host, bytes)| Some((host, Failure::from_bytes(bytes)?)))
            .collect();
        match (Failure::cause(failures, all.len()), outcome) {
            (None, outcome) => outcome,
            (Some(cause), _) => Err(self.agreed(cause)),
        }
    }

    /// A failure that all ranks know of, to be printed by one of them.
    fn agreed(&self, failure: Failure) -> Failure {
        if self.speaks() { failure } else { failure.silenced() }
    }

    /// Disconnects the ranks, which wait for each other. If a rank is gone this does not return.
    pub(crate) fn part(self) {
        drop(self.ranks);
        while self.stage.lost.load(Ordering::Acquire) {
            std::thread::park();
        }
    }
}

/// The library of the option `--mpi`, which is needed before arguments are looked at in earnest.
fn named_library(mut arguments: impl Iterator<Item = OsString>) -> Option<OsString> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    loop {
        let argument = arguments.next()?;
        match argument.as_bytes().strip_prefix(b"--mpi") {
            Some(b"") => return arguments.next(),
            Some([b'=', value @ ..]) => return Some(OsString::from_vec(value.to_vec())),
            _ if argument == "--" => return None,
            _ => {}
        }
    }
}

/// Says whom this rank waits for if MPI takes long to start, until the result is dropped.
fn watch_start(launcher: &Launcher) -> Sender<()> {
    let (waiting, started) = mpsc::channel();
    let launcher = launcher.clone();
    let thread = std::thread::Builder::new().name(WAITING_THREAD.into()).spawn(move || {
        let start = Instant::now();
        // The other end is dropped as soon as MPI has started.
        while started.recv_timeout(START_NOTICE_DELAY) == Err(RecvTimeoutError::Timeout) {
            let Some(missing) = launcher.missing_ranks() else { continue };
            let (rank, seconds) = (launcher.rank(), start.elapsed().as_secs());
            say(&format!("rank {rank} has waited {seconds} s for MPI to start: {missing}"));
            if start.elapsed() >= START_PATIENCE {
                signal_hook::low_level::exit(HOST_LOST.into());
            }
        }
    });
    // Without the thread, ranks wait in silence.
    drop(thread);
    waiting
}

/// A hash of the program's bytes, which tells builds apart.
fn build() -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut piece = vec![0; 1 << 16];
    if let Ok(mut program) = std::env::current_exe().and_then(File::open) {
        while let Ok(length @ 1..) = program.read(&mut piece) {
            hasher.write(&piece[..length]);
        }
    }
    hasher.finish()
}
