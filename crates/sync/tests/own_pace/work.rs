//! What hosts do in these simulations: two programs at once, in one loop without waiting.
//!
//! Least distances are a label that may be told again; the numbers of paths in a graph without
//! cycles are sums, to which every contribution counts exactly once. Both are known exactly from a
//! few lines of serial code. Hosts take a few vertices at a time, so that they also send and receive
//! while they have work left.

use std::time::Duration;

use parton_graph::LocalId;
use parton_net::{Cluster, Net};
use parton_partition::{End, Partition};
use parton_sync::reduction::{Min, Sum};
use parton_sync::termination::{State, TRANSITIONS, Transition};
use parton_sync::{
    Counts, CpuField, Delivery, Error, Optimize, Reduction, Substrate, Tally, Termination,
};

use super::faults::{Bug, Faulty};
use crate::common::{parts_of, proxies, random, tangle};

/// A graph, cut over hosts, and what is known of it.
pub(crate) struct Scene {
    pub(crate) parts: Vec<Partition>,
    pub(crate) distances: Vec<u32>,
    pub(crate) paths: Vec<u64>,
    pub(crate) name: String,
}

/// What the edges weigh; not all paths of few edges are short.
fn weight(source: u64, destination: u64) -> u32 {
    1 + (random(&[source, destination]) % 9) as u32
}

/// Whether an edge is on paths that are counted; those that are close no cycle.
fn counts(source: u64, destination: u64) -> bool {
    source < destination
}

impl Scene {
    pub(crate) fn new(vertices: u32, policy: &str, hosts: usize) -> Self {
        let edges = tangle(vertices);
        let mut distances = vec![u32::MAX; vertices as usize];
        distances[0] = 0;
        for _ in 0..vertices {
            for &(s, d) in &edges {
                let longer = distances[s as usize].saturating_add(weight(s.into(), d.into()));
                distances[d as usize] = distances[d as usize].min(longer);
            }
        }
        let mut paths = vec![1u64; vertices as usize];
        for vertex in 0..vertices {
            for &(s, d) in edges.iter().filter(|&&(s, d)| s == vertex && s < d) {
                paths[d as usize] = paths[d as usize].wrapping_add(paths[s as usize]);
            }
        }
        let parts = parts_of(vertices as usize, &edges, policy, hosts);
        Scene { parts, distances, paths, name: format!("{vertices} vertices, {policy}") }
    }
}

/// How to run.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) optimize: Optimize,
    pub(crate) places_per_message: usize,
    pub(crate) governed: bool,
    /// Vertices that a host takes at a time.
    pub(crate) at_a_time: usize,
    pub(crate) bug: Option<Bug>,
}

/// What a host has in the end.
pub(crate) struct Found {
    distances: Vec<u32>,
    paths: Vec<u64>,
    counts: Counts,
    /// When it last had work, or sent or received anything.
    pub(crate) quiet: Duration,
    /// When it knew that all was done.
    pub(crate) ended: Duration,
}

/// Takes some of what is active out of a field; the first come first.
fn take<R: Reduction>(field: &mut CpuField<R>, most: usize) -> Vec<LocalId> {
    let mut taken = field.drain_active();
    let rest = taken.split_off(most.min(taken.len()));
    rest.into_iter().for_each(|vertex| _ = field.active().insert(vertex));
    taken
}

/// A planted mistake: ready is ready, after one snapshot.
const ONE_SNAPSHOT: &[Transition] = &[
    TRANSITIONS[0],
    TRANSITIONS[1],
    Transition { to: State::Ready2, ..TRANSITIONS[2] },
    TRANSITIONS[5],
    TRANSITIONS[6],
    TRANSITIONS[7],
];

