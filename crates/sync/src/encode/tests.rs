//! The choice between encodings, held against all of them.

use proptest::prelude::*;

use super::bits::low_mask;
use super::header::{self, Header, Indices};
use super::indices::Listed;
use super::values;
use super::{
    Decoded, DecodedPlaces, EncodingPlan, Listing, Places, ValueKind, WireError, decode,
    decode_after, rice,
};

/// A message as a list of which places have which values.
#[derive(Clone, Debug)]
struct Message {
    kind: ValueKind,
    len: usize,
    places: Vec<u32>,
    values: Vec<u8>,
}

impl Message {
    fn plan(&self) -> EncodingPlan<'_> {
        self.plan_after(None)
    }

    fn plan_after(&self, before: Option<&Listing<'_>>) -> EncodingPlan<'_> {
        EncodingPlan::after(before, self.kind, self.len, Places::Some(&self.places), &self.values)
    }

    /// All index encodings that can say these places, with every parameter.
    fn index_encodings(&self) -> Vec<Indices> {
        if self.places.len() == self.len {
            return vec![Indices::Dense, Indices::BitVector, Indices::List];
        }
        let compact = (0..=rice::MAX_PARAMETER).flat_map(|parameter| {
            [false, true].map(|inverted| Indices::Compact { parameter, inverted })
        });
        [Indices::BitVector, Indices::List].into_iter().chain(compact).collect()
    }

    /// One of each kind of index encodings, compact ones with the best parameter.
    fn cheap_index_encodings(&self) -> Vec<Indices> {
        if self.places.len() == self.len {
            return self.index_encodings();
        }
        let listed = Listed::new(self.len, &self.places);
        listed.sparse_choices().into_iter().map(|choice| choice.encoding).collect()
    }

    fn value_encodings(&self) -> Vec<values::Choice> {
        let count = self.places.len();
        let span = values::span(self.kind, &self.values);
        let packed = span.map(|span| values::Choice::packed(self.kind, span, count));
        packed.into_iter().chain([values::Choice::raw(self.kind, count)]).collect()
    }

    /// The message in an encoding that need not be the best.
    fn write_as(&self, indices: Indices, values: values::Choice) -> Vec<u8> {
        let count = self.places.len() as u32;
        let header = Header { indices, values: values.encoding(), count };
        let mut message = header.write().to_vec();
        values::write(&mut message, self.kind, values, &self.values);
        assert_eq!(message.len() as u64, header::BYTES as u64 + values.bytes, "{values:?}");
        Listed::new(self.len, &self.places).write(&mut message, indices);
        message
    }

    fn assert_decoded(&self, decoded: &Decoded<'_>) {
        match &decoded.places {
            DecodedPlaces::All => assert_eq!(self.places.len(), self.len),
            DecodedPlaces::Some(places) => assert_eq!(places, &self.places),
            DecodedPlaces::GlobalIds(_) => panic!("not by ids"),
        }
        assert_eq!(decoded.values, self.values);
    }
}

fn place_lists() -> impl Strategy<Value = (usize, Vec<u32>)> {
    let len = prop_oneof![Just(1), Just(63), Just(64), Just(65), 2usize..40, 100usize..700];
    // How likely the next place is like the one before, and is there: even, clustered, all, none.
    (len, 0.0..=1.0f64, prop_oneof![Just(0.0), Just(0.95)], any::<u64>()).prop_map(
        |(len, density, stay, seed)| {
            let mut random = random_from(seed);
            let mut chance = move || random() as f64 / (1u64 << 32) as f64;
            let mut there = chance() < density;
            let mut flip = || {
                if chance() >= stay {
                    there = chance() < density;
                }
                there
            };
            (len, (0..len as u32).filter(|_| flip()).collect())
        },
    )
}

/// 32 random bits, again and again.
fn random_from(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) ^ (state >> 59)
    }
}

