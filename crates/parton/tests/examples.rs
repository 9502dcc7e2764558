//! The examples find what plain serial code finds, on several hosts; and commands of
//! `docs/own-algorithm.md` work as shown.
//!
//! This program has a `main` of its own: called by the name `bottleneck`, it is the command that the
//! example makes of its algorithm.

#[path = "../examples/own_engine.rs"]
#[allow(dead_code)]
mod own_engine;
#[path = "../examples/own_relaxation.rs"]
#[allow(dead_code)]
mod own_relaxation;
#[path = "../examples/own_vertex_program.rs"]
#[allow(dead_code)]
mod own_vertex_program;

use std::path::Path;
use std::process::{Command, ExitCode};

use own_relaxation::{Bottleneck, BottleneckOptions};
use own_vertex_program::Katz;
use parton::graph::generate::Spec;
use parton::graph::progress::Silent;
use parton::graph::reweigh::Weights;
use parton::graph::{GlobalId, Graph, LocalId};
use parton::net::{Cluster, Net};
use parton::partition::{Input, Partition, Plan, policies};
use parton::sync::{Optimize, Substrate};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::{Algorithm, Column, Job, Options, Root, Values};

const COMMAND: &str = "bottleneck";

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    if Path::new(&called).file_name().is_some_and(|name| name == COMMAND) {
        return parton::cli::main(&[&Bottleneck]);
    }
    let tests: [(&str, fn()); 4] = [
        ("petgraph_on_four_hosts_agrees_with_the_oracle", petgraph_agrees),
        ("bottlenecks_agree_with_their_reference", bottlenecks_agree),
        ("katz_agrees_with_a_serial_loop", katz_agrees),
        ("an_own_algorithm_has_the_whole_command_line", own_command_line),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn generate(spec: &str) -> Graph {
    Spec::parse(spec).expect("a spec").generate(&Silent).expect("a graph")
}

fn expected(graph: &Graph, root: u64) -> Vec<u32> {
    let root = Root::Original(root.to_string());
    let options = Options::default().with(SsspOptions { root, ..SsspOptions::default() });
    let columns = Sssp.reference(graph, &options).expect("an oracle that answers");
    match &columns[0].values {
        Values::U32(distances) => distances.clone(),
        other => panic!("short distances, not {other:?}"),
    }
}

fn petgraph_agrees() {
    let mut cluster = Cluster::local(4).threads_per_host(1);
    for spec in ["rmat:10", "grid:30x20", "uniform:500,600", "path:40", "star:50"] {
        let graph = generate(spec).reweighed(&Weights::Random { low: 1, high: 64, seed: 7 });
        let input = Input::from(graph.clone());
        for kind in policies::ALL.iter().filter(|kind| kind.argument.is_none()) {
            for root in [0, graph.num_vertices() as u64 / 2] {
                let search = |net: &mut Net| {
                    let part = Partition::build(net, &input, &Plan::new(kind.name))?;
                    let distances = own_engine::search(net, &part, GlobalId(root))?;
                    let vertices = (0..).map(|local| part.global(LocalId(local)).0 as usize);
                    Ok::<_, own_engine::Error>(vertices.zip(distances).collect::<Vec<_>>())
                };
                let hosts = cluster.launch(search).unwrap_or_else(|e| panic!("{spec}: {e}"));
                let mut found = vec![None; graph.num_vertices()];
                for (vertex, distance) in hosts.concat() {
                    assert_eq!(found[vertex].replace(distance), None, "one master each");
                }
                let expected: Vec<_> = expected(&graph, root).into_iter().map(Some).collect();
                assert_eq!(found, expected, "{spec}, {}, root {root}", kind.name);
            }
        }
    }
}

fn bottlenecks_agree() {
    for spec in ["rmat:9", "grid:20x30,permute", "uniform:300,400", "path:30", "path:1"] {
        let graph = generate(spec).reweighed(&Weights::Random { low: 1, high: 64, seed: 3 });
        let options = Options::default().with(BottleneckOptions::default());
        let [Column { values: Values::U32(expected), .. }] =
            &Bottleneck.reference(&graph, &options).expect("an oracle that answers")[..]
        else {
            panic!("one column of small counts")
        };
        let input = Input::from(graph);
        for policy in ["oec", "iec", "cvc"] {
            let run = |net: &mut Net| {
                let part = Partition::build(net, &input, &Plan::new(policy))?;
                let mut substrate = Substrate::new(&part, net, Optimize::ALL);
                let (substrate, watch) = (&mut substrate, &mut ());
                let job = &mut Job { substrate, options: &options, watch, device: None };
                let mut answer = Bottleneck.run(job)?;
                assert_eq!(Bottleneck.check(job, &answer)?, None, "{spec}, {policy}");
                let Values::U32(found) = &mut answer.columns[0].values else {
                    panic!("small counts")
                };
                for (local, value) in (0..).zip(&*found) {
                    assert_eq!(*value, expected[part.global(LocalId(local)).0 as usize]);
                }
                // The certificate refuses a label that no path gives.
                found.iter_mut().for_each(|value| *value = value.saturating_sub(1));
                let has_weights = expected.iter().any(|&value| value != 0 && value != u32::MAX);
                assert_eq!(Bottleneck.check(job, &answer)?.is_some(), has_weights, "{spec}");
                Ok::<_, own_engine::Error>(())
            };
            Cluster::local(3).threads_per_host(1).launch(run).expect("a run");
        }
    }
}

fn katz_agrees() {
    let program = Katz { attenuation: 0.01, tolerance: 1e-12 };
    let graph = generate("rmat:7");
    let mut expected = vec![1.0; graph.num_vertices()];
    for _ in 0..200 {
        let mut next = vec![1.0; expected.len()];
        parton::graph::with_csr!(&graph.adjacency, csr => for source in csr.vertices() {
            for target in csr.targets(source) {
                next[target.index()] += program.attenuation * expected[source.index()];
            }
        });
        expected = next;
    }
    for hosts in [1, 4] {
        let found = parton::run(program.clone(), graph.clone(), hosts).expect("a run");
        assert!(found.report.converged && found.values.len() == expected.len());
        for (found, expected) in found.values.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9 * expected, "{found}, not {expected}");
        }
    }
}

