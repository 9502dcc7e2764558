//! The substrate: updated values travel along the routes, and every proxy agrees again.
//!
//! Hosts either wait for each other, and every exchange brings one message from each peer that has
//! a route here, or, in an epoch, they do not: then only what is updated is sent, what has arrived
//! is taken in, and what mirrors are told is folded in, as it may be older than what they have.

use std::ops::Range;
use std::time::Duration;

use parton_graph::LocalId;
use parton_net::{HostId, Net, Tag};
use parton_partition::partition::Translation;
use parton_partition::{End, Partition};

use crate::encode::{self, Decoded, DecodedPlaces, Places, Plan, Size};
use crate::epoch::{Counts, Epoch, MOST_PIECES};
use crate::error::{Error, Result};
use crate::field::{Delivery, Field, Outgoing, Phase, Route, Shape, Which};
use crate::governor::{Governor, Waits};
use crate::termination::Detector;
use crate::volume::Volume;

/// Which of Gluon's optimisations to use. All of them, unless their worth is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimize {
    /// Only mirrors that can be written take part in reducing, and only those that are read in
    /// broadcasting. Without it every mirror takes part in both.
    pub structural: bool,
    /// Both ends of a route know its order, so that messages name places on it, coded as small as
    /// can be. Without it each value travels with its vertex's global id.
    pub temporal: bool,
}

impl Optimize {
    /// Both.
    pub const ALL: Optimize = Optimize { structural: true, temporal: true };
    /// Neither.
    pub const NONE: Optimize = Optimize { structural: false, temporal: false };
    /// Every way to choose, by the name users give.
    pub const NAMES: [(&str, Optimize); 4] = [
        ("all", Optimize::ALL),
        ("none", Optimize::NONE),
        ("structural", Optimize { structural: true, temporal: false }),
        ("temporal", Optimize { structural: false, temporal: true }),
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        let (name, _) = Self::NAMES.iter().find(|(_, known)| *known == self).expect("all four");
        name
    }
}

/// A message of any length, for [`Substrate::ship`].
#[derive(Clone, Debug, Default)]
pub struct Shipment {
    /// What is sent.
    pub bytes: Vec<u8>,
    /// How many of these bytes are values; the others say what they are for.
    pub values: u64,
}

/// Channel of all messages between proxies.
const CHANNEL: u16 = 0x20;
/// Bytes of values of one message at most. Longer routes take several messages, so that none is
/// ever near what a transport or a 32-bit count can carry.
const BYTES_PER_MESSAGE: usize = 1 << 29;

/// Values that are not updated are looked at when more than one in so many is: a few bytes are
/// not worth the time of all places of a route.
const DENSE_AT_LEAST: usize = 16;
/// Values that tell whether it can pay to send all.
const SAMPLES: usize = 16;

/// One host's end of the synchronisation of fields. All hosts must call the same methods in the
/// same order.
///
/// ```
/// use parton_graph::{LocalId, with_csr};
/// use parton_net::Cluster;
/// use parton_partition::{End, Input, Partition, Plan};
/// use parton_sync::reduction::Sum;
/// use parton_sync::{CpuField, Optimize, Substrate};
///
/// // In-degrees: every host counts its own edges, and masters get the sum.
/// let input = Input::open("star:50").unwrap();
/// let degrees = Cluster::local(3).launch(|net| {
///     let partition = Partition::build(net, &input, &Plan::new("cvc")).unwrap();
///     let mut counts = CpuField::<Sum<u64>>::accumulator(partition.num_proxies());
///     with_csr!(partition.out_edges(), csr => for source in csr.vertices() {
///         for &target in csr.targets(source) {
///             counts.fold(target, 1);
///             counts.touch(target);
///         }
///     });
///     Substrate::new(&partition, net, Optimize::ALL).reduce(&mut counts, End::Destination)?;
///     let masters = (0..partition.num_masters() as u32).map(LocalId);
///     Ok::<_, parton_sync::Error>(masters.map(|master| counts.get(master)).max())
/// });
/// assert_eq!(degrees.unwrap().into_iter().max(), Some(Some(49)));
/// ```
pub struct Substrate<'a> {
    partition: &'a Partition,
    net: &'a mut Net,
    optimize: Optimize,
    /// Without memoised order: which proxy a global id is.
    translation: Option<Translation>,
    /// Exchanges so far; every one has a tag of its own.
    exchanges: u64,
    places_per_message: usize,
    /// What went to each host since last asked.
    sent: Vec<Volume>,
    outgoing: Outgoing,
    /// Where hosts do not wait for each other.
    epoch: Option<Epoch>,
    /// Time spent waiting since last asked.
    rested: Duration,
}

