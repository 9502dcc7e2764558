//! Union-find with sampling (Afforest: Sutton, Ben-Nun, Barak, IPDPS'18), for labels that edges pass
//! unchanged in both directions.
//!
//! A host joins the ends of its edges without reading labels. From then on a label that arrives at one proxy is
//! the label of its whole local component. The label is stored at the component's representative, and only the
//! members that other hosts share are visited. So the number of rounds is the number of times a component
//! crosses hosts, not its diameter.
//!
//! Most edges join what is already joined: after two edges of every vertex, most vertices are in one component.
//! So, where there are many edges, hosts first join a sample of two edges per vertex. Each host then exchanges
//! labels over a few mirrors of its largest local component, and equal labels show which of these local components
//! are one: the *largest component*. Masters announce to their mirrors that they are outside it. Where every
//! edge is seen from both ends, on whatever hosts, the edges of members are not visited again: an edge that
//! leaves the largest component is seen from its other end. Where edges are seen from one end, an edge
//! between two members costs one test of a bit. Mirrors that turn out to be members report to their masters.
//! None of this sends labels.
//!
//! Many vertices that seem outside have in-edges but no out-edges, so no host has visited their edges yet. Where
//! all sources are masters there is no need to visit them: a vertex that has an edge, and none from a source
//! outside, has one from a member. So mirrors first report to their masters that they have an edge from outside,
//! and only such masters (*candidates*) announce that they are outside.
//!
//! A mirror that no edge has joined to anything needs no label. Hosts exchange labels only over *shared* proxies:
//! mirrors that are joined to something outside the largest component, and their masters. A mirror becomes shared
//! when it is joined, and then sends its label once. From then on its master sends new labels, and answers at once
//! if it has a better one.

mod joining;
mod members;
mod sets;
mod shared_labels;

use std::ops::Range;
use std::ptr;

use parton_graph::{LocalId, parallel};
use parton_net::{HostId, Net};
use parton_partition::{Coverage, End, Partition};
use parton_sync::{CpuField, Delivery, Field, Phase, Reduction, Result, Substrate, Tally};

use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::{Relaxation, Vertex};
use crate::registry::{BuildEngine, EngineInfo, Programs, RelaxationEngine};
use crate::state::edges::EdgeView;
use joining::{SAMPLED_EDGES, pieces};
use members::Members;
use sets::{DisjointSets, most_frequent};
use shared_labels::SharedLabels;

/// Hosts agree on the largest component if a vertex has at least this many edges on average. Where there are
/// fewer, the sample is a good part of all edges, and it leaves many components that cross hosts.
const MIN_AVERAGE_DEGREE: u64 = 4 * SAMPLED_EDGES as u64;
/// Mirrors of each peer's masters whose labels show whether the largest components of hosts are one.
const WITNESSES_PER_PEER: usize = 16;

/// Builds the engine.
pub(super) struct Union;

impl BuildEngine for Union {
    const INFO: EngineInfo =
        EngineInfo { name: "union", about: "joins what edges join, then labels whole components" };
    const FITS: Programs = Programs::PassingUnchanged;
    const SUITS: Programs = Programs::PassingUnchanged;
    /// Hosts tell each other more than labels, which devices do not know.
    const MIXES_WITH_DEVICES: bool = false;

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        match program.passes_unchanged() && !P::FILTERS {
            true => Ok(Box::new(UnionFind::new(program, partition))),
            false => Err(Self::INFO.misfit("relaxations that change labels along edges")),
        }
    }
}

/// A relaxation whose labels pass edges unchanged.
struct UnionFind<'a, P: Relaxation> {
    partition: &'a Partition,
    edges: EdgeView<'a, ()>,
    num_masters: u32,
    /// Proxies that have edges here.
    sources: Vec<Range<u32>>,
    coverage: Coverage,
    /// The edges by their destinations, if they are at hand and not the same.
    in_edges: Option<EdgeView<'a, ()>>,
    stage: Stage,
    largest: LargestComponent,
    sets: DisjointSets,
    /// The label of a component, at its representative.
    component_labels: CpuField<P::Reduction>,
    shared: SharedLabels<P::Reduction>,
}

/// What a host knows of the largest component.
struct LargestComponent {
    /// A member of this host's largest component; later of the graph's, if any member is known.
    member: Option<u32>,
    /// Proxies that are not known to be in the largest component.
    outside: Members,
    /// Proxies that may be outside because a known edge from outside leads to them. All others have edges from
    /// members.
    candidates: Members,
    /// Mirrors that turned out to be in the largest component, and their masters.
    reached: Members,
    /// Whether sources are masters on all hosts.
    sources_are_masters: bool,
}

/// How far joining has got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not begun. If `agree`, hosts agree on the largest component after a sample of edges.
    First { agree: bool },
    /// The sample is joined, and hosts compare their largest components.
    Agreeing,
    /// Hosts know the largest component, and masters announce that they are outside.
    Announcing,
    /// The other edges are to be joined.
    Rest,
    /// All edges are joined, and mirrors report to their masters that they are in the largest component.
    Reaching,
    /// All is joined.
    Joined,
}

