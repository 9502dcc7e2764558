//! The examples find what plain serial code finds, on several hosts; and commands of
//! `docs/own-algorithm.md` work as shown.
//!
//! This program has a `main` of its own: called by the name `bottleneck`, it is the command that the
//! example makes of its algorithm; called `reach`, that which `parton::main!` makes in a new crate.

#[path = "../src/cli/commands/new/main.rs.txt"]
#[allow(dead_code, unreachable_pub, reason = "in a crate of its own it is the whole program")]
mod new_crate;
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

const BOTTLENECK: &str = "bottleneck";
const REACH: &str = "reach";

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    match Path::new(&called).file_name().and_then(|name| name.to_str()) {
        Some(BOTTLENECK) => return parton::cli::main(&[&Bottleneck]),
        Some(REACH) => return parton::cli::main(&[&new_crate::Own]),
        _ => {}
    }
    let tests: [(&str, fn()); 5] = [
        ("petgraph_on_four_hosts_agrees_with_the_oracle", petgraph_agrees),
        ("bottlenecks_agree_with_their_reference", bottlenecks_agree),
        ("katz_agrees_with_a_serial_loop", katz_agrees),
        ("an_own_algorithm_has_the_whole_command_line", own_command_line),
        ("a_new_crate_has_the_whole_command_line", new_command_line),
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

/// A folder in which this program has another name, and with a small graph.
fn folder_with(command: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("this program");
    std::os::unix::fs::symlink(program, folder.path().join(command)).expect("a link");
    let edges = "source,target,weight\n1,2,5\n2,3,1\n1,3,9\n7,1,2\n";
    std::fs::write(folder.path().join("g.csv"), edges).expect("a file");
    folder
}

/// Runs a command that this program is; what it prints, if it ends with this code.
fn call(folder: &Path, command: &str, arguments: &[&str], code: i32) -> String {
    let output = Command::new(folder.join(command)).args(arguments).current_dir(folder).output();
    let output = output.expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &said
}

fn own_command_line() {
    let folder = folder_with(BOTTLENECK);
    let folder = folder.path();
    let run = |arguments: &[&str]| call(folder, BOTTLENECK, arguments, 0);
    let arguments = ["run", "bottleneck", "g.csv", "--root", "1", "--hosts", "2", "--verify"];
    let said = run(&[&arguments[..], &["--output", "out.csv"]].concat());
    assert!(said.contains("verified     yes"), "{said}");
    let rows = std::fs::read_to_string(folder.join("out.csv")).expect("an output");
    assert_eq!(rows, "id,bottleneck\n1,0\n2,5\n3,5\n7,\n");
    let listed = run(&["list"]);
    assert!(listed.contains("bottleneck") && !listed.contains("pagerank"), "{listed}");
    assert!(run(&["run", "--help"]).contains("--root <max-degree|ID>"));
    let refused = call(folder, BOTTLENECK, &["run", "bfs", "g.csv"], 2);
    assert!(refused.contains("possible values: bottleneck"), "{refused}");
    let refused = call(folder, BOTTLENECK, &["run", "bottleneck", "g.csv", "--damping", "0.5"], 2);
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

/// The program of `parton new`, with the command line that `parton::main!` gives it.
fn new_command_line() {
    let folder = folder_with(REACH);
    let folder = folder.path();
    for policy in ["oec", "cvc"] {
        let run = ["run", "reach", "g.csv", "--root", "2", "--hosts", "3", "--policy", policy];
        let said =
            call(folder, REACH, &[&run[..], &["--verify", "--output", "out.csv"]].concat(), 0);
        assert!(said.contains("verified     yes"), "{said}");
        let rows = std::fs::read_to_string(folder.join("out.csv")).expect("an output");
        assert_eq!(rows, "id,steps\n1,\n2,0\n3,1\n7,\n");
    }
    let explained = call(folder, REACH, &["explain", "reach"], 0);
    assert!(explained.contains("settling"), "{explained}");
    let refused = call(folder, REACH, &["run", "bfs", "g.csv"], 2);
    assert!(refused.contains("possible values: reach"), "{refused}");
}
