//! Which of the planned runs to choose.

use super::{Forecast, Range};

/// A run that could be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'f> {
    /// What it needs.
    pub forecast: &'f Forecast,
    /// The most that this process, or that of a rank on a machine like this one, may use; `None` if
    /// nothing limits it.
    pub limit: Option<f64>,
}

/// What to choose, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Number of hosts.
    pub hosts: usize,
    /// The policy.
    pub policy: String,
    /// Whether each host needs a machine of its own, as a rank of a launcher.
    pub on_machines: bool,
    /// The reasons, as sentences.
    pub reasons: Vec<String>,
}

/// A cut is uneven if its fullest host has this many times the edges of the mean one.
const UNEVEN: f64 = 2.0;

impl Candidate<'_> {
    /// Whether all hosts fit one process here, and whether each fits a machine like this one.
    pub fn fits(&self) -> (bool, bool) {
        let fits = |need: Range| self.limit.is_none_or(|limit| need.likely <= limit);
        (fits(self.forecast.process_peak), fits(self.forecast.host_peak))
    }
}

/// The best of some candidates: on this machine if one fits, and of those the fewest hosts, then the fewest bytes;
/// else the fewest machines. `None` if none fits.
pub fn advise(candidates: &[Candidate<'_>]) -> Option<Advice> {
    let bytes = |candidate: &Candidate<'_>| candidate.forecast.bytes_per_round.likely;
    let best = |on_machines: bool| {
        let fitting: Vec<_> = candidates
            .iter()
            .filter(|candidate| match (candidate.fits(), on_machines) {
                ((here, _), false) => here,
                ((_, each), true) => each,
            })
            .collect();
        let hosts = fitting.iter().map(|candidate| candidate.forecast.hosts).min()?;
        let same: Vec<_> =
            fitting.into_iter().filter(|candidate| candidate.forecast.hosts == hosts).collect();
        let even =
            |candidate: &&&Candidate<'_>| candidate.forecast.quality.edge_imbalance() <= UNEVEN;
        let least = |a: &&&Candidate<'_>, b: &&&Candidate<'_>| bytes(a).total_cmp(&bytes(b));
        let chosen =
            same.iter().filter(even).min_by(least).or_else(|| same.iter().min_by(least))?;
        Some((**chosen, same.len(), on_machines))
    };
    let (chosen, policies, on_machines) = best(false).or_else(|| best(true))?;
    let Forecast { hosts, policy, quality, bytes_per_round, .. } = chosen.forecast;
    let mut reasons = vec![match (on_machines, *hosts) {
        (false, 1) => {
            "one host holds everything, and further hosts of one machine share its cores".into()
        }
        (false, hosts) => format!("{hosts} hosts fit the memory of this machine"),
        (true, 1) => "one machine like this one holds everything".into(),
        (true, hosts) => {
            format!("one rank on each of {hosts} machines like this one fits its memory")
        }
    }];
    if *hosts > 1 && policies > 1 {
        reasons.push(format!(
            "{policy} sends the least of {policies} policies: about {:.3} MB in a round at most, with {:.2} \
             proxies per vertex, and at most {:.2} times the mean edges on a host",
            bytes_per_round.high / 1e6,
            quality.replication(),
            quality.edge_imbalance()
        ));
    }
    Some(Advice { hosts: *hosts, policy: policy.clone(), on_machines, reasons })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parton_partition::quality::{Quality, Share};

    fn forecast(hosts: usize, policy: &str, [host, process, bytes]: [f64; 3]) -> Forecast {
        let range = |likely| Range::around(likely, 0.8, 1.2);
        Forecast {
            hosts,
            policy: policy.into(),
            quality: Quality { vertices: 9, edges: 9, hosts: vec![Share::default(); hosts] },
            host_peak: range(host),
            host_steady: range(host),
            process_peak: range(process),
            bytes_per_round: range(bytes),
        }
    }

    #[test]
    fn the_fewest_hosts_that_fit_and_the_fewest_bytes_are_best() {
        let forecasts = [
            forecast(1, "oec", [90.0, 90.0, 0.0]),
            forecast(4, "oec", [30.0, 120.0, 50.0]),
            forecast(4, "cvc", [32.0, 125.0, 40.0]),
            forecast(8, "cvc", [20.0, 160.0, 45.0]),
        ];
        let best = |limit: Option<f64>| {
            let all: Vec<_> =
                forecasts.iter().map(|forecast| Candidate { forecast, limit }).collect();
            advise(&all).map(|advice| (advice.hosts, advice.policy, advice.on_machines))
        };
        assert_eq!(best(None), Some((1, "oec".into(), false)));
        assert_eq!(best(Some(100.0)), Some((1, "oec".into(), false)));
        assert_eq!(best(Some(50.0)), Some((4, "cvc".into(), true)));
        assert_eq!(best(Some(31.0)), Some((4, "oec".into(), true)));
        assert_eq!(best(Some(25.0)), Some((8, "cvc".into(), true)));
        assert_eq!(best(Some(5.0)), None);
    }
}
