//! Fields of several values per proxy, and messages of any length.

use crate::common;

use common::{all_policies, by_vertex, is_at, local, on_hosts, parts_of, proxies, random, tangle};
use parton_graph::LocalId;
use parton_net::HostId;
use parton_partition::{End, Partition};
use parton_sync::lane_field::{Lanes, all_lanes, each_lane};
use parton_sync::{LaneField, Optimize, Phase, Shipment};

const LANES: usize = 3;

/// What a proxy contributes in a round: some lanes, or none.
fn contribution(part: &Partition, proxy: LocalId, round: u64) -> (Lanes, [u32; LANES]) {
    let seed = |salt| random(&[salt, round, u64::from(part.host().0), part.global(proxy).0]);
    let lanes = (seed(1) as Lanes) & (seed(2) as Lanes) & all_lanes(LANES);
    let row = std::array::from_fn(|lane| seed(3 + lane as u64) as u32 % 1000 + 1);
    (lanes, row)
}

/// Every contribution at the written end reaches its master once, lane by lane, and every mirror at
/// the read end is told what its master has in these lanes, and nothing else.
#[test]
fn lanes_travel_one_by_one() {
    for (policy, (_, optimize)) in
        all_policies().into_iter().flat_map(|policy| Optimize::NAMES.map(|how| (policy, how)))
    {
        let parts = parts_of(30, &tangle(30), policy, 4);
        let (written, read) = (End::Destination, End::Source);
        for round in 0..3 {
            let mut sums = vec![[0u32; LANES]; 30];
            for part in &parts {
                let writes = |&proxy: &LocalId| {
                    proxy.index() < part.num_masters() || is_at(part, proxy, written)
                };
                for proxy in proxies(part).filter(writes) {
                    let (lanes, row) = contribution(part, proxy, round);
                    let sum = &mut sums[part.global(proxy).0 as usize];
                    each_lane(lanes).for_each(|lane| sum[lane] += row[lane]);
                }
            }
            let hosts = on_hosts(&mut local(4), &parts, optimize, |part, substrate| {
                let mut field = LaneField::<u32, LANES>::new(part.num_proxies());
                for proxy in proxies(part) {
                    let is_master = proxy.index() < part.num_masters();
                    let (lanes, row) = contribution(part, proxy, round);
                    if lanes != 0 && (is_master || is_at(part, proxy, written)) {
                        for lane in each_lane(lanes) {
                            field.rows_mut()[proxy.index()][lane] = row[lane];
                        }
                        field.update(proxy, lanes);
                    }
                }
                substrate.reduce(&mut field, written)?;
                substrate.broadcast(&mut field, read)?;
                assert!(field.updated().is_empty(), "everything is sent");
                let told = field.take_received();
                for proxy in proxies(part).skip(part.num_masters()) {
                    let sum = sums[part.global(proxy).0 as usize];
                    let known = field.rows()[proxy.index()];
                    let lanes = told.iter().filter(|(mirror, _)| *mirror == proxy);
                    let lanes = lanes.fold(0, |all, (_, lanes)| all | lanes);
                    for lane in 0..LANES {
                        let reads = is_at(part, proxy, read) || !optimize.structural;
                        let expected = if reads { sum[lane] } else { 0 };
                        assert_eq!(known[lane], expected, "{policy}, {optimize:?}");
                        assert_eq!(lanes >> lane & 1 == 1, expected > 0, "{policy}");
                    }
                }
                Ok(field.rows().to_vec())
            });
            assert_eq!(by_vertex(&parts, &hosts), sums, "{policy}, {optimize:?}");
        }
    }
}

/// Messages of any length reach the hosts that share proxies at that end, and are counted.
#[test]
fn shipments_arrive_whole() {
    for policy in all_policies() {
        let parts = parts_of(30, &tangle(30), policy, 4);
        let text = |from: HostId, to: HostId| {
            vec![from.0 as u8 * 16 + to.0 as u8; 1000 * usize::from(from.0) + usize::from(to.0)]
        };
        on_hosts(&mut local(4), &parts, Optimize::ALL, |part, substrate| {
            let (end, me) = (End::Destination, part.host());
            let shipments = HostId::all(4).map(|to| Shipment { bytes: text(me, to), values: 1 });
            let arrived = substrate.ship(Phase::Reduce, end, shipments.collect())?;
            let sent = substrate.take_sent();
            for peer in HostId::all(4) {
                let shares = !part.routes(peer).masters(end).is_empty();
                let expected = if shares { text(peer, me) } else { Vec::new() };
                assert_eq!(arrived[peer.index()], expected, "{policy}: {peer} to {me}");
                let told = !part.routes(peer).mirrors(end).is_empty();
                let bytes = if told { text(me, peer).len() as u64 + 1 } else { 0 };
                let volume = sent[peer.index()];
                assert_eq!((volume.total(), volume.messages), (bytes, u64::from(told)));
            }
            Ok(())
        });
    }
}
