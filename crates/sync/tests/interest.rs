//! Broadcasts to mirrors that have asked for it.

use crate::common;

use common::{all_policies, is_at, local, mirrors, on_hosts, parts_of, proxies, random, tangle};
use parton_graph::{LocalId, VertexSet};
use parton_partition::Partition;
use parton_sync::encode::EncodingPlan;
use parton_sync::reduction::Min;
use parton_sync::{CpuField, Delivery, Error, Optimize, Phase, Places, Shipment, ValueKind};

const HOSTS: usize = 4;
const VERTICES: u32 = 300;

/// What is new at a vertex in a round, if anything.
fn news(part: &Partition, proxy: LocalId, round: u64) -> Option<u32> {
    let seed = random(&[round, part.global(proxy).0]);
    seed.is_multiple_of(2).then_some(1000 - 100 * round as u32 + (seed >> 32) as u32 % 100)
}

fn field(part: &Partition) -> CpuField<Min<u32>> {
    CpuField::new(part.num_proxies(), Delivery::Label, |_| u32::MAX)
}

fn change_masters(part: &Partition, field: &CpuField<Min<u32>>, round: u64) {
    for master in proxies(part).take(part.num_masters()) {
        if let Some(value) = news(part, master, round) {
            field.put(master, value);
            field.touch(master);
        }
    }
}

/// Mirrors that asked have what their masters have after every round, and others what they had: in fewer bytes.
/// Hosts that have not agreed on an order tell all.
#[test]
fn mirrors_that_ask_are_told_and_no_others() {
    for (policy, (_, optimize)) in
        all_policies().into_iter().flat_map(|policy| Optimize::NAMES.map(|how| (policy, how)))
    {
        let parts = parts_of(VERTICES as usize, &tangle(VERTICES), policy, HOSTS);
        for end in common::ENDS {
            let asks = |part: &Partition, mirror: LocalId| {
                random(&[part.host().0.into(), part.global(mirror).0]).is_multiple_of(3)
            };
            let bytes = on_hosts(&mut local(HOSTS), &parts, optimize, |part, substrate| {
                let mut field = field(part);
                let asked = VertexSet::new(part.num_proxies());
                mirrors(part).filter(|&mirror| asks(part, mirror)).for_each(|mirror| {
                    asked.insert(mirror);
                });
                let interest = substrate.ask_for(&asked, end)?;
                substrate.take_sent();
                for round in 0..3 {
                    change_masters(part, &field, round);
                    substrate.broadcast_to(&interest, &mut field)?;
                    for mirror in mirrors(part) {
                        let is_told = is_at(part, mirror, end) && asks(part, mirror);
                        if is_told && optimize.temporal {
                            let last = (0..=round).rev().find_map(|r| news(part, mirror, r));
                            let what = format!("{policy}, {optimize:?}, {end:?}, round {round}");
                            assert_eq!(field.get(mirror), last.unwrap_or(u32::MAX), "{what}");
                        } else if optimize.temporal {
                            assert_eq!(field.get(mirror), u32::MAX, "{policy}, {end:?}");
                        }
                    }
                }
                let told: u64 = substrate.take_sent().iter().map(|volume| volume.total()).sum();
                for round in 0..3 {
                    change_masters(part, &field, round);
                    substrate.broadcast(&mut field, end)?;
                }
                let all: u64 = substrate.take_sent().iter().map(|volume| volume.total()).sum();
                Ok([told, all])
            });
            let [told, all] = bytes.iter().fold([0; 2], |[a, b], [c, d]| [a + c, b + d]);
            if optimize.temporal {
                assert!(4 * told <= 3 * all + 100, "{policy}, {end:?}: {told} of {all} bytes");
            }
        }
    }
}

/// A peer whose answer is about other places than it was asked for is named in an error.
#[test]
fn answers_about_other_places_are_errors() {
    let parts = parts_of(VERTICES as usize, &tangle(VERTICES), "random", HOSTS);
    let end = parton_partition::End::Either;
    let outcomes = on_hosts(&mut local(HOSTS), &parts, Optimize::ALL, |part, substrate| {
        let asked = VertexSet::new(part.num_proxies());
        mirrors(part).for_each(|mirror| _ = asked.insert(mirror));
        let interest = substrate.ask_for(&asked, end)?;
        let outcome = match part.host().0 {
            1 => {
                let beyond = |peer| part.routes(peer).masters(end).len() as u32;
                let lie = |peer| {
                    let place = [beyond(peer)];
                    let len = place[0] as usize + 1;
                    let value = [1; 4];
                    let plan = EncodingPlan::new(ValueKind::U32, len, Places::Some(&place), &value);
                    Shipment { bytes: plan.write(), values: 4 }
                };
                let lies = parton_net::HostId::all(HOSTS).map(lie).collect();
                substrate.ship(Phase::Broadcast, end, lies).map(drop)
            }
            _ => substrate.broadcast_to(&interest, &mut field(part)),
        };
        substrate.net().barrier()?;
        Ok(outcome.map_err(|error| matches!(error, Error::Wire { from, .. } if from.0 == 1)))
    });
    for (host, outcome) in outcomes.into_iter().enumerate() {
        let expected = if host == 1 { Ok(()) } else { Err(true) };
        assert_eq!(outcome, expected, "host {host}");
    }
}
