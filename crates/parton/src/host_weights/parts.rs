//! Some rounds on the parts that hosts got: what these really cost, with packing, with what caches hold of
//! them, and with all hosts at work at the same time.

use parton_algorithms::{Job, Options};
use parton_engine::device::Device;
use parton_engine::{HostReport, Pacing};
use parton_gpu::GpuHost;
use parton_net::{HostId, Net};
use parton_partition::Partition;
use parton_sync::{Optimize, Substrate};

use super::WeightTrial;
use crate::error::Result;

/// Rounds on each cut. The first does not count: memory is touched for the first time in it.
const ROUNDS: u64 = 8;

/// How long a host took for its rounds. Host 0 tells the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct PartTimes {
    /// Seconds of computing, packing and unpacking,
    pub(super) seconds: f64,
    /// and of these of computing.
    pub(super) compute_seconds: f64,
}

impl WeightTrial<'_> {
    /// Runs some rounds on the parts of all hosts and tells how long each host took for its own. `None` if the
    /// algorithm cannot be stopped after some rounds. Every host must call this.
    pub(super) fn time_parts(
        &self,
        net: &mut Net,
        partition: &Partition,
        device: Option<&GpuHost>,
    ) -> Result<Option<Vec<PartTimes>>> {
        let rounds = self.options.max_rounds.map_or(ROUNDS, |most| most.min(ROUNDS));
        let options =
            Options { max_rounds: Some(rounds), pacing: Pacing::default(), ..self.options.clone() };
        if self.algorithm.accepts(&options).is_err() {
            return Ok(None);
        }
        let mut substrate = Substrate::new(partition, net, Optimize::ALL);
        let device = device.map(|gpu| gpu as &dyn Device);
        let (options, watch) = (&options, &mut ());
        let job = &mut Job { substrate: &mut substrate, options, watch, device };
        let report = self.algorithm.run(job)?.report;
        let times: Vec<PartTimes> = report.hosts.iter().map(PartTimes::of).collect();
        let times = net.broadcast(HostId(0), bytemuck::cast_slice(&times).to_vec())?;
        Ok(Some(bytemuck::pod_collect_to_vec(&times)))
    }
}

impl PartTimes {
    /// By the account of a host as host 0 has it.
    fn of(host: &HostReport) -> PartTimes {
        let rounds = &host.round_times;
        let counted = rounds.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(rounds);
        let compute_seconds: f64 = counted.iter().map(|round| round.compute).sum();
        let packing: f64 = counted.iter().map(|round| round.pack).sum();
        PartTimes { seconds: compute_seconds + packing, compute_seconds }
    }
}

#[cfg(test)]
mod tests {
    use parton_engine::RoundTimes;

    use super::*;

    #[test]
    fn work_counts_and_waiting_and_the_first_round_do_not() {
        let round = |compute, pack, wait| RoundTimes { compute, pack, wait };
        let first = round(8.0, 8.0, 8.0);
        let rounds = |round_times: &[RoundTimes]| HostReport {
            round_times: round_times.to_vec(),
            ..HostReport::default()
        };
        let host = rounds(&[first, round(1.0, 2.0, 5.0), round(3.0, 0.5, 5.0)]);
        assert_eq!(PartTimes::of(&host), PartTimes { seconds: 6.5, compute_seconds: 4.0 });
        // An algorithm of one round.
        let once = PartTimes { seconds: 16.0, compute_seconds: 8.0 };
        assert_eq!(PartTimes::of(&rounds(&[first])), once);
    }
}
