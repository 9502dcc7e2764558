//! Exchanges whose messages are sent and taken in one by one, so that a host computes meanwhile.
//!
//! [`Substrate::reduce`] and [`Substrate::broadcast`] send everything, then wait for everything. An engine
//! that overlaps computation with communication opens an exchange instead, posts the message to each peer as
//! soon as its values are final, and absorbs what peers sent as it arrives. All hosts open the same exchanges
//! in the same order; messages of a later one wait in the inbox.

use parton_net::HostId;
use parton_partition::End;

use super::Substrate;
use super::exchange::{Exchange, Piece};
use crate::error::Result;
use crate::field::{Field, Phase, Shape};

/// An exchange under way.
pub struct OpenExchange {
    exchange: Exchange,
    /// Messages absorbed from each host.
    absorbed: Vec<usize>,
}

impl Substrate<'_> {
    /// Opens an exchange of a field of this shape. Every host must call this, outside of an epoch.
    pub fn open(&mut self, shape: Shape, phase: Phase, end: End) -> OpenExchange {
        let exchange = self.next_exchange(shape, phase, end);
        OpenExchange { exchange, absorbed: vec![0; self.partition.num_hosts()] }
    }

    /// Sends a peer the field's updated values of its route. Every peer must be sent its message once.
    pub fn post(&mut self, open: &OpenExchange, field: &mut dyn Field, peer: HostId) -> Result<()> {
        let Exchange { phase, end, places_per_message, .. } = open.exchange;
        let route = self.route_to(peer, phase, end);
        let routes: Vec<_> = route.pieces(places_per_message).collect();
        let start = self.net.now();
        field.begin_extract(phase, &routes)?;
        for (number, route) in routes.into_iter().enumerate() {
            self.send(field, &open.exchange, &Piece { peer, number, route })?;
        }
        if phase == Phase::Reduce {
            field.reset(phase, end, &[self.partition.routes(peer).mirrors(end)])?;
        }
        self.log_span(super::Activity::Send, start);
        Ok(())
    }

    /// All messages of a broadcast have been posted: masters owe nothing any more.
    pub fn close_broadcast(&mut self, open: &OpenExchange, field: &mut dyn Field) -> Result<()> {
        let masters = 0..self.partition.num_masters() as u32;
        field.reset(Phase::Broadcast, self.told_by(open.exchange.end), &[masters])
    }

    /// Absorbs the messages of one peer that have arrived. Returns whether that was the last of them. Of two
    /// exchanges of one phase the messages of the one that was opened first must be absorbed first.
    pub fn absorb_arrived(
        &mut self,
        open: &mut OpenExchange,
        field: &mut dyn Field,
        from: HostId,
    ) -> Result<bool> {
        let exchange = &open.exchange;
        let route = self.route_from(from, exchange.phase, exchange.end);
        let pieces = route.pieces(exchange.places_per_message).enumerate();
        for (number, route) in pieces.skip(open.absorbed[from.index()]) {
            let Some(bytes) = self.net.take_from(from, exchange.tags.start) else {
                return Ok(false);
            };
            let start = self.net.now();
            self.absorb(field, exchange, &Piece { peer: from, number, route }, &bytes)?;
            self.log_span(super::Activity::Send, start);
            open.absorbed[from.index()] += 1;
        }
        field.finish_absorb()?;
        Ok(true)
    }

    /// Moves what has arrived into the inbox, and lets the transport go on sending.
    pub fn progress(&mut self) -> Result<()> {
        while self.net.listen(std::time::Duration::ZERO)? {}
        Ok(())
    }

    /// Waits until something arrives. If nothing does, the error names a peer whose message is missing.
    pub fn wait_for_arrival(&mut self, open: &OpenExchange, missing: HostId) -> Result<()> {
        let start = self.net.now();
        let heard = self.net.park()?;
        self.rested_since(start);
        if !heard {
            self.net.receive(missing, open.exchange.tags.start)?;
        }
        Ok(())
    }
}
