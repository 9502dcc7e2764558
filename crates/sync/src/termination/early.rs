//! A vote that does not hold the voter: tallies go straight to every peer, and the host works on until all
//! are there.

use parton_net::{HostId, Tag};

use super::Tally;
use crate::error::{Error, Result};
use crate::substrate::Substrate;

/// A vote under way.
pub struct PendingTotal {
    tag: Tag,
    mine: Tally,
}

impl PendingTotal {
    /// Tells all peers this host's tally. Every host must call this.
    pub fn begin(mine: Tally, substrate: &mut Substrate<'_>) -> Result<Self> {
        let tag = substrate.next_tag();
        for peer in substrate.net().peers() {
            substrate.net().send(peer, tag, mine.to_bytes())?;
        }
        Ok(PendingTotal { tag, mine })
    }

    /// Whether all tallies have arrived. Does not look for new arrivals.
    pub fn has_arrived(&self, substrate: &mut Substrate<'_>) -> bool {
        let net = substrate.net();
        net.waiting(self.tag..self.tag.next()).count() + 1 == net.num_hosts()
    }

    /// What all hosts counted, folded in host order. Waits for tallies that have not arrived.
    pub fn finish(self, substrate: &mut Substrate<'_>) -> Result<Tally> {
        let start = substrate.net().now();
        let (me, hosts) = (substrate.net().host(), substrate.net().num_hosts());
        let mut total = Tally::default();
        for from in HostId::all(hosts) {
            let theirs = match from == me {
                true => self.mine,
                false => {
                    let bytes = substrate.net().receive(from, self.tag)?;
                    Tally::from_bytes(&bytes).ok_or(Error::Tally { from })?
                }
            };
            total = if from == HostId(0) { theirs } else { total.plus(theirs) };
        }
        substrate.rested_since(start);
        Ok(total)
    }
}
