//! The substrate against a model that sees all hosts at once: whatever is written where, for every
//! policy, number of hosts, optimisation and pair of ends, masters hold the fold of everything
//! that was contributed, exactly once, and every mirror that is read holds what its master does. Some
//! hosts keep their field in memory, others on a device.

use crate::{common, device, structs};

use common::{ENDS, all_policies, bytes_of, is_at, local, owners, parts_of, proxies, random};
use device::{AnyField, DeviceField};
use parton_net::Cluster;
use parton_partition::{End, Partition};
use parton_sync::reduction::{Max, Min, Or, Sum};
use parton_sync::{
    AtomicValue, CpuField, Delivery, Error, Optimize, Reduction, Substrate, Value, Volume,
};
use proptest::prelude::*;
use structs::{Group, Largest, PairSums, Shortest, Way};

/// Syncs one after the other, without anything in between that would hide a leftover.
const STEPS: u64 = 3;

#[derive(Clone, Copy, Debug)]
struct Setting {
    seed: u64,
    optimize: Optimize,
    places_per_message: usize,
    written: End,
    read: End,
}

impl Setting {
    /// The ends at which proxies really take part.
    fn routes(&self) -> [End; 2] {
        let all = [End::Either; 2];
        if self.optimize.structural { [self.written, self.read] } else { all }
    }

    /// What a host contributes to a vertex in a step: nothing every third time, or nothing to every third vertex.
    fn contribution(&self, step: u64, part: &Partition, vertex: u64) -> Option<u64> {
        let bits = |step: u64| random(&[self.seed, step, part.host().0.into(), vertex]);
        let is_left_out =
            bits(if self.seed.is_multiple_of(4) { 0 } else { step }).is_multiple_of(3);
        (!is_left_out).then_some(bits(step) >> 8)
    }
}

/// One host after one sync.
struct Seen<V> {
    values: Vec<V>,
    /// Proxies still marked updated.
    left: usize,
    /// To each host: what the substrate says, and the messages and bytes that the net counted.
    sent: Vec<(Volume, u64, u64)>,
}

/// Writes and syncs on every host.
fn observe<R: Reduction<Value: AtomicValue>>(
    part: &Partition,
    substrate: &mut Substrate<'_>,
    setting: &Setting,
    value: impl Fn(u64) -> R::Value,
) -> Result<Vec<Seen<R::Value>>, Error> {
    let mut field = start_field::<R>(part, setting);
    let field = &mut *field;
    let peers = || parton_net::HostId::all(part.num_hosts());
    let mut all = Vec::new();
    substrate.take_sent();
    for step in 0..STEPS {
        reset_mirrors(part, field);
        let written = proxies(part).filter(|&proxy| is_at(part, proxy, setting.written));
        let contributions = written.filter_map(|proxy| {
            let bits = setting.contribution(step, part, part.global(proxy).0)?;
            Some((proxy, value(bits)))
        });
        field.fold_all(&contributions.collect::<Vec<_>>());
        let before: Vec<_> = peers().map(|peer| substrate.net().traffic(peer)).collect();
        substrate.sync(field, setting.written, setting.read)?;
        let volumes = substrate.take_sent();
        let sent = peers().zip(before).zip(volumes).map(|((peer, before), volume)| {
            let after = substrate.net().traffic(peer);
            let messages = after.messages_sent - before.messages_sent;
            (volume, messages, after.bytes_sent - before.bytes_sent)
        });
        let sent = sent.collect();
        all.push(Seen { values: field.values(), left: field.num_updated(), sent });
    }
    assert!(field.uploads().iter().all(|&times| times == 1), "lists are uploaded once");
    Ok(all)
}

/// A field in memory or on a device, as the seed says.
fn start_field<R: Reduction<Value: AtomicValue>>(
    part: &Partition,
    setting: &Setting,
) -> Box<dyn AnyField<R>> {
    let delivery = if R::IDEMPOTENT { Delivery::Label } else { Delivery::Event };
    match random(&[setting.seed, part.host().0.into()]).is_multiple_of(2) {
        true => Box::new(CpuField::<R>::new(part.num_proxies(), delivery, |_| R::identity())),
        false => Box::new(DeviceField::<R>::new(part.num_proxies(), delivery, |_| R::identity())),
    }
}

/// What a mirror was told by its master is not its own to contribute: sums start again from
/// nothing, as every engine that sums must. Labels may stay.
fn reset_mirrors<R: Reduction>(part: &Partition, field: &mut dyn AnyField<R>) {
    if !R::IDEMPOTENT {
        let mirrors = common::mirrors(part).map(|mirror| (mirror, R::identity()));
        field.put_all(&mirrors.collect::<Vec<_>>());
    }
}

