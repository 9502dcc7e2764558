//! Failing, silent and disagreeing hosts: every one ends in an error that names the cause, soon.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parton_net::{Cluster, Error, HostId, LaunchError, Net, Tag};

/// What a host of these tests returns when it fails by its own fault.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("this host gave up")]
    GaveUp,
    #[error(transparent)]
    Net(#[from] Error),
}

/// A named collective.
type Call = (&'static str, fn(&mut Net) -> Result<(), Error>);

const CALLS: [Call; 7] = [
    ("barrier", |net| net.barrier()),
    ("all_reduce", |net| net.all_reduce(1, |a: u64, b| a + b).map(drop)),
    ("all_gather", |net| net.all_gather(vec![1]).map(drop)),
    ("all_to_all", |net| net.all_to_all(vec![vec![1]; net.num_hosts()]).map(drop)),
    ("gather at host 0", |net| net.gather(HostId(0), vec![1]).map(drop)),
    ("broadcast from host 0", |net| net.broadcast(HostId(0), vec![1]).map(drop)),
    ("gather at host 1", |net| net.gather(HostId(1), vec![1]).map(drop)),
];

fn clusters(hosts: usize, seeds: u64) -> impl Iterator<Item = Cluster> {
    let sims = (0..seeds).map(move |seed| Cluster::sim(hosts, seed));
    std::iter::once(Cluster::local(hosts)).chain(sims)
}

/// Runs something that must not take long.
fn soon<R>(what: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = what();
    assert!(start.elapsed() < Duration::from_secs(1), "took {:?}", start.elapsed());
    result
}

#[test]
fn a_lost_host_releases_all_who_wait_in_a_collective() {
    for (name, call) in CALLS {
        // The host the others depend on most.
        let failing = if name == "gather at host 0" { HostId(4) } else { HostId(0) };
        for mut cluster in clusters(5, 10) {
            let program = |net: &mut Net| {
                net.barrier()?;
                if net.host() == failing {
                    return Err(Failure::GaveUp);
                }
                call(net)?;
                // A gather or a broadcast need not notice; the next barrier must.
                Ok(net.barrier()?)
            };
            match soon(|| cluster.launch(program)) {
                Err(LaunchError::Failed { host, error: Failure::GaveUp, .. }) => {
                    assert_eq!(host, failing);
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_panic_names_its_host_and_releases_the_others() {
    for mut cluster in clusters(4, 10) {
        let program = |net: &mut Net| {
            if net.host() == HostId(2) {
                let nothing: Vec<u8> = Vec::new();
                assert!(!nothing.is_empty(), "out of {}", "ideas");
            }
            net.receive(HostId(2), Tag::user(0, 0))
        };
        match soon(|| cluster.launch(program)) {
            Err(LaunchError::Panicked { host: HostId(2), message, .. }) => {
                assert_eq!(message, "out of ideas");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_lost_host_is_told_to_senders_receivers_and_pollers() {
    let tag = Tag::user(0, 0);
    let lost = |error: &Error| matches!(error, Error::HostLost { host: HostId(0) });
    for mut cluster in clusters(4, 50) {
        // A launch reports the first failure, so a failed assertion of another host needs counting.
        let told = AtomicUsize::new(0);
        let program = |net: &mut Net| {
            match net.host() {
                HostId(0) => {
                    net.send(HostId(1), tag, vec![1])?;
                    net.receive(HostId(1), tag)?;
                    return Err(Failure::GaveUp);
                }
                HostId(1) => {
                    assert_eq!(net.receive(HostId(0), tag)?, [1]);
                    net.send(HostId(0), tag, Vec::new())?;
                    assert!(lost(&net.receive(HostId(0), tag).unwrap_err()));
                    assert!(lost(&net.send(HostId(0), tag, Vec::new()).unwrap_err()));
                }
                HostId(2) => assert!(lost(&net.receive_any(tag).unwrap_err())),
                _ => loop {
                    match net.try_receive(tag) {
                        Ok(found) => assert_eq!(found, None),
                        Err(error) => break assert!(lost(&error)),
                    }
                },
            }
            told.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let error = soon(|| cluster.launch(program)).unwrap_err();
        assert!(matches!(error, LaunchError::Failed { host: HostId(0), .. }), "{error}");
        assert_eq!(told.into_inner(), 3);
    }
}

#[test]
fn others_go_on_without_a_lost_host_they_do_not_need() {
    let tag = Tag::user(0, 0);
    for mut cluster in clusters(3, 20) {
        let done = AtomicUsize::new(0);
        let program = |net: &mut Net| {
            if net.host() == HostId(0) {
                return Err(Failure::GaveUp);
            }
            let peer = HostId(3 - net.host().0);
            for round in 0..100 {
                net.send(peer, tag, vec![round])?;
                assert_eq!(net.receive(peer, tag)?, [round]);
            }
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        soon(|| cluster.launch(program)).unwrap_err();
        assert_eq!(done.into_inner(), 2);
    }
}

#[test]
fn a_finished_host_is_not_lost_but_not_waited_for_either() {
    let tag = Tag::user(0, 0);
    for mut cluster in clusters(3, 50) {
        let program = |net: &mut Net| {
            match net.host() {
                HostId(0) => net.send(HostId(1), tag, vec![1])?,
                HostId(1) => {
                    // Whichever comes first, the end of host 0 is no reason to fail.
                    net.receive_any(tag)?;
                    net.receive_any(tag)?;
                    let error = net.receive(HostId(0), tag).unwrap_err();
                    assert!(matches!(error, Error::HostFinished { host: HostId(0) }));
                    let error = net.receive_any(tag).unwrap_err();
                    assert!(matches!(error, Error::HostFinished { .. }), "{error}");
                    net.send(HostId(0), tag, vec![1])?;
                }
                _ => {
                    std::thread::sleep(Duration::from_millis(1));
                    net.send(HostId(1), tag, vec![1])?;
                }
            }
            Ok::<_, Error>(())
        };
        soon(|| cluster.launch(program)).unwrap();
    }
}

#[test]
fn a_silent_host_is_named() {
    for cluster in clusters(2, 5) {
        let mut cluster = cluster.patience(Duration::from_millis(50));
        let (tag, noise) = (Tag::user(5, 8), Tag::user(6, 0));
        let program = |net: &mut Net| -> Result<(), Error> {
            if net.host() == HostId(1) {
                // Talks, but not of what is asked.
                net.send(HostId(0), noise, Vec::new())?;
                return net.receive(HostId(0), noise).map(drop);
            }
            let error = net.receive(HostId(1), tag).unwrap_err();
            let Error::Silent { host, from, seconds, .. } = error else { return Err(error) };
            assert!(host == HostId(0) && from == Some(HostId(1)));
            assert!(seconds >= 0.05, "{seconds} s");
            let text = "host 1 sent nothing under tag \"channel 5, round 8\" to host 0 for 0.";
            assert!(error.to_string().starts_with(text), "{error}");
            assert!(matches!(net.receive_any(tag), Err(Error::Silent { from: None, .. })));
            net.receive(HostId(1), noise)?;
            net.send(HostId(1), noise, Vec::new())
        };
        // Host 1 is as impatient as host 0, but has to wait twice as long.
        let program = |net: &mut Net| {
            if net.host() == HostId(1) {
                net.set_patience(Duration::from_secs(5));
            }
            program(net)
        };
        soon(|| cluster.launch(program)).unwrap();
    }
}

#[test]
fn a_host_that_computes_is_not_given_up() {
    let mut cluster = Cluster::local(3).threads_per_host(1).patience(Duration::from_millis(20));
    let tag = Tag::user(1, 0);
    let program = |net: &mut Net| {
        match net.host() {
            // Waits for host 1, which itself waits for host 2.
            HostId(0) => net.receive(HostId(1), tag).map(drop),
            HostId(1) => {
                assert!(net.park()?, "host 2 works and will be heard");
                net.receive(HostId(2), tag)?;
                net.send(HostId(0), tag, Vec::new())
            }
            _ => {
                std::thread::sleep(Duration::from_millis(200));
                net.send(HostId(1), tag, Vec::new())
            }
        }
    };
    soon(|| cluster.launch(program)).unwrap();
    // A circle of waiting hosts is no work.
    let circle = |net: &mut Net| {
        let next = net.peers().next().unwrap_or(net.host());
        net.receive(next, tag).map(drop)
    };
    match soon(|| cluster.launch(circle)) {
        Err(LaunchError::Failed { error: Error::Silent { seconds, .. }, .. }) => {
            assert!(seconds >= 0.02, "{seconds} s");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn different_collectives_in_one_step_are_found() {
    for (odd_name, odd_call) in CALLS {
        for (name, call) in CALLS.into_iter().filter(|(name, _)| *name != odd_name) {
            for mut cluster in clusters(4, 6) {
                let program = |net: &mut Net| {
                    net.barrier()?;
                    let call = if net.host() == HostId(1) { odd_call } else { call };
                    call(net)?;
                    net.barrier()
                };
                let failure = soon(|| cluster.launch(program)).unwrap_err();
                let LaunchError::Failed { error: Error::Mismatch { number: 1, .. }, .. } = failure
                else {
                    panic!("{odd_name} among {name}: {failure}")
                };
                let text = failure.to_string();
                assert!(text.contains(name) && text.contains(odd_name), "{text}");
            }
        }
    }
}

#[test]
fn different_lengths_in_a_reduce_are_found() {
    for mut cluster in clusters(4, 10) {
        let program = |net: &mut Net| {
            let mut values = vec![1u64; if net.host() == HostId(3) { 2 } else { 1 }];
            net.all_reduce_slice(&mut values, |a, b| a + b)
        };
        let error = cluster.launch(program).unwrap_err();
        assert!(matches!(error, LaunchError::Failed { error: Error::Length { .. }, .. }));
    }
}

#[test]
fn one_collective_too_many_is_found() {
    for mut cluster in clusters(3, 10) {
        let program = |net: &mut Net| {
            net.barrier()?;
            if net.host() == HostId(0) { net.barrier() } else { Ok(()) }
        };
        match soon(|| cluster.launch(program)) {
            Err(LaunchError::Failed { host: HostId(0), error, .. }) => {
                assert!(matches!(error, Error::HostFinished { .. }), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn clusters_of_no_hosts_or_too_many_are_refused() {
    for hosts in [0, 65_536] {
        let error = Cluster::local(hosts).launch(|net| net.barrier()).unwrap_err();
        assert!(error.to_string().contains(&format!("not {hosts}")), "{error}");
        assert!(Cluster::sim(hosts, 0).launch(|net| net.barrier()).is_err());
    }
}

#[test]
fn three_hundred_hosts_meet() {
    for mut cluster in [Cluster::local(300), Cluster::sim(300, 1)] {
        let sums = cluster.launch(|net| net.all_reduce(u64::from(net.host().0), |a, b| a + b));
        assert_eq!(sums.unwrap(), vec![299 * 150; 300]);
    }
}
