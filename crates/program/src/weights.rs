//! What the weights of a graph are like.

use parton_graph::{Weight, parallel, with_csr};
use parton_sync::{Result, Substrate};

/// What the weights of a graph are like.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct WeightRange {
    /// The least, or 0 if that is less.
    pub least: f64,
    /// The greatest, or 0 if that is greater.
    pub greatest: f64,
    /// Their sum; without weights, the number of edges.
    pub sum: f64,
}

impl WeightRange {
    /// No weights.
    pub const NONE: WeightRange = WeightRange { least: 0.0, greatest: 0.0, sum: 0.0 };

    /// Those of the graph that hosts share. Every host must call this.
    pub fn find(substrate: &mut Substrate<'_>) -> Result<Self> {
        let partition = substrate.partition();
        let mine = with_csr!(partition.edges(), csr => WeightRange::of(csr.all_weights()));
        substrate.net().all_reduce(mine, WeightRange::with).map_err(Into::into)
    }

    /// Those of these weights.
    pub fn of<W: Weight>(weights: &[W]) -> Self {
        if size_of::<W>() == 0 {
            return WeightRange { sum: weights.len() as f64, ..WeightRange::NONE };
        }
        let of_piece = |piece: &&[W]| {
            piece.iter().map(|weight| weight.to_f64()).fold(WeightRange::NONE, |all, weight| {
                all.with(WeightRange { least: weight, greatest: weight, sum: weight })
            })
        };
        // Sums are rounded piece by piece: the same for any number of threads.
        let pieces: Vec<_> = weights.chunks(1 << 16).collect();
        parallel::map(&pieces, of_piece).into_iter().fold(WeightRange::NONE, WeightRange::with)
    }

    fn with(self, other: WeightRange) -> Self {
        WeightRange {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            sum: self.sum + other.sum,
        }
    }
}
