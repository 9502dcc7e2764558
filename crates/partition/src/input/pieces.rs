//! The pieces of edges that a host keeps: those of its own slice, or, if slices are uneven, an equal
//! share of all. A host that deals pieces out holds only a few at a time.

use std::sync::Mutex;

use parton_graph::edge_file::{Piece, Pieces};
use parton_graph::id_list::{IdList, NameList};
use parton_net::Net;

use crate::Result;
use crate::dictionary::Id;
use crate::exchange::exchange_batches;

/// Channel of pieces on their way to the host that keeps them.
const CHANNEL: u16 = 0x11;
/// Numbers before the lists of a piece.
const HEADER_WORDS: usize = 6;

/// The pieces of this host's slice.
pub(super) fn read_all(mut pieces: Pieces<'_>, names: bool) -> Result<Vec<Piece>> {
    let kept = Mutex::new(Vec::new());
    let keep = |piece: &mut Piece| {
        let piece = std::mem::replace(piece, Piece::new(0, names));
        kept.lock().expect("no thread panicked holding this lock").push(piece);
        Ok(())
    };
    while pieces.read(usize::MAX, &keep)? {}
    drop(pieces);
    Ok(in_order(kept.into_inner().expect("no thread panicked holding this lock")))
}

/// An equal share of the pieces that all hosts read. Every host must call this.
pub(super) fn deal_out(net: &mut Net, mut pieces: Pieces<'_>, names: bool) -> Result<Vec<Piece>> {
    let hosts = net.num_hosts();
    if hosts == 1 {
        return read_all(pieces, names);
    }
    // The number of a piece decides who keeps it, so that nothing else does.
    let deal = |piece: &Piece| {
        let mut batches = vec![Vec::new(); hosts];
        let turn = (piece.order >> 32) + (piece.order & u64::from(u32::MAX));
        batches[(turn % hosts as u64) as usize] = encode(piece);
        batches
    };
    let pieces_at_once = 2 * rayon::current_num_threads();
    let mut has_more = true;
    let next = || {
        if !has_more {
            return Ok(None);
        }
        let group = Mutex::new(Vec::new());
        has_more = pieces.read(pieces_at_once, &|piece| {
            let batches = deal(piece);
            group.lock().expect("no thread panicked holding this lock").push(batches);
            Ok(())
        })?;
        Ok(Some(group.into_inner().expect("no thread panicked holding this lock")))
    };
    let mut kept = Vec::new();
    exchange_batches(net, CHANNEL, next, |_, batch| kept.push(decode(&batch, names)))?;
    Ok(in_order(kept))
}

fn in_order(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|piece| piece.order);
    pieces
}

fn encode(piece: &Piece) -> Vec<u8> {
    let lists = [&piece.sources, &piece.destinations, &piece.listed].map(encode_ids);
    let weights: &[u8] = bytemuck::cast_slice(&piece.weights);
    let lengths = [0, 1, 2].map(|list| lists[list].len() as u64);
    let header: [u64; HEADER_WORDS] = [
        piece.order,
        u64::from(piece.is_whole),
        piece.skewness,
        lengths[0],
        lengths[1],
        lengths[2],
    ];
    let [sources, destinations, listed] = &lists;
    [bytemuck::cast_slice(&header), sources, destinations, listed, weights].concat()
}

fn decode(bytes: &[u8], names: bool) -> Piece {
    let (header, rest) = bytes.split_at(8 * HEADER_WORDS);
    let header: Vec<u64> = bytemuck::pod_collect_to_vec(header);
    let (sources, rest) = rest.split_at(header[3] as usize);
    let (destinations, rest) = rest.split_at(header[4] as usize);
    let (listed, weights) = rest.split_at(header[5] as usize);
    Piece {
        order: header[0],
        sources: decode_ids(sources, names),
        destinations: decode_ids(destinations, names),
        weights: bytemuck::pod_collect_to_vec(weights),
        listed: decode_ids(listed, names),
        is_whole: header[1] != 0,
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