impl<'a> Substrate<'a> {
    /// A substrate over the routes of `partition`.
    pub fn new(partition: &'a Partition, net: &'a mut Net, optimize: Optimize) -> Self {
        let translation = (!optimize.temporal).then(|| partition.translation());
        let hosts = net.num_hosts();
        assert_eq!(hosts, partition.num_hosts(), "a partition for as many hosts as there are");
        Substrate {
            partition,
            net,
            optimize,
            translation,
            exchanges: 0,
            places_per_message: usize::MAX,
            sent: vec![Volume::default(); hosts],
            outgoing: Outgoing::default(),
            epoch: None,
            rested: Duration::ZERO,
        }
    }

    /// Lets a message be about so many places at most. All hosts must agree.
    pub fn with_places_per_message(mut self, places: usize) -> Self {
        self.places_per_message = places.max(1);
        self
    }

    /// The same way to the other hosts over another partition, as long as that is needed. Every host
    /// must call this, and use nothing else meanwhile.
    pub fn over<'b>(&'b mut self, partition: &'b Partition) -> Substrate<'b> {
        let over = Substrate::new(partition, self.net, self.optimize);
        let (exchanges, places_per_message) = (self.exchanges, self.places_per_message);
        Substrate { exchanges, places_per_message, ..over }
    }

    /// Counts a message to a host that is not a field's.
    pub fn count(&mut self, to: HostId, bytes: u64) {
        let size = Size { values: bytes, metadata: 0 };
        self.sent[to.index()].count(Phase::Broadcast, size);
    }

    /// Proxies of one message at most, whatever is updated: both ends split a route the same way.
    fn places_per_message(&self, field: &dyn Field) -> usize {
        // A route is never cut into more pieces than a tag can name.
        let least = (self.partition.num_vertices() as usize / MOST_PIECES).max(1);
        let bytes = (field.shape().kind.bytes() * field.lanes()).max(1);
        (BYTES_PER_MESSAGE / bytes).min(self.places_per_message).max(least)
    }

    /// From here on hosts do not wait for each other; what is returned finds out when all are done.
    /// With `governed`, hosts wait a little where that promises to save work. Every host must call
    /// this, and [`Substrate::end_epoch`] when it is over.
    pub fn begin_epoch(&mut self, governed: bool) -> Result<Detector> {
        let (hosts, number) = (self.net.num_hosts(), self.net.next_epoch());
        Epoch::check_late(number, false, self.net)?;
        let governor = governed.then(|| Governor::new(hosts, self.net.now()));
        self.epoch = Some(Epoch { number, counts: Counts::default(), governor });
        Ok(Detector::new(number, hosts))
    }

    /// Hosts wait for each other again: all are done. How they waited all the same.
    pub fn end_epoch(&mut self) -> Result<Waits> {
        let Some(epoch) = self.epoch.take() else { return Ok(Waits::default()) };
        Epoch::check_late(epoch.number, true, self.net)?;
        Ok(epoch.governor.map_or(Waits::default(), |governor| governor.account))
    }

    /// Messages between proxies that this host has sent and taken in, in this epoch.
    pub fn counts(&self) -> Counts {
        self.epoch.as_ref().map_or(Counts::default(), |epoch| epoch.counts)
    }

    /// Time this host has waited for others since this was last asked.
    pub fn take_rested(&mut self) -> Duration {
        std::mem::take(&mut self.rested)
    }

    /// The host has waited for others, and goes on.
    pub(crate) fn rested_since(&mut self, start: Duration) {
        let now = self.net.now();
        self.rested += now.saturating_sub(start);
        if let Some(governor) = self.epoch.as_mut().and_then(|epoch| epoch.governor.as_mut()) {
            governor.resume(now);
        }
    }

