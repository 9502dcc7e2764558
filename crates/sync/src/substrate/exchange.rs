//! One exchange of a field: its updated values go to all peers, and theirs come in.
//!
//! The field is asked for all routes at once, so that a device copies the later ones while this host
//! plans, encodes and sends the first. Messages are absorbed in the order of hosts, not of arrival:
//! sums of floating-point numbers are then repeatable.

use std::ops::Range;
use std::time::Duration;

use parton_graph::{LocalId, parallel};
use parton_net::{HostId, Tag};
use parton_partition::End;

use super::handover::is_ticket;
use super::message::{Message, Writer};
use super::{BYTES_PER_MESSAGE, CHANNEL, Substrate};
use crate::encode::{Decoded, DecodedPlaces, Places};
use crate::epoch::{Epoch, MOST_PIECES};
use crate::error::{Error, Result};
use crate::field::{Absorb, Field, Phase, Shape};
use crate::route::Route;

/// Messages about fewer places than this are written and read before another thread has woken up.
const MIN_PLACES_TO_SHARE: usize = 1 << 14;

/// A phase of one field.
pub(super) struct Exchange {
    pub(super) phase: Phase,
    pub(super) end: End,
    pub(super) shape: Shape,
    /// In rounds all messages have the first tag; in an epoch each piece has its own.
    pub(super) tags: Range<Tag>,
    /// Proxies of one message at most.
    pub(super) places_per_message: usize,
}

/// What one message is about.
pub(super) struct Piece<'a> {
    pub(super) peer: HostId,
    /// Its number among the pieces of the route to that peer.
    pub(super) number: usize,
    pub(super) route: Route<'a>,
}

impl<'a> Substrate<'a> {
    /// Sends the values that are updated at one end of edges, and absorbs those of the peers.
    pub(super) fn exchange(&mut self, field: &mut dyn Field, phase: Phase, end: End) -> Result<()> {
        let exchange = self.next_exchange(field.shape(), phase, end);
        self.send_all(field, &exchange)?;
        match self.epoch {
            Some(_) => self.take_arrived(field, &exchange)?,
            None => self.receive_all(field, &exchange)?,
        }
        field.finish_absorb()
    }

    /// The next exchange of all hosts.
    pub(super) fn next_exchange(&mut self, shape: Shape, phase: Phase, end: End) -> Exchange {
        let end = if self.optimize.structural { end } else { End::Either };
        let tags = match &self.epoch {
            Some(epoch) => epoch.tags(shape.id, phase),
            None => {
                let tag = self.next_tag();
                tag..tag.next()
            }
        };
        Exchange { phase, end, shape, tags, places_per_message: self.places_per_message(shape) }
    }

    /// A tag that no message between these hosts has had.
    pub(crate) fn next_tag(&mut self) -> Tag {
        self.exchanges += 1;
        Tag::user(CHANNEL, self.exchanges - 1)
    }

    /// Proxies of one message at most. It depends on the shape alone, so that both ends split a
    /// route the same way.
    fn places_per_message(&self, shape: Shape) -> usize {
        // A route is never cut into more pieces than a tag can name.
        let least = (self.partition.num_vertices() as usize / MOST_PIECES).max(1);
        let bytes = (shape.kind.bytes() * shape.lanes).max(1);
        (BYTES_PER_MESSAGE / bytes).min(self.places_per_message).max(least)
    }

    fn send_all(&mut self, field: &mut dyn Field, exchange: &Exchange) -> Result<()> {
        let &Exchange { phase, end, places_per_message, .. } = exchange;
        let mut pieces = Vec::new();
        for peer in self.net.peers() {
            let routes = self.route_to(peer, phase, end).pieces(places_per_message);
            pieces.extend(routes.enumerate().map(|(number, route)| Piece { peer, number, route }));
        }
        let pieces = self.lend(field, exchange, pieces)?;
        self.send_pieces(field, exchange, &pieces)?;
        match phase {
            Phase::Reduce => {
                let peers = self.net.peers();
                let sent: Vec<_> =
                    peers.map(|peer| self.partition.routes(peer).mirrors(end)).collect();
                field.reset(phase, end, &sent)
            }
            // All masters, also where no peer reads.
            Phase::Broadcast => {
                let masters = 0..self.partition.num_masters() as u32;
                field.reset(phase, self.told_by(end), &[masters])
            }
        }
    }

    /// Sends the updated values of these pieces.
    pub(super) fn send_pieces(
        &mut self,
        field: &mut dyn Field,
        exchange: &Exchange,
        pieces: &[Piece<'_>],
    ) -> Result<()> {
        let routes: Vec<_> = pieces.iter().map(|piece| piece.route.clone()).collect();
        field.begin_extract(exchange.phase, &routes)?;
        match field.shared() {
            Some(field) if is_worth_sharing(&routes) => {
                // All threads write messages; they leave in the order of hosts.
                let (writer, staging, listings) =
                    (self.writer(), &self.staging, &self.listings.sent);
                let write = |piece: &Piece<'_>| {
                    let before = listings.before(exchange, piece);
                    staging.with(|staging| writer.write(field, &piece.route, before, staging))
                };
                let messages = parallel::map(pieces, write);
                for (piece, message) in pieces.iter().zip(messages) {
                    self.post_message(exchange, piece, message?)?;
                }
            }
            _ => {
                for piece in pieces {
                    self.send(field, exchange, piece)?;
                }
            }
        }
        Ok(())
    }

