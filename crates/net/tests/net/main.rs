//! Every test of a program runs it on threads and under many seeds of the simulated network; those
//! in `messages` and `collectives` run under MPI, too (`tests/mpi`).

/// Makes tests of programs that run everywhere.
macro_rules! cases {
    ($($name:ident;)*) => { mod cases { $(#[test] fn $name() { super::$name(); })* } };
}
pub(crate) use cases;

mod collectives;
#[path = "../common/contents.rs"]
mod contents;
mod failures;
mod listening;
mod messages;
mod sim;
mod threads;

use std::fmt::Debug;

use contents::{bytes, number, scrambled};
use parton_net::{Cluster, Error, HostId, Net};

/// Numbers of hosts: one, powers of two, and numbers that are not.
const HOSTS: [usize; 6] = [1, 2, 3, 4, 7, 17];

/// Runs a program on threads and under `seeds` seeds; hands each host's result to `check`.
fn everywhere<R: Send + Debug>(
    hosts: usize,
    seeds: u64,
    program: impl Fn(&mut Net) -> Result<R, Error> + Sync,
    check: impl Fn(HostId, R),
) {
    let check = |results: Vec<R>| {
        HostId::all(hosts).zip(results).for_each(|(host, result)| check(host, result));
    };
    check(Cluster::local(hosts).threads_per_host(1).launch(&program).unwrap());
    let mut sim = Cluster::sim(hosts, 0);
    for seed in 0..seeds {
        sim.set_seed(seed);
        check(sim.launch(&program).unwrap());
    }
}
