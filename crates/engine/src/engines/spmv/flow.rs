//! What may happen next inside a round: the dependencies between messages, tiles, partial sums and masters.
//!
//! Nothing here touches data, so that every order of arrival can be tried. A *lane* is a group of destinations:
//! their partial sums are final together. A lane waits for groups of sources that it has edges from, not for
//! others: its sums may leave before the last message has arrived. Where the order of folding shows in the
//! result, a lane takes groups of sources in their order, and masters take contributions in the order of hosts,
//! however messages arrive.

use std::ops::Range;

use parton_partition::{End, Partition};

/// Masters that are applied together, and who contributes to them.
pub(super) struct Chunk {
    pub(super) masters: Range<usize>,
    /// Hosts that send contributions to some of them.
    contributors: Vec<usize>,
}

impl Chunk {
    /// Masters in pieces, with the hosts that write at this end of edges.
    pub(super) fn all(partition: &Partition, pieces: Vec<Range<usize>>, written: End) -> Vec<Self> {
        let mut chunks: Vec<Chunk> =
            pieces.into_iter().map(|masters| Chunk { masters, contributors: Vec::new() }).collect();
        for (host, places) in chunks_of_routes(partition, &chunks, written).into_iter().enumerate()
        {
            places.into_iter().for_each(|chunk| chunks[chunk].contributors.push(host));
        }
        chunks
    }
}

/// Which chunks have masters that are shared with each host at this end of edges, ascending.
pub(super) fn chunks_of_routes(
    partition: &Partition,
    chunks: &[Chunk],
    end: End,
) -> Vec<Vec<usize>> {
    let of_host = |host: usize| {
        let mut is_needed = vec![false; chunks.len()];
        for master in partition.routes(parton_net::HostId(host as u16)).masters(end) {
            let chunk = chunks.partition_point(|chunk| chunk.masters.end <= master.index());
            is_needed[chunk] = true;
        }
        (0..chunks.len()).filter(|&chunk| is_needed[chunk]).collect()
    };
    (0..partition.num_hosts()).map(of_host).collect()
}

/// This host's masters, among groups of sources and of destinations.
pub(super) const OWN_GROUP: usize = 0;

/// Which order must be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Groups of sources are multiplied in their order.
    pub(super) is_ordered: bool,
    /// Contributions are folded in the order of hosts.
    pub(super) folds_in_order: bool,
    /// Partial sums are sent as soon as they are final.
    pub(super) overlaps: bool,
    /// Lanes are multiplied as a whole when all messages are here; no message changes before all are.
    pub(super) needs_all_messages: bool,
    /// Tests only: tiles need not wait for their messages.
    pub(super) multiplies_early: bool,
    /// Tests only: a lane counts as final when one tile is missing.
    pub(super) sends_early: bool,
}

/// How far a round has come.
pub(super) struct Flow {
    host: usize,
    rules: Rules,
    /// Whether the messages of each group of sources are here.
    has_arrived: Vec<bool>,
    /// Groups of sources that each lane has edges from and that are not multiplied, ascending.
    pending: Vec<Vec<usize>>,
    is_posted: Vec<bool>,
    has_contributed: Vec<bool>,
    is_applied: Vec<bool>,
    is_told: Vec<bool>,
}

impl Flow {
    /// A round that begins. `tiles` are, for each lane, the groups of sources that it has edges from, ascending.
    pub(super) fn new(
        host: usize,
        hosts: usize,
        tiles: &[Vec<usize>],
        chunks: usize,
        rules: Rules,
    ) -> Self {
        let mut flow = Flow {
            host,
            rules,
            has_arrived: vec![false; hosts + 1],
            pending: tiles.to_vec(),
            is_posted: vec![false; hosts],
            has_contributed: vec![false; hosts],
            is_applied: vec![false; chunks],
            is_told: vec![false; hosts],
        };
        flow.has_arrived[OWN_GROUP] = true;
        flow.has_arrived[host + 1] = true;
        flow.has_contributed[host] = true;
        flow.is_posted[host] = true;
        flow.is_told[host] = true;
        flow
    }