/// Runs the command that the example makes; what it prints, if it ends with this code.
fn bottleneck(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = Command::new(folder.join(COMMAND)).args(arguments).current_dir(folder).output();
    let output = output.expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &said
}

fn own_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = std::env::current_exe().expect("this program");
    std::os::unix::fs::symlink(program, folder.join(COMMAND)).expect("a link");
    std::fs::write(folder.join("g.csv"), "source,target,weight\n1,2,5\n2,3,1\n1,3,9\n7,1,2\n")
        .expect("a file");
    let run = |arguments: &[&str]| bottleneck(folder, arguments, 0);
    let arguments = ["run", "bottleneck", "g.csv", "--root", "1", "--hosts", "2", "--verify"];
    let said = run(&[&arguments[..], &["--output", "out.csv"]].concat());
    assert!(said.contains("verified     yes"), "{said}");
    let rows = std::fs::read_to_string(folder.join("out.csv")).expect("an output");
    assert_eq!(rows, "id,bottleneck\n1,0\n2,5\n3,5\n7,\n");
    let listed = run(&["list"]);
    assert!(listed.contains("bottleneck") && !listed.contains("pagerank"), "{listed}");
    assert!(run(&["run", "--help"]).contains("--root <max-degree|ID>"));
    let refused = bottleneck(folder, &["run", "bfs", "g.csv"], 2);
    assert!(refused.contains("possible values: bottleneck"), "{refused}");
    let refused = bottleneck(folder, &["run", "bottleneck", "g.csv", "--damping", "0.5"], 2);
    assert!(refused.contains("--damping"), "{refused}");

    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-algorithm.md");
    let page = std::fs::read_to_string(page).expect("a page");
    let shown = "cargo run --release --example own_relaxation -- ";
    let commands: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(shown)).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        run(&command.split(' ').collect::<Vec<_>>());
    }
}
