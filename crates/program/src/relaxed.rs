//! Facts about the graph that a compiled relaxation runs on.

use parton_engine::DeviceType;

/// Facts about the run of a relaxation, the same on all hosts.
#[derive(Clone, Copy, Debug)]
pub struct RelaxSetting {
    /// Labels that differ by less are as good as equal when it comes to whose turn it is.
    pub delta: Delta,
    /// Whether every edge is there in both directions.
    pub is_symmetric: bool,
}

/// All labels in one bucket, edges as they are.
impl Default for RelaxSetting {
    fn default() -> Self {
        RelaxSetting { delta: Delta { shift: 63, inverse: 0.0 }, is_symmetric: false }
    }
}

/// The width of a bucket of labels, for delta-stepping (Meyer, Sanders 2003).
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Delta {
    /// For real numbers: its inverse.
    pub inverse: f64,
    /// For whole numbers: its logarithm to the base 2.
    pub shift: u64,
}

impl Delta {
    /// Buckets of this width.
    pub fn new(width: f64) -> Self {
        Delta { shift: width.log2().round().clamp(0.0, 31.0) as u64, inverse: 1.0 / width }
    }
}

/// Buckets before the last, which takes all the rest: there is an array of them.
pub const MAX_BUCKETS: usize = 1 << 16;
