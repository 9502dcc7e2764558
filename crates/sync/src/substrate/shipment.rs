//! Messages of any length between hosts that share proxies: contributions that have no fixed size
//! and so are no field.

use parton_net::{HostId, Tag};
use parton_partition::End;

use super::{BYTES_PER_MESSAGE, CHANNEL, Substrate};
use crate::encode::Size;
use crate::error::Result;
use crate::field::Phase;

/// A message of any length, for [`Substrate::ship`].
#[derive(Clone, Debug, Default)]
pub struct Shipment {
    /// The content.
    pub bytes: Vec<u8>,
    /// How many of these bytes are values; the others say what they are for.
    pub values: u64,
}

impl Substrate<'_> {
    /// Sends every peer a message of any length and takes theirs, in host order. Only peers that
    /// share proxies at this end of edges take part; the messages of others are empty. Hosts must
    /// wait for each other.
    pub fn ship(
        &mut self,
        phase: Phase,
        end: End,
        mut shipments: Vec<Shipment>,
    ) -> Result<Vec<Vec<u8>>> {
        assert!(self.epoch.is_none(), "messages of any length travel in rounds only");
        let tag = Tag::user(CHANNEL, self.exchanges);
        self.exchanges += 1;
        for peer in self.net.peers() {
            if !self.route_to(peer, phase, end).is_empty() {
                self.ship_to(peer, tag, phase, std::mem::take(&mut shipments[peer.index()]))?;
            }
        }
        let mut received = vec![Vec::new(); self.partition.num_hosts()];
        for peer in HostId::all(received.len()).filter(|&peer| peer != self.partition.host()) {
            if !self.route_from(peer, phase, end).is_empty() {
                received[peer.index()] = self.receive_shipment(peer, tag)?;
            }
        }
        Ok(received)
    }

    /// Sends pieces of which the last byte says whether more follow.
    fn ship_to(&mut self, peer: HostId, tag: Tag, phase: Phase, shipment: Shipment) -> Result<()> {
        let Shipment { bytes, values } = shipment;
        let mut rest = &bytes[..];
        loop {
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
        Ok(())
    }

    fn receive_shipment(&mut self, peer: HostId, tag: Tag) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let start = self.net.now();
            let mut bytes = self.net.receive(peer, tag)?;
            self.rested_since(start);
            let more = bytes.pop();
            match all.is_empty() {
                true => all = bytes,
                false => all.extend(bytes),
            }
            if more != Some(1) {
                return Ok(all);
            }
        }
    }
}
