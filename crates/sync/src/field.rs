//! What the substrate asks of data that lives once per proxy.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use parton_partition::routes::Routes;

use crate::encode::{Places, ValueKind};

/// A value for every proxy of a host, wherever it lives: in memory, on a device, in the arrays of
/// somebody else's engine. All methods work on a whole route at a time and nothing but bytes
/// passes, so that no caller touches single values.
///
/// The life of *updated*: whoever writes a proxy's value marks it updated; the substrate sends what
/// is updated on a route and then calls [`Field::reset`] for it. A [`Field::reduce`] that changes a
/// master, or tells it of an event, marks it updated, so that the broadcast after it goes on to the
/// mirrors; what a mirror is told never marks it updated, or it would be sent back.
pub trait Field {
    /// What values look like and how they may travel.
    fn shape(&self) -> Shape;

    /// Appends values of a route to `out`: with [`Which::Updated`] those that are updated, and
    /// their places, ascending; with [`Which::All`] every value, and no places.
    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing);

    /// What was updated among these consecutive proxies has been sent: it is not updated any more.
    /// In [`Phase::Reduce`] contributions that must count once go back to the identity; masters,
    /// in [`Phase::Broadcast`], keep their values.
    fn reset(&mut self, proxies: Range<u32>, phase: Phase);

    /// Folds values into the proxies at these places.
    ///
    /// In [`Phase::Reduce`] they are masters: those that change become updated, and so do all that
    /// an event is for. In [`Phase::Broadcast`] they are mirrors of a host that did not wait for
    /// their masters: what they have may be better than what arrives, which may be older than what
    /// arrived before. They do not become updated.
    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]);

    /// Gives the mirrors at these places their master's values, where hosts wait for each other.
    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]);

    /// Which field this is, among those that hosts synchronise in one loop without waiting for each
    /// other. Where they do wait, the order of calls tells.
    fn id(&self) -> u8 {
        0
    }

    /// Values of a proxy, of which each is updated and travels by itself. The values of a route are
    /// then counted one by one: that of lane `l` of the proxy at place `p` is at `p * lanes + l`.
    fn lanes(&self) -> usize {
        1
    }
}

/// Places that are looked at before anything is done with them.
const AT_ONCE: usize = 1 << 8;

/// Which way values travel between a master and its mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From mirrors to their master.
    Reduce,
    /// From a master to its mirrors.
    Broadcast,
}

/// What a field's values look like and how they may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a value, and whether they are an integer.
    pub kind: ValueKind,
    /// What may be delivered.
    pub delivery: Delivery,
}

/// What a receiver may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The state of a proxy: telling it again changes nothing, so values that are not updated may
    /// travel too where that is smaller.
    Label,
    /// Something that happened: every updated value arrives exactly once, and no other.
    Event,
}

/// Which values of a route to extract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are updated.
    Updated,
    /// All.
    All,
}

/// Values on their way to a message.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Where on the route they belong.
    pub places: Vec<u32>,
    /// The values one after another, as they lie in memory.
    pub values: Vec<u8>,
}

impl Outgoing {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.places.clear();
        self.values.clear();
    }
}

/// The proxies a message is about, in the order both hosts agreed on.
#[derive(Clone, Debug)]
pub enum Route<'a> {
    /// Consecutive local ids: mirrors of one host's masters.
    Range(Range<u32>),
    /// Masters in the order of a peer's mirrors: a part of the list that is shared with it; and the
    /// global ids of all proxies.
    Masters(&'a Routes, Range<usize>, &'a [u32]),
    /// Any proxies, in this order.
    List(&'a [LocalId]),
}

