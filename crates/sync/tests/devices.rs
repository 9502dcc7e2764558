//! Devices that fail, and fields that are read at both ends of edges in broadcasts of their own.

use crate::{common, device};

use common::{
    ENDS, all_policies, by_vertex, is_at, local, on_hosts, owners, parts_of, proxies, random,
    tangle,
};
use device::{AnyField, DeviceField};
use parton_net::{Cluster, HostId, LaunchError};
use parton_partition::{End, Partition};
use parton_sync::reduction::{Latest, Min};
use parton_sync::{CpuField, Delivery, Error, Optimize, Substrate, Termination};
use proptest::prelude::*;

/// A device is lost at any of its calls: its host says so, every other host that needs it fails as
/// well, and none waits for ever.
#[test]
fn a_lost_device_ends_the_run_on_every_host() {
    const HOSTS: usize = 3;
    let parts = parts_of(40, &tangle(40), "random", HOSTS);
    let run = |calls: u64| {
        local(HOSTS).launch(|net| -> Result<(), Error> {
            let part = &parts[net.host().index()];
            let start = |_| u32::MAX;
            let mut field: Box<dyn AnyField<Min<u32>>> = match net.host() {
                HostId(1) => {
                    let field = DeviceField::new(part.num_proxies(), Delivery::Label, start);
                    Box::new(field.failing_after(calls))
                }
                _ => Box::new(CpuField::new(part.num_proxies(), Delivery::Label, start)),
            };
            let mut substrate = Substrate::new(part, net, Optimize::ALL);
            for round in 0..4 {
                let value = |proxy| (proxy, 100 - round);
                field.fold_all(&proxies(part).map(value).collect::<Vec<_>>());
                substrate.sync(&mut *field, End::Either, End::Either)?;
            }
            // A host that has already left must be noticed by all others.
            net.barrier()?;
            Ok(())
        })
    };
    let mut failures = 0;
    for calls in 0.. {
        match run(calls) {
            Ok(_) => break,
            Err(LaunchError::Failed { host, error, .. }) => {
                assert_eq!(host, HostId(1), "{calls}: the first failure is the cause");
                assert!(matches!(error, Error::Device { .. }), "{calls}: {error}");
                assert!(error.to_string().starts_with("fake:0 failed: lost in"), "{error}");
                failures += 1;
            }
            Err(other) => panic!("{calls}: {other}"),
        }
    }
    assert!(failures > 4 * 2 * 6, "{failures}: every call of every exchange failed once");
}

/// Least distances from vertex 0 on hosts that do not wait for each other. Like an engine on a
/// device, a host sees its field in bulk: it relaxes the edges of what has changed since it last
/// looked.
fn search(
    part: &Partition,
    substrate: &mut Substrate<'_>,
    field: &mut dyn AnyField<Min<u32>>,
) -> Result<Vec<u32>, Error> {
    let (edges, mut seen) = (part.out_edges(), vec![u32::MAX; part.num_proxies()]);
    let mut end = substrate.begin_epoch(false)?;
    loop {
        let now = field.values();
        let mut best = now.clone();
        for source in (0..now.len()).filter(|&source| now[source] != seen[source]) {
            let row = edges.offsets()[source] as usize..edges.offsets()[source + 1] as usize;
            for target in &edges.all_targets()[row] {
                best[target.index()] = best[target.index()].min(now[source] + 1);
            }
        }
        let better = proxies(part).filter(|proxy| best[proxy.index()] < now[proxy.index()]);
        let better: Vec<_> = better.map(|proxy| (proxy, best[proxy.index()])).collect();
        field.fold_all(&better);
        seen = now;
        substrate.sync(field, End::Destination, End::Source)?;
        if end.reached(field.values() != seen, substrate)? {
            substrate.end_epoch()?;
            return Ok(field.values());
        }
    }
}

#[test]
fn devices_need_not_wait_for_other_hosts() {
    const VERTICES: u32 = 30;
    let mut expected = vec![u32::MAX; VERTICES as usize];
    expected[0] = 0;
    for (source, target) in tangle(VERTICES).repeat(VERTICES as usize) {
        let longer = expected[source as usize].saturating_add(1);
        expected[target as usize] = expected[target as usize].min(longer);
    }
    for policy in all_policies() {
        let parts = parts_of(VERTICES as usize, &tangle(VERTICES), policy, 3);
        let mut cluster = Cluster::sim(3, 0);
        for seed in 0..20 {
            cluster.set_seed(seed);
            let hosts = on_hosts(&mut cluster, &parts, Optimize::ALL, |part, substrate| {
                let start = |proxy| if part.global(proxy).0 == 0 { 0 } else { u32::MAX };
                let count = part.num_proxies();
                let field: &mut dyn AnyField<Min<u32>> = match part.host() {
                    HostId(1) => &mut CpuField::new(count, Delivery::Label, start),
                    _ => &mut DeviceField::new(count, Delivery::Label, start),
                };
                search(part, substrate, field)
            });
            assert_eq!(by_vertex(&parts, &hosts), expected, "{policy}, seed {seed}");
        }
    }
}