/// The same steps, by somebody who sees all hosts.
fn expect<R: Reduction<Value: AtomicValue>>(
    parts: &[Partition],
    setting: &Setting,
    value: impl Fn(u64) -> R::Value,
) -> Vec<Vec<Vec<R::Value>>> {
    let [reduced, told] = setting.routes();
    let owners = owners(parts);
    let mut masters = vec![R::identity(); owners.len()];
    let mut mirrors: Vec<Vec<R::Value>> =
        parts.iter().map(|part| vec![R::identity(); part.num_proxies()]).collect();
    let mut steps = Vec::new();
    for step in 0..STEPS {
        let mut news = vec![false; owners.len()];
        // The master's own contribution first, then those of the hosts in their order.
        for own in [true, false] {
            for (part, values) in parts.iter().zip(&mut mirrors) {
                for proxy in proxies(part) {
                    let vertex = part.global(proxy).0;
                    let (place, mine) = (vertex as usize, owners[vertex as usize] == part.host());
                    if mine != own {
                        continue;
                    }
                    if !own && !R::IDEMPOTENT {
                        values[proxy.index()] = R::identity();
                    }
                    let given = setting.contribution(step, part, vertex);
                    let Some(given) = given.filter(|_| is_at(part, proxy, setting.written)) else {
                        continue;
                    };
                    let before = masters[place];
                    let contributed = R::combine(values[proxy.index()], value(given));
                    masters[place] = match own {
                        true => R::combine(before, value(given)),
                        false => R::combine(before, contributed),
                    };
                    news[place] |= own || !R::IDEMPOTENT || masters[place] != before;
                    if !own && R::IDEMPOTENT {
                        values[proxy.index()] = contributed;
                    }
                    assert!(own || is_at(part, proxy, reduced), "what is written is on a route");
                }
            }
        }
        for (part, values) in parts.iter().zip(&mut mirrors) {
            for proxy in proxies(part) {
                let vertex = part.global(proxy).0 as usize;
                let master = owners[vertex] == part.host();
                if master || (news[vertex] && is_at(part, proxy, told)) {
                    values[proxy.index()] = masters[vertex];
                }
            }
        }
        steps.push(mirrors.clone());
    }
    steps
}

/// What a route costs at least and at most.
fn check_volume<V: Value>(
    parts: &[Partition],
    setting: &Setting,
    (host, step): (usize, u64),
    seen: &Seen<V>,
) {
    let part = &parts[host];
    let [reduced, told] = setting.routes();
    for (peer, (volume, messages, bytes)) in parts.iter().zip(&seen.sent) {
        let routes = part.routes(peer.host());
        let route = [routes.mirrors(reduced).len(), routes.masters(told).len()];
        let pieces = route.map(|len| len.div_ceil(setting.places_per_message) as u64);
        assert_eq!(volume.messages, pieces[0] + pieces[1], "none for an empty route");
        assert_eq!((*messages, *bytes), (volume.messages, volume.total()), "as the net counted");
        let reduce = volume.reduce_values + volume.reduce_metadata;
        let broadcast = volume.broadcast_values + volume.broadcast_metadata;
        assert_eq!(reduce + broadcast, volume.total(), "every byte is of one phase");
        assert_eq!([reduce > 0, broadcast > 0], pieces.map(|n| n > 0));
        if !setting.optimize.temporal {
            // Each value travels raw, with an id of four bytes: the split can be told exactly.
            let is_sent = |proxy: &u32| {
                let proxy = parton_graph::LocalId(*proxy);
                is_at(part, proxy, setting.written)
                    && setting.contribution(step, part, part.global(proxy).0).is_some()
            };
            let count = routes.mirrors(reduced).filter(is_sent).count() as u64;
            assert_eq!(volume.reduce_values, count * V::KIND.bytes() as u64);
            assert!(volume.reduce_metadata >= 4 * count + pieces[0]);
        }
    }
}