    /// Makes a field agree everywhere it is read after it was written at one end of edges.
    pub fn sync(&mut self, field: &mut dyn Field, written: End, read: End) -> Result<()> {
        self.reduce(field, written)?;
        self.broadcast(field, read)
    }

    /// Folds what mirrors were given at the `written` end of edges into their masters.
    /// Contributions reach a master in the order of the hosts they come from.
    pub fn reduce(&mut self, field: &mut dyn Field, written: End) -> Result<()> {
        self.exchange(field, Phase::Reduce, written)
    }

    /// Gives mirrors that are read at the `read` end of edges what is new at their masters.
    pub fn broadcast(&mut self, field: &mut dyn Field, read: End) -> Result<()> {
        self.exchange(field, Phase::Broadcast, read)?;
        // Also where no peer reads: an update that nobody needs must not wait for a later phase.
        field.reset(0..self.partition.num_masters() as u32, Phase::Broadcast);
        Ok(())
    }

    /// Sends every peer a message of any length and takes theirs, in host order: for contributions
    /// that have no fixed size and so are no field. Only peers take part that share proxies at this
    /// end of edges; of the others comes nothing. Hosts must wait for each other.
    pub fn ship(
        &mut self,
        phase: Phase,
        end: End,
        mut shipments: Vec<Shipment>,
    ) -> Result<Vec<Vec<u8>>> {
        assert!(self.epoch.is_none(), "what has no fixed size travels in rounds only");
        let tag = Tag::user(CHANNEL, self.exchanges);
        self.exchanges += 1;
        for peer in self.net.peers() {
            if self.route_to(peer, phase, end).is_empty() {
                continue;
            }
            let Shipment { bytes, values } = std::mem::take(&mut shipments[peer.index()]);
            let mut rest = &bytes[..];
            loop {
                // The last byte says whether more follows.
                let (piece, after) = rest.split_at(rest.len().min(BYTES_PER_MESSAGE));
                rest = after;
                self.net.send(peer, tag, [piece, &[u8::from(!rest.is_empty())]].concat())?;
                self.sent[peer.index()].messages += 1;
                if rest.is_empty() {
                    break;
                }
            }
            let metadata = bytes.len() as u64 - values + 1;
            self.sent[peer.index()].count_bytes(phase, Size { values, metadata });
        }
        let mut received = vec![Vec::new(); self.partition.num_hosts()];
        for peer in HostId::all(received.len()).filter(|&peer| peer != self.partition.host()) {
            if self.route_from(peer, phase, end).is_empty() {
                continue;
            }
            let all = &mut received[peer.index()];
            loop {
                let start = self.net.now();
                let mut bytes = self.net.receive(peer, tag)?;
                self.rested_since(start);
                let more = bytes.pop();
                match all.is_empty() {
                    true => *all = bytes,
                    false => all.extend(bytes),
                }
                if more != Some(1) {
                    break;
                }
            }
        }
        Ok(received)
    }

    /// The way to the other hosts, for what is not a field.
    pub fn net(&mut self) -> &mut Net {
        self.net
    }

