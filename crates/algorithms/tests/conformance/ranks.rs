//! The same answers on the ranks of real launchers: small graphs all of them, under every MPI, with
//! 2, 3 and 4 ranks.
//!
//! Run by cargo, this test has each MPI start it again; started by an MPI, it is one rank.

use parton_engine::engines;
use parton_engine::{Pace, Pacing};
use parton_net::{Cluster, Launcher};

use super::{SMALL, Setting, conform_on, launchers, real};

/// The variable that tells ranks which settings are their launch's.
const TURN: &str = "PARTON_TEST_TURN";

#[test]
fn small_graphs_under_mpi() {
    match Launcher::detect() {
        Some(launcher) => as_a_rank(&launcher),
        None => launch_all(),
    }
}

fn as_a_rank(launcher: &Launcher) {
    let cluster = Cluster::mpi(launcher, |loss| loss.abort(1)).unwrap_or_else(|e| panic!("{e}"));
    let hosts = cluster.num_hosts();
    let mut clusters = [cluster.threads_per_host(1)];
    let settings = |vertices| {
        let engines = [None, Some(engines::PUSH), Some(engines::FRONTIER)];
        // Fewer ranks have fewer ways to go wrong.
        let engines = &engines[..hosts - 1];
        let setting = |(engine, pacing)| Setting { hosts, engine, pacing, vertices };
        let in_rounds = engines.iter().map(|&engine| (engine, Pace::Bsp.into()));
        let without = [(None, Pacing::AT_ONCE), (None, Pace::Basp.into())];
        in_rounds.chain(without).map(setting).collect()
    };
    // Six launches, each with a third of its settings.
    let turn = std::env::var(TURN).map_or(0, |turn| turn.parse().expect("a number"));
    conform_on(&mut clusters, 0..=SMALL, (turn, 3), settings);
    println!("rank {} agrees", launcher.rank());
}

fn launch_all() {
    if real::data().is_none() {
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let arguments = ["conformance::ranks::small_graphs_under_mpi", "--exact", "--nocapture"];
    for (number, mpi) in launchers::ALL.into_iter().enumerate() {
        for ranks in [2, 3, 4] {
            let mut command = mpi.launch(ranks);
            command.arg(&program).args(arguments).env(TURN, (number + ranks).to_string());
            let ended = launchers::wait(launchers::start(&mut command));
            let agreed = ended.stdout.matches("agrees").count();
            assert!(ended.status.success() && agreed == ranks, "{}, {ranks}: {ended:?}", mpi.name);
            eprintln!("{}, {ranks} ranks: {:.1} s", mpi.name, f64::from(ended.ticks) / 10.0);
        }
    }
}
