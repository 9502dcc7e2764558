//! Pieces of edges where they are read, or, when few hosts can read, handed round: a host that reads
//! holds no more than a few pieces of others, which go as they come.

use parton_graph::ingest::{IdList, NameList};
use parton_graph::slices::{Piece, Pieces};
use parton_net::Net;

use crate::Result;
use crate::dictionary::Id;
use crate::trade::trade;

/// Channel of pieces on their way to the host that keeps them.
const CHANNEL: u16 = 0x11;
/// Numbers before the lists of a piece.
const HEADER_WORDS: usize = 5;

/// The pieces that this host reads.
pub(super) fn kept(pieces: Pieces<'_>) -> Result<Vec<Piece>> {
    let mut kept = Vec::new();
    for group in pieces {
        kept.extend(group?);
    }
    Ok(kept)
}

/// An equal share of the pieces that all hosts read. Every host must call this.
pub(super) fn dealt(net: &mut Net, mut pieces: Pieces<'_>, names: bool) -> Result<Vec<Piece>> {
    let hosts = net.num_hosts();
    if hosts == 1 {
        return kept(pieces);
    }
    // By the number of the piece, so that it depends on nothing else who gets what.
    let deal = |piece: Piece| {
        let mut batches = vec![Vec::new(); hosts];
        let turn = (piece.order >> 32) + (piece.order & u64::from(u32::MAX));
        batches[(turn % hosts as u64) as usize] = encode(&piece);
        batches
    };
    let mut kept = Vec::new();
    let next = || match pieces.next() {
        None => Ok(None),
        Some(group) => Ok(Some(group?.into_iter().map(deal).collect())),
    };
    trade(net, CHANNEL, next, |_, batch| kept.push(decode(&batch, names)))?;
    // Those of several hosts come as they come.
    kept.sort_by_key(|piece: &Piece| piece.order);
    Ok(kept)
}

fn encode(piece: &Piece) -> Vec<u8> {
    let (ends, listed) = (encode_ids(&piece.ends), encode_ids(&piece.listed));
    let weights: &[u8] = bytemuck::cast_slice(&piece.weights);
    let header: [u64; HEADER_WORDS] = [
        piece.order,
        u64::from(piece.whole),
        piece.skewness,
        ends.len() as u64,
        listed.len() as u64,
    ];
    [bytemuck::cast_slice(&header), &ends, &listed, weights].concat()
}

fn decode(bytes: &[u8], names: bool) -> Piece {
    let (header, rest) = bytes.split_at(8 * HEADER_WORDS);
    let header: Vec<u64> = bytemuck::pod_collect_to_vec(header);
    let (ends, rest) = rest.split_at(header[3] as usize);
    let (listed, weights) = rest.split_at(header[4] as usize);
    Piece {
        order: header[0],
        ends: decode_ids(ends, names),
        weights: bytemuck::pod_collect_to_vec(weights),
        listed: decode_ids(listed, names),
        whole: header[1] != 0,
        skewness: header[2],
    }
}

fn encode_ids(ids: &IdList) -> Vec<u8> {
    match ids {
        IdList::Integers(ids) => u64::encode(ids.iter()),
        IdList::Names(names) => <Box<[u8]>>::encode(names.iter().map(Box::<[u8]>::from)),
    }
}

fn decode_ids(bytes: &[u8], names: bool) -> IdList {
    match names {
        false => IdList::Integers(u64::decode(bytes)),
        true => {
            let mut list = NameList::default();
            <Box<[u8]>>::decode(bytes).iter().for_each(|name| list.push(name));
            IdList::Names(list)
        }
    }
}
