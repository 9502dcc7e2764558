//! How hosts find out that all is done.
//!
//! Hosts that wait for each other vote after every round ([`Vote`]). Hosts that do not wait have no
//! common moment at which all are idle; they find one with snapshots ([`Detector`]).

mod detector;
mod early;
mod states;
mod tally;

pub use detector::Detector;
pub use early::PendingTotal;
pub use states::{State, TRANSITIONS, Transition};
pub use tally::{Effort, Tally};

use parton_net::HostId;

use crate::error::{Error, Result};
use crate::substrate::Substrate;

/// A way to find out that all is done.
pub trait Termination {
    /// Ends a round of this host. Returns what all hosts counted in it, as far as this host can know.
    ///
    /// [`Tally::active`] is always exact in one respect: it is 0 if and only if no host has anything
    /// left to do, and none ever will. A host that does not wait for others is held here while it
    /// has nothing to do.
    fn total(&mut self, mine: Tally, substrate: &mut Substrate<'_>) -> Result<Tally>;

    /// The same for a loop that only wants to know whether it is over.
    fn reached(&mut self, active: bool, substrate: &mut Substrate<'_>) -> Result<bool> {
        let mine = Tally { active: u64::from(active), ..Tally::default() };
        Ok(self.total(mine, substrate)?.active == 0)
    }
}

/// All hosts tell each other their tallies after every round, and wait for each other to do so.
#[derive(Debug, Default)]
pub struct Vote;

impl Termination for Vote {
    fn total(&mut self, mine: Tally, substrate: &mut Substrate<'_>) -> Result<Tally> {
        let start = substrate.net().now();
        let tallies = substrate.net().all_gather_short(&mine.to_bytes())?;
        substrate.rested_since(start);
        let mut total = Tally::default();
        for (from, bytes) in HostId::all(tallies.len()).zip(tallies) {
            let theirs = Tally::from_bytes(&bytes).ok_or(Error::Tally { from })?;
            total = if from == HostId(0) { theirs } else { total.plus(theirs) };
        }
        Ok(total)
    }
}
