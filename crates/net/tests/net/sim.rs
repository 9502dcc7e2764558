//! The simulated network itself: it replays, it explores, it finds what is wrong.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::{bytes, number, scrambled};
use parton_net::{
    Cluster, Error, Faults, HostId, LaunchError, Net, SimAction, SimOptions, SimReport, Tag,
};

const STORM: Tag = Tag::user(1, 0);

/// About a hundred messages between four hosts, each answered by another; the sum of all contents.
fn storm(net: &mut Net) -> Result<u64, Error> {
    let me = u64::from(net.host().0);
    let peers = net.num_hosts() as u64 - 1;
    for copy in 0..4 {
        for peer in net.peers() {
            net.send(peer, STORM, bytes(scrambled(&[me, copy]) >> 16))?;
        }
    }
    let (mut sum, mut answers) = (0, 0);
    for _ in 0..8 * peers {
        let (from, contents) = net.receive_any(STORM)?;
        let contents = number(&contents);
        if contents & 1 << 63 == 0 {
            net.send(from, STORM, bytes(contents | 1 << 63))?;
            sum += contents;
        } else {
            answers += contents & !(1 << 63);
        }
    }
    // Each host got its own contents back from every peer.
    assert_eq!(answers, peers * (0..4).map(|copy| scrambled(&[me, copy]) >> 16).sum::<u64>());
    net.all_reduce(sum, |a, b| a + b)
}

fn report(cluster: &mut Cluster, seed: u64) -> SimReport {
    cluster.set_seed(seed);
    cluster.launch(storm).unwrap();
    cluster.sim_report().unwrap().clone()
}

#[test]
fn a_seed_is_a_schedule() {
    let mut cluster = Cluster::sim(4, 0);
    let first: Vec<SimReport> = (0..100).map(|seed| report(&mut cluster, seed)).collect();
    // In another order, on other threads.
    let mut other = Cluster::sim(4, 0);
    for (seed, first) in first.iter().enumerate().rev() {
        assert_eq!(report(&mut other, seed as u64), *first);
    }
    let hashes: HashSet<u64> = first.iter().map(|report| report.trace_hash).collect();
    assert_eq!(hashes.len(), 100);
}

#[test]
fn a_schedule_means_the_same_on_every_machine() {
    // A change of the simulator changes this number, and invalidates all seeds kept elsewhere.
    let report = report(&mut Cluster::sim(4, 0), 1);
    assert_eq!((report.steps, report.trace_hash), (209, 1_913_672_185_217_472_364));
}

#[test]
fn a_thousand_storms_add_up() {
    let contents = |host| (0..4).map(move |copy| scrambled(&[host, copy]) >> 16).sum::<u64>();
    let expected = 3 * (0..4).map(contents).sum::<u64>();
    let mut cluster = Cluster::sim(4, 0);
    for seed in 0..1000 {
        cluster.set_seed(seed);
        assert_eq!(cluster.launch(storm).unwrap(), [expected; 4]);
    }
}

#[test]
fn traces_tell_what_happened() {
    let options = SimOptions { seed: 5, keep_trace: true, ..SimOptions::default() };
    let mut cluster = Cluster::sim_with(4, options);
    let report = report(&mut cluster, 5);
    let count = |wanted: fn(&SimAction) -> bool| {
        report.trace.iter().filter(|event| wanted(&event.action)).count()
    };
    let sent = count(|action| matches!(action, SimAction::Send { .. }));
    assert_eq!(sent, 4 * 3 * 4 * 2 + 4 * 2);
    assert_eq!(count(|action| matches!(action, SimAction::Receive { .. })), sent);
    assert_eq!(count(|action| matches!(action, SimAction::Finish)), 4);
    assert!(report.trace.is_sorted_by_key(|event| event.time));
    assert!(report.trace.iter().any(|event| event.to_string().contains("arriving at")));
    // Keeping the trace changes nothing.
    let plain = self::report(&mut Cluster::sim(4, 0), 5);
    assert_eq!((plain.trace_hash, plain.steps), (report.trace_hash, report.steps));
}

/// Of 200 seeds, how many show that an assumption of a program with three hosts is wrong.
fn refuted(program: impl Fn(&mut Net) -> Result<bool, Error> + Sync) -> usize {
    let mut cluster = Cluster::sim(3, 0);
    let refutes = |&seed: &u64| {
        cluster.set_seed(seed);
        cluster.launch(&program).unwrap().contains(&false)
    };
    (0..200).filter(refutes).count()
}

