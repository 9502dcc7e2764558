//! Compiled programs against the functions they were compiled from.

mod common;
mod filtered;
mod gathers;
mod programs;
mod random;
mod restructured;
mod rotated;
mod unforeseen;

use common::{GRAPHS, Hosts, agree, close, graph, on_all};
use parton_engine::ProgramForm;
use parton_partition::Input;
use parton_program::plan::ProgramShape;
use parton_program::{Communication, Field, Graph, Program, Vertex, Worklist, program};
use parton_sync::Optimize;

#[test]
fn answers_are_those_of_the_sequential_function() {
    for &(name, vertices, edges) in GRAPHS {
        let plain = graph(vertices, edges);
        let unweighted = Graph::<()>::from(&plain);
        let weighted = Graph::<u32>::from(&plain);
        let real = Graph::<f32>::from(&plain);
        let root = Vertex(vertices as u32 / 2);
        on_all(&plain, |venue| {
            if vertices > 0 {
                use programs::*;
                agree(name, shortest_paths::run(venue, root), shortest_paths(&weighted, root));
                agree(name, levels::run(venue, root), levels(&unweighted, root));
                agree(name, widest::run(venue, root), widest(&weighted, root));
                close(
                    name,
                    [betweenness::run(venue, root).unwrap()],
                    [betweenness(&unweighted, root)],
                    1e-9,
                );
                let (heard, heaviest) = influence::run(venue, root, 4).unwrap();
                let expected = influence(&weighted, root, 4);
                assert_eq!(heaviest, expected.1, "{name}");
                close(name, [heard], [expected.0], 1e-9);
                close(
                    name,
                    [residual::run(venue, 0.85, 1e-9).unwrap()],
                    [residual(&unweighted, 0.85, 1e-9)],
                    1e-6,
                );
            }
            use programs::*;
            agree(name, components::run(venue), components(&unweighted));
            agree(name, core::run(venue, 3), core(&unweighted, 3));
            close(
                name,
                [pagerank::run(venue, 0.85, 1e-9).unwrap()],
                [pagerank(&unweighted, 0.85, 1e-9)],
                1e-6,
            );
            let (hub, authority) = hubs::run(venue, 3).unwrap();
            let expected = hubs(&real, 3);
            close(name, [hub, authority], [expected.0, expected.1], 1e-9);
        });
    }
}

/// The paper's comparison. UO: after every operator, all values of every field that it may have written travel from
/// and to all proxies, as plain arrays; neither the bits that say what was updated nor the ends of edges are
/// known, so values are not packed either. Its volume is that of the values alone: no ids. FG: the same
/// with updated values only. FO: what the compiler does.
///
/// `PARTON_TEST_VOLUME` names other graphs, with `+` between them, and `PARTON_TEST_VOLUME_OUTPUT` a file for the bytes, as
/// JSON: the figures of docs/compiler-performance.md.
#[test]
fn communication_on_demand_saves_bytes() {
    let graphs = std::env::var("PARTON_TEST_VOLUME").unwrap_or("rmat:12,16".into());
    let mut rows = Vec::new();
    for graph in graphs.split('+') {
        let volumes = volumes(&Input::open(graph).expect("a graph"));
        let mean = |more: usize, less: usize| {
            let ratios =
                volumes[more].iter().zip(&volumes[less]).map(|(more, less)| (more / less).ln());
            (ratios.sum::<f64>() / volumes[more].len() as f64).exp()
        };
        println!("{graph}: {volumes:.0?}: UO / FO {:.1}, FG / FO {:.1}", mean(0, 2), mean(1, 2));
        assert!(mean(0, 2) > 15.0, "{volumes:?}");
        assert!(mean(1, 2) > 1.2, "{volumes:?}");
        let name = graph.rsplit('/').next().unwrap_or(graph);
        for (place, algorithm) in MEASURED.iter().enumerate() {
            let [unoptimised, fine_grained, on_demand] = [0, 1, 2].map(|at| volumes[at][place]);
            rows.push(format!(
                "{{\"graph\":\"{name}\",\"algorithm\":\"{algorithm}\",\"unoptimised\":{unoptimised},\
                 \"fine_grained\":{fine_grained},\"on_demand\":{on_demand}}}"
            ));
        }
    }
    if let Some(file) = std::env::var_os("PARTON_TEST_VOLUME_OUTPUT") {
        std::fs::write(file, format!("[{}]\n", rows.join(",\n"))).expect("a file to write");
    }
}

/// What [`volumes`] measures.
const MEASURED: [&str; 5] = ["bfs", "sssp", "components", "one core", "betweenness"];

/// The vertex of most out-edges.
fn max_degree(input: &Input) -> Vertex {
    let found = parton_net::Cluster::sim(1, 1).launch(|net| {
        let plan = parton_partition::Plan::new("oec");
        let partition = parton_partition::Partition::build(net, input, &plan).expect("a partition");
        let substrate = &mut parton_sync::Substrate::new(&partition, net, Optimize::ALL);
        let degrees = parton_engine::degrees::out_degrees(substrate)?;
        let best = (0..degrees.len()).max_by_key(|&vertex| degrees[vertex]).unwrap_or(0);
        Ok::<_, parton_sync::Error>(partition.globals()[best])
    });
    Vertex(found.expect("a vertex")[0])
}

