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
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parton_graph::{LocalId, parallel};
use parton_net::{HostId, Net};
use rayon::prelude::*;

use crate::id_set::{IdSet, NumberedIds, RankedIds};
use crate::in_edges::InEdges;
use crate::partition::Order;
use crate::policy::Masters;
use crate::routes::{Parts, Routes, checksum};
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
    /// The local id of a vertex that this host knows.
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

    /// Adds vertices that follow those that are here.
    fn append(&mut self, more: Shared) {
        self.written.extend(more.written);
        self.both.extend(more.both);
        self.read.extend(more.read);
    }

    fn lists(&self) -> [&Vec<u32>; 3] {
        [&self.written, &self.both, &self.read]
    }

    fn encode(&self) -> Vec<u8> {
        let lengths = self.lists().map(|ids| ids.len() as u32);
        let [written, both, read] = self.lists().map(|ids| bytemuck::cast_slice(ids));
        [bytemuck::cast_slice(&lengths), written, both, read].concat()
    }

    fn decode(bytes: &[u8]) -> Option<(Parts, Vec<u32>)> {
        let (lengths, ids) = bytes.split_at_checked(12)?;
        let [written, both, read]: [u32; 3] = bytemuck::pod_read_unaligned(lengths);
        let parts = Parts { written, both, read };
        (ids.len() == 4 * parts.len()).then(|| (parts, bytemuck::pod_collect_to_vec(ids)))
    }
}

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
    let host = net.host();
    let (mut read, mut written) = (IdSet::new(num_vertices), IdSet::new(num_vertices));
    match turned {
        true => received.note_ends(&written, &read),
        false => received.note_ends(&read, &written),
    }
    if let Some(in_edges) = in_edges {
        in_edges.note_ends(&mut read, &mut written);
    }
    let owned = IdSet::new(num_vertices);
    parallel::for_each_index(mine.len(), |at| owned.insert_shared(mine[at]));
    let mut known = IdSet::new(num_vertices);
    [&owned, &read, &written].into_iter().for_each(|ids| known.union(ids));

    let ids = known.to_vec();
    let owners = masters.resolve(net, &ids)?;
    // Where masters have all their edges, most mirrors are of use at both ends. They are not told apart:
    // neighbours that are numbered in turn are found faster.
    let is_whole = in_edges.is_some();
    let hosts = net.num_hosts();
    let shared = parallel::reduce(
        ids.len(),
        |piece| {
            let mut shared: Vec<Shared> = (0..hosts).map(|_| Shared::default()).collect();
            let piece = ids[piece.clone()].iter().zip(&owners[piece]);
            for (&id, owner) in piece.filter(|(_, owner)| **owner != host) {
                let lists = &mut shared[owner.index()];
                match (written.contains(id), read.contains(id)) {
                    (true, true) => lists.both.push(id),
                    _ if is_whole => lists.both.push(id),
                    (true, false) => lists.written.push(id),
                    _ => lists.read.push(id),
                }
            }
            shared
        },
        |mut shared, more| {
            shared.iter_mut().zip(more).for_each(|(lists, more)| lists.append(more));
            shared
        },
    );
    let shared = shared.unwrap_or_else(|| (0..hosts).map(|_| Shared::default()).collect());
    drop((ids, owners));
    let wanted = net.all_to_all(shared.iter().map(Shared::encode).collect())?;

    // A master is read or written if it, or any mirror of it, is; where it has all its edges, it knows.
    let mut agreed = Vec::with_capacity(wanted.len());
    for (peer, bytes) in HostId::all(wanted.len()).zip(wanted) {
        let disagree = || Error::Routes { host, peer, count: bytes.len() / 4 };
        let (parts, ids) = Shared::decode(&bytes).ok_or_else(disagree)?;
        if !parallel::all_of(&ids, |&id| owned.contains(id)) {
            return Err(disagree());
        }
        if !is_whole {
            let (once, twice) = (parts.written as usize, (parts.written + parts.both) as usize);
            parallel::for_each_index(twice, |at| written.insert_shared(ids[at]));
            parallel::for_each_index(ids.len() - once, |at| read.insert_shared(ids[once + at]));
        }
        agreed.push((parts, ids));
    }

    let mut classes = master_classes(mine, &read, &written);
    let ranks = known.ranked();
    if order == Order::Degree {
        let degrees = parallel::generate(ranks.len(), |_| AtomicU64::new(0));
        let add = |id: u32, more: usize| {
            degrees[ranks.rank(id)].fetch_add(more as u64, Ordering::Relaxed);
        };
        received.for_each_run(|_, run| {
            add(run.source, run.len());
            run.destinations().for_each(|destination| add(destination, 1));
        });
        for ids in &mut classes {
            let degree = |id: u32| degrees[ranks.rank(id)].load(Ordering::Relaxed);
            ids.par_sort_by_key(|&id| Reverse(degree(id)));
        }
    }
    let mut globals = Vec::with_capacity(ranks.len());
    let [both, only_read, only_written, all] = classes.map(|ids| {
        globals.extend(ids);
        globals.len() as u32
    });
    let masters = MasterParts { both, read: only_read, written: only_written, all };

    let mut routes = Vec::with_capacity(shared.len());
    for (shared, &(master_parts, _)) in shared.into_iter().zip(&agreed) {
        let first_mirror = globals.len() as u32;
        shared.lists().into_iter().for_each(|ids| globals.extend_from_slice(ids));
        let mirror_parts = shared.parts();
        routes.push(Routes { first_mirror, mirror_parts, master_parts, ..Routes::default() });
    }
    let locals = number_ids(ranks, &globals);
    for (routes, (_, ids)) in routes.iter_mut().zip(agreed) {
        routes.masters = parallel::generate(ids.len(), |at| LocalId(locals.number(ids[at])));
    }
    let layout = Layout { masters, globals, routes, locals };
    verify(net, &layout)?;
    Ok(layout)
}

