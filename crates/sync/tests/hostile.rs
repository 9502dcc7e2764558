//! Peers that send what no host of this version would: an error that names them, never a panic,
//! and nothing is written where it does not belong.

use crate::common;

use common::{local, owners, parts_of, proxies, random, tangle};
use parton_net::{Cluster, Faults, HostId, LaunchError, Net, SimOptions, Tag};
use parton_partition::{End, Partition};
use parton_sync::encode::{EncodingPlan, write_with_ids};
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Error, Optimize, Phase, Places, Substrate, ValueKind};

/// The channel of the substrate, and its first exchange.
const FIRST: Tag = Tag::user(0x20, 0);
const HOSTS: usize = 3;
const LIAR: HostId = HostId(1);

/// Host 1 sends `bytes` instead of taking part; what becomes of host 0, and its values.
fn tell(
    parts: &[Partition],
    optimize: Optimize,
    phase: Phase,
    bytes: &[u8],
) -> (Result<(), Error>, Vec<u64>) {
    let launched = local(HOSTS).launch(|net| -> Result<_, Error> {
        let part = &parts[net.host().index()];
        let mut field = CpuField::<Sum<u64>>::accumulator(part.num_proxies());
        let outcome = match net.host() {
            LIAR => lie(net, bytes),
            _ => {
                let mut substrate = Substrate::new(part, net, optimize);
                match phase {
                    Phase::Reduce => substrate.reduce(&mut field, End::Either),
                    Phase::Broadcast => substrate.broadcast(&mut field, End::Either),
                }
            }
        };
        // Nobody leaves before the others have heard of it.
        net.barrier()?;
        Ok((outcome, proxies(part).map(|proxy| field.get(proxy)).collect::<Vec<_>>()))
    });
    launched.unwrap_or_else(|e| panic!("{e}")).swap_remove(0)
}

fn lie(net: &mut Net, bytes: &[u8]) -> Result<(), Error> {
    for peer in net.peers() {
        net.send(peer, FIRST, bytes.to_vec())?;
    }
    Ok(())
}

/// Places of the route from host 1 to host 0.
fn route(parts: &[Partition], phase: Phase) -> usize {
    let routes = parts[0].routes(LIAR);
    match phase {
        Phase::Reduce => routes.masters(End::Either).len(),
        Phase::Broadcast => routes.mirrors(End::Either).len(),
    }
}

#[test]
fn garbage_is_an_error_that_names_its_sender() {
    let parts = parts_of(40, &tangle(40), "random", HOSTS);
    for phase in [Phase::Reduce, Phase::Broadcast] {
        let len = route(&parts, phase);
        assert!(len > 2, "host 1 and host 0 share vertices");
        let values: Vec<u8> = (0..len as u64).flat_map(|i| (i << 50 | i).to_le_bytes()).collect();
        let whole = EncodingPlan::new(ValueKind::U64, len, Places::All, &values).write();
        let past = [len as u32];
        let longer =
            EncodingPlan::new(ValueKind::U64, len + 1, Places::Some(&past), &[1; 8]).write();
        let narrow = EncodingPlan::new(ValueKind::U32, len, Places::Some(&[1]), &[1; 4]).write();
        let mut lies = vec![
            vec![],
            vec![0xff; 3],
            vec![0xff; 100],
            [&whole[..], &[0]].concat(),
            longer,
            narrow,
            // The places of a message before the first.
            [&[6, 0, 0, 0, 1, 0, 0, 0][..], &[1; 8]].concat(),
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        ];
        lies.extend((1..whole.len()).step_by(7).map(|end| whole[..end].to_vec()));
        for bytes in lies {
            for optimize in [Optimize::ALL, Optimize::NONE] {
                let (outcome, values) = tell(&parts, optimize, phase, &bytes);
                match outcome {
                    Err(Error::Wire { from: LIAR, error }) => {
                        let text = Error::Wire { from: LIAR, error }.to_string();
                        assert!(text.starts_with("host 1 sent a message"), "{text}");
                    }
                    other => panic!("{phase:?}: {bytes:?} gave {other:?}"),
                }
                assert!(values.iter().all(|&value| value == 0), "nothing was taken in");
            }
        }
    }
}

