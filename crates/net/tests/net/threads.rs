//! What holds for hosts that share a process: buffers move, threads are a host's own, a barrier can
//! be watched from outside.

use crate::{HOSTS, bytes, number};
use parton_net::{Cluster, Error, HostId, Net, Tag};

/// Seeds of the simulated network.
const SEEDS: u64 = 30;

#[test]
fn large_messages_are_moved_not_copied() {
    let tag = Tag::user(0, 0);
    let program = |net: &mut Net| -> Result<usize, Error> {
        let buffer = vec![net.host().0 as u8 + 1; 100_000_000];
        let address = buffer.as_ptr().addr();
        let sent = if net.host() == HostId(0) {
            net.send(HostId(1), tag, buffer)?;
            address
        } else {
            let received = net.receive(HostId(0), tag)?;
            assert!(received.len() == 100_000_000 && received[99_999_999] == 1);
            received.as_ptr().addr()
        };
        // An exchange moves what it is given, too.
        let buffers = vec![vec![1; 1000], vec![2; 1000]];
        let addresses: Vec<_> = buffers.iter().map(|buffer| buffer.as_ptr().addr()).collect();
        let theirs = net.all_gather(bytes(addresses[1 - net.host().index()] as u64))?;
        let received = net.all_to_all(buffers)?;
        let peer = 1 - net.host().index();
        assert_eq!(received[peer].as_ptr().addr() as u64, number(&theirs[peer]));
        Ok(sent)
    };
    for mut cluster in [Cluster::local(2), Cluster::sim(2, 0)] {
        let addresses = cluster.launch(program).unwrap();
        assert_eq!(addresses[0], addresses[1]);
    }
}

#[test]
fn rayon_inside_a_host_uses_its_own_threads() {
    let program = |_: &mut Net| {
        let name = || std::thread::current().name().unwrap_or_default().to_string();
        let mut names = rayon::broadcast(|_| name());
        names.sort();
        Ok::<_, Error>(names)
    };
    let names = Cluster::local(2).threads_per_host(2).launch(program).unwrap();
    assert_eq!(names[0], ["host 0, thread 0", "host 0, thread 1"]);
    assert_eq!(names[1], ["host 1, thread 0", "host 1, thread 1"]);
    let names = Cluster::sim(2, 0).threads_per_host(9).launch(program).unwrap();
    assert_eq!(names, [["host 0, thread 0"], ["host 1, thread 0"]]);
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for hosts in HOSTS {
        let come = AtomicUsize::new(0);
        let program = |net: &mut Net| {
            for round in 1..=5 {
                come.fetch_add(1, Ordering::SeqCst);
                net.barrier()?;
                assert!(come.load(Ordering::SeqCst) >= round * net.num_hosts());
                net.barrier()?;
            }
            Ok::<_, Error>(())
        };
        let mut sim = Cluster::sim(hosts, 0);
        for seed in 0..SEEDS {
            come.store(0, Ordering::SeqCst);
            sim.set_seed(seed);
            sim.launch(program).unwrap();
        }
        come.store(0, Ordering::SeqCst);
        Cluster::local(hosts).launch(program).unwrap();
    }
}

#[test]
fn a_hundred_thousand_rounds_never_share_a_tag() {
    // Host 1 runs ahead by up to a round: were a tag used twice, its message would be taken for
    // the one of the round before, or be refused.
    let program = |net: &mut Net| -> Result<u64, Error> {
        let mut sum = 0;
        for round in 0..50_000 {
            net.barrier()?;
            sum += net.all_reduce(round, u64::max)?;
        }
        Ok(sum)
    };
    let expected = 49_999 * 50_000 / 2;
    let results = Cluster::local(2).threads_per_host(1).launch(program).unwrap();
    assert_eq!(results, [expected; 2]);
}
