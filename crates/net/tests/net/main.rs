//! Every test of a program runs it on threads and under many seeds of the simulated network.

mod collectives;
mod failures;
mod listening;
mod messages;
mod sim;

use std::fmt::Debug;

use parton_net::{Cluster, Error, Net};

/// Numbers of hosts: one, powers of two, and numbers that are not.
const HOSTS: [usize; 6] = [1, 2, 3, 4, 7, 17];

/// Runs a program on threads and under `seeds` seeds; hands each run's results to `check`.
fn everywhere<R: Send + Debug>(
    hosts: usize,
    seeds: u64,
    program: impl Fn(&mut Net) -> Result<R, Error> + Sync,
    check: impl Fn(Vec<R>),
) {
    check(Cluster::local(hosts).threads_per_host(1).launch(&program).unwrap());
    let mut sim = Cluster::sim(hosts, 0);
    for seed in 0..seeds {
        sim.set_seed(seed);
        check(sim.launch(&program).unwrap());
    }
}

/// A number that depends on a few others in no simple way: the contents of messages, whose sums
/// tell whether each arrived exactly once.
fn scrambled(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, number| {
        (hash ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31)
    })
}

/// A number as a message.
fn bytes(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

/// A message as a number.
fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}