/// Ids of vertices that the sender has nothing to say about: contributions to what is no master
/// here, values of masters that are not the sender's.
#[test]
fn foreign_vertices_are_an_error_that_names_their_sender() {
    let parts = parts_of(40, &tangle(40), "random", HOSTS);
    let owners = owners(&parts);
    let mine = &parts[0];
    let shared = |phase: Phase| -> Vec<u64> {
        let routes = mine.routes(LIAR);
        let global = |local| mine.global(local).0;
        match phase {
            Phase::Reduce => routes.masters(End::Either).iter().copied().map(global).collect(),
            Phase::Broadcast => {
                routes.mirrors(End::Either).map(parton_graph::LocalId).map(global).collect()
            }
        }
    };
    for phase in [Phase::Reduce, Phase::Broadcast] {
        let shared = shared(phase);
        let owner = match phase {
            Phase::Reduce => HostId(0),
            Phase::Broadcast => LIAR,
        };
        let foreign = (0..45).filter(|&vertex| owners.get(vertex as usize) != Some(&owner));
        let foreign: Vec<u64> = foreign.collect();
        assert!(foreign.len() > 20, "vertices of other hosts, and some that are not there");
        for vertex in foreign {
            let ids = [shared[0] as u32, vertex as u32];
            let bytes = write_with_ids(ValueKind::U64, &ids, &[1; 16]).0;
            let (outcome, values) = tell(&parts, Optimize::NONE, phase, &bytes);
            match outcome {
                Err(Error::NotShared { from: LIAR, host: HostId(0), id }) => {
                    assert_eq!(u64::from(id), vertex);
                }
                other => panic!("{phase:?}: vertex {vertex} gave {other:?}"),
            }
            assert!(values.iter().all(|&value| value == 0), "nothing was taken in");
        }
        // Hosts that agreed on routes do not take ids at all.
        let bytes = write_with_ids(ValueKind::U64, &[shared[0] as u32], &[1; 8]).0;
        let (outcome, _) = tell(&parts, Optimize::ALL, phase, &bytes);
        assert!(matches!(outcome, Err(Error::NotShared { from: LIAR, .. })), "{outcome:?}");
    }
}

/// A network that flips bits: a host that notices says so, and none of them panics.
#[test]
fn damaged_messages_never_panic() {
    let parts = parts_of(40, &tangle(40), "random", HOSTS);
    let mut noticed = 0;
    for seed in 0..300 {
        let faults = Faults { corrupt_one_in: 6, ..Faults::default() };
        let options = SimOptions { seed, faults, ..SimOptions::default() };
        let optimize = Optimize::NAMES[seed as usize % 4].1;
        let launched = Cluster::sim_with(HOSTS, options).launch(|net| {
            let part = &parts[net.host().index()];
            let mut field = CpuField::<Sum<u64>>::accumulator(part.num_proxies());
            let mut substrate = Substrate::new(part, net, optimize).with_places_per_message(5);
            for round in 0..3 {
                for proxy in proxies(part) {
                    let bits = random(&[seed, round, part.global(proxy).0]);
                    if bits.is_multiple_of(4) {
                        common::write(&field, proxy, bits >> 40);
                    }
                }
                substrate.sync(&mut field, End::Destination, End::Source)?;
            }
            Ok::<_, Error>(())
        });
        match launched {
            Err(LaunchError::Failed {
                error: Error::Wire { .. } | Error::NotShared { .. },
                ..
            }) => {
                noticed += 1;
            }
            Err(LaunchError::Panicked { message, .. }) => panic!("seed {seed}: {message}"),
            // A flipped bit of a value cannot be seen.
            _ => {}
        }
    }
    assert!(noticed > 50, "{noticed} of 300 runs noticed");
}
