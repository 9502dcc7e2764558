//! Broadcasts to mirrors that have asked for it.
//!
//! Where few mirrors still matter to their hosts, hosts tell each other once which these are. Messages are then about
//! the places of shorter routes: fewer values, and fewer bits for their places.

use parton_graph::{LocalId, VertexSet, parallel};
use parton_net::HostId;
use parton_partition::End;

use super::exchange::Piece;
use super::{Shipment, Substrate};
use crate::encode::{self, DecodedPlaces, EncodingPlan, Places, ValueKind};
use crate::error::{Error, Result};
use crate::field::{Field, Phase};
use crate::route::Route;

/// Which mirrors at one end of edges are told what is new at their masters.
pub struct Interest {
    end: End,
    /// `None` where hosts have not agreed on an order: all mirrors are told.
    routes: Option<Vec<AskedRoute>>,
}

/// What is shared with one host, as far as it was asked for.
struct AskedRoute {
    /// This host's mirrors that are told, and its masters that tell mirrors there, each in the order of the route.
    mirrors: Vec<LocalId>,
    masters: Vec<LocalId>,
}

impl Substrate<'_> {
    /// Asks that those of this host's mirrors at an end of edges that are in a set be told what is new, and no others.
    /// Every host must call this, and all must wait for each other.
    pub fn ask_for(&mut self, mirrors: &VertexSet, end: End) -> Result<Interest> {
        if !self.optimize.temporal {
            return Ok(Interest { end, routes: None });
        }
        let partition = self.partition;
        let hosts: Vec<HostId> = HostId::all(partition.num_hosts()).collect();
        let ask = |&peer: &HostId| {
            let range = partition.routes(peer).mirrors(end);
            let mirrors: Vec<LocalId> = mirrors.iter_range(range.clone()).collect();
            let places: Vec<u32> = mirrors.iter().map(|mirror| mirror.0 - range.start).collect();
            (mirrors, question(range.len(), &places))
        };
        let (mirrors, questions): (Vec<_>, Vec<_>) = parallel::map(&hosts, ask).into_iter().unzip();
        let questions = self.ship(Phase::Reduce, end, questions)?;
        let routes =
            hosts.iter().zip(mirrors).zip(&questions).map(|((&peer, mirrors), question)| {
                let masters = asked(partition.routes(peer).masters(end), question);
                let masters = masters.map_err(|error| Error::Wire { from: peer, error })?;
                Ok(AskedRoute { mirrors, masters })
            });
        Ok(Interest { end, routes: Some(routes.collect::<Result<_>>()?) })
    }

    /// Gives the mirrors that have asked for it what is new at their masters. No other mirror is told of it later.
    /// Every host must call this, and all must wait for each other.
    pub fn broadcast_to(&mut self, interest: &Interest, field: &mut dyn Field) -> Result<()> {
        let Interest { end, routes: Some(routes) } = interest else {
            return self.broadcast(field, interest.end);
        };
        let exchange = self.next_exchange(field.shape(), Phase::Broadcast, *end);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for peer in self.net.peers() {
            let AskedRoute { masters, .. } = &routes[peer.index()];
            let pieces = Route::listed(masters).pieces(exchange.places_per_message);
            sent.extend(pieces.enumerate().map(|(number, route)| Piece { peer, number, route }));
        }
        self.send_pieces(field, &exchange, &sent)?;
        let masters = 0..self.partition.num_masters() as u32;
        field.reset(Phase::Broadcast, End::Either, &[masters])?;
        for (peer, AskedRoute { mirrors, .. }) in HostId::all(routes.len()).zip(routes) {
            let pieces = Route::listed(mirrors).pieces(exchange.places_per_message);
            received.extend(pieces.enumerate().map(|(number, route)| Piece {
                peer,
                number,
                route,
            }));
        }
        self.receive_pieces(field, &exchange, &received)?;
        field.finish_absorb()
    }
}

/// A message that names places of a route.
fn question(len: usize, places: &[u32]) -> Shipment {
    let values = vec![0; places.len()];
    let places = if places.len() == len { Places::All } else { Places::Some(places) };
    Shipment { bytes: EncodingPlan::new(ValueKind::U8, len, places, &values).write(), values: 0 }
}

/// The masters of a route at the places that such a message names. Hosts that share nothing send nothing.
fn asked(masters: &[LocalId], question: &[u8]) -> Result<Vec<LocalId>, encode::WireError> {
    if question.is_empty() {
        return Ok(Vec::new());
    }
    Ok(match encode::decode(ValueKind::U8, masters.len(), question)?.places {
        DecodedPlaces::All => masters.to_vec(),
        DecodedPlaces::Some(places) | DecodedPlaces::GlobalIds(places) => {
            places.iter().filter_map(|&place| masters.get(place as usize).copied()).collect()
        }
    })
}