#[test]
fn planted_mistakes_are_found() {
    let (data, flag) = (Tag::user(2, 0), Tag::user(3, 0));

    let across_peers = refuted(|net| {
        match net.host() {
            HostId(0) => {
                let (first, _) = net.receive_any(data)?;
                net.receive_any(data)?;
                return Ok(first == HostId(1));
            }
            HostId(1) => {
                net.send(HostId(0), data, Vec::new())?;
                net.send(HostId(2), flag, Vec::new())?;
            }
            _ => {
                net.receive(HostId(1), flag)?;
                net.send(HostId(0), data, Vec::new())?;
            }
        }
        Ok(true)
    });
    assert!((1..200).contains(&across_peers), "sent first is there first: {across_peers}");

    let across_tags = refuted(|net| {
        match net.host() {
            HostId(0) => {
                net.receive(HostId(1), flag)?;
                return Ok(net.try_receive(data)?.is_some());
            }
            HostId(1) => {
                net.send(HostId(0), data, Vec::new())?;
                net.send(HostId(0), flag, Vec::new())?;
            }
            _ => {}
        }
        Ok(true)
    });
    assert!((1..200).contains(&across_tags), "where the flag is, is the data: {across_tags}");

    let in_vain = refuted(|net| {
        if net.host() == HostId(1) {
            net.send(HostId(0), data, Vec::new())?;
        }
        let mut found = net.host() != HostId(0);
        for _ in 0..3 {
            found |= net.try_receive(data)?.is_some();
        }
        Ok(found)
    });
    assert!((1..200).contains(&in_vain), "three empty polls mean nothing comes: {in_vain}");

    let right = refuted(|net| {
        match net.host() {
            HostId(0) => {
                let first = net.receive(HostId(1), data)?;
                return Ok(first == [1] && net.receive(HostId(1), data)? == [2]);
            }
            HostId(1) => {
                net.send(HostId(0), data, vec![1])?;
                net.send(HostId(0), data, vec![2])?;
            }
            _ => {}
        }
        Ok(true)
    });
    assert_eq!(right, 0, "order holds within a tag");
}

