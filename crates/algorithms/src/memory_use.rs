//! What an algorithm holds on a host in addition to its partition, for plans of a run.

/// Bytes that an algorithm holds on each host in addition to its partition, and bytes of what it sends. Held bytes
/// were fitted to measured peaks; `cargo xtask bench plan` measures them again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryUse {
    /// Bytes for each local edge.
    pub edge: f64,
    /// Bytes for each proxy.
    pub proxy: f64,
    /// Bytes for each local edge and further proxy that vertices have on average: neighbourhoods and messages that travel.
    pub copied_edge: f64,
    /// Bytes of a value that hosts exchange.
    pub value: f64,
}

impl MemoryUse {
    /// No algorithm: the partition alone.
    pub const NONE: Self = MemoryUse::new(0.0, 0.0, 4.0);
    /// An algorithm that was not measured.
    pub const UNKNOWN: Self = MemoryUse::new(8.0, 24.0, 8.0);

    /// Of an algorithm whose hosts exchange values of vertices.
    pub const fn new(edge: f64, proxy: f64, value: f64) -> Self {
        MemoryUse { edge, proxy, copied_edge: 0.0, value }
    }

    /// Of an algorithm that holds more where vertices have more proxies.
    pub(crate) const fn with_copies(self, copied_edge: f64) -> Self {
        MemoryUse { copied_edge, ..self }
    }
}
