//! Messages that several threads of a host write and take in.

use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;
use parton_partition::End;
use parton_sync::reduction::{Latest, Sum};
use parton_sync::{CpuField, Delivery, Optimize};

use crate::common::{by_vertex, copies, on_hosts, partition, proxies, values_of, write};

/// Every proxy of every vertex counts itself in each round, and mirrors learn the sums: nothing is lost or
/// doubled where pieces of a message share words of a set.
#[test]
fn large_messages_lose_and_double_nothing() {
    let spec = Spec::parse("uniform:500000,1500000,3").expect("a graph");
    let graph = spec.generate(&Silent).expect("a graph");
    for policy in ["random", "cvc"] {
        let parts = partition(&graph, policy, 2);
        let shared = parts[0].num_proxies() - parts[0].num_masters();
        assert!(shared > 2 << 16, "{policy}: {shared} mirrors are few");
        let mut cluster = Cluster::local(2).threads_per_host(3);
        let hosts = on_hosts(&mut cluster, &parts, Optimize::ALL, |part, substrate| {
            let mut sums = CpuField::<Sum<u64>>::accumulator(part.num_proxies());
            let mut known =
                CpuField::<Latest<u64>>::new(part.num_proxies(), Delivery::Label, |_| 0);
            for round in 1..4u64 {
                // In the last round, some.
                let takes_part = |proxy: &parton_graph::LocalId| round < 3 || proxy.0 % 3 != 1;
                proxies(part).filter(takes_part).for_each(|proxy| write(&sums, proxy, 1));
                substrate.reduce(&mut sums, End::Either)?;
                let masters = 0..part.num_masters() as u32;
                for master in masters.clone().map(parton_graph::LocalId) {
                    known.put(master, sums.cells().get(master));
                }
                known.updated().insert_range(masters);
                substrate.broadcast(&mut known, End::Either)?;
                assert_eq!(known.updated().len(), 0, "{policy}: told all");
            }
            let told: Vec<u64> = proxies(part).map(|proxy| known.cells().get(proxy)).collect();
            Ok((values_of(part, &sums), told))
        });
        let sums: Vec<_> = hosts.iter().map(|(sums, _)| sums.clone()).collect();
        let sums = by_vertex(&parts, &sums);
        // What each proxy counted, added up over hosts.
        let mut expected: Vec<u64> = copies(&parts).iter().map(|copies| 2 * copies).collect();
        for part in &parts {
            for proxy in proxies(part).filter(|proxy| proxy.0 % 3 != 1) {
                expected[part.global(proxy).0 as usize] += 1;
            }
        }
        assert_eq!(sums, expected, "{policy}");
        for (part, (_, told)) in parts.iter().zip(&hosts) {
            for (proxy, told) in proxies(part).zip(told) {
                assert_eq!(*told, expected[part.global(proxy).0 as usize], "{policy}: {proxy:?}");
            }
        }
    }
}