fn compare<R: Reduction<Value: AtomicValue>>(
    cluster: &mut Cluster,
    parts: &[Partition],
    settings: &[Setting],
    value: impl Fn(u64) -> R::Value + Sync,
) {
    let launched = cluster.launch(|net| -> Result<Vec<_>, Error> {
        let part = &parts[net.host().index()];
        let observe = |setting: &Setting| {
            let mut substrate = Substrate::new(part, net, setting.optimize)
                .with_places_per_message(setting.places_per_message);
            observe::<R>(part, &mut substrate, setting, &value)
        };
        settings.iter().map(observe).collect()
    });
    let hosts = launched.unwrap_or_else(|e| panic!("{e}"));
    for (which, setting) in settings.iter().enumerate() {
        let expected = expect::<R>(parts, setting, &value);
        for (host, seen) in hosts.iter().map(|seen| &seen[which]).enumerate() {
            for (step, seen) in seen.iter().enumerate() {
                let what = format!("{setting:?}, host {host}, step {step}");
                assert_eq!(bytes_of(&seen.values), bytes_of(&expected[step][host]), "{what}");
                assert_eq!(seen.left, 0, "nothing is updated any more: {what}");
                check_volume(parts, setting, (host, step as u64), seen);
            }
        }
    }
}

/// Every reduction; sums of doubles are compared to the last bit, so their order counts too.
fn compare_all(cluster: &mut Cluster, parts: &[Partition], settings: &[Setting]) {
    compare::<Min<u32>>(cluster, parts, settings, |bits| bits as u32 % 1000);
    compare::<Max<u64>>(cluster, parts, settings, |bits| bits);
    compare::<Sum<u64>>(cluster, parts, settings, |bits| bits % 50);
    compare::<Sum<f64>>(cluster, parts, settings, |bits| 1.0 / (1 + bits % 1000) as f64);
    compare::<Or<u32>>(cluster, parts, settings, |bits| 1 << (bits % 32));
}

/// All pairs of ends with all optimisations.
fn all_settings(seed: u64, places: &[usize]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for written in ENDS {
        for read in ENDS {
            for (_, optimize) in Optimize::NAMES {
                for &places_per_message in places {
                    settings.push(Setting { seed, optimize, places_per_message, written, read });
                }
            }
        }
    }
    settings
}

fn graphs() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1..60usize).prop_flat_map(|vertices| {
        let id = 0..vertices as u32;
        (Just(vertices), prop::collection::vec((id.clone(), id), 0..150))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn local_hosts_agree_with_the_model(
        (vertices, edges) in graphs(),
        hosts in 1..=7usize,
        policy in prop::sample::select(all_policies()),
        seed in any::<u64>(),
    ) {
        let parts = parts_of(vertices, &edges, policy, hosts);
        compare_all(&mut local(hosts), &parts, &all_settings(seed, &[1, 3, 1 << 20]));
    }

    #[test]
    fn simulated_hosts_agree_with_the_model(
        (vertices, edges) in graphs(),
        hosts in 1..=7usize,
        policy in prop::sample::select(all_policies()),
        seed in any::<u64>(),
        places in prop::sample::select(vec![1, 3, 1 << 20]),
    ) {
        let parts = parts_of(vertices, &edges, policy, hosts);
        compare_all(&mut Cluster::sim(hosts, seed), &parts, &all_settings(seed, &[places]));
    }
}

/// The same for values that are not unsigned numbers or doubles.
fn compare_others(cluster: &mut Cluster, parts: &[Partition], settings: &[Setting]) {
    compare::<Or<bool>>(cluster, parts, settings, |bits| bits.is_multiple_of(5));
    compare::<Max<i32>>(cluster, parts, settings, |bits| bits as i32 % 500);
    compare::<Sum<i64>>(cluster, parts, settings, |bits| bits as i64 % 50 - 25);
    compare::<Shortest>(cluster, parts, settings, |bits| Way {
        length: (bits % 100) as f32,
        from: (bits >> 8) as u32,
    });
    compare::<Largest>(cluster, parts, settings, |bits| Group {
        size: bits % 20,
        density: 1.0 / (1 + bits % 1000) as f64,
        is_open: bits.is_multiple_of(2),
    });
    compare::<PairSums>(cluster, parts, settings, |bits| (bits as u32 % 9, (bits % 7) as f32));
}

/// Every policy on a graph with everything in it, as random choice may leave one out.
#[test]
fn every_policy_agrees_with_the_model() {
    for hosts in [3, 4] {
        let mut cluster = local(hosts);
        for policy in all_policies() {
            let parts = parts_of(40, &common::tangle(40), policy, hosts);
            compare_all(&mut cluster, &parts, &all_settings(hosts as u64, &[3]));
            let some = all_settings(hosts as u64, &[64]).into_iter().step_by(5);
            compare_others(&mut cluster, &parts, &some.collect::<Vec<_>>());
        }
    }
}
