//! What hosts count together in every round.

/// What one host has counted in a round, or all hosts together.
///
/// The last four arrays are the program's own. Each place of them holds one quantity, which the
/// array says how to fold over hosts. Places that nobody uses do not travel.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Tally {
    /// Hosts that have something to compute.
    pub active: u64,
    /// Masters that changed, as far as another host may have to know.
    pub changed: u64,
    /// Edges worked through.
    pub edges: u64,
    /// Edges that leave the next frontier, if the engine counts them.
    pub frontier_edges: u64,
    /// How long hosts have computed, and with how many edges.
    pub effort: Effort,
    /// Sums of the program's own, added in the order of hosts.
    pub sums: [f64; 4],
    /// Exact sums of the program's own; they wrap.
    pub counts: [i64; 4],
    /// Minima of the program's own; infinite at first.
    pub least: [f64; 2],
    /// Maxima of the program's own; infinitely low at first.
    pub greatest: [f64; 2],
}

const SLOT_BYTES: usize = size_of::<u64>();
const NUM_SLOTS: usize = size_of::<Tally>() / SLOT_BYTES;

/// The numbers of a tally, as bits.
type Slots = [u64; NUM_SLOTS];
/// One bit for each slot that differs from the default.
type Mask = u32;

impl Default for Tally {
    fn default() -> Self {
        Tally {
            active: 0,
            changed: 0,
            edges: 0,
            frontier_edges: 0,
            effort: Effort::default(),
            sums: [0.0; 4],
            counts: [0; 4],
            least: [f64::INFINITY; 2],
            greatest: [f64::NEG_INFINITY; 2],
        }
    }
}

impl Tally {
    /// A tally of nothing but a sum of the program's own, at the first place.
    pub fn of_sum(sum: f64) -> Tally {
        Tally { sums: [sum, 0.0, 0.0, 0.0], ..Tally::default() }
    }

    /// Both together. Always called in the same order, as sums of doubles are rounded.
    pub fn plus(mut self, other: Tally) -> Tally {
        fn fold<T: Copy>(mine: &mut [T], theirs: &[T], fold: impl Fn(T, T) -> T) {
            mine.iter_mut().zip(theirs).for_each(|(mine, their)| *mine = fold(*mine, *their));
        }
        self.active += other.active;
        self.changed += other.changed;
        self.edges += other.edges;
        self.frontier_edges += other.frontier_edges;
        self.effort = self.effort.plus(other.effort);
        fold(&mut self.sums, &other.sums, std::ops::Add::add);
        fold(&mut self.counts, &other.counts, i64::wrapping_add);
        fold(&mut self.least, &other.least, f64::min);
        fold(&mut self.greatest, &other.greatest, f64::max);
        self
    }

    /// The slots that differ from the default, after a mask that says which.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (mine, default): (Slots, Slots) =
            (bytemuck::cast(self), bytemuck::cast(Tally::default()));
        let is_used = |&slot: &usize| mine[slot] != default[slot];
        let mask = (0..NUM_SLOTS).filter(is_used).fold(0, |mask: Mask, slot| mask | 1 << slot);
        let mut bytes = mask.to_le_bytes().to_vec();
        let used = (0..NUM_SLOTS).filter(is_used);
        used.for_each(|slot| bytes.extend_from_slice(&mine[slot].to_le_bytes()));
        bytes
    }

    /// What [`Tally::to_bytes`] has written.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Tally> {
        let (mask, rest) = bytes.split_first_chunk()?;
        let mask = Mask::from_le_bytes(*mask);
        let (mut values, extra) = (rest.chunks_exact(SLOT_BYTES), mask >> NUM_SLOTS);
        if extra != 0 || rest.len() != mask.count_ones() as usize * SLOT_BYTES {
            return None;
        }
        let mut slots: Slots = bytemuck::cast(Tally::default());
        for slot in (0..NUM_SLOTS).filter(|slot| mask >> slot & 1 == 1) {
            slots[slot] = u64::from_le_bytes(values.next()?.try_into().ok()?);
        }
        Some(bytemuck::cast(slots))
    }
}

/// How long hosts have computed so far, and with how many edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Effort {
    /// Seconds of all hosts,
    pub seconds: f64,
    /// and their edges.
    pub edges: u64,
    /// Seconds of the host that computed longest,
    pub longest: f64,
    /// and its edges.
    pub of_longest: u64,
}

impl Effort {
    /// What one host did.
    pub fn of_one(seconds: f64, edges: u64) -> Effort {
        Effort { seconds, edges, longest: seconds, of_longest: edges }
    }

    /// Both together. Always called in the same order, as sums of doubles are rounded.
    pub fn plus(mut self, other: Effort) -> Effort {
        if other.longest > self.longest {
            (self.longest, self.of_longest) = (other.longest, other.of_longest);
        }
        self.seconds += other.seconds;
        self.edges += other.edges;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_uses_does_not_travel() {
        let mut tally = Tally { active: 1, ..Tally::default() };
        assert_eq!(Tally::default().to_bytes().len(), size_of::<Mask>());
        assert_eq!(tally.to_bytes().len(), size_of::<Mask>() + 8);
        tally.sums[3] = -0.0;
        tally.counts[1] = i64::MIN;
        tally.least[0] = 0.0;
        tally.greatest[1] = f64::INFINITY;
        let bytes = tally.to_bytes();
        assert_eq!(bytes.len(), size_of::<Mask>() + 5 * 8);
        let read = Tally::from_bytes(&bytes).expect("our own");
        assert_eq!(bytemuck::bytes_of(&read), bytemuck::bytes_of(&tally));
    }

    #[test]
    fn every_array_has_its_fold() {
        let one = |x: f64| Tally {
            sums: [x; 4],
            counts: [x as i64; 4],
            least: [x; 2],
            greatest: [x; 2],
            ..Tally::default()
        };
        let all = [one(3.5), Tally::default(), one(-7.0)].into_iter().fold(one(2.0), Tally::plus);
        assert_eq!((all.sums, all.counts), ([-1.5; 4], [-2; 4]));
        assert_eq!((all.least, all.greatest), ([-7.0; 2], [3.5; 2]));
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = Tally { active: 1, edges: 2, ..Tally::default() }.to_bytes();
        for end in 0..bytes.len() {
            assert!(Tally::from_bytes(&bytes[..end]).is_none(), "{end}");
        }
        assert!(Tally::from_bytes(&[0xff; 4 + NUM_SLOTS * 8]).is_none(), "slots there are not");
    }
}
