//! Local ids, laid out so that the sets that matter are ranges.
//!
//! ```text
//! masters:  both │ only read │ only written │ neither      by their degrees in the whole graph
//! mirrors:  of host 0: only written │ both │ only read     by their edges on this host
//!           of host 1: …
//! ```
//!
//! Inside each part vertices ascend by global id, or masters descend by their edges on this host
//! ([`Order`]). A host that is alone and keeps the order has one part: its graph stays as it is.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::{LocalId, huge, parallel};
use parton_net::{HostId, Net};
use rayon::prelude::*;

use crate::id_set::{IdSet, NumberedIds};
use crate::in_edges::InEdges;
use crate::partition::Order;
use crate::policy::Masters;
use crate::routes::{Parts, Routes};
use crate::shuffle::Received;
use crate::{Error, Result};

/// Ends of the four parts of a host's masters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MasterParts {
    /// Masters that have in- and out-edges somewhere come first, up to here. Where masters are
    /// not sorted at all they count as such.
    pub both: u32,
    /// Then those with out-edges only.
    pub read: u32,
    /// Then those with in-edges only.
    pub written: u32,
    /// Then those without any edge: all masters.
    pub all: u32,
}

impl MasterParts {
    /// This many masters, which are not sorted.
    pub(crate) fn unsorted(all: u32) -> Self {
        MasterParts { both: all, read: all, written: all, all }
    }
}

/// The vertices of one host and their local ids.
pub(crate) struct Layout {
    pub(crate) masters: MasterParts,
    /// Global id of every local id.
    pub(crate) globals: Vec<u32>,
    /// What is shared with each host.
    pub(crate) routes: Vec<Routes>,
    locals: NumberedIds,
}

impl Layout {
    /// The local id of a vertex that this host knows and that has edges somewhere.
    #[inline]
    pub(crate) fn local(&self, vertex: u32) -> u32 {
        self.locals.number(vertex)
    }

    /// Bytes needed only while the partition is being built.
    pub(crate) fn transient_bytes(&self) -> u64 {
        self.locals.bytes()
    }
}

/// The vertices that one host mirrors of another's masters, by part, as they travel.
#[derive(Default)]
struct Shared {
    written: Vec<u32>,
    both: Vec<u32>,
    read: Vec<u32>,
}

impl Shared {
    fn parts(&self) -> Parts {
        let len = |ids: &Vec<u32>| ids.len() as u32;
        Parts { written: len(&self.written), both: len(&self.both), read: len(&self.read) }
    }

    fn lists(&self) -> [&Vec<u32>; 3] {
        [&self.written, &self.both, &self.read]
    }