    /// The partition whose proxies are kept consistent.
    pub fn partition(&self) -> &'a Partition {
        self.partition
    }

    /// What was sent to each host since this was last asked.
    pub fn take_sent(&mut self) -> Vec<Volume> {
        let nothing = vec![Volume::default(); self.sent.len()];
        std::mem::replace(&mut self.sent, nothing)
    }

    fn exchange(&mut self, field: &mut dyn Field, phase: Phase, end: End) -> Result<()> {
        let end = if self.optimize.structural { end } else { End::Either };
        let tags = match &self.epoch {
            Some(epoch) => epoch.tags(field.id(), phase),
            None => {
                let tag = |number| Tag::user(CHANNEL, number);
                self.exchanges += 1;
                tag(self.exchanges - 1)..tag(self.exchanges)
            }
        };
        for peer in self.net.peers() {
            self.send(field, peer, &tags, phase, &self.route_to(peer, phase, end))?;
            if phase == Phase::Reduce {
                field.reset(self.partition.routes(peer).mirrors(end), phase);
            }
        }
        if self.epoch.is_some() {
            return self.take_in(field, &tags, phase, end);
        }
        // In host order, whatever arrives first: sums of floating-point numbers are repeatable.
        let partition = self.partition;
        for peer in HostId::all(partition.num_hosts()).filter(|&peer| peer != partition.host()) {
            let route = self.route_from(peer, phase, end);
            for piece in route.pieces(self.places_per_message(field)) {
                let start = self.net.now();
                let bytes = self.net.receive(peer, tags.start)?;
                self.rested_since(start);
                self.apply(field, peer, phase, piece, &bytes)?;
            }
        }
        Ok(())
    }

    /// What goes to a peer.
    fn route_to(&self, peer: HostId, phase: Phase, end: End) -> Route<'a> {
        match phase {
            Phase::Reduce => self.mirrors_of(peer, end),
            Phase::Broadcast => self.masters_for(peer, end),
        }
    }

    /// What comes from a peer.
    fn route_from(&self, peer: HostId, phase: Phase, end: End) -> Route<'a> {
        match phase {
            Phase::Reduce => self.masters_for(peer, end),
            Phase::Broadcast => self.mirrors_of(peer, end),
        }
    }

    fn mirrors_of(&self, peer: HostId, end: End) -> Route<'a> {
        Route::Range(self.partition.routes(peer).mirrors(end))
    }

    fn masters_for(&self, peer: HostId, end: End) -> Route<'a> {
        let routes = self.partition.routes(peer);
        Route::Masters(routes, routes.master_parts().at(end), self.partition.globals())
    }

    fn send(
        &mut self,
        field: &dyn Field,
        peer: HostId,
        tags: &Range<Tag>,
        phase: Phase,
        route: &Route<'_>,
    ) -> Result<()> {
        let places = self.places_per_message(field);
        for (number, piece) in route.pieces(places).enumerate() {
            self.outgoing.clear();
            field.extract(piece.clone(), Which::Updated, &mut self.outgoing);
            let tag = match &mut self.epoch {
                Some(_) if self.outgoing.places.is_empty() => continue,
                Some(epoch) => {
                    epoch.counts.sent += 1;
                    Epoch::piece_tag(tags, number)
                }
                None => tags.start,
            };
            let (bytes, size) = match self.optimize.temporal {
                true => smallest(field, &piece, &mut self.outgoing),
                false => self.with_ids(field, &piece)?,
            };
            self.sent[peer.index()].count(phase, size);
            self.net.send(peer, tag, bytes)?;
        }
        Ok(())
    }

    /// Folds in whatever has arrived.
    fn take_in(
        &mut self,
        field: &mut dyn Field,
        tags: &Range<Tag>,
        phase: Phase,
        end: End,
    ) -> Result<()> {
        while self.net.listen(Duration::ZERO)? {}
        let (partition, start) = (self.partition, self.net.now());
        if let Some(governor) = self.epoch.as_mut().and_then(|epoch| epoch.governor.as_mut()) {
            let may_speak = |peer: usize| {
                let routes = partition.routes(HostId(peer as u16));
                match phase {
                    Phase::Reduce => !routes.master_parts().at(end).is_empty(),
                    Phase::Broadcast => !routes.mirrors(end).is_empty(),
                }
            };
            governor.wait(self.net, phase, tags.clone(), may_speak)?;
            self.rested += self.net.now().saturating_sub(start);
        }
        while let Some(message) = self.net.take(tags.clone()) {
            let (from, piece) = (message.from, Epoch::piece(tags, message.tag));
            let route = self.route_from(from, phase, end);
            let places = self.places_per_message(field);
            let pieces = route.len().div_ceil(places);
            let Some(route) = route.pieces(places).nth(piece) else {
                return Err(Error::Piece { from, piece, pieces });
            };
            self.apply(field, from, phase, route, &message.bytes)?;
            if let Some(epoch) = &mut self.epoch {
                epoch.counts.received += 1;
            }
        }
        Ok(())
    }

    /// Values with global ids; where a proxy has several, these are counted like those of a route.
    fn with_ids(&self, field: &dyn Field, route: &Route<'_>) -> Result<(Vec<u8>, Size)> {
        let (lanes, vertices) = (field.lanes() as u64, self.partition.num_vertices());
        if vertices * lanes > 1 << 32 {
            return Err(Error::TooManyValues { vertices, lanes });
        }
        let id = |&place: &u32| {
            let (place, lane) = (u64::from(place) / lanes, u64::from(place) % lanes);
            (self.partition.global(route.local(place as u32)).0 * lanes + lane) as u32
        };
        let ids: Vec<u32> = self.outgoing.places.iter().map(id).collect();
        Ok(encode::write_with_ids(field.shape().kind, &ids, &self.outgoing.values))
    }

    /// Gives the proxies of a route what a message says.
    fn apply(
        &self,
        field: &mut dyn Field,
        peer: HostId,
        phase: Phase,
        route: Route<'_>,
        bytes: &[u8],
    ) -> Result<()> {
        let wire = |error| Error::Wire { from: peer, error };
        let Decoded { places, values } =
            encode::decode(field.shape().kind, route.len() * field.lanes(), bytes).map_err(wire)?;
        let lanes = field.lanes() as u32;
        let mut apply = |route: Route<'_>, places: Places<'_>| match phase {
            Phase::Broadcast if self.epoch.is_none() => field.set(route, places, &values),
            _ => field.reduce(phase, route, places, &values),
        };
        match places {
            DecodedPlaces::All => apply(route, Places::All),
            DecodedPlaces::Some(places) => apply(route, Places::Some(&places)),
            DecodedPlaces::GlobalIds(ids) => {
                let vertices: Vec<u32> = ids.iter().map(|id| id / lanes).collect();
                let locals = self.locals(peer, phase, &vertices)?;
                let place = |(place, id): (u32, &u32)| place * lanes + id % lanes;
                let places: Vec<u32> = (0..).zip(&ids).map(place).collect();
                apply(Route::List(&locals), Places::Some(&places));
            }
        }
        Ok(())
    }

    /// The proxies that a peer's global ids stand for: masters of this host, or mirrors of the
    /// peer's.
    fn locals(&self, from: HostId, phase: Phase, ids: &[u32]) -> Result<Vec<LocalId>> {
        let expected = match phase {
            Phase::Reduce => 0..self.partition.num_masters() as u32,
            Phase::Broadcast => self.partition.routes(from).mirrors(End::Either),
        };
        let find = |&id: &u32| {
            let local = self.translation.as_ref().and_then(|known| known.local(id));
            local.filter(|local| expected.contains(&local.0)).ok_or(Error::NotShared {
                from,
                host: self.partition.host(),
                id,
            })
        };
        ids.iter().map(find).collect()
    }
}

