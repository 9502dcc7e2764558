//! What has gone wrong in systems of this kind, one test each; the numbers are those of our list of
//! traps. Where a trap cannot be met yet, or is tested elsewhere:
//!
//! | trap | where |
//! |---|---|
//! | 1 a late broadcast must fold, not set · 8–11 ending without rounds | `own_pace/`, where such mistakes are planted |
//! | 36 buckets without rounds | a host works off all its buckets before it talks: `parton-engine`, own pace |
//! | 14 orientation · 15 grids of prime size | `model.rs` (every pair of ends, 1 to 7 hosts, every policy), `parton-algorithms` traps |
//! | 16 partial sums · 20–28 roots, lone vertices, infinity, counts, rounds, ranks · 38 weights | `parton-algorithms` traps |
//! | 17 thresholds per proxy | cannot be: only masters apply, `parton-engine` |
//! | 18 fields read at both ends · 19 cores | `model.rs` for the pairs of ends; no such algorithm yet |
//! | 30 alignment | `wire.rs` |
//! | 31 scratch memory of one peer · 39 duplicates on a device | no devices yet; places are distinct by decoding, `wire.rs` |
//! | 33 ranges that share a word | also `vertex_set.rs` in `parton-graph` |
//! | 34 order of lists, 35 assignments | also `parton-partition`, whose setup compares checksums |
//! | 37 threads | clusters share out cores, `parton-net` |

use crate::common;

use common::{
    ENDS, all_policies, by_vertex, copies, local, mirrors, on_hosts, owners, parts_of, proxies,
    tangle, values_of, write,
};
use parton_graph::LocalId;
use parton_net::{Cluster, HostId};
use parton_partition::{End, Partition};
use parton_sync::reduction::{Latest, Max, Min, Or, Sum};
use parton_sync::value::Number;
use parton_sync::{
    AtomicValue, CpuField, Delivery, Field, Optimize, Phase, Reduction, Route, Staging, Substrate,
    Volume, Which,
};

fn accumulator<R: Reduction<Value: AtomicValue>>(part: &Partition) -> CpuField<R> {
    CpuField::accumulator(part.num_proxies())
}

fn label<R: Reduction<Value: AtomicValue>>(part: &Partition, start: R::Value) -> CpuField<R> {
    CpuField::new(part.num_proxies(), Delivery::Label, |_| start)
}

/// Bytes of values a host has sent since last asked.
fn values_sent(substrate: &mut Substrate<'_>) -> u64 {
    substrate.take_sent().iter().map(Volume::values).sum()
}

/// Sending a contribution and forgetting it are one step: every proxy counts itself in every
/// round, and sums grow by exactly that, whatever the network does.
#[test]
fn trap_02_contributions_count_exactly_once() {
    let policies = all_policies();
    let all_parts: Vec<_> =
        policies.iter().map(|policy| parts_of(24, &tangle(24), policy, 3)).collect();
    let mut cluster = Cluster::sim(3, 0);
    for seed in 0..200 {
        cluster.set_seed(seed);
        let parts = &all_parts[seed as usize % policies.len()];
        let optimize = Optimize::NAMES[seed as usize / 8 % 4].1;
        let hosts = on_hosts(&mut cluster, parts, optimize, |part, substrate| {
            let mut field = accumulator::<Sum<u64>>(part);
            for _ in 0..4 {
                proxies(part).for_each(|proxy| write(&field, proxy, 1));
                substrate.reduce(&mut field, End::Either)?;
            }
            Ok(values_of(part, &field))
        });
        let expected: Vec<u64> = copies(parts).iter().map(|copies| 4 * copies).collect();
        assert_eq!(by_vertex(parts, &hosts), expected, "seed {seed}");
    }
}

