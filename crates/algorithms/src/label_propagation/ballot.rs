//! A table that counts labels, and the encoding of its counts.

/// A slot without a label.
const EMPTY_SLOT: u32 = u32::MAX;

/// An open-addressing hash table from labels to counts. A thread reuses it: clearing it costs as much
/// as was counted.
#[derive(Default)]
pub(super) struct Ballot {
    /// Labels at the slot of their hash, or at the next free one.
    labels: Vec<u32>,
    counts: Vec<u32>,
    /// Slots that are in use.
    taken: Vec<u32>,
    mask: usize,
}

/// A label and its count.
pub(super) type Vote = (u32, u32);

impl Ballot {
    /// Clears the table, and makes room for `most` different labels.
    pub(super) fn begin(&mut self, most: usize) {
        for place in self.taken.drain(..) {
            self.labels[place as usize] = EMPTY_SLOT;
        }
        // At least half of the slots stay free.
        let places = (2 * most).next_power_of_two().max(8);
        self.mask = places - 1;
        if self.labels.len() < places {
            self.labels.resize(places, EMPTY_SLOT);
            self.counts.resize(places, 0);
        }
    }

    /// Counts a label.
    #[inline(always)]
    pub(super) fn add(&mut self, label: u32, count: u32) {
        let mut place = (label.wrapping_mul(0x9e37_79b1) >> 7) as usize & self.mask;
        loop {
            let found = self.labels[place];
            if found == label {
                self.counts[place] += count;
                return;
            }
            if found == EMPTY_SLOT {
                self.labels[place] = label;
                self.counts[place] = count;
                self.taken.push(place as u32);
                return;
            }
            place = (place + 1) & self.mask;
        }
    }

    /// The label with the greatest count, the least among equals.
    pub(super) fn winner(&self) -> Option<u32> {
        let votes = self.votes();
        votes
            .max_by_key(|&(label, count)| (count, std::cmp::Reverse(label)))
            .map(|(label, _)| label)
    }

    fn votes(&self) -> impl Iterator<Item = Vote> + '_ {
        self.taken.iter().map(|&place| (self.labels[place as usize], self.counts[place as usize]))
    }

    /// Appends all votes.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let mut votes: Vec<Vote> = self.votes().collect();
        votes.sort_unstable();
        write_votes(bytes, votes.len(), votes);
    }
}

/// Appends votes, which are in the order of their labels: how many there are, then for each how far its label
/// is from the one before, and its count unless that is 1.
pub(super) fn write_votes(
    bytes: &mut Vec<u8>,
    number: usize,
    votes: impl IntoIterator<Item = Vote>,
) {
    write_number(bytes, number as u64);
    let mut before = 0;
    for (label, count) in votes {
        write_number(bytes, u64::from(label - before) << 1 | u64::from(count > 1));
        if count > 1 {
            write_number(bytes, u64::from(count));
        }
        before = label;
    }
}

/// The votes that [`write_votes`] wrote, taken from the front of `bytes`; none if these are no
/// votes.
pub(super) fn read_votes(bytes: &mut &[u8]) -> Option<Vec<Vote>> {
    let number = usize::try_from(read_number(bytes)?).ok()?;
    // Every vote takes a byte at least.
    if number > bytes.len() {
        return None;
    }
    let (mut votes, mut before) = (Vec::with_capacity(number), 0u32);
    for _ in 0..number {
        let coded = read_number(bytes)?;
        let label = before.checked_add(u32::try_from(coded >> 1).ok()?)?;
        let count = if coded & 1 == 1 { u32::try_from(read_number(bytes)?).ok()? } else { 1 };
        votes.push((label, count));
        before = label;
    }
    Some(votes)
}

/// Appends a number, seven bits to a byte, the least first.
pub(super) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front of `bytes`.
pub(super) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_the_most_frequent_wins() {
        let mut ballot = Ballot::default();
        ballot.begin(0);
        assert_eq!(ballot.winner(), None);
        for (labels, expected) in [
            (&[7u32][..], 7),
            (&[9, 3, 9, 3, 1], 3),
            (&[0, u32::MAX - 1, u32::MAX - 1], u32::MAX - 1),
        ] {
            ballot.begin(labels.len());
            labels.iter().for_each(|&label| ballot.add(label, 1));
            assert_eq!(ballot.winner(), Some(expected), "{labels:?}");
        }
        ballot.begin(1000);
        (0..1000u32).for_each(|label| ballot.add(label * 64, 1 + label % 3));
        assert_eq!(ballot.winner(), Some(2 * 64));
    }

    #[test]
    fn votes_survive_the_way() {
        let mut ballot = Ballot::default();
        let mut bytes = Vec::new();
        let lists: [&[Vote]; 3] = [&[], &[(0, 1)], &[(5, 300), (6, 1), (u32::MAX - 1, 2)]];
        for votes in lists {
            ballot.begin(votes.len());
            votes.iter().for_each(|&(label, count)| ballot.add(label, count));
            ballot.write(&mut bytes);
        }
        let mut rest = &bytes[..];
        for votes in lists {
            assert_eq!(read_votes(&mut rest).as_deref(), Some(votes));
        }
        assert!(rest.is_empty());
        for end in 0..bytes.len() {
            let mut rest = &bytes[..end];
            while read_votes(&mut rest).is_some() {}
        }
    }
}
