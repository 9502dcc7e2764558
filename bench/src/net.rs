//! How fast hosts talk: messages and collectives between threads, and runs of the simulator.
//!
//! No rival here. Figures depend on the machine's cores and what else it does; run
//! `taskset -c 0 …` for the simulator on one core.

use std::time::Instant;

use parton_net::{Cluster, Error, HostId, Net, Tag};

pub(crate) fn run() {
    ping_pong(8, 200_000);
    ping_pong(1 << 20, 20_000);
    for hosts in [2, 4, 8, 16] {
        collectives(hosts, 20_000);
    }
    simulator(20_000);
}

/// Two hosts throw one buffer back and forth.
fn ping_pong(bytes: usize, rounds: u64) {
    let program = |net: &mut Net| {
        let peer = HostId(1 - net.host().0);
        net.barrier()?;
        let start = Instant::now();
        let mut ball = vec![0u8; bytes];
        for round in 0..rounds {
            let tag = Tag::user(0, round);
            if net.host() == HostId(0) {
                net.send(peer, tag, ball)?;
                ball = net.receive(peer, tag)?;
            } else {
                ball = net.receive(peer, tag)?;
                net.send(peer, tag, std::mem::take(&mut ball))?;
            }
        }
        Ok::<_, Error>(start.elapsed())
    };
    let times = Cluster::local(2).threads_per_host(1).launch(program).expect("both hosts end");
    let one_way = times[0].as_secs_f64() / rounds as f64 / 2.0;
    println!("ping-pong of {bytes} bytes: {:.2} µs one way", one_way * 1e6);
}

fn collectives(hosts: usize, rounds: u64) {
    let program = |net: &mut Net| {
        let mut times = Vec::new();
        for reduce in [false, true] {
            net.barrier()?;
            let start = Instant::now();
            for round in 0..rounds {
                match reduce {
                    false => net.barrier()?,
                    true => net.all_reduce(round, u64::max).map(drop)?,
                }
            }
            times.push(start.elapsed().as_secs_f64() / rounds as f64 * 1e6);
        }
        Ok::<_, Error>(times)
    };
    let times = Cluster::local(hosts).threads_per_host(1).launch(program).expect("all hosts end");
    println!("{hosts} hosts: barrier {:.1} µs, all_reduce {:.1} µs", times[0][0], times[0][1]);
}

/// Four hosts, 96 messages, one all_reduce.
fn simulator(seeds: u64) {
    let tag = Tag::user(0, 0);
    let program = |net: &mut Net| {
        for copy in 0..8 {
            for peer in net.peers() {
                net.send(peer, tag, vec![copy; 16])?;
            }
        }
        let mut sum = 0;
        for _ in 0..24 {
            sum += u64::from(net.receive_any(tag)?.1[0]);
        }
        net.all_reduce(sum, |a, b| a + b)
    };
    let mut cluster = Cluster::sim(4, 0);
    let (start, mut steps) = (Instant::now(), 0);
    for seed in 0..seeds {
        cluster.set_seed(seed);
        cluster.launch(program).expect("all hosts end");
        steps += cluster.sim_report().map_or(0, |report| report.steps);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "simulator: {:.0} runs/s, {:.0} steps/s",
        seeds as f64 / seconds,
        steps as f64 / seconds
    );
}
