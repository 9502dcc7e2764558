//! What may happen next inside a round: the dependencies between messages, tiles, partial sums and masters.
//!
//! Nothing here touches data, so that every order of arrival can be tried. A *lane* is a set of destinations
//! whose partial sums are final together: one for each group of a stationary program, one in all of another.
//! Where the order of folding shows in the result, a lane takes groups of sources in their order, and masters
//! take contributions in the order of hosts, however messages arrive.

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

/// Which order must be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Groups of sources are multiplied in their order.
    pub(super) is_ordered: bool,
    /// Contributions are folded in the order of hosts.
    pub(super) folds_in_order: bool,
    /// Partial sums are sent as soon as they are final.
    pub(super) overlaps: bool,
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
    /// Tiles of each lane, by group of sources.
    is_multiplied: Vec<Vec<bool>>,
    is_posted: Vec<bool>,
    has_contributed: Vec<bool>,
    is_applied: Vec<bool>,
    is_told: Vec<bool>,
}

impl Flow {
    /// A round that begins, of these numbers of hosts, lanes and chunks of masters.
    pub(super) fn new(
        host: usize,
        hosts: usize,
        lanes: usize,
        chunks: usize,
        rules: Rules,
    ) -> Self {
        let mut flow = Flow {
            host,
            rules,
            has_arrived: vec![false; hosts + 1],
            is_multiplied: vec![vec![false; hosts + 1]; lanes],
            is_posted: vec![false; hosts],
            has_contributed: vec![false; hosts],
            is_applied: vec![false; chunks],
            is_told: vec![false; hosts],
        };
        flow.has_arrived[0] = true;
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
        let lanes = (1..self.is_multiplied.len()).chain([0]);
        lanes.into_iter().find_map(|lane| Some((lane, self.next_in_lane(lane)?)))
    }

    fn next_in_lane(&self, lane: usize) -> Option<usize> {
        let is_multiplied = &self.is_multiplied[lane];
        let mut left = (0..is_multiplied.len()).filter(|&group| !is_multiplied[group]);
        let can = |group: &usize| self.has_arrived[*group] || self.rules.multiplies_early;
        match self.rules.is_ordered {
            true => left.next().filter(can),
            false => left.find(can),
        }
    }

    /// A tile has been multiplied.
    pub(super) fn multiplied(&mut self, lane: usize, group: usize) {
        self.is_multiplied[lane][group] = true;
    }

    /// Whether all tiles of a lane have been multiplied.
    pub(super) fn is_final(&self, lane: usize) -> bool {
        let missing = self.is_multiplied[lane].iter().filter(|is_multiplied| !**is_multiplied);
        missing.count() <= usize::from(self.rules.sends_early)
    }

    fn are_all_final(&self) -> bool {
        (0..self.is_multiplied.len()).all(|lane| self.is_final(lane))
    }

    fn may_go_on(&self) -> bool {
        self.rules.overlaps || self.are_all_final()
    }

    /// Peers whose partial sums are final and not sent.
    pub(super) fn ready_to_post(&self) -> Vec<usize> {
        let lane = |host: usize| if self.is_multiplied.len() == 1 { 0 } else { host + 1 };
        let hosts = (0..self.is_posted.len()).filter(|&host| !self.is_posted[host]);
        hosts.filter(|&host| self.may_go_on() && self.is_final(lane(host))).collect()
    }

    /// Partial sums have been sent.
    pub(super) fn posted(&mut self, host: usize) {
        self.is_posted[host] = true;
    }

    /// Peers whose contributions may be folded in if they are here.
    pub(super) fn may_contribute(&self) -> Vec<usize> {
        // This host's own contributions come first.
        if self.rules.folds_in_order && !self.is_final(0) || !self.may_go_on() {
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
        if !self.is_final(0) || !self.may_go_on() {
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
            true => chunks_of[host].iter().all(|&chunk| self.is_applied[chunk]) && self.is_final(0),
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
