//! The states a host goes through on its way to the end, as a table.
//!
//! The machine is that of Gluon-Async. Snapshots are numbered, and a host takes the next one when it
//! has the last snapshot of all hosts (*inspected*). Two ready states tell a host that has just become ready
//! from one that was ready already when it took the snapshot before, and has neither computed, sent
//! nor received since. Only if all hosts took the same snapshot from the second, and everything sent
//! was received (*affirmed*), is it over. `docs/termination.md` says why that is right.

use State::{Active, Idle, Ready1, Ready2, Terminated};

/// Where a host is on its way to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It has work, or has just sent or received something.
    Active,
    /// It has nothing to do.
    Idle,
    /// It has had nothing to do when it took the last snapshot.
    Ready1,
    /// The same for the snapshot before, and nothing has happened in between.
    Ready2,
    /// All hosts have nothing to do, and nothing is under way.
    Terminated,
}

/// Nothing to compute, and nothing sent or received since the last look.
pub(crate) const INACTIVE: u8 = 1;
/// Every host's last snapshot is known.
pub(crate) const INSPECTED: u8 = 2;
/// Every host took it from [`State::Ready2`], and all together had received all they had sent.
pub(crate) const AFFIRMED: u8 = 4;

/// One way to go on.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: State,
    /// Facts that must hold.
    pub all_of: u8,
    /// Facts that must not.
    pub none_of: u8,
    /// Where it leads.
    pub to: State,
    /// Whether the host tells all others where it is, and what it has sent and received.
    pub snapshot: bool,
}

const fn to(from: State, all_of: u8, none_of: u8, to: State) -> Transition {
    Transition { from, all_of, none_of, to, snapshot: false }
}

const fn snapshot(from: State, all_of: u8, none_of: u8, to: State) -> Transition {
    Transition { from, all_of, none_of, to, snapshot: true }
}

/// Every way to go on. In no state do two of them fit the same facts.
#[rustfmt::skip]
pub const TRANSITIONS: &[Transition] = &[
    //       from    all of                             none of    to
    to      (Active, INACTIVE,                          0,         Idle),
    to      (Idle,   0,                                 INACTIVE,  Active),
    snapshot(Idle,   INACTIVE | INSPECTED,              0,         Ready1),
    to      (Ready1, 0,                                 INACTIVE,  Active),
    snapshot(Ready1, INACTIVE | INSPECTED,              0,         Ready2),
    to      (Ready2, 0,                                 INACTIVE,  Active),
    snapshot(Ready2, INACTIVE | INSPECTED,              AFFIRMED,  Ready2),
    to      (Ready2, INACTIVE | INSPECTED | AFFIRMED,   0,         Terminated),
];

impl State {
    /// The way on from here, if these facts open one.
    pub(super) fn next(self, table: &[Transition], facts: u8) -> Option<Transition> {
        let fits = |way: &&Transition| {
            way.from == self && facts & way.all_of == way.all_of && facts & way.none_of == 0
        };
        table.iter().find(fits).copied()
    }

    /// The state that a snapshot says it was taken from.
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Ready1, Ready2].into_iter().find(|state| *state as u8 == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [State; 5] = [Active, Idle, Ready1, Ready2, Terminated];

    #[test]
    fn at_most_one_way_fits() {
        for state in ALL {
            for facts in 0..8 {
                let fits = |way: &&Transition| {
                    way.from == state
                        && facts & way.all_of == way.all_of
                        && facts & way.none_of == 0
                };
                assert!(TRANSITIONS.iter().filter(fits).count() <= 1, "{state:?}, {facts:b}");
            }
        }
    }

    #[test]
    fn a_host_that_is_not_inactive_becomes_active() {
        for state in [Idle, Ready1, Ready2] {
            for facts in [0, INSPECTED, AFFIRMED, INSPECTED | AFFIRMED] {
                let way = state.next(TRANSITIONS, facts).expect("a way");
                assert_eq!((way.to, way.snapshot), (Active, false));
            }
        }
    }

    #[test]
    fn the_end_takes_two_snapshots_and_has_no_way_out() {
        let quiet = INACTIVE | INSPECTED;
        let walk = |mut state: State, facts: &[u8]| {
            let mut snapshots = 0;
            for &facts in facts {
                let Some(way) = state.next(TRANSITIONS, facts) else { break };
                (state, snapshots) = (way.to, snapshots + u32::from(way.snapshot));
            }
            (state, snapshots)
        };
        assert_eq!(walk(Active, &[quiet, quiet, quiet, quiet | AFFIRMED]), (Terminated, 2));
        // Affirmation before the second snapshot ends nothing.
        assert_eq!(walk(Active, &[quiet | AFFIRMED; 3]), (Ready2, 2));
        assert!((0..8).all(|facts| Terminated.next(TRANSITIONS, facts).is_none()));
    }
}
