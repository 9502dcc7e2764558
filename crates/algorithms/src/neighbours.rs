//! All edges of a vertex on the host of its master, for algorithms that need them together.

use parton_partition::neighbourhoods::Neighbourhoods;

use crate::algorithm::Job;
use crate::error::{Error, Result};

/// Gathers the edges of all masters, with a note for the user if that took communication. Every host
/// must call this.
pub(crate) fn gather<'a>(job: &mut Job<'_, 'a>) -> Result<(Neighbourhoods<'a>, Vec<String>)> {
    let partition = job.substrate.partition();
    let net = job.substrate.net();
    let near = partition.neighbourhoods(net).map_err(|error| match error {
        parton_partition::Error::Net(error) => Error::from(error),
        other => Error::Data(other.to_string()),
    })?;
    let moved = net.all_reduce(near.moved().iter().sum::<u64>(), |a, b| a + b)?;
    let note = format!(
        "the policy spreads neighbours over hosts: before the first round {moved} bytes were sent \
         to bring them together"
    );
    Ok((near, if moved > 0 { vec![note] } else { Vec::new() }))
}
