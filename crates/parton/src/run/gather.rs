//! The values of all hosts, in the order of the original ids.

use super::host::HostOutcome;
use crate::engine::RunReport;
use crate::graph::id_map::Names;
use crate::graph::{Ids, LocalId, OriginalId};
use crate::outcome::Outcome;
use crate::partition::Partition;

/// What one host's masters are called.
pub(super) struct HostIds {
    /// Places among all vertices.
    globals: Vec<u32>,
    /// One of the two is empty.
    integers: Vec<u64>,
    names: Names,
}

impl HostIds {
    pub(super) fn of(partition: &Partition) -> Self {
        let masters = || (0..partition.num_masters() as u32).map(LocalId);
        let originals = || masters().map(|master| partition.original(master));
        let integer = |id| if let OriginalId::Integer(id) = id { Some(id) } else { None };
        let name = |id| if let OriginalId::Name(name) = id { Some(name) } else { None };
        HostIds {
            globals: masters().map(|master| partition.global(master).0 as u32).collect(),
            integers: originals().filter_map(integer).collect(),
            names: originals().filter_map(name).collect(),
        }
    }
}

/// Puts the values of all hosts into the order of the original ids.
pub(super) fn gather<V: Copy>(hosts: Vec<(HostIds, HostOutcome<V>)>, policy: String) -> Outcome<V> {
    let count = hosts.iter().map(|(ids, _)| ids.globals.len()).sum();
    let mut places = vec![(0, 0); count];
    for (host, (ids, _)) in hosts.iter().enumerate() {
        for (place, global) in ids.globals.iter().enumerate() {
            places[*global as usize] = (host, place);
        }
    }
    let has_names = hosts.iter().any(|(ids, _)| !ids.names.is_empty());
    let ids = match has_names {
        true => Ids::Names(places.iter().map(|&(h, place)| hosts[h].0.names.get(place)).collect()),
        false => {
            let integers = places.iter().map(|&(host, place)| hosts[host].0.integers[place]);
            Ids::from_sorted(integers.collect())
        }
    };
    let values = places.iter().map(|&(host, place)| hosts[host].1.values[place]).collect();
    // Reports are the same on all hosts.
    let (engine, report) = hosts
        .into_iter()
        .next()
        .map_or(("", RunReport::default()), |(_, host)| (host.engine, host.report));
    Outcome { ids, values, engine, policy, report }
}
