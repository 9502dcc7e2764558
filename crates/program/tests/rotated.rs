//! Rotated vertex programs: by every engine for vertex programs, and the same as their sequential functions.

use parton_engine::{Limits, Pace, Pacing};
use parton_graph::{Csr, Graph as WholeGraph};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::{
    Communication, Field, FieldValues, Graph, HostShare, Improve, Program, RelaxSetting, Vertex,
    Worklist, program,
};
use parton_sync::{Error, Optimize, Substrate};

use crate::common::{GRAPHS, Hosts, close, graph};

/// Fires: the vertices that are left once all have `k` neighbours. The count after the loop runs operator by operator.
#[program(crate = parton_program)]
fn core(graph: &Graph<()>, k: u32) -> (Field<bool>, Field<u64>) {
    let mut alive = graph.field(true);
    let mut degree = graph.field_with(|v| graph.in_degree(v) as u32);
    loop {
        let mut removed = 0u64;
        for v in graph.vertices() {
            if alive[v] && degree[v] < k {
                alive[v] = false;
                removed += 1;
                for edge in graph.out_edges(v) {
                    degree[edge.target] -= 1;
                }
            }
        }
        if removed == 0 {
            break;
        }
    }
    let mut members = 0u64;
    for v in graph.vertices() {
        if alive[v] {
            members += 1;
        }
    }
    let mut size = graph.field(0u64);
    for v in graph.vertices() {
        size[v] = members;
    }
    (alive, size)
}

/// Fires along edges both ways, by their weights: who goes once enough neighbours went.
#[program(crate = parton_program)]
fn cascade(graph: &Graph<u32>, first: Vertex, bound: u64) -> Field<bool> {
    let mut gone = graph.field(false);
    let mut pressure = graph.field_with(|v| if v == first { bound + 1 } else { 0 });
    let mut going = true;
    while going {
        going = false;
        for v in graph.vertices() {
            if !gone[v] && pressure[v] > bound {
                gone[v] = true;
                going = true;
                for edge in graph.edges(v) {
                    pressure[edge.target] += edge.weight as u64;
                }
            }
        }
    }
    gone
}

/// Flows: rank from the seed, and what was not worth passing on.
#[program(crate = parton_program)]
fn flow(graph: &Graph<()>, seed: Vertex, damping: f64, threshold: f64) -> Field<f64> {
    let mut rank = graph.field(0.0);
    let mut residual = graph.field(0.0);
    residual[seed] = 1.0 - damping;
    let mut work = Worklist::from([seed]);
    while let Some(v) = work.pop() {
        let passing = residual[v].take();
        rank[v] += passing;
        let share = damping * passing / graph.out_degree(v) as f64;
        for edge in graph.out_edges(v) {
            residual[edge.target] += share;
            if residual[edge.target] > threshold {
                work.push(edge.target);
            }
        }
    }
    for v in graph.vertices() {
        rank[v] += residual[v];
    }
    rank
}

/// Subtracts more than there is.
#[program(crate = parton_program)]
fn overdrawn(graph: &Graph<u32>, bound: u32) -> Field<u32> {
    let mut open = graph.field(true);
    let mut left = graph.field(1u32);
    loop {
        let mut changed = false;
        for v in graph.vertices() {
            if open[v] && left[v] < bound {
                open[v] = false;
                changed = true;
                for edge in graph.out_edges(v) {
                    left[edge.target] -= edge.weight;
                }
            }
        }
        if !changed {
            break;
        }
    }
    left
}

#[test]
fn fired_and_flowing_operators_are_rotated() {
    for text in [core::explain(), cascade::explain(), flow::explain(), overdrawn::explain()] {
        assert!(text.contains("a rotated vertex program"), "{text}");
        assert!(text.contains("engines: frontier, push, pull, spmv, steps"), "{text}");
        assert!(text.contains("pace basp: yes"), "{text}");
        assert!(text.contains("devices: yes"), "{text}");
    }
}

