//! What the loop asks of an engine.

use parton_partition::End;
use parton_sync::{Field, Result, Substrate, Tally};

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

    /// Takes in, at masters, what has come. What is summed up over all hosts goes into the tally.
    fn apply(&mut self) -> Tally;

    /// The messages, and at which end of edges they will be read.
    fn messages(&mut self) -> (&mut dyn Field, End);

    /// Gathers what is to be computed next; whether that is anything.
    fn is_active(&mut self) -> bool;

    /// Why hosts have to wait for each other in every round; `None` if they need not.
    fn needs_rounds(&self) -> Option<&'static str> {
        Some("nothing says that it can do without rounds")
    }

    /// From here on hosts do not wait for each other; never called where they have to.
    fn leave_rounds(&mut self) {}

    /// Learns what all hosts summed up; whether the program has ended.
    fn conclude(&mut self, total: &Tally) -> bool {
        total.active == 0
    }
}
