//! What the substrate costs a host that is alone: the share of a run that is not the engine's.

use parton_algorithms::{ALL, EdgeNeed, Error, Job, Options};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use crate::option;

pub fn run(options: &[&str]) {
    let graph = option(options, "--graph").unwrap_or("rmat:20");
    let turns: usize = option(options, "--turns").map_or(5, |n| n.parse().expect("a number"));
    let input = Input::open(graph).expect("a graph");
    let mut cluster = Cluster::local(1);
    println!("| algorithm | engine | rounds | seconds | outside the engine |");
    println!("|---|---|---|---|---|");
    let rows = cluster.launch(|net| -> Result<_, Error> {
        let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
        let mut rows = Vec::new();
        let options = Options::default();
        let on_any_graph = ALL.iter().filter(|a| a.needs(&options).edges != EdgeNeed::Bipartite);
        for algorithm in on_any_graph {
            let answers = (0..turns).map(|_| {
                let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
                let substrate = &mut substrate;
                algorithm.run(&mut Job {
                    substrate,
                    options: &options,
                    watch: &mut (),
                    device: None,
                })
            });
            let answers = answers.collect::<Result<Vec<_>, _>>()?;
            let best = |a: &&_, b: &&_| f64::total_cmp(&seconds(a), &seconds(b));
            rows.push((algorithm.name(), answers.iter().min_by(best).expect("a turn").clone()));
        }
        Ok(rows)
    });
    for (name, answer) in rows.expect("a run").swap_remove(0) {
        println!(
            "| {name} | {} | {} | {:.4} | {:.2} % |",
            answer.engine.name,
            answer.report.rounds.len(),
            answer.report.seconds,
            100.0 * answer.report.hosts[0].other_seconds() / answer.report.seconds
        );
    }
}

fn seconds(answer: &parton_algorithms::Answer) -> f64 {
    answer.report.seconds
}
