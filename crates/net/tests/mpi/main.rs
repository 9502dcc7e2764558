//! The tests of messages and collectives on real ranks, under every MPI, with 2, 3 and 4 of them.
//!
//! Started by cargo, this program has each MPI start it again; started by an MPI, it is one rank and
//! runs all cases that are made for that many hosts.

macro_rules! cases {
    ($($name:ident;)*) => {
        pub(crate) const CASES: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}
pub(crate) use cases;

#[path = "../net/collectives.rs"]
mod collectives;
#[path = "../common/contents.rs"]
mod contents;
#[path = "../common/launchers.rs"]
mod launchers;
#[path = "../net/messages.rs"]
mod messages;
mod ranks;

use std::fmt::Debug;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use contents::{bytes, number, scrambled};
use parton_net::{Cluster, Error, HostId, Launcher, Net};

/// Numbers of hosts; a launch runs those that are its own.
const HOSTS: [usize; 3] = [2, 3, 4];

/// The ranks of this launch, and how many programs have run on them.
static CLUSTER: Mutex<Option<(Cluster, usize)>> = Mutex::new(None);

/// Runs a program on the ranks, if it is made for that many; `check` gets this rank's result. The
/// network makes its own schedule, so a few times will do for many seeds.
fn everywhere<R: Send + Debug>(
    hosts: usize,
    seeds: u64,
    program: impl Fn(&mut Net) -> Result<R, Error> + Sync,
    check: impl Fn(HostId, R),
) {
    let mut guard = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    let (cluster, runs) = guard.as_mut().expect("a cluster");
    if cluster.num_hosts() == hosts {
        for _ in 0..seeds.min(3) {
            let result = cluster.launch(&program).unwrap().swap_remove(0);
            check(cluster.first_host(), result);
            *runs += 1;
        }
    }
}

fn main() -> ExitCode {
    match Launcher::detect() {
        Some(launcher) => rank(&launcher),
        None => launch_all(),
    }
}

/// Runs all cases as one rank.
fn rank(launcher: &Launcher) -> ExitCode {
    let cluster = Cluster::mpi(launcher, |loss| {
        eprintln!("rank {} was lost", loss.host());
        loss.abort(1);
    });
    let cluster = cluster.unwrap_or_else(|error| panic!("{error}"));
    *CLUSTER.lock().unwrap() = Some((cluster.threads_per_host(1), 0));
    let all = [messages::CASES, collectives::CASES, ranks::CASES].concat();
    for (name, case) in &all {
        if std::panic::catch_unwind(case).is_err() {
            // The other ranks wait for this one: without it they end, too.
            eprintln!("rank {}: {name} FAILED", launcher.rank());
            std::process::exit(101);
        }
    }
    let runs = CLUSTER.lock().unwrap().take().map_or(0, |(_, runs)| runs);
    println!("rank {} of {}: {runs} runs", launcher.rank(), launcher.ranks());
    ExitCode::SUCCESS
}

/// Has every MPI start this program.
fn launch_all() -> ExitCode {
    let program = std::env::current_exe().expect("this program");
    let mut failed = false;
    for mpi in launchers::ALL {
        for ranks in HOSTS {
            let ended = launchers::wait(launchers::start(mpi.launch(ranks).arg(&program)));
            let reports = ended.stdout.matches(&format!("of {ranks}: ")).count();
            let passed = ended.status.success() && reports == ranks;
            let outcome = if passed { "ok" } else { "FAILED" };
            let seconds = f64::from(ended.ticks) / 10.0;
            println!("test {} with {ranks} ranks ... {outcome} ({seconds:.1} s)", mpi.name);
            if !passed {
                failed = true;
                println!("{}{}", ended.stdout, ended.stderr);
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