#[test]
fn a_deadlock_is_an_error_at_once() {
    let start = Instant::now();
    let program = |net: &mut Net| {
        let next = HostId((net.host().0 + 1) % 3);
        net.receive(next, STORM).map(drop)
    };
    for seed in 0..20 {
        match Cluster::sim(3, seed).launch(program) {
            Err(LaunchError::Failed { error: Error::Silent { seconds, .. }, seed: s, .. }) => {
                assert_eq!(s, Some(seed));
                assert!((60.0..61.0).contains(&seconds), "{seconds} s");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_endless_program_is_stopped() {
    let options = SimOptions { step_limit: 10_000, ..SimOptions::default() };
    let program = |net: &mut Net| -> Result<(), Error> {
        loop {
            net.try_receive(STORM)?;
        }
    };
    let error = Cluster::sim_with(2, options).launch(program).unwrap_err();
    assert!(matches!(
        error,
        LaunchError::Failed { error: Error::Endless { steps: 10_000, .. }, .. }
    ));
}

#[test]
fn time_passes_for_those_who_poll() {
    let program = |net: &mut Net| {
        let start = net.now();
        while net.now() - start < Duration::from_secs(1) {
            net.try_receive(STORM)?;
        }
        Ok::<_, Error>(())
    };
    let mut cluster = Cluster::sim(2, 3);
    cluster.launch(program).unwrap();
    assert!(cluster.sim_report().unwrap().steps < 20_000);
}

#[test]
fn a_crash_at_any_step_is_noticed_and_replayed() {
    for step in 0..150 {
        let crashed = HostId(step as u16 % 4);
        let faults = Faults { crashes: vec![(crashed, step)], ..Faults::default() };
        let options = SimOptions { seed: step, faults, ..SimOptions::default() };
        let run = || {
            let mut cluster = Cluster::sim_with(4, options.clone());
            let failure = cluster.launch(storm).unwrap_err();
            (failure.to_string(), cluster.sim_report().unwrap().clone())
        };
        let (failure, report) = run();
        let expected = format!(": host {crashed} was lost (simulated with seed {step})");
        assert!(failure.ends_with(&expected), "step {step}: {failure}");
        assert_eq!(run(), (failure, report));
    }
}

#[test]
fn every_order_of_arrival_occurs() {
    let program = |net: &mut Net| -> Result<Vec<u16>, Error> {
        if net.host() != HostId(0) {
            net.send(HostId(0), STORM, Vec::new())?;
            return Ok(Vec::new());
        }
        net.peers().map(|_| Ok(net.receive_any(STORM)?.0.0)).collect()
    };
    let mut cluster = Cluster::sim(4, 0);
    let orders: HashSet<Vec<u16>> = (0..200)
        .map(|seed| {
            cluster.set_seed(seed);
            cluster.launch(program).unwrap().swap_remove(0)
        })
        .collect();
    assert_eq!(orders.len(), 6, "{orders:?}");
}

#[test]
fn faults_do_what_they_say() {
    let tag = Tag::user(9, 9);
    let count = 1000;
    // Host 1 counts what arrives, and what arrives changed.
    let program = |net: &mut Net| {
        if net.host() == HostId(0) {
            for position in 0..count {
                net.send(HostId(1), tag, bytes(position))?;
            }
            return Ok((0, 0));
        }
        let (mut arrived, mut changed) = (0, 0);
        loop {
            match net.receive_any(tag) {
                Ok((_, contents)) => {
                    changed += u64::from(number(&contents) >= count);
                    arrived += 1;
                }
                Err(Error::HostFinished { .. }) => break Ok((arrived, changed)),
                Err(error) => break Err(error),
            }
        }
    };
    let run = |faults| {
        let options = SimOptions { faults, ..SimOptions::default() };
        Cluster::sim_with(2, options).launch(program).unwrap()[1]
    };
    assert_eq!(run(Faults::default()), (count, 0));
    let (arrived, _) = run(Faults { lose_one_in: 10, ..Faults::default() });
    assert!((850..950).contains(&arrived), "{arrived}");
    let (arrived, _) = run(Faults { duplicate_one_in: 10, ..Faults::default() });
    assert!((1050..1150).contains(&arrived), "{arrived}");
    let (arrived, changed) = run(Faults { corrupt_one_in: 10, ..Faults::default() });
    assert!(arrived == count && (60..120).contains(&changed), "{changed}");
}

#[test]
fn lost_and_repeated_messages_never_pass_a_barrier() {
    let program = |net: &mut Net| {
        for _ in 0..20 {
            net.barrier()?;
        }
        Ok(())
    };
    let run = |seed, faults| {
        let options = SimOptions { seed, faults, ..SimOptions::default() };
        Cluster::sim_with(3, options).launch(program)
    };
    for seed in 0..50 {
        let lossy = run(seed, Faults { lose_one_in: 20, ..Faults::default() });
        let silent =
            |error| matches!(error, LaunchError::Failed { error: Error::Silent { .. }, .. });
        assert!(lossy.is_ok() || silent(lossy.unwrap_err()));
        let repeating = run(seed, Faults { duplicate_one_in: 20, ..Faults::default() });
        let surplus =
            |error| matches!(error, LaunchError::Failed { error: Error::Surplus { .. }, .. });
        assert!(repeating.is_ok() || surplus(repeating.unwrap_err()));
    }
}

#[test]
fn a_repeated_message_of_a_collective_is_noticed_after_it() {
    let faults = Faults { duplicate_one_in: 1, ..Faults::default() };
    let mut cluster = Cluster::sim_with(2, SimOptions { faults, ..SimOptions::default() });
    let program = |net: &mut Net| {
        net.barrier()?;
        net.receive(HostId(1 - net.host().0), STORM).map(drop)
    };
    for seed in 0..50 {
        cluster.set_seed(seed);
        let failure = cluster.launch(program).unwrap_err();
        let surplus = matches!(failure, LaunchError::Failed { error: Error::Surplus { .. }, .. });
        assert!(surplus, "{failure}");
    }
}

#[test]
fn in_a_collective_the_loss_of_any_host_counts() {
    let seen = Mutex::new(Vec::new());
    let program = |net: &mut Net| {
        match net.host() {
            // Slow to come: host 1, which waits for it first, must not.
            HostId(0) => {
                net.set_patience(Duration::from_secs(30));
                net.receive(HostId(1), STORM).unwrap_err();
            }
            HostId(3) => panic!("lost"),
            _ => {}
        }
        let error = net.barrier().unwrap_err();
        if net.host() == HostId(1) {
            // Host 2, which misses host 3 too, may be heard of first.
            let lost = matches!(error, Error::HostLost { host: HostId(2 | 3) });
            seen.lock().unwrap().push(lost && net.now() < Duration::from_secs(1));
        }
        Err::<(), _>(error)
    };
    for seed in 0..20 {
        let failure = Cluster::sim(4, seed).launch(program).unwrap_err();
        assert!(matches!(failure, LaunchError::Panicked { host: HostId(3), .. }), "{failure}");
    }
    assert_eq!(seen.into_inner().unwrap(), [true; 20]);
}