fn messages() -> impl Strategy<Value = Message> {
    let kind = prop_oneof![
        Just(ValueKind::U8),
        Just(ValueKind::U32),
        Just(ValueKind::U64),
        (0usize..12).prop_map(ValueKind::Plain),
    ];
    let base = prop_oneof![Just(0), Just(u64::MAX), Just(u64::from(u32::MAX)), any::<u64>()];
    (kind, place_lists(), base, 0u32..=64, any::<u64>(), any::<bool>()).prop_map(
        |(kind, (len, places), base, width, seed, outlier)| {
            let mut random = random_from(seed);
            let mask = u64::MAX.checked_shr(64 - width).unwrap_or(0);
            let mut values = Vec::new();
            for i in 0..places.len() {
                let noise = (random() << 32 | random()) & mask;
                let value = if outlier && i == 1 { u64::MAX } else { base.wrapping_add(noise) };
                let bytes = [value.to_le_bytes(), value.to_le_bytes()].concat();
                values.extend_from_slice(&bytes[..kind.bytes()]);
            }
            Message { kind, len, places, values }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_plan_is_the_smallest_of_all_encodings(message in messages()) {
        let plan = message.plan();
        let bytes = plan.write();
        prop_assert_eq!(bytes.len() as u64, plan.size().total());
        message.assert_decoded(&decode(message.kind, message.len, &bytes).expect("our message"));
        if message.places.is_empty() {
            prop_assert_eq!(bytes, [0]);
            return Ok(());
        }
        for values in message.value_encodings() {
            for indices in message.index_encodings() {
                let other = message.write_as(indices, values);
                prop_assert!(bytes.len() <= other.len(), "{:?} {:?}", indices, values);
                message.assert_decoded(&decode(message.kind, message.len, &other).expect("legal"));
            }
        }
    }

    /// A message with the places of the one before says so in no bytes, whatever its values are; one with other places
    /// is written as if there were none before.
    #[test]
    fn places_are_repeated_exactly_if_they_are_the_same(
        first in messages(),
        second in messages(),
        is_same in any::<bool>(),
    ) {
        let second = match is_same {
            true => Message { kind: ValueKind::Plain(0), values: Vec::new(), ..first.clone() },
            false => second,
        };
        let bytes = first.plan().write();
        let before = decode(first.kind, first.len, &bytes).expect("our message").listing;
        prop_assert_eq!(&before, &first.plan().listing(&bytes), "both ends keep the same");
        let lists_places = !first.places.is_empty() && first.places.len() < first.len;
        prop_assert_eq!(before.is_some(), lists_places);

        let plan = second.plan_after(before.as_ref());
        let bytes = plan.write();
        prop_assert_eq!(bytes.len() as u64, plan.size().total());
        let decoded = decode_after(before.as_ref(), second.kind, second.len, &bytes);
        second.assert_decoded(&decoded.expect("our message"));
        if lists_places && (first.len, &first.places) == (second.len, &second.places) {
            prop_assert_eq!(plan.size().metadata, header::BYTES as u64);
            prop_assert_eq!(plan.listing(&bytes), None, "what is kept stays");
            let error = WireError::Repeat { count: second.places.len(), len: second.len };
            let other = Message { len: first.len + 1, ..first };
            let listed = other.plan().write();
            let other = other.plan().listing(&listed);
            for before in [None, other.as_ref()] {
                prop_assert_eq!(&decode_after(before, second.kind, second.len, &bytes), &Err(error));
            }
        } else {
            prop_assert_eq!(bytes, second.plan().write());
        }
    }

    #[test]
    fn every_size_is_known_before_writing((len, places) in place_lists()) {
        prop_assume!(!places.is_empty() && places.len() < len);
        let listed = Listed::new(len, &places);
        for choice in listed.sparse_choices() {
            let mut out = Vec::new();
            listed.write(&mut out, choice.encoding);
            prop_assert_eq!(out.len() as u64, choice.bytes, "{:?}", choice.encoding);
        }
    }

    /// What the dense message would take is never overestimated.
    #[test]
    fn a_dense_message_that_is_smaller_is_never_missed(
        message in messages(),
        others in any::<u64>(),
    ) {
        let (kind, len) = (message.kind, message.len);
        let mut random = random_from(others);
        let value = kind.bytes();
        let mut all: Vec<u8> = (0..len * value).map(|_| random() as u8).collect();
        for other in all.chunks_exact_mut(value.max(1)) {
            // Like one of those that are sent, often.
            if let (Some(sent), true) = (message.values.get(..value), !random().is_multiple_of(64)) {
                other.copy_from_slice(sent);
            }
        }
        for (i, &place) in message.places.iter().enumerate() {
            let sent = &message.values[i * value..][..value];
            all[place as usize * value..][..value].copy_from_slice(sent);
        }
        let dense = EncodingPlan::new(kind, len, Places::All, &all);
        let sparse = message.plan();
        if dense.size().total() < sparse.size().total() {
            prop_assert!(sparse.dense_could_win(&[]));
            prop_assert!(sparse.dense_could_win(&all[..value * len.min(8)]));
        }
        prop_assert!(!dense.dense_could_win(&[]));
    }
}

/// Gaps so great that a list of plain indices wins, and quotients that span many words.
#[test]
fn huge_gaps() {
    let len = u32::MAX as usize;
    let far = u32::MAX - 1;
    for places in [vec![far], vec![0, far], (0..5000).chain([1 << 30, far]).collect()] {
        let values = vec![7; places.len()];
        let message = Message { kind: ValueKind::Plain(1), len, places, values };
        let bytes = message.plan().write();
        assert_eq!(bytes.len() as u64, message.plan().size().total());
        message.assert_decoded(&decode(message.kind, len, &bytes).expect("our message"));
    }
    let list = EncodingPlan::new(ValueKind::Plain(1), len, Places::Some(&[u32::MAX - 1]), &[7]);
    assert_eq!(list.size().metadata, 8 + 4);
}

/// Threads share a message from some length on: what they write together is what one writes alone, and any of
/// them reads it.
#[test]
fn threads_write_the_bytes_of_one() {
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads")
    };
    let (alone, together) = (pool(1), pool(5));
    let mut random = random_from(3);
    for (len, per_place) in [(100_003, 1u64), (300_000, 2), (200_000, 40), (1 << 22, 3000)] {
        let places: Vec<u32> = (0..len as u32).filter(|_| random() % per_place < 1).collect();
        for (width, offset) in [(0, 9), (5, u64::MAX - 3), (13, 77), (61, 1 << 40)] {
            for kind in [ValueKind::U32, ValueKind::U64, ValueKind::Plain(3)] {
                let mut values = Vec::new();
                for _ in &places {
                    let noise = (random() << 32 | random()) & low_mask(width);
                    let value = offset.wrapping_add(noise).to_le_bytes();
                    values.extend_from_slice(&value[..kind.bytes()]);
                }
                let message = Message { kind, len, places: places.clone(), values };
                assert_eq!(alone.install(|| message.plan().size()), message.plan().size());
                for values in message.value_encodings() {
                    for indices in message.cheap_index_encodings() {
                        let bytes = alone.install(|| message.write_as(indices, values));
                        let same = together.install(|| message.write_as(indices, values));
                        assert!(bytes == same, "{len}: {indices:?}, {values:?}");
                        together.install(|| {
                            message
                                .assert_decoded(&decode(kind, len, &bytes).expect("our message"));
                        });
                    }
                }
            }
        }
    }
}

/// At densities from 0.1 to 20 per cent, compact indices are within a tenth of the least bits that
/// any code needs for places that are spread evenly.
#[test]
fn compact_indices_are_near_the_entropy() {
    let len = 1 << 20;
    for density in [0.001, 0.003, 0.01, 0.03, 0.1, 0.2] {
        let mut random = random_from(1);
        let threshold = (density * (1u64 << 32) as f64) as u64;
        let places: Vec<u32> = (0..len as u32).filter(|_| random() < threshold).collect();
        let p = places.len() as f64 / len as f64;
        let entropy = -(p * p.log2() + (1.0 - p) * (1.0 - p).log2()) * len as f64 / 8.0;
        for message in [&places, &complement_of(&places, len)] {
            let bytes = Listed::new(len, message).smallest().bytes as f64;
            assert!(bytes < 1.1 * entropy, "{density}: {bytes} bytes, entropy {entropy:.0}");
            assert!(bytes > 0.98 * entropy, "{density}: {bytes} bytes, entropy {entropy:.0}");
        }
    }
}

fn complement_of(places: &[u32], len: usize) -> Vec<u32> {
    (0..len as u32).filter(|place| places.binary_search(place).is_err()).collect()
}
