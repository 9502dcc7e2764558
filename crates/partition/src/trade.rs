//! All hosts send batches to all hosts, nobody knows how many will come, and nothing piles up:
//! what arrives is taken while there is still something to send.

use parton_net::{HostId, Net, Tag};
use rayon::prelude::*;

use crate::Result;

/// Sends what `make` makes of each piece, a batch for every host, and gives what arrives to
/// `take`: the batches of one host in the order it sent them. Every host must call this.
pub(crate) fn trade<P: Sync>(
    net: &mut Net,
    channel: u16,
    pieces: &[P],
    make: impl Fn(&P) -> Vec<Vec<u8>> + Sync,
    mut take: impl FnMut(HostId, Vec<u8>),
) -> Result<()> {
    let hosts = net.num_hosts();
    let tag = Tag::user(channel, 0);
    let mut ended = 0;
    // As many pieces at once as threads, so that what waits to be sent stays small.
    for pieces in pieces.chunks(2 * rayon::current_num_threads()) {
        let made: Vec<Vec<Vec<u8>>> = pieces.par_iter().map(&make).collect();
        for batches in made {
            for (host, batch) in HostId::all(hosts).zip(batches).filter(|(_, b)| !b.is_empty()) {
                net.send(host, tag, batch)?;
            }
        }
        while let Some((from, batch)) = net.try_receive(tag)? {
            match batch.is_empty() {
                true => ended += 1,
                false => take(from, batch),
            }
        }
    }
    // An empty batch says that no more will come.
    for host in HostId::all(hosts) {
        net.send(host, tag, Vec::new())?;
    }
    while ended < hosts {
        let (from, batch) = net.receive_any(tag)?;
        match batch.is_empty() {
            true => ended += 1,
            false => take(from, batch),
        }
    }
    // Nobody may use the channel again before everybody is done with it.
    Ok(net.barrier()?)
}
