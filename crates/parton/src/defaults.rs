//! Choices that Parton makes where nothing is asked: the policy and the threads of a host.

use std::num::NonZeroUsize;

use parton_algorithms::Access;
use parton_partition::Input;

/// Up to this many hosts, few copies of vertices save more than few peers.
const MAX_HOSTS_OF_EDGE_CUTS: usize = 16;
/// Fewer hosts have no rows and columns.
const MIN_HOSTS_OF_GRIDS: usize = 4;
/// Bytes per second below which messages of a round take longer than its edges: 2 Gbit/s.
const SLOW_LINK: f64 = 2.5e8;

/// What is known of an input before it is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct InputTraits {
    /// True if in-edges are [available](Input::has_in_edges) without moving edges.
    pub(crate) has_in_edges: bool,
}

impl InputTraits {
    pub(crate) fn of(input: &Input) -> Self {
        InputTraits { has_in_edges: input.has_in_edges() }
    }
}

/// A policy for this many hosts, and why.
pub(crate) fn choose_policy(
    hosts: usize,
    access: Access,
    input: InputTraits,
) -> (&'static str, &'static str) {
    match (hosts, access) {
        (1, _) => ("oec", "one host holds everything"),
        (2..=MAX_HOSTS_OF_EDGE_CUTS, Access::Destinations) => {
            ("iec", "for up to 16 hosts, as all collect: nothing to reduce")
        }
        (2..=MAX_HOSTS_OF_EDGE_CUTS, Access::Either) if input.has_in_edges => {
            ("dual", "for up to 16 hosts, as in-edges are at hand: all of a vertex's in one place")
        }
        (2..=MAX_HOSTS_OF_EDGE_CUTS, _) => {
            ("oec", "for up to 16 hosts: few copies, nothing to broadcast")
        }
        _ => ("cvc", "for more than 16 hosts: each talks to its row and column only"),
    }
}

/// A policy for hosts whose links are slow, and why: `rate` are the bytes that a host sends in a second while the
/// others do. `None` if the rate does not matter.
pub(crate) fn choose_policy_for_links(
    hosts: usize,
    access: Access,
    rate: Option<f64>,
) -> Option<(&'static str, &'static str)> {
    let is_slow = rate.is_some_and(|rate| rate < SLOW_LINK);
    let matters = (MIN_HOSTS_OF_GRIDS..=MAX_HOSTS_OF_EDGE_CUTS).contains(&hosts);
    (is_slow && matters && access == Access::Destinations)
        .then_some(("cvc", "as all collect over slow links: each host talks to its row and column"))
}

/// Threads of each host: as asked, or its share of the cores that this process may use.
pub(crate) fn threads_per_host(asked: Option<NonZeroUsize>, hosts: usize) -> usize {
    asked.map_or_else(|| (cores() / hosts.max(1)).max(1), NonZeroUsize::get)
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_links_ask_for_few_peers_where_all_collect() {
        let chosen = |hosts, access, rate| {
            choose_policy_for_links(hosts, access, rate).map(|(policy, _)| policy)
        };
        let (slow, fast) = (Some(1.1e8), Some(1.1e9));
        for hosts in [4, 9, 16] {
            assert_eq!(chosen(hosts, Access::Destinations, slow), Some("cvc"));
            assert_eq!(chosen(hosts, Access::Destinations, fast), None);
            assert_eq!(chosen(hosts, Access::Destinations, None), None, "messages take no time");
            assert_eq!(chosen(hosts, Access::Sources, slow), None);
        }
        assert_eq!([1, 3, 17].map(|hosts| chosen(hosts, Access::Destinations, slow)), [None; 3]);
    }

    #[test]
    fn the_policy_follows_the_hosts_and_the_algorithm() {
        let chosen = |access, has_in_edges| {
            let input = InputTraits { has_in_edges };
            [1, 2, 16, 17].map(|hosts| choose_policy(hosts, access, input).0)
        };
        let [oec, iec, dual] = ["oec", "iec", "dual"].map(|few| ["oec", few, few, "cvc"]);
        for in_edges in [false, true] {
            assert_eq!(chosen(Access::Sources, in_edges), oec);
            assert_eq!(chosen(Access::Destinations, in_edges), iec);
            assert_eq!(chosen(Access::Either, in_edges), if in_edges { dual } else { oec });
            // A host that has in-edges turns them around before labels spread: that takes longer than it saves.
            assert_eq!(chosen(Access::SourcesThenDestinations, in_edges), oec);
        }
    }
}
