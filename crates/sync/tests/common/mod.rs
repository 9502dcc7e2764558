//! Small graphs, partitioned once, to synchronise over any cluster.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use parton_graph::{Adjacency, Csr, Graph, LocalId};
use parton_net::{Cluster, HostId};
use parton_partition::{End, Input, Partition, Plan, policies};
use parton_sync::{AtomicValue, CpuField, Error, Optimize, Reduction, Substrate, Value};

pub(crate) const ENDS: [End; 3] = [End::Source, End::Destination, End::Either];

/// Every policy that needs no file.
pub(crate) fn all_policies() -> Vec<&'static str> {
    policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect()
}

/// The parts of a graph, one for each host.
pub(crate) fn partition(graph: &Graph, policy: &str, hosts: usize) -> Vec<Partition> {
    let input = Input::from(graph.clone());
    // A low threshold, so that small graphs have large vertices.
    let plan = Plan { threshold: 4, ..Plan::new(policy) };
    let parts = local(hosts).launch(|net| Partition::build(net, &input, &plan));
    parts.unwrap_or_else(|e| panic!("{policy}: {e}"))
}

/// The parts of a graph without weights.
pub(crate) fn parts_of(
    vertices: usize,
    edges: &[(u32, u32)],
    policy: &str,
    hosts: usize,
) -> Vec<Partition> {
    let edges: Vec<_> = edges.iter().map(|&(s, d)| (s, d, ())).collect();
    partition(&Graph::dense(Csr::from_edges(vertices, &edges), "test"), policy, hosts)
}

/// Edges from everywhere to everywhere, parallel ones and self-loops too, and isolated vertices.
pub(crate) fn tangle(vertices: u32) -> Vec<(u32, u32)> {
    let hub = (0..vertices).map(|v| (v % 3, v));
    let wild = (0..3 * vertices).map(|i| (i * 7 % vertices, i * i % (vertices - 2)));
    hub.chain(wild).filter(|(s, _)| s % 11 != 5).collect()
}

/// Hosts in this process, one thread each.
pub(crate) fn local(hosts: usize) -> Cluster {
    Cluster::local(hosts).threads_per_host(1)
}

/// Runs `host` on every host with a substrate over its part.
pub(crate) fn on_hosts<R: Send>(
    cluster: &mut Cluster,
    parts: &[Partition],
    optimize: Optimize,
    host: impl Fn(&Partition, &mut Substrate<'_>) -> Result<R, Error> + Sync,
) -> Vec<R> {
    let launched = cluster.launch(|net| {
        let part = &parts[net.host().index()];
        host(part, &mut Substrate::new(part, net, optimize))
    });
    launched.unwrap_or_else(|e| panic!("{e}"))
}

/// Every proxy of a host.
pub(crate) fn proxies(part: &Partition) -> impl Iterator<Item = LocalId> + use<> {
    (0..part.num_proxies() as u32).map(LocalId)
}

/// Every mirror of a host.
pub(crate) fn mirrors(part: &Partition) -> impl Iterator<Item = LocalId> + use<> {
    (part.num_masters() as u32..part.num_proxies() as u32).map(LocalId)
}

/// Whether a proxy is at such an end of some edge of its host.
pub(crate) fn is_at(part: &Partition, proxy: LocalId, end: End) -> bool {
    let has_row = |edges: &Adjacency| {
        let offsets = edges.offsets();
        offsets[proxy.index() + 1] > offsets[proxy.index()]
    };
    let is_end = |edges: &Adjacency| edges.all_targets().contains(&proxy);
    let is_any = |edges| has_row(edges) || is_end(edges);
    match end {
        // Where masters have all their edges, mirrors are not told apart.
        _ if part.in_edges_of_masters().is_some_and(is_any) => true,
        _ if part.in_edges_of_masters().is_some() => is_any(part.out_edges()),
        End::Source => has_row(part.out_edges()),
        End::Destination => is_end(part.out_edges()),
        End::Either => is_any(part.out_edges()),
    }
}

/// The host of each vertex's master.
pub(crate) fn owners(parts: &[Partition]) -> Vec<HostId> {
    let mut owners = vec![HostId(0); parts[0].num_vertices() as usize];
    for part in parts {
        for master in proxies(part).take(part.num_masters()) {
            owners[part.global(master).0 as usize] = part.host();
        }
    }
    owners
}

/// Number of proxies each vertex has.
pub(crate) fn copies(parts: &[Partition]) -> Vec<u64> {
    let mut copies = vec![0; parts[0].num_vertices() as usize];
    for part in parts {
        proxies(part).for_each(|proxy| copies[part.global(proxy).0 as usize] += 1);
    }
    copies
}

/// Values of masters by vertex, from what every host returns for its proxies.
pub(crate) fn by_vertex<V: Copy + Default>(parts: &[Partition], hosts: &[Vec<V>]) -> Vec<V> {
    let mut all = vec![V::default(); parts[0].num_vertices() as usize];
    for (part, values) in parts.iter().zip(hosts) {
        for master in proxies(part).take(part.num_masters()) {
            all[part.global(master).0 as usize] = values[master.index()];
        }
    }
    all
}

/// Values of all proxies of a host.
pub(crate) fn values_of<R: Reduction<Value: AtomicValue>>(
    part: &Partition,
    field: &CpuField<R>,
) -> Vec<R::Value> {
    proxies(part).map(|proxy| field.get(proxy)).collect()
}

/// The bytes of values as they travel.
pub(crate) fn bytes_of<V: Value>(values: &[V]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * V::KIND.bytes()];
    let each = bytes.chunks_exact_mut(V::KIND.bytes());
    each.zip(values).for_each(|(bytes, value)| value.write(bytes));
    bytes
}

/// Folds a value into a proxy's as an engine does, and marks it updated.
pub(crate) fn write<R: Reduction<Value: AtomicValue>>(
    field: &CpuField<R>,
    proxy: LocalId,
    value: R::Value,
) {
    field.fold(proxy, value);
    field.touch(proxy);
}

/// A number that depends on all of `from`, and looks random.
pub(crate) fn random(from: &[u64]) -> u64 {
    from.iter().fold(0x9e37_79b9_7f4a_7c15, |state, &next| {
        let mut bits = (state ^ next).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 32
    })
}
