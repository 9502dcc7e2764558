//! How long work tells an onlooker how far it is. The library never prints.

/// Receives progress. Calls come from any thread, a few hundred per second at most.
pub trait Progress: Sync {
    /// A stage of the work begins; `total` is in the units that [`Progress::advance`] counts
    /// (bytes, edges), when it is known.
    fn stage(&self, name: &str, total: Option<u64>);

    /// That much more of the current stage is done.
    fn advance(&self, amount: u64);
}

/// A progress that is not shown.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}
