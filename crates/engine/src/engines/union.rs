//! Joining instead of spreading, for labels that edges pass on as they are, either way.
//!
//! A host joins the ends of its edges, without looking at labels. From then on a label that arrives
//! at one proxy is the label of the whole local component: it is noted at the component's
//! representative, and only those members are looked at over which hosts talk. So the number of
//! rounds is the number of times a component crosses hosts, not its diameter.
//!
//! Most edges join what is joined already. After the first few edges of every vertex most vertices
//! are in one component. So, where there are many edges, hosts join first ones, agree on labels, agree
//! on the largest component, and then join what is left. Where every edge is seen from both ends, be it on two hosts, members
//! of the largest component need no further look: an edge that leaves it is seen from its other end.
//! Where edges are seen once, masters announce to their mirrors that they are outside, and an edge
//! between two members costs a look at one bit.
//!
//! A mirror that no edge has joined to anything stands for itself alone, and nobody needs its label:
//! hosts talk over mirrors that are joined to something, and their masters. A mirror speaks up when
//! it is joined; from then on its master tells what is new, and answers at once if it knows better.

mod joined;

use std::ops::Range;
use std::ptr;

use parton_graph::{LocalId, VertexSet};
use parton_net::Net;
use parton_partition::{End, Partition};
use parton_sync::{
    CpuField, Delivery, Field, Outgoing, Phase, Places, Reduction, Result, Route, Shape, Tally,
    ValueKind, Which,
};
use rayon::prelude::*;

use crate::edges::EdgeView;
use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::Relaxation;
use crate::relaxing::PIECE;
use joined::{Joined, most_frequent};

/// Edges of every vertex that are joined before looking for the largest component.
const FIRST_EDGES: usize = 2;
/// Where a vertex has so many edges on average, hosts agree on labels after the first ones: where
/// there are few, these are a good part of all, and leave many components that cross hosts.
const MANY_EDGES: u64 = 4 * FIRST_EDGES as u64;
/// How many vertices before its turn a vertex's neighbour is asked for.
const AHEAD: u32 = 16;
/// Edges that are looked at before anything is decided about one of them.
const AT_ONCE: usize = 16;
/// No proxy.
const NONE: u32 = u32::MAX;

/// A relaxation whose labels go through edges as they are.
pub(super) struct Union<'a, P: Relaxation> {
    edges: EdgeView<'a, ()>,
    num_masters: u32,
    sight: Sight,
    /// The edges from their other ends, if that takes no effort and is not the same.
    in_edges: Option<EdgeView<'a, ()>>,
    stage: Stage,
    /// Who is not known to be in the largest component.
    outside: Outside,
    joined: Joined,
    /// The label of a component, at its representative.
    component_labels: CpuField<P::Reduction>,
    told: Told<P::Reduction>,
    /// Of each component a list of the proxies hosts talk over: the first one at its
    /// representative, which is not listed itself, then at each the next one. Empty if out of date.
    lists: Vec<u32>,
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
    /// Not begun; whether hosts agree on labels in between.
    First { agree: bool },
    /// First edges are joined, and hosts agree on labels.
    Agreeing,
    /// Hosts know the largest component, and masters announce that they are outside.
    Announcing,
    /// The rest is to be joined.
    Rest,
    /// All is joined.
    Joined,
}

/// Proxies outside the largest component, as far as their masters have told. What travels is who is,
/// and nothing with it: fewer are than are not.
struct Outside(VertexSet);

impl Field for Outside {
    fn shape(&self) -> Shape {
        Shape { kind: ValueKind::Plain(0), delivery: Delivery::Event }
    }

    fn extract(&self, route: Route<'_>, _: Which, out: &mut Outgoing) {
        route.find(&self.0, &mut out.places);
    }

    fn reset(&mut self, _: Range<u32>, _: Phase) {}

    fn reduce(&mut self, _: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        self.set(route, places, values);
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, _: &[u8]) {
        let mut outside = self.0.inserter();
        route.visit(places, |_, proxy| outside.insert_if(proxy, true));
    }
}

