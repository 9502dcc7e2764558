//! How an engine that overlaps computation with communication orders its work.

/// What an engine may reorder and leave out. Engines that do neither ignore this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Messages are consumed as they arrive and sent as soon as they are final. Off: a host receives all
    /// messages of a phase before it computes, and computes everything before it sends.
    pub overlap: bool,
    /// Sums may be added in the order in which messages arrive: they are then not repeatable to the last bit.
    pub any_order: bool,
    /// Vertices whose work the program's properties allow to do once are left out of rounds.
    pub filter: bool,
    /// A mistake that tests plant, to see whether they would notice it.
    pub fault: Option<ScheduleFault>,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule { overlap: true, any_order: false, filter: true, fault: None }
    }
}

/// Mistakes that schedules like this one have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleFault {
    /// A tile is multiplied before its messages have arrived.
    MultiplyEarly,
    /// A partial sum is sent before the last tile of its group is multiplied.
    SendEarly,
    /// A vertex that others read is filtered as if it were a sink.
    FilterReadVertex,
    /// Contributions are folded in the order of arrival although their order shows.
    FoldOnArrival,
    /// Sinks are fed from the states after the last round instead of those before it.
    LateSinks,
}