/// The masters of this host by the four classes of [`MasterParts`].
fn master_classes(mine: &[u32], read: &IdSet, written: &IdSet) -> [Vec<u32>; 4] {
    let of_piece = |piece: Range<usize>| {
        let mut classes: [Vec<u32>; 4] = Default::default();
        for &id in &mine[piece] {
            let class = match (read.contains(id), written.contains(id)) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => 3,
            };
            classes[class].push(id);
        }
        classes
    };
    let both = |mut classes: [Vec<u32>; 4], more: [Vec<u32>; 4]| {
        classes.iter_mut().zip(more).for_each(|(ids, more)| ids.extend(more));
        classes
    };
    parallel::reduce(mine.len(), of_piece, both).unwrap_or_default()
}

/// Numbers ids by their places in `globals`, which has each of them once.
pub(crate) fn number_ids(ranks: RankedIds, globals: &[u32]) -> NumberedIds {
    let locals = parallel::generate(ranks.len(), |_| AtomicU32::new(0));
    parallel::for_each_index(globals.len(), |local| {
        locals[ranks.rank(globals[local])].store(local as u32, Ordering::Relaxed);
    });
    ranks.numbered(parallel::generate(locals.len(), |at| locals[at].load(Ordering::Relaxed)))
}

/// Both ends of every route must list the same vertices in the same order.
fn verify(net: &mut Net, layout: &Layout) -> Result<()> {
    let global = |local: u32| layout.globals[local as usize];
    let mirrors = |routes: &Routes| {
        let first = routes.first_mirror;
        let ids = first..first + routes.mirror_parts.len() as u32;
        checksum(ids.map(global), routes.mirror_parts)
    };
    let masters = |routes: &Routes| {
        checksum(routes.masters.iter().map(|local| global(local.0)), routes.master_parts)
    };
    let ours = parallel::map(&layout.routes, |routes| [mirrors(routes), masters(routes)]);
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
