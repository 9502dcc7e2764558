//! Masters that tell only mirrors which can still matter: the same labels in fewer bytes.

use crate::common;

use common::hosts::partition;
use common::programs::Hops;
use common::{How, run_relaxation, serial};
use parton_engine::engines;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;
use parton_sync::Optimize;

/// After the round in which most vertices got their levels, hosts are told of mirrors next to the few that have none.
/// Hosts that have not agreed on an order tell all.
#[test]
fn late_levels_are_told_to_few_mirrors() {
    let spec = "rmat:12,16";
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect(spec).undirected();
    let how = How::new(engines::FRONTIER);
    let (expected, _) = serial(&graph, how.limits, &Hops);
    for (hosts, threads) in [(2, 2), (3, 1), (5, 1)] {
        let parts = partition(&graph, "dual", hosts);
        let copies: u64 = parts.iter().map(|p| (p.num_proxies() - p.num_masters()) as u64).sum();
        for optimize in [Optimize::ALL, Optimize::NONE] {
            let mut cluster = Cluster::local(hosts).threads_per_host(threads);
            let how = How { optimize, ..how };
            let (levels, report) = run_relaxation(&mut cluster, &parts, how, &Hops);
            assert_eq!(levels, expected, "{hosts} hosts, {optimize:?}");
            let most = report.rounds.iter().map(|round| round.changed).max();
            let rounds = report.rounds.iter().skip_while(|round| Some(round.changed) != most);
            let late: u64 = rounds.skip(1).map(|round| round.sent.total()).sum();
            // A bit for each mirror says which of them are told.
            let is_few = 8 * late < copies;
            assert_eq!(is_few, optimize == Optimize::ALL, "{late} bytes, {copies} mirrors");
        }
    }
}
