//! Compiled programs against the functions they were compiled from.

mod common;
mod gathers;
mod programs;
mod random;

use common::{GRAPHS, Hosts, agree, close, graph, on_all};
use parton_partition::Input;
use parton_program::{Communication, Graph, Vertex};

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

/// The paper's comparison: what an operator may have written goes everywhere, or what is stale goes where it
/// is read.
#[test]
fn communication_on_demand_saves_bytes() {
    use programs::*;
    let input = &Input::open("rmat:12,16").expect("a generator");
    let bytes = |communication| {
        let engine = Some("steps");
        let venue = &mut Hosts { input, hosts: 4, policy: "cvc", engine, communication, bytes: 0 };
        let root = Vertex(0);
        let mut all = Vec::new();
        let mut note = |bytes| all.push(bytes as f64);
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
    };
    let [unoptimised, fine, on_demand] = Communication::NAMES.map(|(_, level)| bytes(level));
    let mean = |more: &[f64], less: &[f64]| {
        let ratios = more.iter().zip(less).map(|(more, less)| (more / less).ln());
        (ratios.sum::<f64>() / more.len() as f64).exp()
    };
    println!("{unoptimised:?}\n{fine:?}\n{on_demand:?}");
    println!("{:.1} {:.1}", mean(&unoptimised, &on_demand), mean(&fine, &on_demand));
    assert!(mean(&unoptimised, &on_demand) > 3.0);
    assert!(mean(&fine, &on_demand) > 1.2);
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