/// One host's share. What it finds along the way must hold at any time.
pub(crate) fn on_host(net: &mut Net, part: &Partition, how: How) -> Result<Found, Error> {
    let (edges, bug) = (part.out_edges(), how.bug);
    let targets = |vertex: LocalId| {
        let offsets = &edges.offsets()[vertex.index()..];
        &edges.all_targets()[offsets[0] as usize..offsets[1] as usize]
    };
    let global = |proxy: LocalId| part.global(proxy).0;
    let proxies_here = part.num_proxies();
    let labels = CpuField::<Min<u32>>::new(proxies_here, Delivery::Label, |proxy| {
        if global(proxy) == 0 { 0 } else { u32::MAX }
    });
    let arrived = CpuField::<Sum<u64>>::accumulator(proxies_here).with_id(1);
    let told = CpuField::<Sum<u64>>::accumulator(proxies_here).with_id(1);
    proxies(part).filter(|&p| global(p) == 0).for_each(|p| _ = labels.active().insert(p));
    let mut paths = vec![0u64; part.num_masters()];
    for master in proxies(part).take(part.num_masters()) {
        arrived.put(master, 1);
        arrived.updated().insert(master);
    }
    let mut labels = Faulty { field: labels, bug };
    let mut arrived = Faulty { field: arrived, bug };
    let mut told = Faulty { field: told, bug };
    let mut substrate =
        Substrate::new(part, net, how.optimize).with_places_per_message(how.places_per_message);
    let mut end = substrate.begin_epoch(how.governed)?;
    if bug == Some(Bug::OneSnapshot) {
        end = end.with_table(ONE_SNAPSHOT);
    }
    let (mut quiet, mut counted, mut was_active) = (Duration::ZERO, Counts::default(), true);
    loop {
        for vertex in take(&mut labels.field, how.at_a_time) {
            let distance = labels.field.get(vertex);
            for &other in targets(vertex) {
                let longer = distance.saturating_add(weight(global(vertex), global(other)));
                if labels.field.fold(other, longer) {
                    labels.field.touch(other);
                }
            }
        }
        // What masters tell must not pile up: it is told to their mirrors once.
        let masters = told.field.active().iter_range(0..part.num_masters() as u32).count();
        for vertex in take(&mut told.field, masters.saturating_add(how.at_a_time)) {
            let count = told.field.get(vertex);
            told.field.put(vertex, 0);
            for &other in targets(vertex).iter().filter(|o| counts(global(vertex), global(**o))) {
                arrived.field.fold(other, count);
                arrived.field.update(other);
            }
        }
        substrate.reduce(&mut labels, End::Destination)?;
        assert!(no_mirror_is_updated(part, &labels.field), "nothing was written since");
        substrate.broadcast(&mut labels, End::Source)?;
        assert!(no_mirror_is_updated(part, &labels.field), "what is heard is not said again");
        substrate.reduce(&mut arrived, End::Destination)?;
        for master in arrived.field.updated().iter_range(0..part.num_masters() as u32) {
            let count = arrived.field.get(master);
            arrived.field.put(master, 0);
            paths[master.index()] = paths[master.index()].wrapping_add(count);
            told.field.fold(master, count);
            told.field.touch(master);
        }
        arrived.field.updated().remove_range(0..part.num_masters() as u32);
        substrate.broadcast(&mut told, End::Source)?;
        let active = !labels.field.active().is_empty() || !told.field.active().is_empty();
        if active || was_active || substrate.counts() != counted {
            (quiet, counted) = (substrate.net().now(), substrate.counts());
        }
        was_active = active;
        let tally = Tally { active: u64::from(active), ..Tally::default() };
        let total = match bug {
            Some(Bug::Uncounted) => end.total_of(tally, Counts::default(), &mut substrate)?,
            _ => end.total(tally, &mut substrate)?,
        };
        if total.active == 0 {
            break;
        }
    }
    assert_eq!(end.state(), State::Terminated);
    let (counts, ended) = (substrate.counts(), substrate.net().now());
    substrate.end_epoch()?;
    // Hosts wait for each other again, and find nothing left over from when they did not.
    net.barrier()?;
    let masters = proxies(part).take(part.num_masters());
    let distances = masters.map(|master| labels.field.get(master)).collect();
    Ok(Found { distances, paths, counts, quiet, ended })
}

fn no_mirror_is_updated<R: Reduction>(part: &Partition, field: &CpuField<R>) -> bool {
    let mirrors = part.num_masters() as u32..part.num_proxies() as u32;
    field.updated().iter_range(mirrors).next().is_none()
}

/// Runs a scene once; what is wrong with the outcome, if anything.
pub(crate) fn judge(cluster: &mut Cluster, scene: &Scene, how: How) -> Result<Vec<Found>, String> {
    let launched = cluster.launch(|net| on_host(net, &scene.parts[net.host().index()], how));
    let hosts = launched.map_err(|failure| failure.to_string())?;
    let (sent, received) = hosts.iter().fold((0, 0), |(sent, received), host| {
        (sent + host.counts.sent, received + host.counts.received)
    });
    if sent != received {
        return Err(format!("{sent} messages sent, {received} received"));
    }
    for (part, host) in scene.parts.iter().zip(&hosts) {
        for (master, place) in proxies(part).take(part.num_masters()).zip(0..) {
            let vertex = part.global(master).0 as usize;
            let found = (host.distances[place], host.paths[place]);
            let expected = (scene.distances[vertex], scene.paths[vertex]);
            if found != expected {
                return Err(format!("vertex {vertex}: {found:?}, expected {expected:?}"));
            }
        }
    }
    Ok(hosts)
}