impl<'a, P: Relaxation> UnionFind<'a, P> {
    fn new(program: &'a P, partition: &'a Partition) -> Self {
        let proxies = partition.num_proxies();
        let start = |proxy| {
            let first = program.start(Vertex::new(partition.globals(), proxy));
            first.unwrap_or_else(P::Reduction::identity)
        };
        let out_edges = partition.out_edges();
        let of_masters = partition.in_edges_of_masters();
        let in_edges = of_masters.or(partition.in_edges_at_hand());
        let mirrors = peers(partition).map(|peer| partition.routes(peer).mirrors(End::Source));
        let mirrors = mirrors.filter(|_| of_masters.is_none());
        let parts = partition.master_parts();
        // Where masters have all their edges here, mirrors have none.
        let masters = 0..if of_masters.is_some() { parts.written } else { parts.read };
        let has_many_edges = partition.num_edges() >= MIN_AVERAGE_DEGREE * partition.num_vertices();
        let agree = partition.num_hosts() > 1 && has_many_edges;
        UnionFind {
            partition,
            edges: EdgeView::new(out_edges),
            num_masters: partition.num_masters() as u32,
            sources: std::iter::once(masters).chain(mirrors).collect(),
            coverage: partition.coverage(),
            in_edges: in_edges.filter(|edges| !ptr::eq(*edges, out_edges)).map(EdgeView::new),
            stage: Stage::First { agree },
            largest: LargestComponent {
                member: None,
                outside: Members::new(proxies),
                candidates: Members::new(proxies),
                reached: Members::new(proxies),
                sources_are_masters: false,
            },
            sets: DisjointSets::new(proxies),
            component_labels: CpuField::new(proxies, Delivery::Label, start),
            shared: SharedLabels::new(CpuField::new(proxies, Delivery::Label, start)),
        }
    }

    fn mirrors(&self) -> Range<u32> {
        self.num_masters..self.sets.len() as u32
    }

    /// Masters that have edges, wherever.
    fn connected(&self) -> u32 {
        self.partition.master_parts().written
    }

    /// Labels what the sample has joined, and sends the labels of a few mirrors of the largest component.
    fn find_largest(&mut self) {
        let (labels, sets) = (self.component_labels.cells(), self.sets.sets());
        sets.flatten(0..self.connected(), |vertex, representative| {
            labels.fold(LocalId(representative), labels.get(LocalId(vertex)));
        });
        let largest = sets.largest(self.connected());
        self.largest.member = largest;
        for peer in peers(self.partition) {
            let mirrors = self.partition.routes(peer).mirrors(End::Either);
            let members = mirrors.filter(|&mirror| Some(sets.representative(mirror)) == largest);
            members
                .take(WITNESSES_PER_PEER)
                .for_each(|mirror| self.shared.send_label(LocalId(mirror)));
        }
        self.update_shared_labels();
    }

