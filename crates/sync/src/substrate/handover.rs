//! Messages between hosts whose values live in one memory, such as a GPU that they share: values stay where they
//! are, and a ticket for them travels. They count as the bytes that they would be.

use parton_net::HostId;
use parton_net::handover::Item;

use super::Substrate;
use super::exchange::{Exchange, Piece};
use crate::encode;
use crate::error::{Error, Result};
use crate::field::Field;

/// The mode of a message that is a ticket: that of an empty message, which is shorter.
const TICKET_MODE: u8 = 0;

impl<'a> Substrate<'a> {
    /// Hands over values to the hosts that can read them where they are. Returns what is left to send.
    pub(super) fn lend(
        &mut self,
        field: &mut dyn Field,
        exchange: &Exchange,
        pieces: Vec<Piece<'a>>,
    ) -> Result<Vec<Piece<'a>>> {
        let waits = self.epoch.is_none() && self.optimize.temporal;
        let (Some(memory), Some(handover), true) = (field.memory(), self.net.handover(), waits)
        else {
            return Ok(pieces);
        };
        handover.announce(self.net.host(), memory);
        let is_near =
            |piece: &Piece<'_>| !piece.route.is_empty() && handover.is_in(piece.peer, memory);
        let (near, mut far): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_near);
        let routes: Vec<_> = near.iter().map(|piece| piece.route.clone()).collect();
        let lent = if routes.is_empty() { None } else { field.lend(exchange.phase, &routes)? };
        let Some(items) = lent else {
            far.extend(near);
            return Ok(far);
        };
        for (piece, item) in near.into_iter().zip(items) {
            let ticket =
                self.net.handover().map(|handover| handover.leave(item)).unwrap_or_default();
            let size = encode::dense_size(exchange.shape.kind, piece.route.len());
            self.sent[piece.peer.index()].count(exchange.phase, size);
            self.net.send(piece.peer, exchange.tags.start, ticket_message(ticket))?;
        }
        Ok(far)
    }

    /// What a message hands over, if it is a ticket.
    pub(super) fn collect(&self, from: HostId, message: &[u8]) -> Result<Option<Item>> {
        match (self.net.handover(), ticket_of(message)) {
            (Some(handover), Some(ticket)) => match handover.collect(ticket) {
                None => Err(Error::Handover { from }),
                item => Ok(item),
            },
            _ => Ok(None),
        }
    }
}

fn ticket_message(ticket: u64) -> Vec<u8> {
    [&[TICKET_MODE], &ticket.to_le_bytes()[..]].concat()
}

/// Whether a message stands for values that stay where they are.
pub(super) fn is_ticket(message: &[u8]) -> bool {
    ticket_of(message).is_some()
}

fn ticket_of(message: &[u8]) -> Option<u64> {
    let (&mode, ticket) = message.split_first()?;
    let ticket = ticket.try_into().map(u64::from_le_bytes).ok()?;
    (mode == TICKET_MODE).then_some(ticket)
}
