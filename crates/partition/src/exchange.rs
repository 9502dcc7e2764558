//! All hosts send batches to all hosts, and no host knows how many will come. A host takes batches
//! that have arrived between those it sends, so that they do not pile up.

use parton_graph::parallel;
use parton_net::{HostId, Net, Tag};

use crate::Result;

/// A batch for every host.
pub(crate) type Batches = Vec<Vec<u8>>;

/// What `make` makes of each piece, some pieces at a time.
pub(crate) fn batches<P: Sync>(
    pieces: &[P],
    make: impl Fn(&P) -> Batches + Sync,
) -> impl FnMut() -> Result<Option<Vec<Batches>>> {
    // A few pieces per thread at once, so that few batches wait to be sent.
    let mut groups = pieces.chunks(2 * rayon::current_num_threads());
    move || Ok(groups.next().map(|pieces| parallel::map(pieces, &make)))
}

/// Sends the batches of `next` until there are no more, and hands arriving batches to `take`: the
/// batches of one host in the order it sent them. Every host must call this.
pub(crate) fn exchange_batches(
    net: &mut Net,
    channel: u16,
    mut next: impl FnMut() -> Result<Option<Vec<Batches>>>,
    mut take: impl FnMut(HostId, Vec<u8>),
) -> Result<()> {
    let hosts = net.num_hosts();
    let tag = Tag::user(channel, 0);
    let mut ended = 0;
    while let Some(group) = next()? {
        for batches in group {
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
    // No host may use the channel again before all hosts are done with it.
    Ok(net.barrier()?)
}