    fn encode(&self) -> Vec<u8> {
        let lengths = self.lists().map(|ids| ids.len() as u32);
        let mut bytes = huge::vec_with_capacity(size_of_val(&lengths) + 4 * self.parts().len());
        bytes.extend_from_slice(bytemuck::cast_slice(&lengths));
        for ids in self.lists() {
            parallel::extend(&mut bytes, bytemuck::cast_slice(ids));
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<(Parts, Vec<u32>)> {
        let (lengths, ids) = bytes.split_at_checked(12)?;
        let [written, both, read]: [u32; 3] = bytemuck::pod_read_unaligned(lengths);
        let parts = Parts { written, both, read };
        let id = |place: usize| bytemuck::pod_read_unaligned(&ids[4 * place..4 * (place + 1)]);
        (ids.len() == 4 * parts.len()).then(|| (parts, parallel::generate(parts.len(), id)))
    }
}

/// The class of masters without any edge; the other classes come before it.
const WITHOUT_EDGES: usize = 3;

/// Vertices that one thread classifies at a time.
const IDS_PER_TASK: usize = 1 << 14;

/// Numbers the vertices that edges and `mine` name, and agrees on routes with every peer.
/// Every host must call this. `turned`: whether the runs received are destinations'.
pub(crate) fn lay_out(
    net: &mut Net,
    (received, turned, in_edges): (&Received, bool, Option<&InEdges>),
    masters: &Masters,
    mine: &[u32],
    num_vertices: u32,
    order: Order,
) -> Result<Layout> {
    let uses = Uses { read: IdSet::new(num_vertices), written: IdSet::new(num_vertices) };
    match turned {
        true => received.note_ends(&uses.written, &uses.read),
        false => received.note_ends(&uses.read, &uses.written),
    }
    if let Some(in_edges) = in_edges {
        in_edges.note_ends(&uses.read, &uses.written);
    }
    let owned = IdSet::new(num_vertices);
    owned.extend(mine);
    let named = IdSet::union(&[&uses.read, &uses.written]).to_vec();

    // Where masters have all their edges, most mirrors are of use at both ends. They are not counted apart:
    // neighbours that are numbered in turn are found faster.
    let is_whole = in_edges.is_some();
    let shared = uses.of_mirrors(net, named, masters, is_whole)?;
    let agreed = agree(net, &shared, &owned, (!is_whole).then_some(&uses))?;
    let mut classes = uses.of_masters(mine);
    // Masters without any edge are never looked up. Without them, neighbours are numbered in turn more often.
    let ranks = IdSet::union(&[&uses.read, &uses.written]).ranked();
    if order == Order::Degree {
        let degrees = parallel::generate(ranks.len(), |_| AtomicU64::new(0));
        let add = |vertex, edges| degrees[ranks.rank(vertex)].fetch_add(edges, Ordering::Relaxed);
        received.for_each_run(|_, run| {
            add(run.source, run.len() as u64);
            run.destinations().for_each(|destination| _ = add(destination, 1));
        });
        let degree = |id: u32| degrees[ranks.rank(id)].load(Ordering::Relaxed);
        for ids in &mut classes[..WITHOUT_EDGES] {
            ids.par_sort_by_key(|&id| Reverse(degree(id)));
        }
    }
    let ends = ends_of(classes.iter().map(Vec::len));
    let [both, only_read, only_written, all] = [0, 1, 2, 3].map(|class| ends[class]);
    let masters = MasterParts { both, read: only_read, written: only_written, all };

    let mut lists: Vec<Vec<u32>> = classes.into();
    let mut routes = Vec::with_capacity(shared.len());
    let mut first_mirror = all;
    for (shared, &(master_parts, _)) in shared.into_iter().zip(&agreed) {
        let mirror_parts = shared.parts();
        routes.push(Routes { first_mirror, mirror_parts, master_parts, ..Routes::default() });
        first_mirror += mirror_parts.len() as u32;
        lists.extend([shared.written, shared.both, shared.read]);
    }
    let globals = parallel::concat(&lists);
    let locals = ranks.numbered_by(&globals, only_written as usize..all as usize);
    for (routes, (_, ids)) in routes.iter_mut().zip(agreed) {
        routes.masters = parallel::generate(ids.len(), |at| LocalId(locals.number(ids[at])));
    }
    let layout = Layout { masters, globals, routes, locals };
    verify(net, &layout)?;
    Ok(layout)
}

/// At which ends of edges vertices are: a read one is the source of some, a written one the destination.
struct Uses {
    read: IdSet,
    written: IdSet,
}

impl Uses {
    /// The vertices among `ids` that other hosts master, by host and part. Every host must call this.
    fn of_mirrors(
        &self,
        net: &mut Net,
        ids: Vec<u32>,
        masters: &Masters,
        is_whole: bool,
    ) -> Result<Vec<Shared>> {
        let (host, hosts) = (net.host(), net.num_hosts());
        let owners = masters.resolve(net, &ids)?;
        let pieces = parallel::pieces(0..ids.len(), IDS_PER_TASK);
        let mut found = parallel::map(&pieces, |piece| {
            let mut shared: Vec<Shared> = (0..hosts).map(|_| Shared::default()).collect();
            let ids = ids[piece.clone()].iter().zip(&owners[piece.clone()]);
            for (&id, owner) in ids.filter(|(_, owner)| **owner != host) {
                let lists = &mut shared[owner.index()];
                match (self.written.contains(id), self.read.contains(id)) {
                    (true, true) => lists.both.push(id),
                    _ if is_whole => lists.both.push(id),
                    (true, false) => lists.written.push(id),
                    _ => lists.read.push(id),
                }
            }
            shared
        });
        let of_host = |of: HostId| {
            let mut all = |list: fn(&mut Shared) -> &mut Vec<u32>| {
                joined(&mut found, |shared| list(&mut shared[of.index()]))
            };
            Shared {
                written: all(|shared| &mut shared.written),
                both: all(|shared| &mut shared.both),
                read: all(|shared| &mut shared.read),
            }
        };
        Ok(HostId::all(hosts).map(of_host).collect())
    }

    /// Masters that are both read and written, only read, only written, neither.
    fn of_masters(&self, mine: &[u32]) -> [Vec<u32>; 4] {
        let pieces = parallel::pieces(0..mine.len(), IDS_PER_TASK);
        let mut found = parallel::map(&pieces, |piece| {
            let mut classes: [Vec<u32>; 4] = Default::default();
            for &id in &mine[piece.clone()] {
                classes[match (self.read.contains(id), self.written.contains(id)) {
                    (true, true) => 0,
                    (true, false) => 1,
                    (false, true) => 2,
                    (false, false) => WITHOUT_EDGES,
                }]
                .push(id);
            }
            classes
        });
        [0, 1, 2, 3].map(|class| joined(&mut found, |classes| &mut classes[class]))
    }
}

/// One list of each part, one after the other.
fn joined<P>(parts: &mut [P], list: impl Fn(&mut P) -> &mut Vec<u32>) -> Vec<u32> {
    let lists: Vec<Vec<u32>> = parts.iter_mut().map(|part| std::mem::take(list(part))).collect();
    parallel::concat(&lists)
}

/// Where consecutive lists of these lengths end.
fn ends_of(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut end = 0;
    lengths
        .map(|length| {
            end += length as u32;
            end
        })
        .collect()
}

/// Tells every host which of its masters this host mirrors; the same from all hosts. A master is read or
/// written if it, or any mirror of it, is: `uses` learn that, where masters do not have all their edges.
fn agree(
    net: &mut Net,
    shared: &[Shared],
    owned: &IdSet,
    uses: Option<&Uses>,
) -> Result<Vec<(Parts, Vec<u32>)>> {
    let host = net.host();
    let wanted = net.all_to_all(shared.iter().map(Shared::encode).collect())?;
    let mut agreed = Vec::with_capacity(wanted.len());
    for (peer, bytes) in HostId::all(wanted.len()).zip(wanted) {
        let disagree = || Error::Routes { host, peer, count: bytes.len() / 4 };
        let (parts, ids) = Shared::decode(&bytes).ok_or_else(disagree)?;
        if !parallel::all_of(&ids, |&id| owned.contains(id)) {
            return Err(disagree());
        }
        if let Some(Uses { read, written }) = uses {
            let (once, twice) = (parts.written as usize, (parts.written + parts.both) as usize);
            written.extend(&ids[..twice]);
            read.extend(&ids[once..]);
        }
        agreed.push((parts, ids));
    }
    Ok(agreed)
}

/// Both ends of every route must list the same vertices in the same order.
fn verify(net: &mut Net, layout: &Layout) -> Result<()> {
    let sums = |routes: &Routes| {
        [routes.checksum_of_mirrors(&layout.globals), routes.checksum_of_masters(&layout.globals)]
    };
    let ours: Vec<_> = layout.routes.iter().map(sums).collect();
    let messages = ours.iter().map(|sums| bytemuck::cast_slice(sums).to_vec()).collect();
    let theirs = net.all_to_all(messages)?;
    for (peer, routes) in HostId::all(theirs.len()).zip(&layout.routes) {
        let [mirrors, masters] = ours[peer.index()];
        if theirs[peer.index()] != bytemuck::cast_slice::<u64, u8>(&[masters, mirrors]) {
            let count = routes.masters.len() + routes.mirror_parts.len();
            return Err(Error::Routes { host: net.host(), peer, count });
        }
    }
    Ok(())
}
