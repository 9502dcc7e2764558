//! Joining instead of spreading, for labels that edges pass on as they are, either way.
//!
//! A host joins the ends of its edges, without looking at labels. From then on a label that arrives
//! at one proxy is the label of the whole local component: it is noted at the component's
//! representative, and only those members are looked at over which hosts talk. So the number of
//! rounds is the number of times a component crosses hosts, not its diameter.
//!
//! Most edges join what is joined already. After the first few edges of every vertex most vertices
//! are in one component. So, where there are many edges, hosts join first ones, and each talks over
//! a few mirrors of its largest component: labels tell which of these are one, the *giant*. Then
//! masters announce to their mirrors that they are outside, and members are one and the same from then
//! on. Where every edge is seen from both ends, be it on two hosts, they are not looked at again: an
//! edge that leaves the giant is seen from its other end. Where edges are seen once, one between two
//! members costs a look at one flag. Mirrors that turn out to be inside tell their masters so. None of
//! this takes labels.
//!
//! Many vertices that seem outside have edges from others but none to them, and nobody has looked yet.
//! Where all sources are masters there is no need to: whoever has an edge, and none from a source
//! outside, has it from a member. So mirrors tell their masters first that they have one from outside,
//! and only those announce that they are outside, too.
//!
//! A mirror that no edge has joined to anything stands for itself alone, and nobody needs its label:
//! hosts talk over mirrors that are joined to something other than the giant, and their masters. A
//! mirror speaks up when it is joined; from then on its master tells what is new, and answers at once
//! if it knows better.

mod joined;
mod joining;
mod marked;
mod told;

use std::ops::Range;
use std::ptr;

use parton_graph::{LocalId, VertexSet};
use parton_net::{HostId, Net};
use parton_partition::{End, Partition};
use parton_sync::{CpuField, Delivery, Field, Reduction, Result, Tally};
use rayon::prelude::*;

use crate::edges::EdgeView;
use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::Relaxation;
use joined::{Joined, most_frequent};
use joining::{FIRST_EDGES, pieces};
use marked::Marked;
use told::Told;

/// Where a vertex has so many edges on average, hosts agree on the giant after the first ones: where
/// there are few, these are a good part of all, and leave many components that cross hosts.
const MANY_EDGES: u64 = 4 * FIRST_EDGES as u64;
/// Mirrors of each peer's masters by which hosts find out whether their largest components are one.
const WITNESSES: usize = 16;

/// A relaxation whose labels go through edges as they are.
pub(super) struct Union<'a, P: Relaxation> {
    partition: &'a Partition,
    edges: EdgeView<'a, ()>,
    num_masters: u32,
    /// Proxies that have edges here.
    sources: Vec<Range<u32>>,
    sight: Sight,
    /// The edges from their other ends, if that takes no effort and is not the same.
    in_edges: Option<EdgeView<'a, ()>>,
    stage: Stage,
    /// A member of this host's largest component; later of the giant, if anyone is known to be.
    giant: Option<u32>,
    /// Who is not known to be in the giant.
    outside: Marked,
    /// Who of these may have no edge from a member: those that have others, as far as is known.
    suspects: Marked,
    /// Whether sources are masters on all hosts.
    sources_are_masters: bool,
    /// Who of these is in it, as found out at mirrors.
    reached: Marked,
    joined: Joined,
    /// The label of a component, at its representative.
    component_labels: CpuField<P::Reduction>,
    told: Told<P::Reduction>,
}

/// From where edges are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// From both ends, on this host.
    BothEnds,
    /// From both ends, on whatever hosts.
    BothEndsSomewhere,
    /// From one end.
    OneEnd,
}

/// How far joining has got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not begun; whether hosts agree on the giant in between.
    First { agree: bool },
    /// First edges are joined, and hosts find out whether their largest components are one.
    Agreeing,
    /// Hosts know the giant, and masters announce that they are outside.
    Announcing,
    /// The rest is to be joined.
    Rest,
    /// The rest is joined, and mirrors tell that they are in the giant.
    Reaching,
    /// All is joined.
    Joined,
}