/// Bytes of bfs, sssp, cc, kcore and bc at each level of communication, on 4 hosts cut by `cvc`.
fn volumes(input: &Input) -> [Vec<f64>; 3] {
    use programs::*;
    let root = max_degree(input);
    Communication::NAMES.map(|(_, communication)| {
        let is_unoptimised = communication == Communication::Unoptimised;
        let optimize = match communication {
            Communication::Unoptimised => Optimize::NONE,
            Communication::FineGrained => Optimize { structural: false, temporal: true },
            Communication::OnDemand => Optimize::ALL,
        };
        let (policy, engine) = ("cvc", Some("steps"));
        let of_four = Hosts { hosts: 4, policy, engine, ..Hosts::new(input) };
        let venue = &mut Hosts { communication, optimize, ..of_four };
        let mut all = Vec::new();
        let mut note = |[values, rest]: [u64; 2]| {
            all.push(if is_unoptimised { values } else { values + rest } as f64);
        };
        levels::run(venue, root).unwrap();
        note(venue.bytes);
        shortest_paths::run(venue, root).unwrap();
        note(venue.bytes);
        components::run(venue).unwrap();
        note(venue.bytes);
        core::run(venue, 10).unwrap();
        note(venue.bytes);
        betweenness::run(venue, root).unwrap();
        note(venue.bytes);
        all
    })
}

/// A search whose first neighbour decides.
#[program(crate = parton_program)]
fn hops(graph: &Graph<()>, root: Vertex) -> Field<u32> {
    let mut hops = graph.field(u32::MAX);
    hops[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            if hops.lower(edge.target, hops[v] + 1) {
                work.push(edge.target);
            }
        }
    }
    hops
}

/// Engines say which forms of programs they run; the compiler says it in the plan, which `explain` prints.
#[test]
fn plans_name_the_engines_that_run_a_program() {
    fn check<P: Program>(engines: &str) {
        let plan = P::compiled_plan();
        let names: Vec<_> = P::ENGINES.iter().map(|engine| engine.name).collect();
        assert_eq!(names.join(", "), engines, "{}", P::NAME);
        assert_eq!(names, plan.fit.engines, "{}", P::NAME);
        let form = match plan.shape {
            ProgramShape::Steps => P::FORM.is_none(),
            ProgramShape::Relaxation { .. } => P::IS_RELAXATION,
            ProgramShape::Gather { .. } => {
                P::FORM == Some(ProgramForm::VertexProgram { stationary: true })
            }
            ProgramShape::Rotated { .. } => P::IS_ROTATED,
        };
        assert!(form, "{}: {:?}", P::NAME, plan.shape);
    }
    use programs::*;
    check::<shortest_paths>("push, frontier, pull, delta, spmv, steps");
    check::<hops>("frontier, push, pull, delta, spmv, steps");
    check::<components>("union, push, frontier, pull, spmv, steps");
    check::<pagerank>("pull, push, frontier, spmv, steps");
    check::<core>("frontier, push, pull, spmv, steps");
    check::<residual>("frontier, push, pull, spmv, steps");
    check::<betweenness>("steps");
}

#[test]
fn explains_itself() {
    use programs::*;
    for text in [shortest_paths::explain(), levels::explain(), residual::explain(), core::explain()]
    {
        println!("{text}");
        assert!(text.contains("operators"));
    }
    assert!(residual::explain().contains("flowing"));
    assert!(core::explain().contains("firing"));
    assert!(shortest_paths::explain().contains("settling"));
    assert!(shortest_paths::explain_json().starts_with("{\"program\":\"shortest_paths\""));
}

/// Sums that outgrow their type would be improvements. As a relaxation and operator by operator the run ends with an
/// error; where sums fit, both give the function's answer.
#[test]
fn sums_that_wrap_are_errors() {
    use programs::{far, near};
    for (weight, fits) in [(5, true), (u32::MAX / 2, false)] {
        let edges = [(0, 1, weight), (1, 2, weight), (2, 3, weight), (3, 0, 1)];
        let input = &graph(4, &edges).into();
        for engine in [None, Some("push"), Some("steps")] {
            let venue = &mut Hosts { hosts: 3, engine, ..Hosts::new(input) };
            match fits {
                true => agree(
                    "a path",
                    far::run(venue, Vertex(0)),
                    far(&Graph::new(4, &edges), Vertex(0)),
                ),
                false => {
                    let error = far::run(venue, Vertex(0)).unwrap_err();
                    assert!(error.contains("outgrew its type"), "{error}");
                }
            }
        }
    }
    let edges = [(0, 1, 0.5f32), (1, 2, -0.25), (0, 2, 0.5)];
    let real = parton_graph::Graph::dense(parton_graph::Csr::from_edges(3, &edges), "a test");
    let input = &real.into();
    let venue = &mut Hosts { hosts: 2, policy: "oec", ..Hosts::new(input) };
    agree("negative", near::run(venue, Vertex(0)), near(&Graph::new(3, &edges), Vertex(0)));
}
