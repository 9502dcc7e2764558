//! What the loop asks of an engine.

use parton_net::Net;
use parton_partition::End;
use parton_sync::{Field, Result, Substrate, Tally};

use crate::waiting::Held;

/// One host's part of a program: its vertices' data, and a way through its edges.
pub trait Engine {
    /// Trades what is no value of a proxy, such as lists of neighbours, with the other hosts, before
    /// this round's computing. What is sent must be [counted](Substrate::count).
    fn trade(&mut self, _: &mut Substrate<'_>) -> Result<()> {
        Ok(())
    }

    /// Works through what is active; how many edges that took.
    fn compute(&mut self) -> u64;

    /// The contributions, and at which end of edges they were written.
    fn accumulators(&mut self) -> (&mut dyn Field, End);

    /// Brings contributions to masters. Every host must call this. Engines whose contributions are no
    /// field, because they have no fixed size or are for vertices that are not neighbours, do so in
    /// their own way; [`Substrate::ship`] counts what they send.
    fn reduce(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let (field, written) = self.accumulators();
        substrate.reduce(field, written)
    }

    /// Takes in, at masters, what has come. What is summed up over all hosts goes into the tally.
    fn apply(&mut self) -> Tally;

    /// The messages, and at which end of edges they will be read.
    fn messages(&mut self) -> (&mut dyn Field, End);

    /// Brings messages to mirrors. Every host must call this. Engines that know better when these are
    /// needed do so in their own way.
    fn broadcast(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let (field, read) = self.messages();
        substrate.broadcast(field, read)
    }

    /// Gathers what is to be computed next; whether that is anything.
    fn is_active(&mut self) -> bool;

    /// Number of edges that leave what was gathered, for engines that decide by the sum over all hosts
    /// which way to look at them.
    fn frontier_edges(&self) -> u64 {
        0
    }

    /// Why hosts have to wait for each other in every round; `None` if they need not.
    fn needs_rounds(&self) -> Option<&'static str> {
        Some("nothing says that it can do without rounds")
    }

    /// Whether hosts look at fewer edges as long as they wait for each other, the same on all of them:
    /// where they need not, they do so until this is over.
    fn gains_from_rounds(&self) -> bool {
        false
    }

    /// Makes the first rounds short, where they could be most of a run: hosts may leave them, and a slow
    /// one shall show early.
    fn begin_short(&mut self) {}

    /// From here on hosts do not wait for each other; never called where they have to. `governed`:
    /// whether what promises to save work in vain is worth holding something back.
    fn leave_rounds(&mut self, _governed: bool) {}

    /// What it held back since.
    fn held(&self) -> Held {
        Held::default()
    }

    /// Learns what all hosts summed up; whether the program has ended.
    fn conclude(&mut self, total: &Tally) -> bool {
        total.active == 0
    }

    /// Hosts that wait for each other have nothing left to do: begins what comes next; whether
    /// anything does, the same on all hosts.
    fn begin_phase(&mut self, _: &mut Net) -> Result<bool> {
        Ok(false)
    }

    /// What the round that was just concluded is judged by, the same on every host.
    fn measure(&self) -> Option<Measure> {
        None
    }
}

/// What a program is judged by while it runs: an error that falls, a value that settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// What it is.
    pub name: &'static str,
    /// What it came to in one round.
    pub value: f64,
}