impl<'a, P: Relaxation> Union<'a, P> {
    pub(super) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let proxies = partition.num_proxies();
        let start =
            |proxy| program.start(partition.global(proxy)).unwrap_or_else(P::Reduction::identity);
        let out_edges = partition.out_edges();
        let whole = partition.whole_in_edges();
        let (sight, in_edges) = match (whole, partition.in_edges_at_hand()) {
            (Some(in_edges), _) => (Sight::BothEndsSomewhere, Some(in_edges)),
            (None, Some(in_edges)) => (Sight::BothEnds, Some(in_edges)),
            (None, None) if partition.is_symmetric() => (Sight::BothEndsSomewhere, None),
            (None, None) => (Sight::OneEnd, None),
        };
        let mirrors = peers(partition).map(|peer| partition.routes(peer).mirrors(End::Source));
        let mirrors = mirrors.filter(|_| whole.is_none());
        let many = MANY_EDGES * partition.num_vertices();
        let parts = partition.master_parts();
        // All edges of masters are here, and so are mirrors because of those that lead to them.
        let masters = 0..if whole.is_some() { parts.written } else { parts.read };
        Union {
            partition,
            edges: EdgeView::new(out_edges),
            num_masters: partition.num_masters() as u32,
            sources: std::iter::once(masters).chain(mirrors).collect(),
            sight,
            in_edges: in_edges.filter(|edges| !ptr::eq(*edges, out_edges)).map(EdgeView::new),
            stage: Stage::First {
                agree: partition.num_hosts() > 1 && partition.num_edges() >= many,
            },
            giant: None,
            outside: Marked(VertexSet::new(proxies)),
            suspects: Marked(VertexSet::new(proxies)),
            sources_are_masters: false,
            reached: Marked(VertexSet::new(proxies)),
            joined: Joined::new(proxies),
            component_labels: CpuField::new(proxies, Delivery::Label, start),
            told: Told::new(CpuField::new(proxies, Delivery::Label, start)),
        }
    }

    fn mirrors(&self) -> Range<u32> {
        self.num_masters..self.joined.len() as u32
    }

    /// Masters that have edges, wherever.
    fn connected(&self) -> u32 {
        self.partition.master_parts().written
    }

    /// Labels what the first edges have joined, and has a few mirrors of the largest component speak
    /// up.
    fn find_largest(&mut self) {
        let (labels, joined) = (self.component_labels.cells(), self.joined.sets());
        joined.flatten(0..self.connected(), |vertex, representative| {
            labels.fold(LocalId(representative), labels.get(LocalId(vertex)));
        });
        let largest = joined.largest(self.connected());
        self.giant = largest;
        for peer in peers(self.partition) {
            let mirrors = self.partition.routes(peer).mirrors(End::Either);
            let members = mirrors.filter(|&mirror| Some(joined.representative(mirror)) == largest);
            members.take(WITNESSES).for_each(|mirror| self.told.speak_up(LocalId(mirror)));
        }
        self.tell_all();
    }

    /// Gives every component the best of its members' labels; those over which hosts talk hear of
    /// it. Mirrors that have been joined to something speak up, unless their masters know already that
    /// this is the giant.
    fn label_components(&mut self) {
        let (labels, told, joined) =
            (self.component_labels.cells(), &self.told, self.joined.sets());
        let giant = self.giant.map(|member| {
            let representative = joined.representative(member);
            labels.fold(LocalId(representative), labels.get(LocalId(member)));
            representative
        });
        let reached = self.reached.0.members();
        let speak_up = |mirror: u32, representative: u32| {
            for mirror in [mirror, representative].map(LocalId) {
                // What is in the giant only since others have told so has not told it on.
                let is_news = Some(representative) != giant || !reached.contains(mirror);
                if mirror.0 >= self.num_masters && is_news {
                    told.speak_up(mirror);
                }
            }
        };
        // Representatives are the least: that of a master is one.
        let label_master = |master: u32, representative: u32| {
            if representative != master {
                labels.fold(LocalId(representative), labels.get(LocalId(master)));
            }
        };
        let label_mirror = |mirror: u32, representative: u32| {
            if representative != mirror {
                label_master(mirror, representative);
                speak_up(mirror, representative);
            }
        };
        let masters = 0..self.num_masters;
        match giant {
            None => {
                joined.flatten(masters, label_master);
                joined.flatten(self.mirrors(), label_mirror);
            }
            // Members were labelled when it was found.
            Some(_) => {
                let outside = |range| self.outside.0.iter_range(range).map(|proxy| proxy.0);
                let representative = |proxy| joined.representative(proxy);
                pieces(&[masters]).for_each(|piece| {
                    outside(piece).for_each(|master| label_master(master, representative(master)));
                });
                pieces(&[self.mirrors()]).for_each(|piece| {
                    outside(piece).for_each(|mirror| label_mirror(mirror, representative(mirror)));
                });
            }
        }
        self.tell_all();
    }

    /// Gives all proxies over which hosts talk the label of their component.
    fn tell_all(&mut self) {
        self.told.grow();
        self.told.talking().for_each(|proxy| self.tell(proxy));
    }

    /// Gives a proxy the label of its component; if that is better it must be sent.
    fn tell(&self, proxy: LocalId) {
        if self.told.labels.fold_alone(proxy, self.label(proxy)) {
            self.told.labels.updated().insert(proxy);
        }
    }

    /// Labels whole components by what has arrived at single proxies.
    fn absorb(&mut self) {
        let mut improved: Vec<u32> = Vec::new();
        for proxy in self.told.labels.drain_active() {
            let representative = self.joined.sets().representative(proxy.0);
            let label = self.told.labels.get(proxy);
            match self.component_labels.fold_alone(LocalId(representative), label) {
                true => improved.push(representative),
                false => self.tell(proxy),
            }
        }
        if improved.is_empty() {
            return;
        }
        self.told.list(&self.joined);
        improved.sort_unstable();
        improved.dedup();
        self.told.members(&improved, |proxy| self.tell(proxy));
    }

    /// The label that most hosts give their largest component, as seen by some of their vertices, and
    /// whether sources are masters on all hosts.
    fn vote(&self, net: &mut Net) -> Result<(Option<P::Label>, bool)> {
        let sources_are_masters =
            self.sight == Sight::OneEnd && self.sources[1..].iter().all(Range::is_empty);
        let mut said = vec![u8::from(sources_are_masters)];
        let masters = self.connected();
        if let Some((label, votes)) = most_frequent(masters, |vertex| self.label(LocalId(vertex))) {
            let votes = votes as u64 * u64::from(masters);
            said.extend_from_slice(bytemuck::bytes_of(&votes));
            said.extend_from_slice(bytemuck::bytes_of(&label));
        }
        let said = net.all_gather(said)?;
        let votes = said.iter().map(|said| &said[1..]).filter(|vote| !vote.is_empty());
        let votes = votes.map(|vote| {
            let (votes, label) = vote.split_at(size_of::<u64>());
            (bytemuck::pod_read_unaligned::<u64>(votes), bytemuck::pod_read_unaligned(label))
        });
        let chosen = votes.max_by_key(|(votes, _)| *votes).map(|(_, label)| label);
        Ok((chosen, said.iter().all(|said| said[0] == 1)))
    }
}

