//! The proxies that a message is about, in the order both hosts agreed on.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_net::HostId;
use parton_partition::End;
use parton_partition::routes::{Role, RouteId, Routes};

use crate::encode::Places;

/// Places that a thread looks at where several look for updated proxies.
const STEPS_PER_TASK: usize = 1 << 15;
/// Places that are translated to proxies before any proxy is visited.
const PLACES_PER_BATCH: usize = 1 << 8;

/// A piece of a list of proxies that this host shares with a peer. A message names *places* of the
/// piece, positions from 0 on.
#[derive(Clone, Debug)]
pub struct Route<'a> {
    /// `None` for proxies that came as global ids.
    id: Option<RouteId>,
    /// The places of this piece on the whole list.
    part: Range<u32>,
    proxies: Proxies<'a>,
}

/// The whole list that a route is a piece of.
#[derive(Clone, Copy, Debug)]
enum Proxies<'a> {
    /// `len` consecutive local ids from the first on.
    Mirrors { first: u32, len: u32 },
    /// Masters in the order of the peer's mirrors; with the global ids of all proxies.
    Masters { routes: &'a Routes, globals: &'a [u32] },
    /// Any proxies.
    Listed(&'a [LocalId]),
}

impl<'a> Route<'a> {
    /// This host's mirrors of the peer's masters that are at this end of edges.
    pub fn mirrors(peer: HostId, routes: &Routes, end: End) -> Self {
        let part = routes.mirror_parts().at(end);
        let all = routes.mirrors(End::Either);
        Route {
            id: Some(RouteId { peer, role: Role::Mirrors }),
            part: part.start as u32..part.end as u32,
            proxies: Proxies::Mirrors { first: all.start, len: all.len() as u32 },
        }
    }

    /// This host's masters whose mirrors at the peer are at this end of edges. `globals` are the
    /// global ids of all proxies.
    pub fn masters(peer: HostId, routes: &'a Routes, end: End, globals: &'a [u32]) -> Self {
        let part = routes.master_parts().at(end);
        Route {
            id: Some(RouteId { peer, role: Role::Masters }),
            part: part.start as u32..part.end as u32,
            proxies: Proxies::Masters { routes, globals },
        }
    }

    /// Proxies that hosts did not agree on before: they came as global ids.
    pub fn listed(list: &'a [LocalId]) -> Self {
        Route { id: None, part: 0..list.len() as u32, proxies: Proxies::Listed(list) }
    }

    /// The name of the list that this is a piece of. `None` if this is a list of its own, which
    /// comes once.
    pub fn id(&self) -> Option<RouteId> {
        self.id
    }

    /// The places of this piece on the list with that name.
    pub fn part(&self) -> Range<u32> {
        self.part.clone()
    }

