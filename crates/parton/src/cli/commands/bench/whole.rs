//! The whole way of a configuration, as `parton run` takes it: the input is opened and partitioned, the algorithm is set
//! up and runs, and every host has the rows of its answer. Nothing is left from the repetition before.

use std::time::Instant;

use super::measure::{Case, Measurement};
use crate::cli::exit::Failure;
use crate::cli::graph_arguments::GraphArguments;
use crate::cli::task;
use crate::cli::watch::Watch;
use crate::defaults::InputTraits;
use crate::graph::progress::{Progress, Unit};
use crate::output::TablePart;

impl Measurement<'_> {
    /// Seconds of every repetition of each case, which take turns; none for a stream, which is read only once.
    pub(super) fn whole_ways(&self, input: &GraphArguments) -> Result<Vec<Vec<f64>>, Failure> {
        let repetitions = if input.is_stream() { 0 } else { self.repetitions };
        let mut seconds: Vec<Vec<f64>> = self.cases.iter().map(|_| Vec::new()).collect();
        let runs = self.cases.len() * repetitions;
        self.watch.stage("whole runs", Unit::Runs, Some(runs as u64));
        for _ in 0..repetitions {
            for (case, seconds) in self.cases.iter().zip(&mut seconds) {
                seconds.push(self.whole_way(input, case)?);
                self.watch.advance(1);
            }
        }
        Ok(seconds)
    }

    /// Seconds from opening the input until all hosts have their rows.
    fn whole_way(&self, input: &GraphArguments, case: &Case) -> Result<f64, Failure> {
        // What is to be said of the graph is said when it is loaded.
        let mute = Watch::new(true, false);
        let start = Instant::now();
        let fit = input.fit(case.algorithm, &case.options)?;
        let input = input.open(fit, &mute, self.team)?;
        let policy = case.policy_for(self.policy, InputTraits::of(&input));
        let mut cluster = task::cluster(case.hosts, case.threads);
        let seconds = cluster.launch(|net| -> Result<_, Failure> {
            let cut = self.cut(net, case, &input, policy)?;
            let mut outcome = case.on_host(net, &cut.partition, false)?;
            let _rows = TablePart::of(net, &cut.partition, &mut outcome.answer)?;
            net.barrier()?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        Ok(seconds.into_iter().fold(0.0, f64::max))
    }
}
