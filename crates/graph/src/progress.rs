//! How long work tells an onlooker how far it is. The library never prints.

/// What a stage of work is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes as they are stored.
    Bytes,
    /// Edges.
    Edges,
    /// Runs of a measurement.
    Runs,
}

/// Receives progress. Calls come from any thread, a few hundred per second at most.
pub trait Progress: Sync {
    /// A stage of the work begins, of which `total` units are to be done, when that is known.
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>);

    /// That many more units of the current stage are done.
    fn advance(&self, amount: u64);
}

/// A progress that is not shown.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Unit, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}
