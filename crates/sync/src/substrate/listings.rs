//! The places that messages have listed, kept so that later messages can repeat them.
//!
//! Sender and receiver keep the last listing of each sequence of messages that is read in the order in which it is
//! written. It takes no more memory than the message did, which is a bit for each place of its route at most.

use std::collections::HashMap;

use parton_net::HostId;

use super::exchange::{Exchange, Piece};
use crate::encode::{self, Decoded, Listing};
use crate::error::{Error, Result};
use crate::field::{Phase, Shape};

/// What messages to peers and from peers may repeat.
#[derive(Default)]
pub(super) struct Listings {
    pub(super) sent: LastListings,
    pub(super) received: LastListings,
}

/// The last listing of each sequence of messages.
#[derive(Default)]
pub(super) struct LastListings(HashMap<Sequence, Listing<'static>>);

/// Names messages to a peer, or from it, that are read in order: in an epoch all of them have one tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Sequence {
    peer: HostId,
    phase: Phase,
    field: u8,
    piece: usize,
}

impl Sequence {
    fn of(exchange: &Exchange, piece: &Piece<'_>) -> Self {
        let Exchange { phase, shape, .. } = *exchange;
        Sequence { peer: piece.peer, phase, field: shape.id, piece: piece.number }
    }
}

impl LastListings {
    /// What a message about a piece may repeat.
    pub(super) fn before(
        &self,
        exchange: &Exchange,
        piece: &Piece<'_>,
    ) -> Option<&Listing<'static>> {
        self.0.get(&Sequence::of(exchange, piece))
    }

    /// Reads a message about a piece.
    pub(super) fn decode<'m>(
        &self,
        exchange: &Exchange,
        piece: &Piece<'_>,
        bytes: &'m [u8],
    ) -> Result<Decoded<'m>> {
        let Shape { kind, lanes, .. } = exchange.shape;
        let (before, len) = (self.before(exchange, piece), piece.route.len() * lanes);
        encode::decode_after(before, kind, len, bytes)
            .map_err(|error| Error::Wire { from: piece.peer, error })
    }

    /// Keeps what a message about a piece has listed, if it has.
    pub(super) fn keep(
        &mut self,
        exchange: &Exchange,
        piece: &Piece<'_>,
        listing: Option<Listing<'_>>,
    ) {
        if let Some(listing) = listing {
            self.0.insert(Sequence::of(exchange, piece), listing.into_owned());
        }
    }
}