    /// The list with that name, from end to end: what a device copies once.
    pub fn whole(&self) -> Route<'a> {
        let len = match self.proxies {
            Proxies::Mirrors { len, .. } => len,
            Proxies::Masters { routes, .. } => routes.master_parts().len() as u32,
            Proxies::Listed(list) => list.len() as u32,
        };
        Route { part: 0..len, ..self.clone() }
    }

    /// The local ids of this piece, if they are consecutive.
    pub fn range(&self) -> Option<Range<u32>> {
        match self.proxies {
            Proxies::Mirrors { first, .. } => Some(first + self.part.start..first + self.part.end),
            _ => None,
        }
    }

    /// Number of proxies.
    pub fn len(&self) -> usize {
        self.part.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.part.is_empty()
    }

    /// The proxy at a place.
    #[inline]
    pub fn local(&self, place: u32) -> LocalId {
        let place = self.part.start + place;
        match self.proxies {
            Proxies::Mirrors { first, .. } => LocalId(first + place),
            Proxies::Masters { routes, .. } => routes.master(place as usize),
            Proxies::Listed(list) => list[place as usize],
        }
    }

    /// The proxies at some places, in turn.
    pub fn locals<'b>(&'b self, places: Places<'b>) -> impl Iterator<Item = LocalId> + 'b {
        (0..places.count(self.len())).map(move |i| match places {
            Places::All => self.local(i as u32),
            Places::Some(list) => self.local(list[i]),
        })
    }

    /// Calls `visit` with the proxy at each of some places, in turn, and with its number among them.
    #[inline(always)]
    pub fn visit(&self, places: Places<'_>, visit: impl FnMut(usize, LocalId)) {
        self.visit_some(places, 0..places.count(self.len()), visit);
    }

    /// The same for some of these numbers.
    #[inline(always)]
    pub(crate) fn visit_some(
        &self,
        places: Places<'_>,
        numbers: Range<usize>,
        mut visit: impl FnMut(usize, LocalId),
    ) {
        let mut locals = [LocalId(0); PLACES_PER_BATCH];
        for first in numbers.clone().step_by(PLACES_PER_BATCH) {
            let locals = &mut locals[..PLACES_PER_BATCH.min(numbers.end - first)];
            self.look_up(places, first, locals);
            (first..).zip(&*locals).for_each(|(number, &proxy)| visit(number, proxy));
        }
    }

    /// Looks up the proxies at some places from the `first` on. It has a loop of its own, so that
    /// the caller's loop does not depend on the kind of route.
    fn look_up(&self, places: Places<'_>, first: usize, locals: &mut [LocalId]) {
        let end = first + locals.len();
        let part = self.part.start as usize..self.part.end as usize;
        let list = match self.proxies {
            Proxies::Mirrors { first: first_mirror, .. } => {
                let start = first_mirror + self.part.start;
                return match places {
                    Places::All => {
                        (first as u32..).zip(locals).for_each(|(p, l)| *l = LocalId(start + p));
                    }
                    Places::Some(some) => {
                        let each = some[first..end].iter().zip(locals);
                        each.for_each(|(&p, l)| *l = LocalId(start + p));
                    }
                };
            }
            Proxies::Masters { routes, .. } => routes.masters_at(part),
            Proxies::Listed(list) => &list[part],
        };
        match places {
            Places::All => locals.copy_from_slice(&list[first..end]),
            Places::Some(some) => {
                let each = some[first..end].iter().zip(locals);
                each.for_each(|(&place, local)| *local = list[place as usize]);
            }
        }
    }

    /// Appends the places of those proxies that are in a set, ascending.
    pub fn find(&self, set: &VertexSet, out: &mut Vec<u32>) {
        // Whether finding each member costs less than scanning the route.
        let is_cheaper = |cost: usize| set.iter().nth(self.len() / cost).is_none();
        match self.proxies {
            _ if set.is_empty() => {}
            Proxies::Mirrors { first, .. } => {
                let (start, end) = (first + self.part.start, first + self.part.end);
                let count = set.count_range(start..end);
                let find = |places: Range<u32>, out: &mut Vec<u32>| {
                    let members = set.iter_range(start + places.start..start + places.end);
                    members.for_each(|proxy| out.push(proxy.0 - start));
                };
                out.reserve(count);
                self.in_pieces(count, out, find);
            }
            Proxies::Masters { routes, globals }
                if let Some(finder) = routes.finder(is_cheaper, globals) =>
            {
                let (before, part) = (out.len(), self.part());
                let places = set.iter().filter_map(|proxy| finder.place_of(proxy));
                let here = places.map(|place| place as u32).filter(|place| part.contains(place));
                out.extend(here.map(|place| place - part.start));
                out[before..].sort_unstable();
            }
            _ => {
                // Membership is hard to predict: every place is written, and only the places of
                // members are kept.
                let members = set.members();
                self.in_pieces(self.len(), out, |places, out| {
                    let (mut found, mut kept) = ([0; PLACES_PER_BATCH], 0);
                    let numbers = places.start as usize..places.end as usize;
                    self.visit_some(Places::All, numbers, |place, proxy| {
                        found[kept] = place as u32;
                        kept += usize::from(members.contains(proxy));
                        if kept == PLACES_PER_BATCH {
                            out.extend_from_slice(&found);
                            kept = 0;
                        }
                    });
                    out.extend_from_slice(&found[..kept]);
                });
            }
        }
    }

    /// Appends what `find` appends for all places, which takes about this many steps: by all threads, if they are
    /// many.
    fn in_pieces(
        &self,
        steps: usize,
        out: &mut Vec<u32>,
        find: impl Fn(Range<u32>, &mut Vec<u32>) + Sync,
    ) {
        if steps < 2 * STEPS_PER_TASK || rayon::current_num_threads() == 1 {
            return find(0..self.len() as u32, out);
        }
        let pieces = parallel::pieces(0..self.len(), STEPS_PER_TASK);
        let found = parallel::map(&pieces, |piece| {
            let mut found = Vec::new();
            find(piece.start as u32..piece.end as u32, &mut found);
            found
        });
        match out.is_empty() {
            true => *out = parallel::concat(&found),
            false => found.iter().for_each(|found| out.extend_from_slice(found)),
        }
    }

    /// The piece of a route of masters whose mirrors are at this end of edges and never at the other.
    /// `None` if there are none.
    pub fn only_at(&self, end: End) -> Option<Route<'a>> {
        let Proxies::Masters { routes, .. } = self.proxies else { return None };
        let only = routes.master_parts().only_at(end);
        let start = self.part.start.max(only.start as u32);
        let part = start..self.part.end.min(only.end as u32);
        (!part.is_empty()).then(|| Route { part, ..self.clone() })
    }

    /// Consecutive pieces of at most `len` proxies.
    pub(crate) fn pieces(&self, len: usize) -> impl Iterator<Item = Route<'a>> + use<'a> {
        let (route, count) = (self.clone(), self.len());
        (0..count).step_by(len).map(move |start| {
            let (first, end) = (route.part.start, (start + len).min(count));
            Route { part: first + start as u32..first + end as u32, ..route.clone() }
        })
    }
}