    /// Gives every component the best of its members' labels, and updates the shared proxies. Mirrors that have been
    /// joined to something become shared, unless their masters know already that this is the largest component.
    fn label_components(&mut self) {
        let (labels, shared, sets) =
            (self.component_labels.cells(), &self.shared, self.sets.sets());
        let largest = self.largest.member.map(|member| {
            let representative = sets.representative(member);
            labels.fold(LocalId(representative), labels.get(LocalId(member)));
            representative
        });
        let reached = self.largest.reached.members();
        let send_label = |mirror: u32, representative: u32| {
            for mirror in [mirror, representative].map(LocalId) {
                // The masters of reached mirrors know that these are in the largest component.
                let is_unknown = Some(representative) != largest || !reached.contains(mirror);
                if mirror.0 >= self.num_masters && is_unknown {
                    shared.send_label(mirror);
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
                send_label(mirror, representative);
            }
        };
        let masters = 0..self.num_masters;
        match largest {
            None => {
                sets.flatten(masters, label_master);
                sets.flatten(self.mirrors(), label_mirror);
            }
            // Members were labelled when it was found.
            Some(_) => {
                let outside = |range: &Range<u32>| {
                    self.largest.outside.iter_range(range.clone()).map(|proxy| proxy.0)
                };
                let representative = |proxy| sets.representative(proxy);
                parallel::for_each(&pieces(&[masters]), |piece| {
                    outside(piece).for_each(|master| label_master(master, representative(master)));
                });
                parallel::for_each(&pieces(&[self.mirrors()]), |piece| {
                    outside(piece).for_each(|mirror| label_mirror(mirror, representative(mirror)));
                });
            }
        }
        self.update_shared_labels();
    }

    /// Gives all shared proxies the label of their component.
    fn update_shared_labels(&mut self) {
        self.shared.grow();
        self.shared.proxies().for_each(|proxy| self.update_shared_label(proxy));
    }

    /// Gives a shared proxy the label of its component. A better label must be sent.
    fn update_shared_label(&self, proxy: LocalId) {
        if self.shared.labels.fold_alone(proxy, self.label(proxy)) {
            self.shared.labels.updated().insert(proxy);
        }
    }

    /// Labels whole components by the labels that have arrived at single proxies.
    fn absorb(&mut self) {
        let mut improved: Vec<u32> = Vec::new();
        for proxy in self.shared.labels.drain_active() {
            let representative = self.sets.sets().representative(proxy.0);
            let label = self.shared.labels.get(proxy);
            match self.component_labels.fold_alone(LocalId(representative), label) {
                true => improved.push(representative),
                false => self.update_shared_label(proxy),
            }
        }
        if improved.is_empty() {
            return;
        }
        self.shared.list(&self.sets);
        improved.sort_unstable();
        improved.dedup();
        self.shared.members(&improved, |proxy| self.update_shared_label(proxy));
    }

    /// The label of a proxy's component.
    fn label(&self, proxy: LocalId) -> P::Label {
        self.component_labels.get(LocalId(self.sets.sets().representative(proxy.0)))
    }

    /// The label that most hosts give their largest component, as seen by some of their vertices, and
    /// whether sources are masters on all hosts.
    fn vote(&self, net: &mut Net) -> Result<(Option<P::Label>, bool)> {
        let sources_are_masters =
            self.coverage == Coverage::OneEnd && self.sources[1..].iter().all(Range::is_empty);
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

impl<P: Relaxation> Engine for UnionFind<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        let edges = match self.stage {
            Stage::First { agree: true } => {
                self.join_sample();
                self.find_largest();
                self.stage = Stage::Agreeing;
                SAMPLED_EDGES as u64 * self.sets.len() as u64
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
            Stage::Announcing if self.largest.sources_are_masters => self.mark_candidates(),
            Stage::Agreeing | Stage::Announcing | Stage::Reaching | Stage::Joined => 0,
        };
        // Also right after joining: hosts that are ahead may have sent labels already.
        self.absorb();
        Ok(edges.min(self.edges.num_edges()))
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let field: &mut dyn Field = match (phase, self.stage) {
            (Phase::Reduce, Stage::Announcing) if self.largest.sources_are_masters => {
                &mut self.largest.candidates
            }
            (Phase::Reduce, Stage::Reaching) => &mut self.largest.reached,
            (Phase::Broadcast, Stage::Announcing) => &mut self.largest.outside,
            _ => &mut self.shared,
        };
        match phase {
            Phase::Reduce => substrate.reduce(field, End::Either),
            Phase::Broadcast => substrate.broadcast(field, End::Either),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        match self.stage {
            Stage::Announcing if self.largest.sources_are_masters => {
                self.join_non_candidates();
                // The next stage finds other candidates.
                self.largest.candidates.clear();
            }
            Stage::Reaching => {
                self.join_reached();
                self.label_components();
                self.stage = Stage::Joined;
            }
            _ => {}
        }
        self.absorb();
        let updated = self.shared.labels.updated();
        let changed = updated.count_range(0..self.num_masters) as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        if self.stage == Stage::Announcing {
            self.stage = Stage::Rest;
        }
        let labels = &self.shared.labels;
        let has_unsent = || labels.updated().iter_range(self.mirrors()).next().is_some();
        Ok(Next::new(
            matches!(self.stage, Stage::First { .. } | Stage::Rest)
                || !labels.active().is_empty()
                || has_unsent(),
        ))
    }

    /// When labels have settled after the sample, hosts agree on the largest component and go on.
    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        if total.active > 0 || self.stage != Stage::Agreeing {
            return Ok(Conclusion::when_idle(total));
        }
        let (chosen, sources_are_masters) = self.vote(substrate.net())?;
        self.largest.sources_are_masters = sources_are_masters;
        self.largest.member =
            self.largest.member.filter(|&member| Some(self.label(LocalId(member))) == chosen);
        let (largest, sets) = (self.largest.member, self.sets.sets());
        let is_member = |master| Some(sets.parent(master)) == largest;
        self.largest.outside.insert_where(0..self.connected(), |master| !is_member(master));
        self.stage = Stage::Announcing;
        Ok(Conclusion::new(false))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl<P: Relaxation> Paced for UnionFind<'_, P> {
    /// True until all is joined: hosts that know the largest component need not visit most edges.
    fn gains_from_rounds(&self) -> bool {
        self.stage != Stage::Joined
    }

    fn leave_rounds(&mut self, _: bool) {
        // Not all hosts know the largest component, so every edge is joined.
        if self.stage != Stage::Joined {
            self.stage = Stage::First { agree: false };
        }
    }
}

impl<P: Relaxation> RelaxationEngine<P> for UnionFind<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        let label = |master| self.label(LocalId(master as u32));
        Ok(parallel::generate(self.num_masters as usize, label))
    }
}