/// One step of a random run.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Masters get new values; which ones, the seed says.
    Write(u64),
    Broadcast(End),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<u64>().prop_map(Step::Write),
        prop::sample::select(ENDS.to_vec()).prop_map(Step::Broadcast),
    ];
    prop::collection::vec(step, 1..12)
}

/// The value that a step gives a vertex, if it does.
fn written(seed: u64, vertex: u64) -> Option<u64> {
    let bits = random(&[seed, vertex]);
    (bits.is_multiple_of(3)).then_some(bits >> 8)
}

/// What every proxy holds after the steps, by somebody who sees all hosts, and how many values each
/// host has sent in each broadcast.
fn expect(parts: &[Partition], steps: &[Step], optimize: Optimize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let owners = owners(parts);
    let mut masters = vec![0; owners.len()];
    let mut sent = vec![Vec::new(); parts.len()];
    // Of every proxy: its value, and whether its master has another to tell.
    let mut known: Vec<Vec<(u64, bool)>> =
        parts.iter().map(|part| vec![(0, false); part.num_proxies()]).collect();
    for step in steps {
        sent.iter_mut()
            .for_each(|sent| sent.extend(matches!(step, Step::Broadcast(_)).then_some(0)));
        for (part, known) in parts.iter().zip(&mut known) {
            for proxy in proxies(part) {
                let vertex = part.global(proxy).0;
                let (value, is_owed) = &mut known[proxy.index()];
                let owner = owners[vertex as usize];
                match step {
                    Step::Write(seed) => {
                        if let Some(new) = written(*seed, vertex) {
                            masters[vertex as usize] = new;
                            *is_owed = true;
                        }
                        if owner == part.host() {
                            *value = masters[vertex as usize];
                        }
                    }
                    Step::Broadcast(end) => {
                        let takes_part = !optimize.structural || is_at(part, proxy, *end);
                        if owner != part.host() && *is_owed && takes_part {
                            (*value, *is_owed) = (masters[vertex as usize], false);
                            *sent[owner.index()].last_mut().expect("one each") += 1;
                        }
                    }
                }
            }
        }
    }
    let values = known.iter().map(|known| known.iter().map(|(value, _)| *value).collect());
    values.zip(sent).collect()
}

/// The same steps on the substrate.
fn observe(
    part: &Partition,
    substrate: &mut Substrate<'_>,
    steps: &[Step],
    field: &mut dyn AnyField<Latest<u64>>,
) -> Result<(Vec<u64>, Vec<u64>), Error> {
    let mut sent = Vec::new();
    for step in steps {
        match step {
            Step::Write(seed) => {
                let masters = proxies(part).take(part.num_masters());
                let new = |master| Some((master, written(*seed, part.global(master).0)?));
                field.fold_all(&masters.filter_map(new).collect::<Vec<_>>());
            }
            Step::Broadcast(end) => {
                substrate.broadcast(field, *end)?;
                let bytes = substrate.take_sent().iter().map(|volume| volume.values()).sum::<u64>();
                sent.push(bytes / 8);
            }
        }
    }
    Ok((field.values(), sent))
}

fn compare(parts: &[Partition], steps: &[Step], seed: u64) {
    // Without places, values travel raw, one for each mirror: their number can be told exactly.
    for (name, optimize) in Optimize::NAMES {
        for delivery in [Delivery::Label, Delivery::Event] {
            let launched = local(parts.len()).launch(|net| -> Result<_, Error> {
                let part = &parts[net.host().index()];
                let (mut substrate, count) =
                    (Substrate::new(part, net, optimize), part.num_proxies());
                let is_device = random(&[seed, part.host().0.into()]).is_multiple_of(2);
                let field: &mut dyn AnyField<Latest<u64>> = match is_device {
                    true => &mut DeviceField::new(count, delivery, |_| 0),
                    false => &mut CpuField::new(count, delivery, |_| 0),
                };
                observe(part, &mut substrate, steps, field)
            });
            let hosts = launched.unwrap_or_else(|e| panic!("{name}: {e}"));
            for (found, expected) in hosts.iter().zip(expect(parts, steps, optimize)) {
                assert_eq!(found.0, expected.0, "{name}, {delivery:?}");
                if !optimize.temporal {
                    assert_eq!(found.1, expected.1, "{name}, {delivery:?}: told once");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever ends are served in whatever order, every mirror that was served holds what its
    /// master had then, and is told nothing twice.
    #[test]
    fn both_ends_get_every_update_once(
        vertices in 3..40u32,
        hosts in 1..=7usize,
        policy in prop::sample::select(all_policies()),
        steps in steps(),
        seed in any::<u64>(),
    ) {
        compare(&parts_of(vertices as usize, &tangle(vertices), policy, hosts), &steps, seed);
    }
}

/// Source first, then destination: every policy.
#[test]
fn the_end_that_is_served_second_loses_nothing() {
    use Step::{Broadcast, Write};
    let (source, destination) = (Broadcast(End::Source), Broadcast(End::Destination));
    let steps = [Write(1), source, Write(2), source, destination, Write(3), destination, source];
    for policy in all_policies() {
        compare(&parts_of(40, &tangle(40), policy, 4), &steps, 5);
    }
}
