//! Broadcasts to mirrors that have asked for it.
//!
//! Where few mirrors still matter to their hosts, hosts tell each other once which these are. Messages are then about
//! the places of shorter routes: fewer values, and fewer bits for their places.

use std::borrow::Cow;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_net::HostId;
use parton_partition::End;

use super::{Shipment, Substrate};
use crate::encode::{self, DecodedPlaces, EncodingPlan, Places, ValueKind};
use crate::error::{Error, Result};
use crate::field::{Absorb, Extracted, Field, Phase, Staging, Which};
use crate::route::Route;

/// Which mirrors at one end of edges are told what is new at their masters.
pub struct Interest {
    end: End,
    /// For each host, this host's mirrors of its masters that are told,
    mirrors: Vec<Vec<LocalId>>,
    /// and the places of masters on the route to that host which tell their mirrors there, ascending. `None` where
    /// hosts have not agreed on an order: all mirrors are told.
    places: Option<Vec<Vec<u32>>>,
}

impl Substrate<'_> {
    /// Asks that those of this host's mirrors at an end of edges that are in a set be told what is new, and no others.
    /// Every host must call this, and all must wait for each other.
    pub fn ask_for(&mut self, mirrors: &VertexSet, end: End) -> Result<Interest> {
        let partition = self.partition;
        let hosts: Vec<HostId> = HostId::all(partition.num_hosts()).collect();
        let ask = |&peer: &HostId| {
            let range = partition.routes(peer).mirrors(end);
            let mine: Vec<LocalId> = mirrors.iter_range(range.clone()).collect();
            let places: Vec<u32> = mine.iter().map(|mirror| mirror.0 - range.start).collect();
            let question = shipment(ValueKind::U8, range.len(), &places, &vec![0; places.len()]);
            (mine, question)
        };
        let (mirrors, questions): (Vec<_>, Vec<_>) = parallel::map(&hosts, ask).into_iter().unzip();
        if !self.optimize.temporal {
            return Ok(Interest { end, mirrors, places: None });
        }
        let questions = self.ship(Phase::Reduce, end, questions)?;
        let places = hosts.iter().zip(&questions).map(|(&peer, question)| {
            let len = partition.routes(peer).masters(end).len();
            let (places, _) = self.read(ValueKind::U8, peer, len, question)?;
            Ok(places.unwrap_or_else(|| (0..len as u32).collect()))
        });
        Ok(Interest { end, mirrors, places: Some(places.collect::<Result<_>>()?) })
    }

    /// Gives the mirrors that have asked for it what is new at their masters. No other mirror is told of it later.
    /// Every host must call this, and all must wait for each other.
    pub fn broadcast_to(
        &mut self,
        interest: &Interest,
        field: &mut (dyn Field + Sync),
    ) -> Result<()> {
        let Interest { end, mirrors, places: Some(places) } = interest else {
            return self.broadcast(field, interest.end);
        };
        let partition = self.partition;
        let hosts: Vec<HostId> = HostId::all(partition.num_hosts()).collect();
        let (shared, kind) = (&*field, field.shape().kind);
        let tell = |&peer: &HostId| -> Result<Shipment> {
            let asked = &places[peer.index()];
            let routes = partition.routes(peer);
            let route = Route::masters(peer, routes, *end, partition.globals());
            let mut staging = Staging::default();
            let news = shared.extract(&route, Which::Updated, &mut staging)?;
            let (places, values) = among(asked, news, kind.bytes());
            Ok(shipment(kind, asked.len(), &places, &values))
        };
        let news = parallel::map(&hosts, tell).into_iter().collect::<Result<_>>()?;
        field.reset(Phase::Broadcast, End::Either, &[0..partition.num_masters() as u32])?;
        let news = self.ship(Phase::Broadcast, *end, news)?;
        for ((&peer, news), mirrors) in hosts.iter().zip(&news).zip(mirrors) {
            let (places, values) = self.read(kind, peer, mirrors.len(), news)?;
            let places = places.as_deref().map_or(Places::All, Places::Some);
            field.absorb(Absorb::SetAtMirrors, &Route::listed(mirrors), places, &values)?;
        }
        field.finish_absorb()
    }

    /// What a message about `len` places says: at which of them, `None` for all, and the values there.
    fn read<'m>(
        &self,
        kind: ValueKind,
        from: HostId,
        len: usize,
        message: &'m [u8],
    ) -> Result<(Option<Vec<u32>>, Cow<'m, [u8]>)> {
        // Hosts that share nothing send nothing.
        if message.is_empty() {
            return Ok((Some(Vec::new()), Cow::default()));
        }
        let decoded = encode::decode(kind, len, message);
        let decoded = decoded.map_err(|error| Error::Wire { from, error })?;
        let places = match decoded.places {
            DecodedPlaces::All => None,
            DecodedPlaces::Some(places) => Some(places),
            DecodedPlaces::GlobalIds(ids) => {
                let (host, id) = (self.partition.host(), ids.first().copied().unwrap_or(0));
                return Err(Error::NotShared { from, host, id });
            }
        };
        Ok((places, decoded.values))
    }
}

/// The values at places that are among those asked for, and the positions of these places there.
fn among(asked: &[u32], news: Extracted<'_>, bytes: usize) -> (Vec<u32>, Vec<u8>) {
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    let mut rest = asked.iter().zip(0..).peekable();
    for (place, value) in news.places.iter().zip(news.values.chunks_exact(bytes)) {
        while rest.next_if(|(asked, _)| *asked < place).is_some() {}
        if let Some((_, position)) = rest.next_if(|(asked, _)| *asked == place) {
            positions.push(position);
            values.extend_from_slice(value);
        }
    }
    (positions, values)
}

/// The smallest message with values at some of `len` places.
fn shipment(kind: ValueKind, len: usize, places: &[u32], values: &[u8]) -> Shipment {
    let places = if places.len() == len { Places::All } else { Places::Some(places) };
    let plan = EncodingPlan::new(kind, len, places, values);
    Shipment { bytes: plan.write(), values: plan.size().values }
}