/// One host writes a mirror; the master only hears of it, and all other mirrors must too.
#[test]
fn trap_03_a_reduced_master_is_broadcast() {
    for policy in all_policies() {
        let parts = parts_of(30, &tangle(30), policy, 4);
        let owners = owners(&parts);
        // For each vertex the last host that has a mirror of it.
        let writer = |vertex: u64| {
            let has = |part: &&Partition| {
                owners[vertex as usize] != part.host()
                    && mirrors(part).any(|mirror| part.global(mirror).0 == vertex)
            };
            parts.iter().rev().find(has).map(Partition::host)
        };
        let hosts = on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let mut field = label::<Min<u32>>(part, 100);
            for mirror in mirrors(part) {
                let vertex = part.global(mirror).0;
                if writer(vertex) == Some(part.host()) {
                    write(&field, mirror, vertex as u32);
                }
            }
            substrate.sync(&mut field, End::Either, End::Either)?;
            Ok(values_of(part, &field))
        });
        for (part, values) in parts.iter().zip(hosts) {
            for (proxy, value) in proxies(part).zip(values) {
                let vertex = part.global(proxy).0;
                let expected = writer(vertex).map_or(100, |_| vertex as u32);
                assert_eq!(value, expected, "{policy}, vertex {vertex} on host {}", part.host());
            }
        }
    }
}

/// What a mirror is told it does not tell again: a second sync sends no values.
#[test]
fn trap_04_a_broadcast_does_not_echo() {
    for policy in all_policies() {
        let parts = parts_of(30, &tangle(30), policy, 4);
        let sent = on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let mut labels = label::<Min<u32>>(part, 100);
            let mut events = accumulator::<Sum<f64>>(part);
            for proxy in proxies(part) {
                write(&labels, proxy, part.global(proxy).0 as u32);
                write(&events, proxy, 1.5);
            }
            let mut sent = [0; 2];
            for sent in &mut sent {
                substrate.sync(&mut labels, End::Either, End::Either)?;
                substrate.sync(&mut events, End::Either, End::Either)?;
                *sent = values_sent(substrate);
            }
            // Not sent again, but to be computed with.
            let told = mirrors(part).filter(|&mirror| events.active().contains(mirror)).count();
            assert_eq!(told, part.num_proxies() - part.num_masters());
            Ok(sent)
        });
        assert!(sent.iter().any(|sent| sent[0] > 0), "{policy} shares something");
        assert!(sent.iter().all(|sent| sent[1] == 0), "{policy}: {sent:?}");
    }
}

/// A reduce alone leaves its news at masters for the broadcast that follows, also when another
/// field's phases come in between; a broadcast takes it, also where no mirror reads. Mirrors at the
/// other end get it with their own broadcast.
#[test]
fn trap_05_news_at_masters_lives_until_the_broadcast() {
    for policy in ["oec", "iec", "cvc", "hvc"] {
        let parts = parts_of(30, &tangle(30), policy, 4);
        on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let mut field = label::<Max<u32>>(part, 0);
            let mut other = accumulator::<Sum<u64>>(part);
            proxies(part).for_each(|proxy| write(&field, proxy, 1));
            let masters = part.num_masters();
            substrate.reduce(&mut field, End::Either)?;
            substrate.sync(&mut other, End::Either, End::Either)?;
            assert_eq!(field.updated().len(), masters, "kept for the broadcast");
            substrate.take_sent();
            // With edges at their sources' masters no mirror is read at a source.
            substrate.broadcast(&mut field, End::Source)?;
            assert!(field.updated().is_empty(), "{policy}: taken by it");
            let routes = HostId::all(4).map(|peer| part.routes(peer).masters(End::Source).len());
            let expected = routes.sum::<usize>() > 0;
            assert_eq!(values_sent(substrate) > 0, expected);
            substrate.broadcast(&mut field, End::Source)?;
            assert_eq!(values_sent(substrate), 0, "{policy}: stale news");
            // Mirrors that are destinations only have not been told, and all are after that.
            substrate.broadcast(&mut field, End::Either)?;
            let parts = HostId::all(4).map(|peer| part.routes(peer).master_parts());
            assert_eq!(values_sent(substrate) > 0, parts.map(|p| p.written).sum::<u32>() > 0);
            substrate.broadcast(&mut field, End::Either)?;
            assert_eq!(values_sent(substrate), 0, "{policy}: stale news");
            Ok(())
        });
    }
}

