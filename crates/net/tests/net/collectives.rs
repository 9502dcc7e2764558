//! Collectives give the obvious answers, on every cluster and under every schedule tried.

use crate::{HOSTS, bytes, everywhere, number, scrambled};
use parton_net::{Error, HostId, Net};

crate::cases! {
    reduce_gives_everyone_the_same_fold;
    reduce_of_floats_is_the_fold_in_host_order;
    reduce_need_not_commute;
    gathers_and_broadcasts_reach_their_hosts;
    exchange_is_a_transposition;
    wrong_requests_are_refused;
}

const SEEDS: u64 = 30;

/// A value of one host that is exact under sums.
fn value(host: HostId) -> u64 {
    scrambled(&[u64::from(host.0)]) >> 8
}

fn reduce_gives_everyone_the_same_fold() {
    for hosts in HOSTS {
        let program = |net: &mut Net| {
            let mine = value(net.host());
            let mut both = [mine, 1];
            let sum = net.all_reduce(mine, |a, b| a + b)?;
            let least = net.all_reduce(mine, u64::min)?;
            net.all_reduce_slice(&mut both, |a, b| a + b)?;
            net.all_reduce_slice(&mut [0u64; 0], |a, b| a + b)?;
            Ok((sum, least, both, net.all_reduce(mine, u64::max)?))
        };
        let all = || HostId::all(hosts).map(value);
        let sum: u64 = all().sum();
        let expected = (sum, all().min().unwrap(), [sum, hosts as u64], all().max().unwrap());
        everywhere(hosts, SEEDS, program, |_, result| assert_eq!(result, expected));
    }
}

fn reduce_of_floats_is_the_fold_in_host_order() {
    // Sums of these differ with the order.
    let value = |host: HostId| 0.1 / f64::from(host.0 + 1) * 10f64.powi(i32::from(host.0 % 5) * 4);
    for hosts in HOSTS {
        let expected = HostId::all(hosts).map(value).reduce(|a, b| a + b).unwrap();
        let program = |net: &mut Net| net.all_reduce(value(net.host()), |a, b| a + b);
        everywhere(hosts, SEEDS, program, |_, sum| {
            assert_eq!(sum.to_bits(), expected.to_bits());
        });
    }
}

fn reduce_need_not_commute() {
    // The composition of affine maps depends on the order: x -> a x + b, modulo 2^64.
    let value = |host: HostId| [value(host) | 1, u64::from(host.0)];
    let after = |f: [u64; 2], g: [u64; 2]| {
        [f[0].wrapping_mul(g[0]), f[0].wrapping_mul(g[1]).wrapping_add(f[1])]
    };
    for hosts in HOSTS {
        let expected = HostId::all(hosts).map(value).reduce(after).unwrap();
        let program = |net: &mut Net| net.all_reduce(value(net.host()), after);
        everywhere(hosts, SEEDS, program, |_, result| assert_eq!(result, expected));
    }
}

fn gathers_and_broadcasts_reach_their_hosts() {
    for hosts in HOSTS {
        // As long as the host's number says, so that some are empty.
        let text = |host: HostId| format!("{host}").repeat(host.index()).into_bytes();
        let all: Vec<_> = HostId::all(hosts).map(text).collect();
        let program = |net: &mut Net| {
            let mine = text(net.host());
            assert_eq!(net.all_gather(mine.clone())?, all);
            for root in HostId::all(net.num_hosts()) {
                let gathered = net.gather(root, mine.clone())?;
                assert_eq!(gathered, (net.host() == root).then(|| all.clone()));
                assert_eq!(net.broadcast(root, mine.clone())?, text(root));
            }
            Ok(())
        };
        everywhere(hosts, SEEDS / 3, program, |_, ()| ());
    }
}

fn exchange_is_a_transposition() {
    for hosts in HOSTS {
        let program = |net: &mut Net| {
            let me = u64::from(net.host().0);
            let sent = (0..hosts as u64).map(|to| bytes(scrambled(&[me, to]))).collect();
            let received = net.all_to_all(sent)?;
            for (from, received) in received.iter().enumerate() {
                assert_eq!(number(received), scrambled(&[from as u64, me]));
            }
            Ok(())
        };
        everywhere(hosts, SEEDS, program, |_, ()| ());
    }
}

fn wrong_requests_are_refused() {
    let program = |net: &mut Net| -> Result<(), Error> {
        let nobody = HostId(9);
        let refused = |error| matches!(error, Error::NoSuchHost { to: HostId(9), hosts: 2, .. });
        assert!(refused(net.broadcast(nobody, Vec::new()).unwrap_err()));
        assert!(refused(net.gather(nobody, Vec::new()).unwrap_err()));
        let few = net.all_to_all(vec![Vec::new()]).unwrap_err();
        assert!(matches!(few, Error::Buffers { given: 1, hosts: 2, .. }));
        net.barrier()
    };
    everywhere(2, 5, program, |_, ()| ());
}
