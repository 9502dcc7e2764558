//! The rule that decoding obeys, whatever bytes it is given: an error, or a message that makes
//! sense for the route and that no plan writes in more bytes.
//!
//! An input is a byte for the kind of the values, four for the length of the route, and a message.

use parton_sync::encode::{
    DecodedPlaces, EncodingPlan, Places, ValueKind, decode, decode_after, write_with_ids,
};

/// The longest route of an input: dense messages grow to its length, whatever theirs is.
const LONGEST_ROUTE: u32 = 1 << 16;

/// Bytes before the message of an input.
#[allow(dead_code, reason = "only the tests damage messages but not what comes before them")]
pub(crate) const PREFIX: usize = 5;

/// Whether an input holds a message, or how decoding it breaks the rule.
pub(crate) fn judge(input: &[u8]) -> Result<bool, String> {
    let Some((&[kind, a, b, c, d], message)) = input.split_first_chunk() else {
        return Ok(false);
    };
    let kind = kind_of(kind);
    let len = (u32::from_le_bytes([a, b, c, d]) % (LONGEST_ROUTE + 1)) as usize;
    // Every third place has been listed before, for messages that repeat them.
    let listed: Vec<u32> = (0..len as u32).step_by(3).collect();
    let earlier = EncodingPlan::new(ValueKind::Plain(0), len, Places::Some(&listed), &[]);
    let (bytes, is_repeated) =
        (earlier.write(), message.first().is_some_and(|mode| mode & 0xf == 6));
    let before = earlier.listing(&bytes);
    if is_repeated && decode(kind, len, message).is_ok() {
        return Err("places of no message before are repeated".into());
    }
    let Ok(decoded) = decode_after(before.as_ref(), kind, len, message) else { return Ok(false) };
    if is_repeated && decoded.places != DecodedPlaces::Some(listed) {
        return Err(format!("other places than those before: {:?}", decoded.places));
    }
    let values = decoded.values.as_ref();
    let places = match &decoded.places {
        DecodedPlaces::All => (0..len as u32).collect(),
        DecodedPlaces::Some(places) => places.clone(),
        DecodedPlaces::GlobalIds(ids) => {
            let same = write_with_ids(kind, ids, values).0 == message;
            return same.then_some(true).ok_or("other ids".into());
        }
    };
    if !places.is_sorted_by(|a, b| a < b) || places.last().is_some_and(|&l| l as usize >= len) {
        return Err(format!("places not ascending or not on a route of {len}: {places:?}"));
    }
    if values.len() != places.len() * kind.bytes() {
        return Err(format!("{} places with {} bytes of values", places.len(), values.len()));
    }
    let plan = EncodingPlan::after(before.as_ref(), kind, len, Places::Some(&places), values);
    let written = plan.write();
    if written.len() as u64 != plan.size().total() || written.len() > message.len() {
        return Err(format!("{:?} planned, {written:?} written", plan.size()));
    }
    let again =
        decode_after(before.as_ref(), kind, len, &written).map_err(|error| error.to_string())?;
    let same_places = match again.places {
        DecodedPlaces::All => places.len() == len,
        DecodedPlaces::Some(again) => again == places,
        DecodedPlaces::GlobalIds(_) => false,
    };
    match same_places && again.values == values {
        true => Ok(true),
        false => Err(format!("written again, it is another message: {written:?}")),
    }
}

fn kind_of(byte: u8) -> ValueKind {
    match byte {
        0 => ValueKind::U32,
        1 => ValueKind::U64,
        2 => ValueKind::U8,
        bytes => ValueKind::Plain(bytes as usize - 3),
    }
}

/// Inputs with a message in each of the encodings.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    let distances: Vec<u8> = (0..200u32).flat_map(|i| (i * i % 97 + 1000).to_le_bytes()).collect();
    let counts: Vec<u8> =
        (0..200u64).flat_map(|i| (i * i * i + u64::MAX / 2).to_le_bytes()).collect();
    let flags: Vec<u8> = (0..200u8).map(|i| i % 7 / 6).collect();
    let every = |step: usize| (0..200u32).step_by(step).collect::<Vec<_>>();
    let but_few: Vec<u32> = (0..200).filter(|place| place % 41 != 5).collect();
    let mut samples = Vec::new();
    for (kind, values) in [(0, &distances), (1, &counts), (2, &flags), (3 + 3, &counts)] {
        let value = kind_of(kind).bytes();
        let mut add = |len: u32, message: Vec<u8>| {
            samples.push([&[kind][..], &len.to_le_bytes(), &message].concat());
        };
        for places in [every(1), every(2), every(30), but_few.clone(), vec![150], vec![]] {
            let values = &values[..places.len() * value];
            add(200, EncodingPlan::new(kind_of(kind), 200, Places::Some(&places), values).write());
        }
        add(
            200,
            EncodingPlan::new(kind_of(kind), 200, Places::All, &[9; 200 * 8][..200 * value])
                .write(),
        );
        add(200, write_with_ids(kind_of(kind), &every(50), &values[..4 * value]).0);
        let every_third = [&[6u8, 0, 0, 0, 67, 0, 0, 0][..], &values[..67 * value]];
        add(200, every_third.concat());
        let listed =
            [&[3u8, 0, 0, 0, 2, 0, 0, 0][..], &values[..2 * value], &[1, 0, 0, 0, 9, 0, 0, 0]];
        add(10, listed.concat());
    }
    samples
}