    /// The end itself, or [`End::Either`] if no host has a mirror that a broadcast to this end
    /// leaves out: then nothing is owed to any.
    pub(super) fn told_by(&self, end: End) -> End {
        let other = match end {
            End::Source => End::Destination,
            End::Destination => End::Source,
            End::Either => return End::Either,
        };
        let mut hosts = HostId::all(self.partition.num_hosts());
        let leaves_out =
            |peer| !self.partition.routes(peer).master_parts().only_at(other).is_empty();
        if hosts.any(leaves_out) { end } else { End::Either }
    }

    pub(super) fn send(
        &mut self,
        field: &dyn Field,
        exchange: &Exchange,
        piece: &Piece<'_>,
    ) -> Result<()> {
        let writer = self.writer();
        let before = self.listings.sent.before(exchange, piece);
        let write = |staging: &mut _| writer.write(field, &piece.route, before, staging);
        let message = self.staging.with(write)?;
        self.post_message(exchange, piece, message)
    }

    fn writer(&self) -> Writer<'a> {
        Writer {
            partition: self.partition,
            is_memoised: self.optimize.temporal,
            skips_empty: self.epoch.is_some(),
        }
    }

    /// Sends what was written for a piece, if anything was.
    fn post_message(
        &mut self,
        exchange: &Exchange,
        piece: &Piece<'_>,
        message: Option<Message>,
    ) -> Result<()> {
        let Some(Message { bytes, size, listing }) = message else { return Ok(()) };
        self.listings.sent.keep(exchange, piece, listing);
        let tag = match &mut self.epoch {
            Some(epoch) => {
                epoch.counts.sent += 1;
                Epoch::piece_tag(&exchange.tags, piece.number)
            }
            None => exchange.tags.start,
        };
        self.sent[piece.peer.index()].count(exchange.phase, size);
        Ok(self.net.send(piece.peer, tag, bytes)?)
    }

    /// Absorbs one message from each peer for each piece of its route.
    fn receive_all(&mut self, field: &mut dyn Field, exchange: &Exchange) -> Result<()> {
        let partition = self.partition;
        let peers = HostId::all(partition.num_hosts()).filter(|&peer| peer != partition.host());
        let pieces: Vec<_> = peers
            .flat_map(|peer| {
                let route = self.route_from(peer, exchange.phase, exchange.end);
                let routes = route.pieces(exchange.places_per_message).enumerate();
                routes.map(move |(number, route)| Piece { peer, number, route })
            })
            .collect();
        self.receive_pieces(field, exchange, &pieces)
    }

    /// Absorbs a message about each of these pieces.
    pub(super) fn receive_pieces(
        &mut self,
        field: &mut dyn Field,
        exchange: &Exchange,
        pieces: &[Piece<'_>],
    ) -> Result<()> {
        let routes: Vec<_> = pieces.iter().map(|piece| piece.route.clone()).collect();
        if !is_worth_sharing(&routes) {
            for piece in pieces {
                let bytes = self.receive(piece.peer, exchange)?;
                self.absorb(field, exchange, piece, &bytes)?;
            }
            return Ok(());
        }
        // Threads decode all messages at once. They are absorbed in the order of hosts.
        let mut messages = Vec::with_capacity(pieces.len());
        for piece in pieces {
            messages.push(self.receive(piece.peer, exchange)?);
        }
        let (listings, numbers) =
            (&self.listings.received, (0..pieces.len()).collect::<Vec<usize>>());
        let decoded = parallel::map(&numbers, |&number| {
            let bytes = &messages[number];
            (!is_ticket(bytes)).then(|| listings.decode(exchange, &pieces[number], bytes))
        });
        for ((piece, bytes), decoded) in pieces.iter().zip(&messages).zip(decoded) {
            match decoded {
                Some(decoded) => self.take_in(field, exchange, piece, decoded?)?,
                None => self.absorb(field, exchange, piece, bytes)?,
            }
        }
        Ok(())
    }

    /// Waits for a message of a peer.
    fn receive(&mut self, peer: HostId, exchange: &Exchange) -> Result<Vec<u8>> {
        let start = self.net.now();
        let bytes = self.net.receive(peer, exchange.tags.start)?;
        self.rested_since(start);
        Ok(bytes)
    }

    /// Absorbs the messages that have arrived, after the governor has waited for more.
    fn take_arrived(&mut self, field: &mut dyn Field, exchange: &Exchange) -> Result<()> {
        let Exchange { phase, end, tags, places_per_message, .. } = exchange;
        while self.net.listen(Duration::ZERO)? {}
        let (partition, start) = (self.partition, self.net.now());
        if let Some(governor) = self.epoch.as_mut().and_then(|epoch| epoch.governor.as_mut()) {
            let may_speak = |peer: usize| {
                let routes = partition.routes(HostId(peer as u16));
                match phase {
                    Phase::Reduce => !routes.master_parts().at(*end).is_empty(),
                    Phase::Broadcast => !routes.mirrors(*end).is_empty(),
                }
            };
            governor.wait(self.net, *phase, tags.clone(), may_speak)?;
            self.log.rested += self.net.now().saturating_sub(start);
        }
        while let Some(message) = self.net.take(tags.clone()) {
            let (peer, number) = (message.from, Epoch::piece(tags, message.tag));
            let route = self.route_from(peer, *phase, *end);
            let pieces = route.len().div_ceil(*places_per_message);
            let Some(route) = route.pieces(*places_per_message).nth(number) else {
                return Err(Error::Piece { from: peer, piece: number, pieces });
            };
            self.absorb(field, exchange, &Piece { peer, number, route }, &message.bytes)?;
            if let Some(epoch) = &mut self.epoch {
                epoch.counts.received += 1;
            }
        }
        Ok(())
    }

    /// Gives the proxies of a piece what a message says.
    pub(super) fn absorb(
        &mut self,
        field: &mut dyn Field,
        exchange: &Exchange,
        piece: &Piece<'_>,
        bytes: &[u8],
    ) -> Result<()> {
        let from = piece.peer;
        if let Some(item) = self.collect(from, bytes)? {
            let is_known = field.absorb_lent(self.how(exchange), &piece.route, item)?;
            return if is_known { Ok(()) } else { Err(Error::Handover { from }) };
        }
        let decoded = self.listings.received.decode(exchange, piece, bytes)?;
        self.take_in(field, exchange, piece, decoded)
    }

    fn how(&self, exchange: &Exchange) -> Absorb {
        match exchange.phase {
            Phase::Reduce => Absorb::FoldAtMasters,
            Phase::Broadcast if self.epoch.is_some() => Absorb::FoldAtMirrors,
            Phase::Broadcast => Absorb::SetAtMirrors,
        }
    }

    /// Gives the proxies of a piece what a message was found to say.
    fn take_in(
        &mut self,
        field: &mut dyn Field,
        exchange: &Exchange,
        piece: &Piece<'_>,
        Decoded { places, values, listing }: Decoded<'_>,
    ) -> Result<()> {
        self.listings.received.keep(exchange, piece, listing);
        let (how, lanes, route) = (self.how(exchange), exchange.shape.lanes, &piece.route);
        match places {
            DecodedPlaces::All => field.absorb(how, route, Places::All, &values),
            DecodedPlaces::Some(places) => field.absorb(how, route, Places::Some(&places), &values),
            DecodedPlaces::GlobalIds(ids) => {
                let lanes = lanes as u32;
                let vertices: Vec<u32> = ids.iter().map(|id| id / lanes).collect();
                let locals = self.locals(piece.peer, exchange.phase, &vertices)?;
                let place = |(place, id): (u32, &u32)| place * lanes + id % lanes;
                let places: Vec<u32> = (0..).zip(&ids).map(place).collect();
                field.absorb(how, &Route::listed(&locals), Places::Some(&places), &values)
            }
        }
    }

    /// The proxies that a peer's global ids stand for: masters of this host, or mirrors of the
    /// peer's.
    fn locals(&self, from: HostId, phase: Phase, ids: &[u32]) -> Result<Vec<LocalId>> {
        let expected = match phase {
            Phase::Reduce => 0..self.partition.num_masters() as u32,
            Phase::Broadcast => self.partition.routes(from).mirrors(End::Either),
        };
        let host = self.partition.host();
        let find = |&id: &u32| {
            let local = self.translation.as_ref().and_then(|known| known.local(id));
            let local = local.filter(|local| expected.contains(&local.0));
            local.ok_or(Error::NotShared { from, host, id })
        };
        ids.iter().map(find).collect()
    }

    /// The proxies whose values go to a peer.
    pub(super) fn route_to(&self, peer: HostId, phase: Phase, end: End) -> Route<'a> {
        let (routes, globals) = (self.partition.routes(peer), self.partition.globals());
        match phase {
            Phase::Reduce => Route::mirrors(peer, routes, end),
            Phase::Broadcast => Route::masters(peer, routes, end, globals),
        }
    }

    /// The proxies whose values come from a peer.
    pub(super) fn route_from(&self, peer: HostId, phase: Phase, end: End) -> Route<'a> {
        let opposite = match phase {
            Phase::Reduce => Phase::Broadcast,
            Phase::Broadcast => Phase::Reduce,
        };
        self.route_to(peer, opposite, end)
    }
}

/// Whether there is enough to write, or to read, for threads to share messages of these routes.
fn is_worth_sharing(routes: &[Route<'_>]) -> bool {
    let places: usize = routes.iter().map(Route::len).sum();
    routes.len() > 1 && rayon::current_num_threads() > 1 && places >= MIN_PLACES_TO_SHARE
}
