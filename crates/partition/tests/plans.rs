//! What a user can ask of a partition, what is refused, and what is kept on disk.

use std::path::Path;

use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::{Csr, Graph, LocalId, formats};
use parton_net::{Cluster, LaunchError};
use parton_partition::quality::Quality;
use parton_partition::{Error, Input, Partition, Plan};

fn launch<R: Send>(
    hosts: usize,
    work: impl Fn(&mut parton_net::Net) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, LaunchError<Error>> {
    Cluster::local(hosts).threads_per_host(1).launch(work)
}

fn quality(hosts: usize, spec: &str, plan: &Plan) -> Quality {
    let input = Input::open(spec).unwrap();
    let measured = launch(hosts, |net| {
        let partition = Partition::build(net, &input, plan)?;
        Quality::measure(net, &partition)
    });
    let measured = measured.unwrap();
    assert!(measured.iter().all(|q| *q == measured[0]), "every host sees the same");
    measured[0].clone()
}

fn refused(result: Result<Vec<Partition>, LaunchError<Error>>) -> String {
    let error = result.err().expect("an error").to_string();
    assert!(!error.contains("panicked"), "{error}");
    error
}

#[test]
fn host_weights_shift_the_load() {
    for policy in ["oec", "iec", "random", "fennel", "hvc"] {
        let weights = vec![1.0, 1.0, 4.0];
        let plan = Plan { host_weights: Some(weights), ..Plan::new(policy) };
        let quality = quality(3, "uniform:3000,60000", &plan);
        let edges: Vec<f64> = quality.hosts.iter().map(|h| h.edges as f64 / 60000.0).collect();
        for (share, expected) in edges.iter().zip([1.0 / 6.0, 1.0 / 6.0, 4.0 / 6.0]) {
            // Scores trade balance for locality, within limits.
            let slack = if policy == "fennel" { 0.06 } else { 0.03 };
            assert!((share - expected).abs() < slack, "{policy}: {edges:?}");
        }
    }
}

#[test]
fn blocks_are_balanced_by_what_they_promise() {
    // Out- and in-degrees are as uneven as they come: vertex ids ascend with them.
    let edges: Vec<_> =
        (0..2000u32).flat_map(|v| (0..v % 40).map(move |i| (v, (v * v + i) % 2000, ()))).collect();
    let input = Input::from(Graph::dense(Csr::from_edges(2000, &edges), ""));
    for policy in ["oec", "iec"] {
        let parts = launch(4, |net| Partition::build(net, &input, &Plan::new(policy))).unwrap();
        let edges: Vec<u64> = parts.iter().map(|p| p.out_edges().num_edges()).collect();
        let (least, most) = (edges.iter().min().unwrap(), edges.iter().max().unwrap());
        assert!(most - least <= 120, "{policy}: {edges:?}");
    }
}

#[test]
fn measured_replication_is_no_worse_than_in_the_field() {
    // The shape of the graph that other systems were measured on, smaller.
    let replication = |policy| quality(4, "rmat:14,16,1,permute", &Plan::new(policy)).replication();
    let (oec, cvc) = (replication("oec"), replication("cvc"));
    assert!(oec > 1.0 && cvc < oec, "oec {oec}, cvc {cvc}");
    assert_eq!(quality(1, "rmat:8", &Plan::new("cvc")).replication(), 1.0);
}

#[test]
fn cuts_need_only_what_they_must() {
    for (policy, silent) in [("oec", 2), ("iec", 0)] {
        let proxies = quality(5, "rmat:10", &Plan::new(policy)).proxies();
        // An outgoing cut has nothing to broadcast, an incoming one nothing to reduce.
        assert_eq!((proxies[1], proxies[silent]), (0, 0), "{policy}: {proxies:?}");
    }
    let cvc = quality(4, "rmat:10", &Plan::new("cvc"));
    assert_eq!(cvc.proxies()[1], 0, "a grid splits mirrors exactly");
    assert!(cvc.messages_per_round() <= 2 * 4, "two phases, one peer each");
}

#[test]
fn a_generator_and_its_file_are_partitioned_alike() {
    let folder = tempfile::tempdir().unwrap();
    let spec = "rmat:9,8,5";
    let graph = Spec::parse(spec).unwrap().generate(&Silent).unwrap();
    let print = |input: &Input, policy: &str| -> Vec<String> {
        let parts = launch(4, |net| Partition::build(net, input, &Plan::new(policy))).unwrap();
        let text = |p: &Partition| {
            let globals: Vec<_> =
                (0..p.num_proxies() as u32).map(|l| p.global(LocalId(l))).collect();
            // Edges that came by destination leave a vertex in another order.
            let row = |ends: &[u64]| {
                let targets = &p.out_edges().all_targets()[ends[0] as usize..ends[1] as usize];
                let mut targets = targets.to_vec();
                targets.sort_unstable();
                targets
            };
            let rows: Vec<_> = p.out_edges().offsets().windows(2).map(row).collect();
            format!("{globals:?} {:?} {rows:?}", p.out_edges().offsets())
        };
        parts.iter().map(text).collect()
    };
    for name in ["g.gr", "g.parton", "v2.gr"] {
        let path = folder.path().join(name);
        let version = (name == "v2.gr").then_some(2);
        let options = formats::WriteOptions { version, ..Default::default() };
        formats::write(&graph, &path, None, &options).unwrap();
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for policy in ["oec", "iec", "cvc", "hvc", "staggered", "random"] {
        let expected = print(&Input::from(graph.clone()), policy);
        for name in ["g.gr", "g.parton", "v2.gr"] {
            let found = print(&Input::open(&path(name)).unwrap(), policy);
            assert_eq!(found, expected, "{policy} {name}");
        }
        // A generator's rows hold the same edges, dealt by other hosts but in the same order.
        assert_eq!(print(&Input::open(spec).unwrap(), policy), expected, "{policy} generated");
    }
}

#[test]
fn weights_of_rows_must_be_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gr");
    let graph = Graph::dense(Csr::from_edges(2, &[(0, 1, 1.5f64), (1, 0, 2.5)]), "");
    formats::write(&graph, &path, None, &Default::default()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let input = Input::open(path.to_str().unwrap()).unwrap();
    let said = refused(launch(2, |net| Partition::build(net, &input, &Plan::new("oec"))));
    assert!(
        said.contains("at byte 64: the weight of edge 1 is NaN, expected a finite number"),
        "{said}"
    );
}

#[test]
fn nonsense_is_refused_in_a_sentence() {
    let input = Input::open("path:10").unwrap();
    let build = |plan: &Plan| refused(launch(3, |net| Partition::build(net, &input, plan)));
    let weights =
        |weights: &[f64]| Plan { host_weights: Some(weights.to_vec()), ..Plan::new("oec") };
    for (plan, message) in [
        (Plan::new("metis"), "unknown policy 'metis'; known: oec, iec, dual, cvc"),
        (Plan::new("oec:x"), "expected oec"),
        (Plan::new("file"), "expected file:PATH"),
        (Plan::new("file:no-such"), "no such file"),
        (weights(&[1.0, 1.0]), "2 host weights for 3 hosts"),
        (weights(&[1.0, 0.0, 1.0]), "expected a positive number"),
        (weights(&[1.0, -1.0, 1.0]), "expected a positive number"),
        (weights(&[1.0, f64::NAN, 1.0]), "expected a positive number"),
    ] {
        let said = build(&plan);
        assert!(said.contains(message), "{plan:?}: {said}");
    }
}

#[test]
fn parts_made_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.part.3");
    let input = Input::open("path:6").unwrap();
    let build = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let plan = Plan::new(format!("file:{}", path.display()));
        launch(3, |net| Partition::build(net, &input, &plan))
    };
    let parts = build("2\n0\n0\n% comment\n1\n2\n2\n").unwrap();
    let masters = |p: &Partition| -> Vec<u64> {
        let mut all: Vec<_> = (0..p.num_masters() as u32).map(|l| p.global(LocalId(l)).0).collect();
        all.sort();
        all
    };
    assert_eq!(parts.iter().map(masters).collect::<Vec<_>>(), [vec![1, 2], vec![3], vec![0, 4, 5]]);
    for (text, message) in [
        ("0\n0\n", "parts of 2 vertices, but the graph has 6"),
        ("0\n0\n0\n0\n0\n0\n0\n", ":7:1: in \"0\": more lines than the 6 vertices"),
        ("0\n3\n0\n0\n0\n0\n", ":2:1: in \"3\": part 3, but there are 3 hosts"),
        ("0\nx\n0\n0\n0\n0\n", "expected the number of a part"),
        ("0\n-1\n0\n0\n0\n0\n", "expected the number of a part"),
    ] {
        let said = refused(build(text));
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn saved_partitions_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let graph = |weights: &[u32]| {
        let edges: Vec<_> =
            weights.iter().map(|&w| (w % 17, w * w % 17, f64::from(w) / 3.0)).collect();
        let ids = (0..17).map(|v| format!("vertex {v:02}")).collect::<Vec<_>>();
        let ids = parton_graph::Ids::Names(ids.iter().map(|id| id.as_bytes()).collect());
        Graph { ids, ..Graph::dense(Csr::from_edges(17, &edges), "") }
    };
    let input = Input::from(graph(&(0..90).collect::<Vec<_>>()));
    let save = |name: &str, hosts: usize, policy: &str| {
        let folder = folder.path().join(name);
        launch(hosts, |net| {
            let partition = Partition::build(net, &input, &Plan::new(policy))?;
            partition.save(net, &folder, policy)?;
            Ok(partition)
        })
        .unwrap()
    };
    let load = |name: &str, hosts: usize| {
        let folder = folder.path().join(name);
        launch(hosts, |net| Partition::load(net, &folder))
    };
    let same = |a: &Partition, b: &Partition| {
        assert_eq!(
            (a.host(), a.num_hosts(), a.num_vertices(), a.num_edges()),
            (b.host(), b.num_hosts(), b.num_vertices(), b.num_edges())
        );
        assert_eq!((a.master_parts(), a.out_edges()), (b.master_parts(), b.out_edges()));
        assert_eq!(a.in_edges_of_masters(), b.in_edges_of_masters());
        assert!((0..a.num_proxies() as u32).all(|l| a.global(LocalId(l)) == b.global(LocalId(l))));
        assert!(
            (0..a.num_masters() as u32).all(|l| a.original(LocalId(l)) == b.original(LocalId(l)))
        );
        assert!(parton_net::HostId::all(a.num_hosts()).all(|h| a.routes(h) == b.routes(h)));
    };
    for (hosts, policy) in [(1, "oec"), (4, "cvc"), (2, "dual"), (3, "ginger")] {
        let saved = save("a", hosts, policy);
        let loaded = load("a", hosts).unwrap();
        saved.iter().zip(&loaded).for_each(|(a, b)| same(a, b));
    }
    let file =
        |name: &str, host: usize| folder.path().join(name).join(format!("host-{host:05}.part"));
    let fails = |name: &str, hosts: usize| refused(load(name, hosts));
    assert!(fails("a", 2).contains("saved for 3 hosts, but this run has 2"));
    assert!(fails("missing", 2).contains("no such file"));

    save("b", 3, "oec");
    std::fs::copy(file("a", 1), file("b", 1)).unwrap();
    assert!(fails("b", 3).contains("host-00001.part"), "a foreign file");
    save("b", 3, "oec");
    let mut bytes = std::fs::read(file("b", 2)).unwrap();
    for at in [0, 40, bytes.len() / 2, bytes.len() - 1] {
        bytes[at] ^= 1;
        std::fs::write(file("b", 2), &bytes).unwrap();
        assert!(fails("b", 3).contains("damaged, or of another partition"));
        bytes[at] ^= 1;
    }
    std::fs::write(file("b", 2), &bytes[..bytes.len() - 3]).unwrap();
    assert!(fails("b", 3).contains("but the manifest says"));
    std::fs::remove_file(file("b", 2)).unwrap();
    assert!(fails("b", 3).contains("no such file"));
    for manifest in [
        "",
        "{}",
        "[1]",
        r#"{"parton_partition":2}"#,
        r#"{"parton_partition":1,"hosts":3,"files":[]}"#,
    ] {
        std::fs::write(Path::new(folder.path()).join("b/manifest.json"), manifest).unwrap();
        assert!(fails("b", 3).contains("manifest.json"), "{manifest}");
    }
}
