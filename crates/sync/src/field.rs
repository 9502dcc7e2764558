//! What the substrate asks of data that lives once per proxy.

use std::num::NonZeroU64;
use std::ops::Range;

use parton_net::handover::Item;
use parton_partition::End;

use crate::encode::{Places, ValueKind};
use crate::error::Result;
use crate::route::Route;

/// A value for every proxy of a host, wherever it lives: in memory, on a device, in the arrays of
/// somebody else's engine. All methods work on whole routes and nothing but bytes passes, so that
/// no caller touches single values.
///
/// One exchange of the substrate makes these calls:
///
/// ```text
/// lend(routes to hosts with the same memory)             where hosts of one process share a device
/// begin_extract(all other routes of the phase)           a device packs all of them, and starts to copy
/// for each of these routes: extract(route, Updated)      … and hands over the first when it is there
///                           extract(route, At(places))   where more than the updated may pay
///                                                        by all threads at once, where the field is shared()
/// reset(phase, end, …)                                   all messages are on their way
/// for each message that arrives: absorb(…)               a device may queue it; or absorb_lent(…)
/// finish_absorb()                                        … until here
/// ```
///
/// The life of *updated*: code that writes a proxy's value marks the proxy updated. The substrate
/// sends the updated values of a route and then calls [`Field::reset`]. [`Absorb::FoldAtMasters`]
/// marks the masters that it changes, so that the next broadcast passes the change on. What a
/// mirror receives never marks it, or the mirror would send it back.
///
/// A failure of a device is an [`Error::Device`](crate::Error::Device). The exchange ends with it.
pub trait Field {
    /// What values look like and how they may travel.
    fn shape(&self) -> Shape;

    /// Announces that values of all these routes will be extracted, in this order; of each route the
    /// updated values first. Memory of the host needs no preparation.
    fn begin_extract(&mut self, phase: Phase, routes: &[Route<'_>]) -> Result<()> {
        let _ = (phase, routes);
        Ok(())
    }

    /// The field as threads of its host share it, if several of them may extract values at once.
    fn shared(&self) -> Option<&(dyn Field + Sync)> {
        None
    }

    /// The values of a route that [`Which`] names. They lie in `staging`, which comes empty, or in
    /// memory of the field, such as that into which a device copies.
    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>>;

    /// The updated values among these proxies have been sent, and are not updated any more.
    ///
    /// In [`Phase::Reduce`] the proxies are mirrors; contributions that must count once go back to
    /// the identity. In [`Phase::Broadcast`] they are masters, which keep their values. `end` says
    /// which mirrors have the values: the ones at this end of their edges, or, with [`End::Either`],
    /// all. A field that is read at both ends, in broadcasts of their own, has to remember what it
    /// owes the other mirrors; [`Updates`](crate::Updates) does.
    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()>;

    /// Takes values in at some places of a route.
    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()>;

    /// The memory in which values live, if fields of other hosts in this process can read them there: a number
    /// that is the same for the same memory.
    fn memory(&self) -> Option<NonZeroU64> {
        None
    }

    /// Hands over all values of these routes where they are, an item for each, to fields in the same memory.
    /// `None` if not all values are updated, or if they would travel in fewer bytes than they have.
    fn lend(&mut self, phase: Phase, routes: &[Route<'_>]) -> Result<Option<Vec<Item>>> {
        let _ = (phase, routes);
        Ok(None)
    }

    /// Takes in what a field in the same memory has lent, at all places of a route.
    /// False if the item is none that this field understands.
    fn absorb_lent(&mut self, how: Absorb, route: &Route<'_>, item: Item) -> Result<bool> {
        let _ = (how, route, item);
        Ok(false)
    }

    /// Everything that was absorbed must be in place now.
    fn finish_absorb(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Which way values travel between a master and its mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// From mirrors to their master.
    Reduce,
    /// From a master to its mirrors.
    Broadcast,
}

/// How values that arrive become those of proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absorb {
    /// Contributions to masters. A master that changes becomes updated, and so does every master
    /// that an event is for.
    FoldAtMasters,
    /// Values for mirrors of a host that does not wait for their masters: the mirror may have a
    /// better value already, and the values may arrive in another order than they were sent.
    FoldAtMirrors,
    /// Values for mirrors of hosts that wait for each other: they replace what mirrors have.
    SetAtMirrors,
}

/// What a field's values look like and how they may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a value, and whether they are an integer.
    pub kind: ValueKind,
    /// What may be delivered.
    pub delivery: Delivery,
    /// Values of a proxy, of which each is updated and travels by itself. Places on a route then
    /// count values: lane `l` of the proxy at place `p` is at `p * lanes + l`.
    pub lanes: usize,
    /// Tells this field from others that hosts synchronise in one loop without waiting for each
    /// other. Where hosts wait, the order of calls tells.
    pub id: u8,
}

impl Shape {
    /// One value per proxy, of the only field in its loop.
    pub fn new(kind: ValueKind, delivery: Delivery) -> Self {
        Shape { kind, delivery, lanes: 1, id: 0 }
    }
}

/// How often a value may reach a receiver.
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
pub enum Which<'a> {
    /// The updated values, with their places.
    Updated,
    /// The values at these places, updated or not. Their places need not be returned.
    At(Places<'a>),
}

/// Memory for values on their way to a message.
#[derive(Debug, Default)]
pub struct Staging {
    /// Where on the route they belong, ascending.
    pub places: Vec<u32>,
    /// The values one after another, as they travel.
    pub values: Vec<u8>,
}

impl Staging {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.places.clear();
        self.values.clear();
    }

    /// The places and values that were put in.
    pub fn extracted(&self) -> Extracted<'_> {
        Extracted { places: &self.places, values: &self.values }
    }
}

/// Values that a field hands over.
#[derive(Clone, Copy, Debug)]
pub struct Extracted<'a> {
    /// Where on the route they belong, ascending; with [`Which::At`] the places asked for, or none.
    pub places: &'a [u32],
    /// The values one after another, as they travel.
    pub values: &'a [u8],
}
