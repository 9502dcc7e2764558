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

use parton_graph::LocalId;
use parton_net::{HostId, Net};
use rayon::prelude::*;

use crate::id_set::{IdSet, NumberedIds};
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
    /// So many masters that are not sorted.
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

    fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.written.iter().chain(&self.both).chain(&self.read).copied()
    }

    fn encode(&self) -> Vec<u8> {
        let Parts { written, both, read } = self.parts();
        let words = [written, both, read].into_iter().chain(self.ids());
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn decode(bytes: &[u8]) -> Option<(Parts, Vec<u32>)> {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(bytes);
        let &[written, both, read] = words.first_chunk::<3>()?;
        let parts = Parts { written, both, read };
        (words.len() == 3 + parts.len()).then(|| (parts, words[3..].to_vec()))
    }
}

/// Numbers the vertices that `received` and `mine` name, and agrees on routes with every peer.
/// Every host must call this.
pub(crate) fn lay_out(
    net: &mut Net,
    received: &Received,
    masters: &Masters,
    mine: &[u32],
    num_vertices: u32,
    order: Order,
) -> Result<Layout> {
    let host = net.host();
    let (mut read, mut written) = (IdSet::new(num_vertices), IdSet::new(num_vertices));
    for (_, run) in received.runs() {
        read.insert(run.source);
        run.destinations().for_each(|destination| written.insert(destination));
    }
    let mut known = IdSet::new(num_vertices);
    mine.iter().for_each(|&vertex| known.insert(vertex));
    known.union(&read);
    known.union(&written);

    let ids: Vec<u32> = known.iter().collect();
    let owners = masters.resolve(net, &ids)?;
    let mut shared: Vec<Shared> = (0..net.num_hosts()).map(|_| Shared::default()).collect();
    for (&id, owner) in ids.iter().zip(owners).filter(|(_, owner)| *owner != host) {
        let lists = &mut shared[owner.index()];
        match (written.contains(id), read.contains(id)) {
            (true, true) => lists.both.push(id),
            (true, false) => lists.written.push(id),
            _ => lists.read.push(id),
        }
    }
    drop(ids);
    let wanted = net.all_to_all(shared.iter().map(Shared::encode).collect())?;

    // A master is read or written if it, or any mirror of it, is.
    let mut agreed = Vec::with_capacity(wanted.len());
    for (peer, bytes) in HostId::all(wanted.len()).zip(&wanted) {
        let disagree = || Error::Routes { host, peer, count: bytes.len() / 4 };
        let (parts, ids) = Shared::decode(bytes).ok_or_else(disagree)?;
        if !ids.iter().all(|id| mine.binary_search(id).is_ok()) {
            return Err(disagree());
        }
        let (once, twice) = (parts.written as usize, (parts.written + parts.both) as usize);
        ids[..twice].iter().for_each(|&id| written.insert(id));
        ids[once..].iter().for_each(|&id| read.insert(id));
        agreed.push((parts, ids));
    }

    let ranks = known.ranked();
    let degrees = (order == Order::Degree).then(|| {
        let mut degrees = vec![0u64; ranks.len()];
        for (_, run) in received.runs() {
            degrees[ranks.rank(run.source)] += run.len() as u64;
            run.destinations().for_each(|destination| degrees[ranks.rank(destination)] += 1);
        }
        degrees
    });
    let mut locals = vec![0u32; ranks.len()];
    let mut globals = Vec::with_capacity(ranks.len());
    let mut number = |id: u32| {
        locals[ranks.rank(id)] = globals.len() as u32;
        globals.push(id);
        globals.len() as u32
    };
    let class = |id: u32| (read.contains(id), written.contains(id));
    let mut ends = [0; 4];
    for (end, wanted) in
        ends.iter_mut().zip([(true, true), (true, false), (false, true), (false, false)])
    {
        let of_class = mine.iter().copied().filter(|&id| class(id) == wanted);
        let last = match &degrees {
            None => of_class.map(&mut number).last(),
            Some(degrees) => {
                let mut ids: Vec<u32> = of_class.collect();
                ids.par_sort_by_key(|&id| Reverse(degrees[ranks.rank(id)]));
                ids.into_iter().map(&mut number).last()
            }
        };
        *end = last.unwrap_or(0);
    }
    let mut reached = 0;
    let [both, only_read, only_written, all] = ends.map(|end| {
        reached = end.max(reached);
        reached
    });
    let masters = MasterParts { both, read: only_read, written: only_written, all };

    let mut next_mirror = mine.len() as u32;
    let mut routes = Vec::with_capacity(shared.len());
    for (shared, (master_parts, ids)) in shared.iter().zip(agreed) {
        shared.ids().for_each(|id| {
            number(id);
        });
        let mirror_parts = shared.parts();
        routes.push((
            Routes { first_mirror: next_mirror, mirror_parts, master_parts, ..Routes::default() },
            ids,
        ));
        next_mirror += mirror_parts.len() as u32;
    }
    let locals = ranks.numbered(locals);
    let layout = Layout { masters, globals, routes: Vec::new(), locals };
    let routes = routes
        .into_iter()
        .map(|(route, ids)| {
            let masters = ids.iter().map(|&id| LocalId(layout.local(id))).collect();
            Routes { masters, ..route }
        })
        .collect();
    let layout = Layout { routes, ..layout };
    verify(net, &layout)?;
    Ok(layout)
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
    let sums = layout.routes.iter().map(|r| [mirrors(r), masters(r)]);
    let messages = sums.map(|sums| bytemuck::cast_slice(&sums).to_vec()).collect();
    let theirs = net.all_to_all(messages)?;
    for (peer, (theirs, routes)) in HostId::all(theirs.len()).zip(theirs.iter().zip(&layout.routes))
    {
        let expected = [masters(routes), mirrors(routes)];
        if bytemuck::pod_collect_to_vec::<u8, u64>(theirs) != expected {
            let count = routes.masters.len() + routes.mirror_parts.len();
            return Err(Error::Routes { host: net.host(), peer, count });
        }
    }
    Ok(())
}
