//! Hosts that do not know who will speak next: nothing that comes is missed, and nobody spins.

use std::time::Duration;

use crate::{bytes, everywhere, number, scrambled};
use parton_net::{Cluster, Error, HostId, LaunchError, Net, Tag};

/// Longer than any schedule takes.
const LONG: Duration = Duration::from_secs(50);

#[test]
fn whatever_comes_is_heard_once_and_by_range() {
    let program = |net: &mut Net| {
        let me = u64::from(net.host().0);
        for peer in net.peers() {
            for round in 0..6 {
                let value = scrambled(&[me, u64::from(peer.0), round]);
                net.send(peer, Tag::user(3, round), bytes(value))?;
            }
        }
        let (low, high) = (Tag::user(3, 0)..Tag::user(3, 2), Tag::user(3, 2)..Tag::user(4, 0));
        let (mut sums, mut heard) = ([0u64; 2], 0);
        while heard < 6 * (net.num_hosts() - 1) {
            for (range, sum) in [&low, &high].into_iter().zip(&mut sums) {
                while let Some(message) = net.take(range.clone()) {
                    assert!(range.contains(&message.tag));
                    *sum = sum.wrapping_add(number(&message.bytes));
                    heard += 1;
                }
                assert_eq!(net.waiting(range.clone()).count(), 0, "all of it is taken");
            }
            if heard < 6 * (net.num_hosts() - 1) {
                assert!(net.listen(LONG)?, "more is to come");
            }
        }
        // A message heard while waiting for another is kept until a call asks for it.
        net.barrier()?;
        assert!(!net.listen(Duration::ZERO)?, "that was all");
        let expected = [0..2u64, 2..6].map(|rounds| {
            let from = net.peers().flat_map(|peer| rounds.clone().map(move |r| (peer, r)));
            from.fold(0u64, |sum, (peer, round)| {
                sum.wrapping_add(scrambled(&[u64::from(peer.0), me, round]))
            })
        });
        assert_eq!(sums, expected);
        Ok([net.next_epoch(), net.next_epoch()])
    };
    for hosts in [2, 3, 5] {
        everywhere(hosts, 100, program, |_, epochs| assert_eq!(epochs, [1, 2]));
    }
}

#[test]
fn a_wait_in_vain_ends_in_time_and_a_lost_host_ends_it_at_once() {
    for mut cluster in [Cluster::local(2).threads_per_host(1), Cluster::sim(2, 5)] {
        let waits = cluster.launch(|net| {
            let start = net.now();
            let came = net.listen(Duration::from_millis(20))?;
            net.barrier()?;
            Ok::<_, Error>((came, net.now() - start >= Duration::from_millis(20)))
        });
        // The barrier's first message may be what one of them hears.
        for (came, long_enough) in waits.expect("all is well") {
            assert!(came || long_enough);
        }
        let lost = cluster.launch(|net| match net.host() {
            HostId(0) => Err(Error::HostLost { host: HostId(0) }),
            _ => net.listen(LONG),
        });
        assert!(matches!(lost, Err(LaunchError::Failed { host: HostId(0), .. })));
        let finished = cluster.launch(|net| match net.host() {
            HostId(0) => Ok(false),
            _ => net.listen(LONG),
        });
        let Err(LaunchError::Failed { host: HostId(1), error, .. }) = finished else {
            panic!("nobody is left to speak: {finished:?}")
        };
        assert!(matches!(error, Error::HostFinished { host: HostId(0) }), "{error}");
    }
}