/// Values that are not updated travel only where telling them again changes nothing.
#[test]
fn trap_06_idle_mirrors_contribute_nothing() {
    let parts = parts_of(64, &tangle(64), "iec", 2);
    // Equal values are so cheap that a label would send them all.
    let idle = |proxy: LocalId| proxy.0.is_multiple_of(5);
    let hosts = on_hosts(&mut local(2), &parts, Optimize::ALL, |part, substrate| {
        let mut field = CpuField::<Sum<u64>>::new(part.num_proxies(), Delivery::Event, |_| 7);
        for mirror in mirrors(part).filter(|&mirror| !idle(mirror)) {
            field.touch(mirror);
        }
        substrate.reduce(&mut field, End::Either)?;
        Ok(values_of(part, &field))
    });
    let mut expected = vec![7; 64];
    for part in &parts {
        for mirror in mirrors(part).filter(|&mirror| !idle(mirror)) {
            expected[part.global(mirror).0 as usize] += 7;
        }
    }
    assert_eq!(by_vertex(&parts, &hosts), expected);
}

/// After sending, contributions start again from the identity, of whatever reduction; labels stay,
/// as a mirror that forgets its label would take worse ones for news.
#[test]
fn trap_07_contributions_are_forgotten_and_labels_kept() {
    fn mirror_after<R: Reduction<Value: AtomicValue>>(
        kept: bool,
        value: R::Value,
    ) -> Vec<R::Value> {
        let parts = parts_of(30, &tangle(30), "cvc", 4);
        let hosts = on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let mut field = match kept {
                true => label::<R>(part, R::identity()),
                false => accumulator::<R>(part),
            };
            proxies(part).for_each(|proxy| write(&field, proxy, value));
            substrate.reduce(&mut field, End::Either)?;
            Ok(mirrors(part).map(|mirror| field.get(mirror)).collect::<Vec<_>>())
        });
        hosts.concat()
    }
    fn all_are<V: PartialEq>(values: &[V], expected: V) -> bool {
        !values.is_empty() && values.iter().all(|value| *value == expected)
    }
    assert!(all_are(&mirror_after::<Min<u32>>(true, 3), 3));
    assert!(all_are(&mirror_after::<Or<u32>>(true, 6), 6));
    assert!(all_are(&mirror_after::<Sum<u64>>(false, 3), 0));
    assert!(all_are(&mirror_after::<Min<u32>>(false, 3), u32::MAX));
    assert!(all_are(&mirror_after::<Max<f64>>(false, 3.0), f64::NEG_INFINITY));
    assert!(all_are(&mirror_after::<Or<u64>>(false, 3), 0));
}

/// Hosts without vertices, edges or peers to talk to go through every phase; those that are ahead
/// send early, and what they send waits for its phase.
#[test]
fn trap_12_every_host_takes_part_in_every_phase() {
    let mut cluster = Cluster::sim(9, 0);
    for policy in ["oec", "cvc", "hvc"] {
        // Fewer vertices than hosts.
        let parts = parts_of(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], policy, 9);
        let copies = copies(&parts);
        for seed in 0..40 {
            cluster.set_seed(seed);
            let hosts = on_hosts(&mut cluster, &parts, Optimize::ALL, |part, substrate| {
                let mut first = accumulator::<Sum<u64>>(part);
                let mut second = label::<Max<u32>>(part, 0);
                for round in 1..=5 {
                    proxies(part).for_each(|proxy| write(&first, proxy, round));
                    proxies(part).for_each(|proxy| write(&second, proxy, round as u32));
                    substrate.reduce(&mut first, End::Either)?;
                    substrate.sync(&mut second, End::Either, End::Either)?;
                    assert!(proxies(part).all(|proxy| second.get(proxy) == round as u32));
                }
                Ok(values_of(part, &first))
            });
            let expected: Vec<u64> = copies.iter().map(|copies| 15 * copies).collect();
            assert_eq!(by_vertex(&parts, &hosts), expected, "{policy}, seed {seed}");
        }
    }
}

