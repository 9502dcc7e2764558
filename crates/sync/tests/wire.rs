//! Messages from outside: what they cost, and what becomes of those that are damaged.

use crate::judge;

use judge::{PREFIX, judge, samples};
use parton_graph::LocalId;
use parton_sync::encode::{
    DecodedPlaces, EncodingPlan, Places, Size, ValueKind, WireError, decode, write_with_ids,
};
use parton_sync::reduction::Sum;
use parton_sync::{Absorb, CpuField, Field, Route};
use proptest::prelude::*;

fn bytes_of_u32(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn size_of_dense(values: impl IntoIterator<Item = u32>) -> u64 {
    let values = bytes_of_u32(values);
    EncodingPlan::new(ValueKind::U32, values.len() / 4, Places::All, &values).size().total()
}

#[test]
fn nothing_to_say_is_one_byte() {
    for (len, places) in [(0, Places::All), (0, Places::Some(&[])), (9, Places::Some(&[]))] {
        let plan = EncodingPlan::new(ValueKind::U64, len, places, &[]);
        assert_eq!(plan.write(), [0]);
        assert_eq!(plan.size(), Size { values: 0, metadata: 1 });
        assert!(!plan.dense_could_win(&[]));
        let decoded = decode(ValueKind::U64, len, &[0]).expect("the empty message");
        assert_eq!(decoded.places, DecodedPlaces::Some(vec![]));
    }
    assert_eq!(write_with_ids(ValueKind::U32, &[], &[]).0, [0]);
}

#[test]
fn equal_values_cost_one() {
    for value in [0, 5, u32::MAX] {
        assert_eq!(size_of_dense([value; 1000]), 8 + 4);
    }
}

#[test]
fn unreached_vertices_cost_nothing_among_small_distances() {
    let distances = (0..1000u32).map(|i| i % 15);
    let some_unreached = distances.clone().map(|d| if d == 3 { u32::MAX } else { d });
    assert_eq!(size_of_dense(distances), 8 + 4 + 500);
    assert_eq!(size_of_dense(some_unreached), 8 + 4 + 500);
}

#[test]
fn one_update_of_a_million_places() {
    for places in [[0], [1], [77_777], [999_999]] {
        let plan =
            EncodingPlan::new(ValueKind::U32, 1_000_000, Places::Some(&places), &[1, 2, 3, 4]);
        assert!(plan.size().total() < 20, "{:?}", plan.size());
        assert!(plan.dense_could_win(&[]), "if all other values are the same");
        assert!(!plan.dense_could_win(&[1, 2, 3, 5]), "another one is not");
    }
}

#[test]
fn all_but_one_of_a_million_places() {
    let places: Vec<u32> = (0..1_000_000).filter(|&place| place != 123_456).collect();
    let values = bytes_of_u32(places.iter().copied());
    let plan = EncodingPlan::new(ValueKind::Plain(4), 1_000_000, Places::Some(&places), &values);
    assert!(plan.size().metadata < 12, "{:?}", plan.size());
}

/// Truth values take a bit each, and none where all are equal.
#[test]
fn truth_values_are_bits() {
    let size = |values: &[u8]| {
        EncodingPlan::new(ValueKind::U8, values.len(), Places::All, values).size().total()
    };
    assert_eq!(size(&[1; 1000]), 8 + 1);
    let mixed: Vec<u8> = (0..1000u32).map(|i| u8::from(i % 3 == 0)).collect();
    assert_eq!(size(&mixed), 8 + 1 + 125);
}

/// The worked example of `docs/wire.md`.
#[test]
fn the_documented_example() {
    let values = bytes_of_u32([7, 9, 6]);
    let plan = EncodingPlan::new(ValueKind::U32, 40, Places::Some(&[2, 3, 20]), &values);
    let message = plan.write();
    let expected = [0x14, 0x02, 0x01, 0x00, 0x03, 0x00, 0x00, 0x00, 6, 0, 0, 0, 0x0d, 0x0a, 0x20];
    assert_eq!(message, expected);
    assert_eq!(plan.size(), Size { values: 5, metadata: 10 });
}

#[test]
fn messages_by_global_ids() {
    let values = bytes_of_u32([1, 2, 3]);
    let (message, size) = write_with_ids(ValueKind::U32, &[900, 5, 70], &values);
    assert_eq!(size, Size { values: 12, metadata: 8 + 12 });
    assert_eq!(message.len() as u64, size.total());
    let decoded = decode(ValueKind::U32, 3, &message).expect("our message");
    assert_eq!(decoded.places, DecodedPlaces::GlobalIds(vec![900, 5, 70]));
    assert_eq!(*decoded.values, *values);
    assert!(decode(ValueKind::U32, 2, &message).is_err(), "more ids than the route has places");
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let fault = |bytes: &[u8]| decode(ValueKind::U32, 10, bytes).expect_err("damaged");
    assert_eq!(fault(&[]), WireError::Length { expected: 8, found: 0 });
    let unknown = WireError::Header { at: 0, field: "mode", found: 9 };
    assert_eq!(fault(&[9, 0, 0, 0, 1, 0, 0, 0]), unknown);
    let too_wide = WireError::Header { at: 1, field: "width", found: 33 };
    assert_eq!(fault(&[0x13, 33, 0, 0, 1, 0, 0, 0]), too_wide);
    assert_eq!(fault(&[3, 0, 0, 0, 11, 0, 0, 0]), WireError::Count { at: 4, count: 11, len: 10 });
    let two = |first: u8, second: u8| {
        let head = [3, 0, 0, 0, 2, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        fault(&[&head[..], &[first, 0, 0, 0, second, 0, 0, 0]].concat())
    };
    assert_eq!(two(4, 4), WireError::Place { at: 20, place: 4, len: 10 });
    assert_eq!(two(10, 11), WireError::Place { at: 16, place: 10, len: 10 });
    let repeated = [6, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1];
    assert_eq!(fault(&repeated), WireError::Repeat { count: 1, len: 10 });
    let longer = WireError::Length { expected: 12, found: 13 };
    assert_eq!(fault(&[&repeated[..], &[0]].concat()), longer);
}

/// Counts that nothing backs take no memory: these would take gigabytes.
#[test]
fn a_count_is_checked_before_memory_is_taken() {
    let len = u32::MAX as usize;
    for mode in 1..=6 {
        let message = [&[mode, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..], &[0; 20]].concat();
        for kind in [ValueKind::Plain(0), ValueKind::U64] {
            assert!(decode(kind, len, &message).is_err(), "mode {mode} {kind:?}");
        }
    }
}

/// Values may lie anywhere in a message: it is read the same from an odd address.
#[test]
fn trap_30_messages_need_no_alignment() {
    let values: Vec<u64> = (0..9).map(|i| i * 0x0123_4567_89ab).collect();
    let bytes = bytemuck::cast_slice(&values);
    let places = [0, 3, 4, 9, 10, 11, 30, 31, 32];
    for kind in [ValueKind::U64, ValueKind::Plain(8)] {
        let message = EncodingPlan::new(kind, 40, Places::Some(&places), bytes).write();
        for shift in 0..8 {
            let shifted = [&vec![0xff; shift][..], &message].concat();
            let decoded = decode(kind, 40, &shifted[shift..]).expect("our message");
            assert_eq!(decoded.places, DecodedPlaces::Some(places.to_vec()));
            assert_eq!(*decoded.values, *bytes);
            let mut field = CpuField::<Sum<u64>>::accumulator(50);
            let shifted = [&vec![0xff; shift][..], bytes].concat();
            let list: Vec<LocalId> = (5..45).map(LocalId).collect();
            let (route, values_here) = (Route::listed(&list), &shifted[shift..]);
            field
                .absorb(Absorb::FoldAtMasters, &route, Places::Some(&places), values_here)
                .expect("memory does not fail");
            let found: Vec<u64> = places.iter().map(|p| field.get(LocalId(5 + p))).collect();
            assert_eq!(found, values);
        }
    }
}

#[test]
fn every_sample_is_a_message() {
    for sample in samples() {
        assert_eq!(judge(&sample), Ok(true), "{sample:?}");
    }
}

#[test]
fn every_truncation_is_an_error() {
    for sample in samples() {
        for end in PREFIX..sample.len() {
            assert_eq!(judge(&sample[..end]), Ok(false), "{sample:?} up to {end}");
        }
    }
}

#[test]
fn every_changed_byte_is_survived() {
    for mut sample in samples() {
        for at in 0..sample.len() {
            let right = sample[at];
            for change in 1..=255 {
                sample[at] = right ^ change;
                judge(&sample).unwrap_or_else(|complaint| panic!("{complaint}: {sample:?}"));
            }
            sample[at] = right;
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(
        mode in (0u8..7, 0u8..2).prop_map(|(indices, values)| indices | values << 4),
        width in 0u8..70,
        parameter in 0u8..34,
        flags in 0u8..3,
        count in 0u32..40,
        prefix in any::<[u8; 2]>(),
        body in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let [kind, len] = prefix.map(|byte| byte % 40);
        let head = [kind % 5, len, 0, 0, 0, mode, width, parameter, flags];
        let input = [&head[..], &count.to_le_bytes(), &body].concat();
        prop_assert!(judge(&input).is_ok(), "{:?}", judge(&input));
    }
}
