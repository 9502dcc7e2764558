//! Choices that Parton makes where nothing is asked: the policy and the threads of a host.

use std::num::NonZeroUsize;

use parton_algorithms::Access;
use parton_partition::Input;

/// Up to this many hosts, few copies of vertices save more than few peers.
const MAX_HOSTS_OF_EDGE_CUTS: usize = 16;

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
            // A host that has in-edges reads out-edges, too, to check them: that takes longer than a pull saves.
            assert_eq!(chosen(Access::SourcesThenDestinations, in_edges), oec);
        }
    }
}