impl Route<'_> {
    /// Number of proxies.
    pub fn len(&self) -> usize {
        match self {
            Route::Range(range) => range.len(),
            Route::Masters(_, part, _) => part.len(),
            Route::List(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The proxy at a place.
    #[inline]
    pub fn local(&self, place: u32) -> LocalId {
        match self {
            Route::Range(range) => LocalId(range.start + place),
            Route::Masters(routes, part, _) => routes.master(part.start + place as usize),
            Route::List(list) => list[place as usize],
        }
    }

    /// The proxies at some places, in turn.
    pub fn locals<'b>(&'b self, places: Places<'b>) -> impl Iterator<Item = LocalId> + 'b {
        let count = match places {
            Places::All => self.len(),
            Places::Some(list) => list.len(),
        };
        (0..count).map(move |i| match places {
            Places::All => self.local(i as u32),
            Places::Some(list) => self.local(list[i]),
        })
    }

    /// Calls `visit` with the proxy at each of some places, in turn, and with its number among them.
    #[inline(always)]
    pub fn visit(&self, places: Places<'_>, mut visit: impl FnMut(usize, LocalId)) {
        let count = places.count(self.len());
        let mut locals = [LocalId(0); AT_ONCE];
        for first in (0..count).step_by(AT_ONCE) {
            let locals = &mut locals[..AT_ONCE.min(count - first)];
            self.look_up(places, first, locals);
            (first..).zip(&*locals).for_each(|(number, &proxy)| visit(number, proxy));
        }
    }

    /// The proxies at some places from the `first` on: what kind of route it is matters to a loop of
    /// nothing else.
    fn look_up(&self, places: Places<'_>, first: usize, locals: &mut [LocalId]) {
        let end = first + locals.len();
        let found = match self {
            Route::Range(range) => {
                let local = |place| LocalId(range.start + place);
                return match places {
                    Places::All => (first as u32..).zip(locals).for_each(|(p, l)| *l = local(p)),
                    Places::Some(list) => {
                        list[first..end].iter().zip(locals).for_each(|(&p, l)| *l = local(p));
                    }
                };
            }
            Route::Masters(routes, part, _) => routes.masters_at(part.clone()),
            Route::List(list) => list,
        };
        match places {
            Places::All => locals.copy_from_slice(&found[first..end]),
            Places::Some(list) => {
                let each = list[first..end].iter().zip(locals);
                each.for_each(|(&place, local)| *local = found[place as usize]);
            }
        }
    }

    /// Appends values of some proxies to `out`, each of so many bytes that `write` writes, and the
    /// places of those that are updated.
    pub(crate) fn extract(
        &self,
        which: Which,
        updated: &VertexSet,
        out: &mut Outgoing,
        value_bytes: usize,
        write: impl Fn(LocalId, &mut [u8]),
    ) {
        let before = out.places.len();
        let places = match which {
            Which::All => Places::All,
            Which::Updated => {
                self.find(updated, &mut out.places);
                Places::Some(&out.places[before..])
            }
        };
        let count = places.count(self.len());
        let start = out.values.len();
        out.values.resize(start + count * value_bytes, 0);
        let values = &mut out.values[start..];
        self.visit(places, |number, proxy| {
            write(proxy, &mut values[number * value_bytes..][..value_bytes])
        });
    }

    /// Appends the places of those proxies that are in a set, ascending.
    pub fn find(&self, set: &VertexSet, out: &mut Vec<u32>) {
        // Where so few are in it that finding each is less work than going past all.
        let few = |len: usize, each: usize| set.iter().nth(len / each).is_none();
        match self {
            _ if set.is_empty() => {}
            Route::Range(range) => {
                out.reserve(set.count_range(range.clone()));
                set.iter_range(range.clone()).for_each(|proxy| out.push(proxy.0 - range.start));
            }
            Route::Masters(routes, part, globals)
                if let Some(finder) = routes.finder(|cost| few(part.len(), cost), globals) =>
            {
                let before = out.len();
                let places = set.iter().filter_map(|proxy| finder.place_of(proxy));
                let here = places.filter(|place| part.contains(place));
                out.extend(here.map(|place| (place - part.start) as u32));
                out[before..].sort_unstable();
            }
            _ => {
                // Who is in it is hard to guess: all are written, and those kept that are.
                let members = set.members();
                let (mut found, mut kept) = ([0; AT_ONCE], 0);
                self.visit(Places::All, |place, proxy| {
                    found[kept] = place as u32;
                    kept += usize::from(members.contains(proxy));
                    if kept == AT_ONCE {
                        out.extend_from_slice(&found);
                        kept = 0;
                    }
                });
                out.extend_from_slice(&found[..kept]);
            }
        }
    }

    /// Consecutive pieces of at most `len` proxies.
    pub(crate) fn pieces(&self, len: usize) -> impl Iterator<Item = Route<'_>> {
        (0..self.len()).step_by(len).map(move |start| {
            let end = (start + len).min(self.len());
            match self {
                Route::Range(range) => {
                    Route::Range(range.start + start as u32..range.start + end as u32)
                }
                Route::Masters(routes, part, globals) => {
                    Route::Masters(routes, part.start + start..part.start + end, globals)
                }
                Route::List(list) => Route::List(&list[start..end]),
            }
        })
    }
}
