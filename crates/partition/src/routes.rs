//! Routes: the ordered vertices that two hosts share, agreed once and never translated again.
//!
//! The mirrors a host has of one peer's masters are ordered `[only written | both | only read]`: a
//! mirror with in-edges here is some edge's destination, one with out-edges some edge's source.
//! What a program writes at destinations can be new at a prefix of that list, and what it reads
//! at sources is needed at a suffix. Data that flows against edges swaps the two; data that flows
//! both ways needs all.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use parton_graph::bits::BitSet;
use parton_graph::hash::GOLDEN_GAMMA;
use parton_graph::{DenseIndex, LocalId, parallel};
use parton_net::HostId;

/// At which end of its edges a host writes or reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where edges start.
    Source,
    /// Where edges end.
    Destination,
    /// At either.
    Either,
}

/// Which of the two lists that a host shares with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// This host's masters of which the peer has mirrors.
    Masters,
    /// This host's mirrors of the peer's masters.
    Mirrors,
}

/// Names one of the lists of a partition. The list never changes while the partition lives, so a
/// device copies it once and finds it again by this name. What is read or written at one end of
/// edges is a range of places of the list, not a list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId {
    /// The host that shares the list.
    pub peer: HostId,
    /// Whose proxies are on it.
    pub role: Role,
}

/// Lengths of the three parts of a list of shared vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Mirrors with in-edges only.
    pub written: u32,
    /// Mirrors with in- and out-edges.
    pub both: u32,
    /// Mirrors with out-edges only.
    pub read: u32,
}

impl Parts {
    /// Number of shared vertices.
    pub fn len(self) -> usize {
        (self.written + self.both + self.read) as usize
    }

    /// Whether nothing is shared.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The places of mirrors that are at such an end of some edge of theirs.
    pub fn at(self, end: End) -> Range<usize> {
        match end {
            End::Source => self.written as usize..self.len(),
            End::Destination => 0..(self.written + self.both) as usize,
            End::Either => 0..self.len(),
        }
    }

    /// The places of mirrors that are at such an end of their edges, and never at the other.
    pub fn only_at(self, end: End) -> Range<usize> {
        match end {
            End::Source => (self.written + self.both) as usize..self.len(),
            End::Destination => 0..self.written as usize,
            End::Either => 0..0,
        }
    }
}

/// What a host shares with one peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// First local id of this host's mirrors of the peer's masters: they are consecutive.
    pub(crate) first_mirror: u32,
    pub(crate) mirror_parts: Parts,
    /// This host's masters of which the peer has mirrors, in the peer's order.
    pub(crate) masters: Vec<LocalId>,
    pub(crate) master_parts: Parts,
    pub(crate) lookup: LazyLookup,
}

/// The [`Lookup`] of a list, made when the list has been searched often enough.
#[derive(Debug, Default)]
pub(crate) struct LazyLookup {
    made: OnceLock<Lookup>,
    asked: AtomicU32,
}

/// Making a lookup costs as much as about 8 scans of the list.
const SCANS_PER_LOOKUP_BUILD: u32 = 8;
/// One use of the lookup costs as much as scanning about 32 entries.
const ENTRIES_PER_LOOKUP: usize = 32;
/// One binary search costs as much as scanning about 1024 entries.
const ENTRIES_PER_SEARCH: usize = 1024;

impl Clone for LazyLookup {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A lookup is derived from its list: equal lists are equal, whether searched before or not.
impl PartialEq for LazyLookup {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LazyLookup {}

/// The place of each master on a list.
#[derive(Debug)]
struct Lookup {
    listed: DenseIndex,
    /// Places on the list, in the order of local ids.
    places: Vec<u32>,
}

impl Lookup {
    fn new(masters: &[LocalId]) -> Self {
        let universe = masters.iter().map(|master| master.index() + 1).max().unwrap_or(0);
        let mut listed = BitSet::new(universe);
        masters.iter().for_each(|master| _ = listed.insert(master.index()));
        let listed = DenseIndex::new(&listed);
        let mut places = vec![0; masters.len()];
        for (place, master) in masters.iter().enumerate() {
            places[listed.below(master.index())] = place as u32;
        }
        Lookup { listed, places }
    }

    #[inline]
    fn place_of(&self, master: LocalId) -> Option<usize> {
        self.listed.of(master.index()).map(|at| self.places[at] as usize)
    }
}

/// Finds masters on a list that is shared with a peer.
pub struct RouteFinder<'a> {
    routes: &'a Routes,
    globals: &'a [u32],
    lookup: Option<&'a Lookup>,
}

impl RouteFinder<'_> {
    /// The place of a master, if it is on the list.
    #[inline]
    pub fn place_of(&self, master: LocalId) -> Option<usize> {
        match self.lookup {
            Some(lookup) => lookup.place_of(master),
            None => self.search(master),
        }
    }