/// Labels of proxies over which hosts talk.
struct Told<R: Reduction> {
    labels: CpuField<R>,
    /// Which proxies those are.
    talking: VertexSet,
    /// Whether there are more than there were.
    has_grown: bool,
}

impl<R: Reduction> Told<R> {
    /// Hosts talk over a proxy from now on.
    fn talk_over(&self, proxy: LocalId) -> bool {
        !self.talking.contains(proxy) && self.talking.insert(proxy)
    }
}

impl<R: Reduction> Field for Told<R> {
    fn shape(&self) -> Shape {
        self.labels.shape()
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        self.labels.extract(route, which, out);
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        self.labels.reset(proxies, phase);
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        if phase == Phase::Reduce {
            for master in route.locals(places) {
                self.has_grown |= self.talk_over(master);
                // Also where the label is no news: an answer may be due.
                self.labels.active().insert_alone(master);
            }
        }
        self.labels.reduce(phase, route, places, values);
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        self.labels.set(route, places, values);
    }
}

impl<'a, P: Relaxation> Union<'a, P> {
    pub(super) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let proxies = partition.num_proxies();
        let start =
            |proxy| program.start(partition.global(proxy)).unwrap_or_else(P::Reduction::identity);
        let (out_edges, in_edges) = (partition.out_edges(), partition.in_edges_at_hand());
        let sight = match (in_edges, partition.is_symmetric()) {
            (Some(_), _) => Sight::BothEnds,
            (None, true) => Sight::BothEndsSomewhere,
            (None, false) => Sight::OneEnd,
        };
        let many = MANY_EDGES * partition.num_vertices();
        Union {
            edges: EdgeView::new(out_edges),
            num_masters: partition.num_masters() as u32,
            sight,
            in_edges: in_edges.filter(|edges| !ptr::eq(*edges, out_edges)).map(EdgeView::new),
            stage: Stage::First {
                agree: partition.num_hosts() > 1 && partition.num_edges() >= many,
            },
            outside: Outside(VertexSet::new(proxies)),
            joined: Joined::new(proxies),
            component_labels: CpuField::new(proxies, Delivery::Label, start),
            told: Told {
                labels: CpuField::new(proxies, Delivery::Label, start),
                talking: VertexSet::new(proxies),
                has_grown: false,
            },
            lists: Vec::new(),
        }
    }

    fn all(&self) -> impl IndexedParallelIterator<Item = LocalId> + use<P> {
        let proxies = self.joined.len() as u32;
        (0..proxies).into_par_iter().with_max_len(PIECE).map(LocalId)
    }

    /// Joins the ends of the first edges of every vertex.
    fn join_first(&self) {
        let (edges, joined) = (self.edges.rows(), &self.joined);
        let last = (joined.len() as u32).saturating_sub(1);
        let first = |vertex| edges.targets(vertex).iter().take(FIRST_EDGES);
        self.all().for_each(|vertex| {
            let later = LocalId(vertex.0.saturating_add(AHEAD).min(last));
            first(later).for_each(|other| joined.prefetch(other.0));
            first(vertex).for_each(|other| joined.join(vertex.0, other.0));
        });
    }

    /// Takes note of those of the first `proxies` for which `is_member` does not say so.
    fn note_outside(&self, proxies: u32, is_member: impl Fn(u32) -> bool + Sync) {
        (0..proxies.div_ceil(u64::BITS)).into_par_iter().with_max_len(PIECE / 64).for_each(
            |word| {
                let first = word * u64::BITS;
                let others = (first..proxies.min(first + u64::BITS))
                    .fold(0, |all, proxy| all | u64::from(!is_member(proxy)) << (proxy - first));
                self.outside.0.insert_word(word as usize, others);
            },
        );
    }

    /// All but the first edges of a vertex: their other ends.
    fn rest(&self, vertex: LocalId) -> &[LocalId] {
        let others = self.edges.rows().targets(vertex);
        &others[FIRST_EDGES.min(others.len())..]
    }

    /// Joins the other ends of all but the first edges of a vertex, those into it included if they
    /// are at hand.
    fn join_rest_of(&self, vertex: LocalId) {
        self.joined.join_all(vertex, self.rest(vertex));
        if let Some(in_edges) = &self.in_edges {
            self.joined.join_all(vertex, in_edges.rows().targets(vertex));
        }
    }

    /// Joins the ends of the other edges of all vertices that are not in the largest component.
    fn join_rest_from_both_ends(&self) {
        let (joined, largest) = (&self.joined, self.joined.largest());
        joined.flatten(|vertex, representative| {
            if representative != largest && representative != joined.representative(largest) {
                self.join_rest_of(LocalId(vertex));
            }
        });
    }

    /// Joins the ends of the other edges, but for those between known members of the largest
    /// component.
    fn join_rest(&self) {
        let (joined, outside) = (&self.joined, self.outside.0.members());
        let last = joined.len() as u32;
        (0..last).into_par_iter().step_by(PIECE).for_each(|first| {
            // Who becomes a member: to be joined when memory has had time to fetch it.
            let mut new: Vec<(LocalId, LocalId)> = Vec::new();
            for vertex in (first..last.min(first.saturating_add(PIECE as u32))).map(LocalId) {
                match (outside.contains(vertex), self.sight) {
                    (true, _) => self.join_rest_of(vertex),
                    (false, Sight::OneEnd) => {
                        for others in self.rest(vertex).chunks(AT_ONCE) {
                            // Hardly ever: all are looked at before anything is decided.
                            let is_any = |any, other: &LocalId| any | outside.contains(*other);
                            if !others.iter().fold(false, is_any) {
                                continue;
                            }
                            for &other in others.iter().filter(|other| outside.contains(**other)) {
                                joined.prefetch(other.0);
                                new.push((vertex, other));
                            }
                        }
                    }
                    (false, Sight::BothEnds | Sight::BothEndsSomewhere) => {}
                }
            }
            new.iter().for_each(|(vertex, other)| joined.join(vertex.0, other.0));
        });
    }

    /// Gives every component the best of its members' labels; those over which hosts talk hear of
    /// it. Mirrors that have been joined to something speak up.
    fn label_components(&mut self) {
        let (labels, told) = (self.component_labels.cells(), &self.told);
        self.joined.flatten(|vertex, representative| {
            if representative != vertex {
                labels.fold(LocalId(representative), labels.get(LocalId(vertex)));
                for mirror in [vertex, representative].map(LocalId) {
                    if mirror.0 >= self.num_masters && told.talk_over(mirror) {
                        told.labels.update(mirror);
                    }
                }
            }
        });
        self.told.has_grown = true;
        let all = 0..self.joined.len() as u32;
        self.told.talking.iter_range(all).for_each(|proxy| self.tell(proxy));
    }

    /// Gives a proxy the label of its component; if that is better it must be sent.
    fn tell(&self, proxy: LocalId) {
        let label = self.component_labels.get(LocalId(self.joined.parent(proxy.0)));
        if self.told.labels.fold_alone(proxy, label) {
            self.told.labels.updated().insert(proxy);
        }
    }

    /// Labels whole components by what has arrived at single proxies.
    fn absorb(&mut self) {
        let mut improved: Vec<u32> = Vec::new();
        for proxy in self.told.labels.drain_active() {
            let representative = self.joined.parent(proxy.0);
            let label = self.told.labels.get(proxy);
            match self.component_labels.fold_alone(LocalId(representative), label) {
                true => improved.push(representative),
                false => self.tell(proxy),
            }
        }
        if improved.is_empty() {
            return;
        }
        if std::mem::take(&mut self.told.has_grown) {
            self.list();
        }
        improved.sort_unstable();
        improved.dedup();
        for representative in improved {
            if self.told.talking.contains(LocalId(representative)) {
                self.tell(LocalId(representative));
            }
            let mut proxy = self.lists[representative as usize];
            while proxy != NONE {
                self.tell(LocalId(proxy));
                proxy = self.lists[proxy as usize];
            }
        }
    }

    /// Lists the proxies over which hosts talk, by component.
    fn list(&mut self) {
        let proxies = self.joined.len();
        self.lists.clear();
        self.lists.resize(proxies, NONE);
        for proxy in self.told.talking.iter_range(0..proxies as u32) {
            let representative = self.joined.parent(proxy.0);
            if representative != proxy.0 {
                let first = std::mem::replace(&mut self.lists[representative as usize], proxy.0);
                self.lists[proxy.index()] = first;
            }
        }
    }
}

