//! Messages about the same places as the one before: they say so instead of listing them.

use crate::common;

use common::{all_policies, by_vertex, local, on_hosts, parts_of, random, values_of, write};
use parton_graph::LocalId;
use parton_net::Cluster;
use parton_partition::{End, Partition};
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Error, Optimize, Substrate, Volume};

const HOSTS: usize = 4;
/// Bytes of a message without its values and its places.
const HEADER_BYTES: u64 = 8;
/// Which of two sets of vertices contribute in each round.
const ROUNDS: [u64; 7] = [0, 0, 0, 1, 1, 0, 1];

/// The proxies of a host that contribute: some of the destinations of its edges.
fn contributors(part: &Partition, set: u64) -> Vec<LocalId> {
    let mut written = part.out_edges().all_targets().to_vec();
    written.sort_unstable();
    written.dedup();
    written.retain(|&proxy| !random(&[set, part.global(proxy).0]).is_multiple_of(3));
    written
}

/// The sums of a round at all proxies, and what was sent.
fn round(
    part: &Partition,
    substrate: &mut Substrate<'_>,
    set: u64,
) -> Result<(Vec<u64>, Volume), Error> {
    let field = &mut CpuField::<Sum<u64>>::accumulator(part.num_proxies());
    contributors(part, set).into_iter().for_each(|proxy| write(field, proxy, 1 << 40));
    substrate.take_sent();
    substrate.reduce(field, End::Destination)?;
    let mut volume = Volume::default();
    substrate.take_sent().into_iter().for_each(|sent| volume += sent);
    Ok((values_of(part, field), volume))
}

/// All hosts contribute in all rounds; the metadata of each round, and its number of messages.
fn metadata(
    cluster: &mut Cluster,
    parts: &[Partition],
    places_per_message: usize,
) -> Vec<(u64, u64)> {
    let optimize = Optimize::ALL;
    let hosts = on_hosts(cluster, parts, optimize, |part, substrate| {
        let mut substrate = substrate.over(part).with_places_per_message(places_per_message);
        ROUNDS
            .map(|set| round(part, &mut substrate, set))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
    });
    let of_round = |(number, &set): (usize, &u64)| {
        let mut expected = vec![0; parts[0].num_vertices() as usize];
        for part in parts {
            let proxies = contributors(part, set).into_iter();
            proxies.for_each(|proxy| expected[part.global(proxy).0 as usize] += 1 << 40);
        }
        let sums: Vec<_> = hosts.iter().map(|rounds| rounds[number].0.clone()).collect();
        assert_eq!(by_vertex(parts, &sums), expected, "round {number}");
        let sent = |count: fn(&Volume) -> u64| hosts.iter().map(|h| count(&h[number].1)).sum();
        (sent(Volume::metadata), sent(|volume| volume.messages))
    };
    ROUNDS.iter().enumerate().map(of_round).collect()
}

/// Places travel when they change, and only then: also in messages about pieces of a route, by several threads, and
/// in another order of arrival.
#[test]
fn places_travel_once_while_they_stay_the_same() {
    let small = all_policies().into_iter().map(|policy| (policy, 600u64));
    // Threads share the work on messages of the last one.
    for (policy, vertices) in small.chain([("cvc", 100_000)]) {
        let any = |seeds: [u64; 2]| (random(&seeds) % vertices) as u32;
        let edges: Vec<_> = (0..3 * vertices).map(|i| (any([i, 0]), any([i, 1]))).collect();
        let parts = parts_of(vertices as usize, &edges, policy, HOSTS);
        for places_per_message in [usize::MAX, vertices as usize / 16] {
            let found = metadata(&mut local(HOSTS), &parts, places_per_message);
            for (number, rounds) in (1..).zip(ROUNDS.windows(2)) {
                let (metadata, messages) = found[number];
                let is_listed = metadata > HEADER_BYTES * messages;
                let has_changed = rounds[0] != rounds[1] && messages > 0;
                assert_eq!(is_listed, has_changed, "{policy}, {places_per_message}: {found:?}");
            }
            for mut cluster in [Cluster::sim(HOSTS, 5), Cluster::local(HOSTS).threads_per_host(3)] {
                assert_eq!(metadata(&mut cluster, &parts, places_per_message), found, "{policy}");
            }
        }
    }
}