    /// Each part of the list ascends by global ids.
    fn search(&self, master: LocalId) -> Option<usize> {
        let Routes { masters, master_parts: Parts { written, both, .. }, .. } = self.routes;
        let cuts = [0, *written as usize, (written + both) as usize, masters.len()];
        let global = |listed: &LocalId| self.globals[listed.index()];
        cuts.windows(2).find_map(|cuts| {
            let part = &masters[cuts[0]..cuts[1]];
            let place = part.binary_search_by_key(&global(&master), global).ok()?;
            Some(cuts[0] + place)
        })
    }
}

impl Routes {
    /// This host's mirrors of the peer's masters, those at such an end: consecutive local ids.
    pub fn mirrors(&self, end: End) -> Range<u32> {
        let places = self.mirror_parts.at(end);
        self.first_mirror + places.start as u32..self.first_mirror + places.end as u32
    }

    /// This host's masters whose mirrors at the peer are at such an end, in the order of
    /// [`Routes::mirrors`] there.
    pub fn masters(&self, end: End) -> &[LocalId] {
        &self.masters[self.master_parts.at(end)]
    }

    /// The master at a place of the whole list that is shared with the peer.
    #[inline]
    pub fn master(&self, place: usize) -> LocalId {
        self.masters[place]
    }

    /// The masters at some places of that list.
    #[inline]
    pub fn masters_at(&self, places: Range<usize>) -> &[LocalId] {
        &self.masters[places]
    }

    /// A lookup from masters to their places on that list. Returns `None` if scanning the list is
    /// cheaper: `is_cheaper(cost)` says whether finding the caller's masters is less work, if
    /// finding one costs as much as scanning `cost` entries. `globals` are the global
    /// ids of all proxies.
    pub fn finder<'a>(
        &'a self,
        is_cheaper: impl Fn(usize) -> bool,
        globals: &'a [u32],
    ) -> Option<RouteFinder<'a>> {
        let LazyLookup { made, asked } = &self.lookup;
        if !is_cheaper(ENTRIES_PER_LOOKUP) {
            return None;
        }
        let finder = |lookup| Some(RouteFinder { routes: self, globals, lookup });
        match made.get() {
            Some(lookup) => finder(Some(lookup)),
            None if is_cheaper(ENTRIES_PER_SEARCH) => finder(None),
            // Until enough scans would have paid for the lookup, scanning is less work.
            None if asked.fetch_add(1, Ordering::Relaxed) < SCANS_PER_LOOKUP_BUILD => None,
            None => finder(Some(made.get_or_init(|| Lookup::new(&self.masters)))),
        }
    }

    /// A checksum of the list of mirrors, by the global ids of all proxies.
    pub(crate) fn checksum_of_mirrors(&self, globals: &[u32]) -> u64 {
        let first = self.first_mirror as usize;
        checksum(self.mirror_parts, |place| globals[first + place])
    }

    /// A checksum of the list of masters, by the global ids of all proxies.
    pub(crate) fn checksum_of_masters(&self, globals: &[u32]) -> u64 {
        checksum(self.master_parts, |place| globals[self.masters[place].index()])
    }

    /// How this host's mirrors of the peer's masters are used.
    pub fn mirror_parts(&self) -> Parts {
        self.mirror_parts
    }

    /// How the peer's mirrors of this host's masters are used.
    pub fn master_parts(&self) -> Parts {
        self.master_parts
    }
}

/// Vertices of a list that one thread sums up.
const IDS_PER_CHECKSUM: usize = 1 << 16;

/// A checksum of a list of vertices in order, each found by its place, and of the list's parts.
fn checksum(parts: Parts, id: impl Fn(usize) -> u32 + Sync) -> u64 {
    let add = |sum: u64, next: u64| (sum.rotate_left(5) ^ next).wrapping_mul(GOLDEN_GAMMA);
    let pieces = parallel::pieces(0..parts.len(), IDS_PER_CHECKSUM);
    let sums = parallel::map(&pieces, |piece| {
        piece.clone().fold(0, |sum, place| add(sum, u64::from(id(place))))
    });
    let start =
        u64::from(parts.written) << 42 ^ u64::from(parts.both) << 21 ^ u64::from(parts.read);
    sums.into_iter().fold(start, add)
}