/// A few values of a route.
fn sample(field: &dyn Field, route: &Route<'_>) -> Vec<u8> {
    let mut some = Outgoing::default();
    for piece in route.pieces(route.len().div_ceil(SAMPLES)) {
        let first = piece.pieces(1).next().expect("pieces are not empty");
        field.extract(first, Which::All, &mut some);
    }
    some.values
}

/// The smallest message that tells what is updated on a route.
fn smallest(field: &dyn Field, route: &Route<'_>, updated: &mut Outgoing) -> (Vec<u8>, Size) {
    let Shape { kind, delivery } = field.shape();
    let len = route.len() * field.lanes();
    let places = match updated.places.len() {
        count if count == len => Places::All,
        _ => Places::Some(&updated.places),
    };
    let exact = Plan::new(kind, len, places, &updated.values);
    let may_be_dense = delivery == Delivery::Label && updated.places.len() > len / DENSE_AT_LEAST;
    if may_be_dense && exact.dense_could_win(&sample(field, route)) {
        let mut all = Outgoing::default();
        field.extract(route.clone(), Which::All, &mut all);
        let dense = Plan::new(kind, len, Places::All, &all.values);
        if dense.size().total() < exact.size().total() {
            return (dense.write(), dense.size());
        }
    }
    (exact.write(), exact.size())
}
