//! Samples of products of settings in which any two choices meet: pairwise testing (AETG: Cohen, Dalal, Fredman,
//! Patton, 1997). Most faults need one or two particular choices, wherever the others are.

use std::collections::{BTreeSet, HashSet};

/// A sample of a product. Any two features that meet in a setting of the product meet in one of the sample.
///
/// `features` says what a setting has of each kind, as numbers from 0 on.
pub(crate) fn sample<S, const KINDS: usize>(
    product: Vec<S>,
    features: impl Fn(&S) -> [usize; KINDS],
) -> Vec<S> {
    let mut left: Vec<_> = product.into_iter().map(|one| (features(&one), one)).collect();
    // Neighbours in a product have nearly all in common.
    left.sort_by_cached_key(|(features, _)| shuffled(features));
    let (mut met, mut taken) = (Pairs::default(), Vec::new());
    // First settings whose pairs are all new, at last those that bring a single one.
    for wanted in (1..=KINDS * (KINDS - 1) / 2).rev() {
        let is_taken = |(features, _): &mut ([usize; KINDS], S)| {
            let is_taken = met.count_new(features) >= wanted;
            if is_taken {
                met.add(features);
            }
            is_taken
        };
        taken.extend(left.extract_if(.., is_taken).map(|(_, one)| one));
    }
    taken
}

/// A number that orders settings as if by chance.
pub(crate) fn shuffled(features: &[usize]) -> u64 {
    features.iter().fold(0, |hash: u64, &feature| {
        (hash ^ feature as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// Pairs of features that have met.
#[derive(Default)]
struct Pairs {
    met: Vec<bool>,
}

/// Features of a kind, at most.
const MOST: usize = 128;

impl Pairs {
    fn places(features: &[usize]) -> impl Iterator<Item = usize> {
        let kinds = features.len();
        (0..kinds).flat_map(move |a| {
            (0..a).map(move |b| ((a * kinds + b) * MOST + features[a]) * MOST + features[b])
        })
    }

    fn count_new(&self, features: &[usize]) -> usize {
        Self::places(features).filter(|&place| !self.met.get(place).is_some_and(|&met| met)).count()
    }

    fn add(&mut self, features: &[usize]) {
        for place in Self::places(features) {
            if place >= self.met.len() {
                self.met.resize(place + 1, false);
            }
            self.met[place] = true;
        }
    }
}

/// All pairs of features in these settings.
pub(crate) fn pairs<'a, S: 'a, const KINDS: usize>(
    settings: impl IntoIterator<Item = &'a S>,
    features: impl Fn(&S) -> [usize; KINDS],
) -> BTreeSet<[usize; 4]> {
    let all: HashSet<_> = settings.into_iter().map(features).collect();
    let of = |features: &[usize; KINDS]| {
        let features = *features;
        (0..KINDS).flat_map(move |a| (0..a).map(move |b| [a, b, features[a], features[b]]))
    };
    all.iter().flat_map(of).collect()
}

#[test]
fn any_two_features_meet_in_a_sample() {
    let counts = [7, 5, 3, 2, 2];
    let mut product = Vec::new();
    for number in 0..counts.iter().product() {
        let mut rest = number;
        let setting = counts.map(|count| {
            let choice = rest % count;
            rest /= count;
            choice
        });
        // Some choices exclude each other.
        if (setting[0], setting[1]) != (0, 4) && (setting[2], setting[3]) != (1, 1) {
            product.push(setting);
        }
    }
    let sampled = sample(product.clone(), |setting| *setting);
    assert_eq!(pairs(&sampled, |setting| *setting), pairs(&product, |setting| *setting));
    // No sample has fewer than one setting for each pair of the two largest kinds.
    assert!((34..=50).contains(&sampled.len()), "{}", sampled.len());
}