impl<P: Relaxation> Engine for Union<'_, P> {
    fn compute(&mut self) -> u64 {
        let (next, edges) = match self.stage {
            Stage::First { agree: true } => {
                self.join_first();
                (Stage::Agreeing, FIRST_EDGES as u64 * self.joined.len() as u64)
            }
            Stage::First { agree: false } => {
                self.join_first();
                match self.sight {
                    Sight::BothEnds => self.join_rest_from_both_ends(),
                    Sight::BothEndsSomewhere | Sight::OneEnd => {
                        // What is largest here need not be so elsewhere: two hosts would leave an
                        // edge to each other.
                        self.sight = Sight::OneEnd;
                        self.joined.flatten(|_, _| ());
                        let largest = self.joined.largest();
                        let proxies = self.joined.len() as u32;
                        self.note_outside(proxies, |proxy| self.joined.parent(proxy) == largest);
                        self.join_rest();
                    }
                }
                (Stage::Joined, self.edges.num_edges())
            }
            Stage::Rest => {
                self.join_rest();
                (Stage::Joined, self.edges.num_edges())
            }
            Stage::Agreeing | Stage::Announcing | Stage::Joined => (self.stage, 0),
        };
        if next != self.stage {
            self.stage = next;
            self.label_components();
        }
        // Also right after joining: hosts that are ahead may have told something already.
        self.absorb();
        edges.min(self.edges.num_edges())
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.told, End::Either)
    }

    fn apply(&mut self) -> Tally {
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
        let (labels, proxies) = (&self.told.labels, self.joined.len() as u32);
        let unsent = || labels.updated().iter_range(self.num_masters..proxies).next().is_some();
        matches!(self.stage, Stage::First { .. } | Stage::Rest)
            || !labels.active().is_empty()
            || unsent()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }

    /// Hosts that know the largest component need not look at most edges.
    fn gains_from_rounds(&self) -> bool {
        self.stage != Stage::Joined
    }

    fn leave_rounds(&mut self, _governed: bool) {
        match self.stage {
            Stage::First { .. } => self.stage = Stage::First { agree: false },
            // Not everybody knows who is in the largest component: nothing is left out.
            Stage::Agreeing | Stage::Announcing => {
                self.outside.0.insert_range(0..self.joined.len() as u32);
                self.stage = Stage::Rest;
            }
            Stage::Rest | Stage::Joined => {}
        }
    }

    /// Hosts agree on the largest component, as seen by some of their vertices.
    fn begin_phase(&mut self, net: &mut Net) -> Result<bool> {
        if self.stage != Stage::Agreeing {
            return Ok(false);
        }
        let label = |vertex| self.component_labels.get(LocalId(self.joined.parent(vertex)));
        let masters = self.num_masters as usize;
        let vote = most_frequent(masters, label).map(|(label, votes)| {
            let votes = (votes * masters) as u64;
            [bytemuck::bytes_of(&votes), bytemuck::bytes_of(&label)].concat()
        });
        let votes = net.all_gather(vote.unwrap_or_default())?;
        let votes = votes.iter().filter(|vote| !vote.is_empty()).map(|vote| {
            let (votes, label) = vote.split_at(size_of::<u64>());
            (bytemuck::pod_read_unaligned::<u64>(votes), bytemuck::pod_read_unaligned(label))
        });
        let largest = votes.max_by_key(|(votes, _)| *votes).map(|(_, label)| label);
        let is_member = |proxy| Some(label(proxy)) == largest;
        self.stage = match self.sight {
            Sight::OneEnd => {
                // Mirrors are told by their masters.
                self.note_outside(self.num_masters, is_member);
                Stage::Announcing
            }
            Sight::BothEnds | Sight::BothEndsSomewhere => {
                self.note_outside(self.joined.len() as u32, is_member);
                Stage::Rest
            }
        };
        Ok(true)
    }
}

impl<P: Relaxation> Relaxer<P> for Union<'_, P> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.component_labels.get(LocalId(self.joined.parent(proxy.0)))
    }
}
