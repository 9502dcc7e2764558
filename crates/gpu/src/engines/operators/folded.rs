//! What a host's threads fold into scalars: each block adds up its own in a fixed order, and one block adds up those.

use std::sync::Arc;

use parton_plan::CompiledPlan;

use crate::driver::{Driver, Launch};
use crate::error::Result;
use crate::launch::{Arguments, Kernels, arguments};
use crate::memory::Buffer;

/// Threads of a block that adds up, as in `operators.cu`.
const THREADS: u32 = 128;
/// Blocks at most: a fixed number, so that sums are rounded the same way in every run.
const MAX_BLOCKS: u64 = 2048;
/// Bytes of memory that the threads of a block share.
const SHARED_BYTES: usize = 48 << 10;

/// What has been folded into scalars.
pub(super) struct Folded {
    identities: Vec<u64>,
    scalars: Buffer<u64>,
    /// `Tallies` of the program's text, of each block.
    of_blocks: Buffer<u64>,
}

/// Words of `Tallies`.
fn words(plan: &CompiledPlan) -> usize {
    plan.tallies.iter().flatten().count() + 1
}

/// Why the scalars of a program are too many, if they are.
pub(super) fn misfit(plan: &CompiledPlan) -> Option<String> {
    let bytes = words(plan) * size_of::<u64>() * THREADS as usize;
    let folded = words(plan) - 1;
    (bytes > SHARED_BYTES)
        .then(|| format!("the {folded} scalars that it folds values into are too many"))
}

impl Folded {
    pub(super) fn new(
        driver: &Arc<dyn Driver>,
        plan: &CompiledPlan,
        identities: Vec<u64>,
    ) -> Result<Self> {
        Ok(Folded {
            scalars: Buffer::from_slice(driver, &identities)?,
            identities,
            of_blocks: Buffer::new(driver, MAX_BLOCKS as usize * words(plan))?,
        })
    }

    /// Queues a kernel that folds values into scalars.
    pub(super) fn run(
        &self,
        kernels: &Kernels,
        kernel: &str,
        work: u64,
        mut arguments: Arguments,
    ) -> Result<()> {
        let threads = THREADS.min(kernels.threads());
        let blocks = work.div_ceil(threads.into()).clamp(1, MAX_BLOCKS) as u32;
        let launch = Launch { blocks, threads, is_cooperative: false };
        arguments.push(self.of_blocks.address());
        kernels.launch_as(kernel, launch, &arguments)?;
        let sum = arguments![self.of_blocks.address(), blocks, self.scalars.address()];
        kernels.launch_as("sum_tallies", Launch { blocks: 1, ..launch }, &sum)
    }

    /// What was folded into some scalars; nothing is left there.
    pub(super) fn take(&mut self, scalars: &[usize]) -> Result<Vec<u64>> {
        let mut all = self.scalars.to_vec()?;
        let taken = scalars
            .iter()
            .map(|&scalar| std::mem::replace(&mut all[scalar], self.identities[scalar]));
        let taken = taken.collect();
        self.scalars.upload(0, &all)?;
        Ok(taken)
    }
}
