//! How many edges a host visits before it exchanges labels with the others.
//!
//! In BSP rounds that is up to the engine. Where hosts do not wait for each other, an exchange costs little, and new
//! labels are worth most: idle hosts can begin, and busy hosts learn early which of their work is redundant. A BSP
//! run that may leave the rounds begins with short rounds too, so that a slow host shows early.

/// Edges of each thread in a round of a host that does not wait, and in the first short round.
const EDGES_PER_THREAD: u64 = 1 << 13;
/// Each short round in BSP is this many times as long as the one before.
const GROWTH: u64 = 16;

/// When a host exchanges labels.
pub(crate) struct RoundLength {
    /// Number of edges that end a round; `None`: the engine decides.
    max_edges: Option<u64>,
    /// Whether hosts wait for each other.
    in_rounds: bool,
}

impl RoundLength {
    /// BSP rounds of any length.
    pub(crate) fn unlimited() -> Self {
        RoundLength { max_edges: None, in_rounds: true }
    }

    /// Whether hosts wait for each other.
    pub(crate) fn in_rounds(&self) -> bool {
        self.in_rounds
    }

    /// Whether a round has visited enough edges.
    pub(crate) fn is_over(&self, edges: u64) -> bool {
        self.max_edges.is_some_and(|most| edges >= most)
    }

    /// Makes the next round short.
    pub(crate) fn shorten(&mut self) {
        self.max_edges = Some(EDGES_PER_THREAD * rayon::current_num_threads() as u64);
    }

    /// A round has ended: the next one may be longer if hosts wait for each other.
    pub(crate) fn close_round(&mut self) {
        if self.in_rounds {
            self.max_edges = self.max_edges.map(|most| most.saturating_mul(GROWTH));
        }
    }

    /// Hosts do not wait for each other any more: every round is short.
    pub(crate) fn leave_rounds(&mut self) {
        self.in_rounds = false;
        self.shorten();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rounds_grow_until_hosts_leave_them() {
        let mut length = RoundLength::unlimited();
        assert!(!length.is_over(u64::MAX));
        length.shorten();
        let first = EDGES_PER_THREAD * rayon::current_num_threads() as u64;
        assert!(length.is_over(first) && !length.is_over(first - 1));
        length.close_round();
        assert!(length.is_over(GROWTH * first) && !length.is_over(GROWTH * first - 1));
        length.leave_rounds();
        length.close_round();
        assert!(length.is_over(first) && !length.in_rounds());
    }
}