    /// Peers whose messages are not here.
    pub(super) fn awaited_messages(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.is_told.len()).filter(|host| !self.has_arrived[host + 1])
    }

    /// The messages of a peer are here.
    pub(super) fn arrive(&mut self, host: usize) {
        self.has_arrived[host + 1] = true;
    }

    /// A tile that can be multiplied: its lane and its group of sources. Lanes of peers come first, since
    /// their partial sums have a way to go.
    pub(super) fn next_tile(&self) -> Option<(usize, usize)> {
        self.lanes().find_map(|lane| Some((lane, self.next_in_lane(lane)?)))
    }

    /// A lane that is not final, once all messages are here.
    pub(super) fn next_lane(&self) -> Option<usize> {
        let is_left = |lane: &usize| !self.pending[*lane].is_empty();
        self.lanes().find(is_left).filter(|_| self.awaited_messages().next().is_none())
    }

    fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        (1..self.pending.len()).chain([OWN_GROUP])
    }

    fn next_in_lane(&self, lane: usize) -> Option<usize> {
        let mut left = self.pending[lane].iter().copied();
        let can = |group: &usize| self.has_arrived[*group] || self.rules.multiplies_early;
        match self.rules.is_ordered {
            true => left.next().filter(can),
            false => left.find(can),
        }
    }

    /// A tile has been multiplied.
    pub(super) fn multiplied(&mut self, lane: usize, group: usize) {
        self.pending[lane].retain(|&pending| pending != group);
    }

    /// All tiles of a lane have been multiplied.
    pub(super) fn multiplied_lane(&mut self, lane: usize) {
        self.pending[lane].clear();
    }

    /// Whether all tiles of a lane have been multiplied.
    pub(super) fn is_final(&self, lane: usize) -> bool {
        self.pending[lane].len() <= usize::from(self.rules.sends_early)
    }

    /// Whether this host's masters may get other messages: no tile needs those that they have.
    fn may_apply(&self) -> bool {
        let needs_own = |pending: &Vec<usize>| pending.first() == Some(&OWN_GROUP);
        let are_read = match self.rules.needs_all_messages {
            true => !self.are_all_final(),
            false => self.pending.iter().any(needs_own),
        };
        self.is_final(OWN_GROUP) && !are_read
    }

    fn are_all_final(&self) -> bool {
        (0..self.pending.len()).all(|lane| self.is_final(lane))
    }

    fn may_go_on(&self) -> bool {
        self.rules.overlaps || self.are_all_final()
    }

    /// Peers whose partial sums are final and not sent.
    pub(super) fn ready_to_post(&self) -> Vec<usize> {
        let hosts = (0..self.is_posted.len()).filter(|&host| !self.is_posted[host]);
        hosts.filter(|&host| self.may_go_on() && self.is_final(host + 1)).collect()
    }

    /// Partial sums have been sent.
    pub(super) fn posted(&mut self, host: usize) {
        self.is_posted[host] = true;
    }

    /// Peers whose contributions may be folded in if they are here.
    pub(super) fn may_contribute(&self) -> Vec<usize> {
        // This host's own contributions come first.
        if self.rules.folds_in_order && !self.is_final(OWN_GROUP) || !self.may_go_on() {
            return Vec::new();
        }
        let mut awaited = self.awaited_contributions();
        match self.rules.folds_in_order {
            true => awaited.next().into_iter().collect(),
            false => awaited.collect(),
        }
    }

    /// Peers whose contributions are missing.
    pub(super) fn awaited_contributions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.has_contributed.len()).filter(|&host| !self.has_contributed[host])
    }

    /// The contributions of a peer have been folded in.
    pub(super) fn contributed(&mut self, host: usize) {
        self.has_contributed[host] = true;
    }

    /// Chunks whose masters have all their contributions.
    pub(super) fn ready_to_apply(&self, chunks: &[Chunk]) -> Vec<usize> {
        if !self.may_apply() || !self.may_go_on() {
            return Vec::new();
        }
        let is_ready = |&chunk: &usize| {
            let mut contributors = chunks[chunk].contributors.iter();
            !self.is_applied[chunk]
                && match self.rules.overlaps {
                    true => contributors.all(|&host| self.has_contributed[host]),
                    false => self.awaited_contributions().next().is_none(),
                }
        };
        (0..chunks.len()).filter(is_ready).collect()
    }

    /// The masters of a chunk have been applied.
    pub(super) fn applied(&mut self, chunk: usize) {
        self.is_applied[chunk] = true;
    }

    /// Peers whose messages of the next round are final and not sent: `chunks_of` says which chunks they read.
    pub(super) fn ready_to_tell(&self, chunks_of: &[Vec<usize>]) -> Vec<usize> {
        let hosts = (0..self.is_told.len()).filter(|&host| !self.is_told[host]);
        let is_ready = |&host: &usize| match self.rules.overlaps {
            true => chunks_of[host].iter().all(|&chunk| self.is_applied[chunk]) && self.may_apply(),
            false => self.is_applied.iter().all(|is_applied| *is_applied),
        };
        hosts.filter(is_ready).collect()
    }

    /// A peer has been sent the messages of the next round.
    pub(super) fn told(&mut self, host: usize) {
        self.is_told[host] = true;
    }

    /// Whether the round is over.
    pub(super) fn is_complete(&self) -> bool {
        let all = |done: &[bool]| done.iter().all(|done| *done);
        self.are_all_final()
            && all(&self.is_posted)
            && all(&self.has_contributed)
            && all(&self.is_applied)
            && all(&self.is_told)
            && all(&self.has_arrived)
    }

    /// This host.
    pub(super) fn host(&self) -> usize {
        self.host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        is_ordered: false,
        folds_in_order: false,
        overlaps: true,
        needs_all_messages: false,
        multiplies_early: false,
        sends_early: false,
    };

    /// A round on host 0 of three, whose masters are one chunk that host 1 contributes to.
    fn round(tiles: &[Vec<usize>], rules: Rules) -> (Flow, Vec<Chunk>) {
        let chunks = vec![Chunk { masters: 0..10, contributors: vec![1] }];
        (Flow::new(0, 3, tiles, chunks.len(), rules), chunks)
    }

    #[test]
    fn sums_leave_when_all_that_their_lane_needs_is_multiplied() {
        // Lanes: masters, mirrors of host 0 (none), 1 and 2.
        let tiles = [vec![0, 3], vec![], vec![0], vec![0, 2]];
        let (mut flow, chunks) = round(&tiles, RULES);
        assert_eq!(flow.next_tile(), Some((2, 0)), "lanes of peers come first");
        flow.multiplied(2, 0);
        assert_eq!(flow.ready_to_post(), [1], "before any message has arrived");
        flow.multiplied(3, 0);
        flow.multiplied(0, 0);
        assert_eq!(flow.next_tile(), None, "the rest waits for messages");
        flow.arrive(1);
        assert_eq!(flow.next_tile(), Some((3, 2)));
        flow.multiplied(3, 2);
        assert_eq!(flow.ready_to_post(), [1, 2], "host 2's message is still missing");
        flow.contributed(1);
        assert!(flow.ready_to_apply(&chunks).is_empty(), "masters need it");
        flow.arrive(2);
        flow.multiplied(0, 3);
        assert_eq!(flow.ready_to_apply(&chunks), [0]);
    }

    #[test]
    fn masters_keep_their_messages_until_all_lanes_have_read_them() {
        let tiles = [vec![], vec![], vec![0], vec![]];
        let (mut flow, chunks) = round(&tiles, RULES);
        flow.contributed(1);
        assert!(flow.ready_to_apply(&chunks).is_empty(), "a lane reads the old messages");
        flow.multiplied(2, 0);
        assert_eq!(flow.ready_to_apply(&chunks), [0]);
    }

    #[test]
    fn a_lane_as_a_whole_waits_for_all_messages() {
        let tiles = [vec![0], vec![], vec![0], vec![]];
        let (mut flow, chunks) = round(&tiles, Rules { needs_all_messages: true, ..RULES });
        flow.arrive(1);
        assert_eq!(flow.next_lane(), None);
        flow.arrive(2);
        assert_eq!(flow.next_lane(), Some(2));
        flow.contributed(1);
        flow.multiplied_lane(2);
        assert_eq!(flow.next_lane(), Some(0));
        assert!(flow.ready_to_apply(&chunks).is_empty());
        flow.multiplied_lane(0);
        assert_eq!(flow.ready_to_apply(&chunks), [0]);
    }
}