/// A host expects every message sent to it: nothing is left over, for any pair of ends.
#[test]
fn trap_13_what_is_sent_is_expected() {
    for policy in all_policies() {
        for hosts in [2, 3, 5] {
            let parts = parts_of(30, &tangle(30), policy, hosts);
            let traffic = local(hosts).launch(|net| -> Result<_, parton_sync::Error> {
                let part = &parts[net.host().index()];
                let before: Vec<_> = HostId::all(hosts).map(|peer| net.traffic(peer)).collect();
                let mut substrate = Substrate::new(part, net, Optimize::ALL);
                let mut field = accumulator::<Sum<u64>>(part);
                for (written, read) in ENDS.iter().flat_map(|w| ENDS.map(|r| (*w, r))) {
                    substrate.sync(&mut field, written, read)?;
                }
                // Every host hears from every other after all it might have sent before.
                net.all_to_all(vec![Vec::new(); hosts])?;
                let counts = HostId::all(hosts).zip(before).map(|(peer, before)| {
                    let now = net.traffic(peer);
                    [
                        now.messages_sent - before.messages_sent,
                        now.messages_received - before.messages_received,
                    ]
                });
                Ok(counts.collect::<Vec<_>>())
            });
            let traffic = traffic.unwrap_or_else(|e| panic!("{policy}: {e}"));
            for (a, b) in (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))) {
                assert_eq!(traffic[a][b][0], traffic[b][a][1], "{policy}: from {a} to {b}");
            }
        }
    }
}

/// Long routes take several messages, each with places of its own; what is counted is counted in
/// 64 bits.
#[test]
fn trap_29_long_routes_are_split() {
    for policy in ["oec", "cvc", "hvc"] {
        let parts = parts_of(90, &tangle(90), policy, 3);
        for places in [1, 2, 7, 64] {
            let hosts = local(3).launch(|net| -> Result<_, parton_sync::Error> {
                let part = &parts[net.host().index()];
                let mut field = accumulator::<Sum<u64>>(part);
                let own = |proxy| u64::from(part.host().0 + 1) << 32 | part.global(proxy).0;
                proxies(part).for_each(|proxy| write(&field, proxy, own(proxy)));
                Substrate::new(part, net, Optimize::ALL)
                    .with_places_per_message(places)
                    .reduce(&mut field, End::Either)?;
                Ok(values_of(part, &field))
            });
            let hosts = hosts.unwrap_or_else(|e| panic!("{policy}: {e}"));
            let mut expected = vec![0; 90];
            for part in &parts {
                for vertex in proxies(part).map(|proxy| part.global(proxy).0) {
                    expected[vertex as usize] += u64::from(part.host().0 + 1) << 32 | vertex;
                }
            }
            assert_eq!(by_vertex(&parts, &hosts), expected, "{policy}, {places} places");
        }
    }
    let mut volume = Volume { reduce_values: u64::from(u32::MAX), ..Volume::default() };
    volume += Volume { broadcast_metadata: 1 << 40, ..volume };
    assert_eq!(volume.total(), 2 * u64::from(u32::MAX) + (1 << 40));
}

/// Every host has a mirror of the same hub: their messages meet at one master, and hosts with many
/// threads lose none.
#[test]
fn trap_32_messages_of_many_hosts_meet_at_one_master() {
    let spokes: Vec<_> = (1..400).flat_map(|v| [(v, 0), (0, v)]).collect();
    let parts = parts_of(400, &spokes, "random", 6);
    let expected = copies(&parts);
    assert_eq!(expected[0], 6, "the hub is everywhere");
    for _ in 0..20 {
        let mut cluster = Cluster::local(6).threads_per_host(2);
        let hosts = on_hosts(&mut cluster, &parts, Optimize::ALL, |part, substrate| {
            use rayon::prelude::*;
            let mut field = accumulator::<Sum<u64>>(part);
            let all = (0..part.num_proxies() as u32).into_par_iter().map(LocalId);
            all.for_each(|proxy| write(&field, proxy, 1));
            substrate.reduce(&mut field, End::Either)?;
            Ok(values_of(part, &field))
        });
        assert_eq!(by_vertex(&parts, &hosts), expected);
    }
}