/// All hosts but this one.
fn peers(partition: &Partition) -> impl Iterator<Item = HostId> + use<> {
    let host = partition.host();
    HostId::all(partition.num_hosts()).filter(move |&peer| peer != host)
}

impl<P: Relaxation> Engine for Union<'_, P> {
    fn compute(&mut self) -> u64 {
        let edges = match self.stage {
            Stage::First { agree: true } => {
                self.join_first();
                self.find_largest();
                self.stage = Stage::Agreeing;
                FIRST_EDGES as u64 * self.joined.len() as u64
            }
            Stage::First { agree: false } => {
                self.join_all();
                self.label_components();
                self.stage = Stage::Joined;
                self.edges.num_edges()
            }
            Stage::Rest => {
                self.join_outside();
                self.stage = Stage::Reaching;
                self.edges.num_edges()
            }
            Stage::Announcing if self.sources_are_masters => self.suspect(),
            Stage::Agreeing | Stage::Announcing | Stage::Reaching | Stage::Joined => 0,
        };
        // Also right after joining: hosts that are ahead may have told something already.
        self.absorb();
        edges.min(self.edges.num_edges())
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        match self.stage {
            Stage::Announcing if self.sources_are_masters => (&mut self.suspects, End::Either),
            Stage::Reaching => (&mut self.reached, End::Either),
            _ => (&mut self.told, End::Either),
        }
    }

    fn apply(&mut self) -> Tally {
        match self.stage {
            Stage::Announcing if self.sources_are_masters => {
                self.join_unsuspected();
                // They were so before hosts knew who is outside.
                self.suspects.0.clear();
            }
            Stage::Reaching => {
                self.join_reached();
                self.label_components();
                self.stage = Stage::Joined;
            }
            _ => {}
        }
        self.absorb();
        let updated = self.told.labels.updated();
        let changed = updated.count_range(0..self.num_masters) as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        match self.stage {
            Stage::Announcing => (&mut self.outside, End::Either),
            _ => (&mut self.told, End::Either),
        }
    }

    fn is_active(&mut self) -> bool {
        if self.stage == Stage::Announcing {
            self.stage = Stage::Rest;
        }
        let labels = &self.told.labels;
        let unsent = || labels.updated().iter_range(self.mirrors()).next().is_some();
        matches!(self.stage, Stage::First { .. } | Stage::Rest)
            || !labels.active().is_empty()
            || unsent()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }

    /// Hosts that know the giant need not look at most edges.
    fn gains_from_rounds(&self) -> bool {
        self.stage != Stage::Joined
    }

    fn leave_rounds(&mut self, _governed: bool) {
        match self.stage {
            Stage::Joined => {}
            // Not everybody knows who is in the giant: everything is joined, and nothing left out.
            _ => self.stage = Stage::First { agree: false },
        }
    }

    /// Hosts agree on the giant.
    fn begin_phase(&mut self, net: &mut Net) -> Result<bool> {
        if self.stage != Stage::Agreeing {
            return Ok(false);
        }
        let (chosen, sources_are_masters) = self.vote(net)?;
        self.sources_are_masters = sources_are_masters;
        self.giant = self.giant.filter(|&member| Some(self.label(LocalId(member))) == chosen);
        let (giant, joined) = (self.giant, self.joined.sets());
        let is_member = |master| Some(joined.parent(master)) == giant;
        self.outside.insert_where(0..self.connected(), |master| !is_member(master));
        self.stage = Stage::Announcing;
        Ok(true)
    }
}

impl<P: Relaxation> Relaxer<P> for Union<'_, P> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.component_labels.get(LocalId(self.joined.sets().representative(proxy.0)))
    }
}