#[test]
fn rotated_programs_are_those_of_the_sequential_function() {
    for (name, vertices, edges) in GRAPHS.iter().filter(|(_, vertices, _)| *vertices > 0) {
        let plain: Vec<_> = edges.iter().map(|e| (e.0, e.1, ())).collect();
        let unweighted = Graph::new(*vertices, &plain);
        let weighted = Graph::new(*vertices, edges);
        let input: &Input = &graph(*vertices, edges).into();
        let seed = Vertex(*vertices as u32 / 2);
        for (number, policy) in ["oec", "iec", "cvc", "hvc", "random"].into_iter().enumerate() {
            for hosts in [1, 2, 3, 4, 7] {
                let engine = ["pull", "push", "frontier", "steps", "spmv", ""];
                let engine = engine[(number * 5 + hosts) % 6];
                let engine = Some(engine).filter(|engine| !engine.is_empty());
                // Devices know `push` and `frontier` among these.
                let devices = match (number, engine) {
                    (0 | 3, Some("push") | None) => 0b101_0101 & ((1 << hosts) - 1),
                    _ => 0,
                };
                let venue = &mut Hosts { hosts, policy, engine, devices, ..Hosts::new(input) };
                for k in 0..4 {
                    let found = core::run(venue, k).unwrap();
                    assert_eq!(found, core(&unweighted, k), "{name} {policy} {hosts} {engine:?}");
                }
                for bound in [0, 3, 9] {
                    let found = cascade::run(venue, seed, bound).unwrap();
                    assert_eq!(found, cascade(&weighted, seed, bound), "{name} {policy} {hosts}");
                }
                let found = flow::run(venue, seed, 0.85, 1e-9).unwrap();
                close(name, [found], [flow(&unweighted, seed, 0.85, 1e-9)], 1e-6);
            }
        }
    }
}

#[test]
fn a_number_that_falls_below_nothing_ends_the_run() {
    let input: &Input = &graph(3, &[(0, 1, 5), (2, 1, 1)]).into();
    for (engine, devices) in [("push", 0), ("frontier", 0b1), ("steps", 0)] {
        let engine = Some(engine);
        let venue = &mut Hosts { hosts: 2, engine, devices, ..Hosts::new(input) };
        let error = overdrawn::run(venue, 2).expect_err("5 of 1");
        assert!(error.contains("less than 0"), "{error}");
    }
}

/// Runs a program on hosts that need not wait for each other.
fn without_rounds<P: Program>(program: &P, input: &Input, policy: &str, seed: u64) -> P::Output {
    let hosts = Cluster::sim(4, seed).launch(|net| {
        let partition = Partition::build(net, input, &Plan::new(policy)).expect("a partition");
        let share = HostShare {
            engine: None,
            communication: Communication::default(),
            pacing: Pacing { pace: Pace::Basp, ..Pacing::default() },
            limits: Limits::default(),
            delta: RelaxSetting::default().delta,
            sums_fit: false,
            device: None,
        };
        let substrate = &mut Substrate::new(&partition, net, Optimize::ALL);
        let answered = share.run(program, substrate, &mut ())?;
        let ids = partition.globals()[..partition.num_masters()].to_vec();
        Ok::<_, Error>((ids, answered, partition.num_vertices() as usize))
    });
    let hosts = hosts.expect("a run");
    let columns = (0..hosts[0].1.columns.len()).map(|column| {
        let of_host = |(ids, answered, _): &(Vec<u32>, parton_program::Answered, usize)| {
            (ids.clone(), answered.columns[column].clone())
        };
        FieldValues::gathered(hosts[0].2, hosts.iter().map(of_host).collect())
    });
    P::output(columns.collect())
}

#[test]
fn hosts_need_not_wait_for_each_other() {
    let ring = (0..40u32).flat_map(|v| [(v, (v + 1) % 40), (v, (v * 7 + 3) % 40), (v, v / 2)]);
    let edges: Vec<_> = ring.map(|(a, b)| (a, b, a % 3 + 1)).collect();
    let plain: Vec<_> = edges.iter().map(|e| (e.0, e.1, ())).collect();
    let unweighted = Graph::new(40, &plain);
    let input: &Input = &WholeGraph::dense(Csr::from_edges(40, &edges), "a test").into();
    for (seed, policy) in ["oec", "iec", "cvc", "hvc"].into_iter().enumerate() {
        for k in [2, 3, 4] {
            let found = without_rounds(&core { k }, input, policy, seed as u64);
            assert_eq!(found, core(&unweighted, k), "{policy} {k}");
        }
        let program = flow { seed: Vertex(3), damping: 0.85, threshold: 1e-10 };
        let found = without_rounds(&program, input, policy, seed as u64);
        close(policy, [found], [flow(&unweighted, Vertex(3), 0.85, 1e-10)], 1e-7);
    }
}