/// Masters and mirrors share words of the bit sets: what is taken from one side stays on the other.
#[test]
fn trap_33_masters_and_mirrors_are_cleared_apart() {
    for vertices in [10, 20, 40, 63] {
        let parts = parts_of(vertices, &tangle(vertices as u32), "cvc", 4);
        on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let mut field = accumulator::<Sum<u64>>(part);
            proxies(part).for_each(|proxy| write(&field, proxy, 1));
            substrate.broadcast(&mut field, End::Source)?;
            let mirrors: Vec<_> = mirrors(part).collect();
            let left: Vec<_> = field.updated().iter_range(0..part.num_proxies() as u32).collect();
            assert_eq!(left, mirrors, "a broadcast takes what masters had to say");
            proxies(part).for_each(|proxy| field.touch(proxy));
            substrate.reduce(&mut field, End::Either)?;
            assert_eq!(field.updated().len(), part.num_masters(), "a reduce, mirrors");
            Ok(())
        });
    }
}

/// Both ends of a route list the same vertices in the same order: every mirror of vertex 17 is told
/// 17, however messages name it.
#[test]
fn trap_34_every_mirror_is_told_its_own_masters_value() {
    for policy in all_policies() {
        for hosts in [2, 3, 5, 7] {
            let parts = parts_of(50, &tangle(50), policy, hosts);
            for (name, optimize) in Optimize::NAMES {
                on_hosts(&mut local(hosts), &parts, optimize, |part, substrate| {
                    let mut field =
                        CpuField::<Latest<u64>>::new(part.num_proxies(), Delivery::Label, |_| 999);
                    for master in proxies(part).take(part.num_masters()) {
                        field.put(master, part.global(master).0);
                        field.touch(master);
                    }
                    substrate.broadcast(&mut field, End::Either)?;
                    for proxy in proxies(part) {
                        let vertex = part.global(proxy).0;
                        assert_eq!(field.get(proxy), vertex, "{policy}, {hosts} hosts, {name}");
                    }
                    Ok(())
                });
            }
        }
    }
}

/// What a reset leaves is the identity of the reduction and the type.
#[test]
fn trap_40_a_reset_leaves_the_identity() {
    fn reset<R: Reduction<Value: AtomicValue>>(value: R::Value) -> R::Value {
        let mut field = CpuField::<R>::accumulator(3);
        write(&field, LocalId(1), value);
        let sent = 1..3;
        field.reset(Phase::Reduce, End::Either, &[sent]).expect("memory does not fail");
        let (list, mut staging) = ([0, 1, 2].map(LocalId), Staging::default());
        let out = field.extract(&Route::listed(&list), Which::Updated, &mut staging);
        let out = out.expect("memory does not fail");
        assert!(out.places.is_empty() && out.values.is_empty(), "not updated any more");
        field.get(LocalId(1))
    }
    fn numbers<T: Number + std::fmt::Debug>(value: T) {
        assert_eq!(reset::<Min<T>>(value), T::GREATEST);
        assert_eq!(reset::<Max<T>>(value), T::LEAST);
        assert_eq!(reset::<Sum<T>>(value), T::ZERO);
        assert!(T::LEAST < value && value < T::GREATEST && T::ZERO.plus(value) == value);
    }
    numbers(5u32);
    numbers(5u64);
    numbers(-5f32);
    numbers(-5f64);
    assert_eq!(f64::GREATEST, f64::INFINITY);
    assert_eq!(f64::LEAST, f64::NEG_INFINITY);
    assert_eq!([reset::<Or<u32>>(5), reset::<Or<u32>>(u32::MAX)], [0; 2]);
}
